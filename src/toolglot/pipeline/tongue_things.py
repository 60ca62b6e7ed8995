"""What assistants are asked for most, in the tongues of `other_tongues.py`: rows of the same form."""

from __future__ import annotations

THINGS = """
what is the weather: | quel temps fait il, quel temps fera t il, quel temps il fait | qué tiempo hace, qué tiempo hará, \
qué tal el tiempo | \
che tempo fa, che tempo farà | que tempo faz, que tempo fará |
weather: wetter | météo, temps, climat | tiempo, clima | tempo, meteo, clima | tempo, clima, meteorologia | weer
forecast: wettervorhersage, vorhersage, wetterbericht | prévision*, météo des | pronóstico*, previsión* | previsioni, \
previsione | \
previsão, previsões | weersverwachting, weerbericht, voorspelling
rain: regn*, regen | pleu*, pluie | llov*, lluev*, lluvia | piov*, pioggia | chov*, chuva | regen*
snow: schnee, schnei* | neige*, neiger | niev*, nieve | nev* | nev* | sneeuw*
umbrella: regenschirm, schirm | parapluie | paraguas | ombrello | guarda chuva | paraplu
temperature: temperatur* | température* | temperatura* | temperatura* | temperatura* | temperatuur
warm: warm | chaud* | calor | caldo | calor, quente | warm
cold: kalt | froid* | frío | freddo | frio | koud
what time is it: wie spät ist es, wie viel uhr ist es | quelle heure est il, quelle heure il est | qué hora es, \
qué horas son | \
che ore sono, che ora è | que horas são, que hora é | hoe laat is het
time: uhrzeit, zeit | heure | hora | ora, orario | hora | tijd
alarm: wecker*, alarm* | alarme*, réveil* | alarma*, despertador* | sveglia, allarme | alarme*, despertador* | wekker*, alarm*
wake: weck* | réveille* | despiérta*, despertar* | svegliami, svegliare | acorda* | wek, maak me wakker
timer: timer*, eieruhr | minuteur*, minuterie, chronomètre | temporizador*, cronómetro | timer, cronometro | \
temporizador*, cronómetro | timer*, kookwekker
remind: erinner* | rappelle*, rappeler, fais penser | recuérda*, recordar* | ricorda*, promemoria di | lembra*, lembr*, \
recorda* | herinner*
reminder: erinnerung*| rappel, rappels | recordatorio* | promemoria | lembrete* | herinnering*
remind me to: | rappelle moi de, rappelle moi d' | recuérdame que | ricordami di | lembra me de, lembre me de |
email: email*, e mail, e mails, mail* | courriel*, e mail, mail, mél | correo*, email | email, mail, posta | email, e mail, \
correio | e mail, e mails, mail*
message: nachricht, sms | message*, texto | mensaje* | messaggio, messaggi | mensagem, mensagens | bericht*, sms*, appje
tell: sag*, sage, teile mit | dis, dis à | dile, dile a, dígale, dígale a | di', dì, di a, dire a | diz*, avisa | zeg*, \
vertel*
call: ruf, rufe, anruf*, anzurufen, telefonier* | appelle*, appeler, téléphone* | llama*, llamar* | chiama*, telefona* | \
telefona*, liga para, ligar para, liga ao, ligar ao | bel, bellen, telefoneer
number: nummer* | numéro* | número* | numero | número* | nummer*
contact: kontakt* | contact* | contacto* | contatt* | contato*, contacto* | contact*
calendar: kalender*, terminkalender | calendrier*, agenda | calendario*, agenda | calendario, agenda | calendário*, \
agenda | agenda, kalender
event: termin*, veranstaltung* | événement*, évènement* | evento* | evento, eventi | evento* | evenement*
appointment: verabredung* | rendez vous, rdv | cita* | appuntament* | compromisso*, consulta* | afspraak, afspraken
meeting: besprechung*, meeting*, treffen | réunion* | reunión, reuniones | riunion* | reunião, reuniões | vergadering*
play: spiel*, spiele ab, hören, hör, anhören | joue*, écouter, écoute | reproduc*, pon música de, escuchar, escucha | \
riproduci*, suona, metti su, ascolta* | toca*, reproduz*, ouvir, ouve | speel*, draai, luister*
play music: spiel musik | mets de la musique, joue de la musique | pon música | metti musica, metti della musica | \
põe música | zet muziek op
music: musik | musique | música | musica | música | muziek
song: lied*, song* | chanson*, morceau*, titre | canción, canciones | canzon*, brano | canção, canções | lied*, nummers, \
liedje*
album: album* | album* | álbum* | album | álbum | album*
podcast: podcast* | podcast* | podcast* | podcast | podcast* | podcast*
volume: lautstärke | volume | volumen | volume | volume | volume, geluid
louder: lauter | plus fort | más alto | più alto | mais alto | harder
light: licht*, lampe*, beleuchtung | lumière*, lampe*, éclairage | luz, luces, lámpara* | luce, luci, lampada* | luz, \
luzes, lâmpada* | \
licht*, lamp, lampen, verlichting
heating: heizung*, thermostat* | chauffage*, thermostat* | calefacción, termostato | riscaldamento, termostato | \
aquecimento, termostato, termóstato | verwarming, thermostaat
turn: schalt* | | | | | doe, schakel*
turn on: | allume*, allumer, activ* | enciend*, encender, activa*, prend* | accend*, attiva* | liga*, ligar, acend* |
turn off: | étein*, éteign*, désactiv* | apaga*, desactiva* | spegn*, spengi*, disattiva* | desliga*, apaga* |
put: mach, mache | | | | |
on: ein$, an$ | | | | | aan$
off: aus$ | | | | | uit$
translate: übersetz* | tradui* | traduc*, traduzca* | traduci*, traduzione, tradurre | traduz*, tradução | vertaal*, vertal*
how do you say: wie sagt man, was heißt | comment dit on, comment dire | cómo se dice | come si dice | como se diz | \
hoe zeg je
convert: rechne*, umrechn*, wandle*, wandel*, konvertier* | converti*, convertis | conviert*, convert* | converti* | \
convert* | reken, converteer*, omrekenen
exchange rate: wechselkurs* | taux de change | tipo de cambio, tasa de cambio | tasso di cambio, cambio | taxa de câmbio, \
câmbio | wisselkoers
currency: währung* | devise* | moneda*, divisa* | valuta, valute | moeda* | valuta
price: preis* | prix, tarif* | precio* | prezz* | preço* | prijs, prijzen
cost: kost* | coût*, coûte* | cuest*, costo, coste | cost* | cust* | kost, kosten
stock: aktie, aktien, aktienkurs*, kurs | action, actions, bourse | acción, acciones, bolsa | azion*, borsa | ação, \
ações, bolsa | \
aandeel, aandelen, koers, aandelenkoers
stock price: aktienkurs*, aktienpreis | cours de l' action, cours de bourse, cours | | quotazione | cotação | \
aandelenkoers, beurskoers
route: route*, weg, wegbeschreibung | itinéraire*, trajet*, route, chemin | ruta*, camino | percorso, strada, itinerario, \
indicazioni | \
rota*, caminho, percurso, trajeto | route*, routebeschrijving
distance: entfernung*, entfernt, distanz | distance* | distancia* | distanza | distância* | afstand
train: zug, züge*, zugverbindung*, bahn | train* | tren, trenes | treno, treni | comboio*, trem, trens | trein*, treinen
bus: bus, busse | bus, autobus | autobús* | autobus | autocarro*, ônibus | bus, bussen
flight: flug, flüge*, flügen | vol, vols | vuelo* | volo, voli | voo, voos | vlucht*
hotel: hotel* | hôtel* | hotel* | hotel, albergo | hotel*, hotéis | hotel*
hotel room: hotelzimmer* | chambre d' hôtel | habitación de hotel | camera d' albergo, camera d' hotel | \
quarto de hotel | hotelkamer*
room: zimmer | chambre*, pièce* | habitación, habitaciones | camera, stanza | quarto* | kamer*
restaurant: restaurant*, lokal | restaurant*, resto | restaurante* | ristorant* | restaurante* | restaurant*
table: tisch | table | mesa | tavolo | mesa | tafel
taxi: taxi* | taxi* | taxi* | taxi | táxi* | taxi*
ticket: ticket*, fahrkarte*, karte, karten | billet*, ticket* | billete*, entrada*, boleto* | bigliett* | bilhete*, \
passage* | kaartje*, ticket*
trip: reise* | voyage* | viaje* | viaggi* | viage* | reis*
nights: nächte*, nacht, übernachtung* | nuit* | noche, noches | notti, notte | noite* | nacht, nachten
people: person*, leute | personne* | persona* | person* | pessoa* | personen, mensen
guests: gäste* | invités | invitados, huéspedes | ospiti | convidados, hóspedes | gasten
search: such*, durchsuch* | cherche*, recherche* | busca*, búsqueda | cerca*, ricerca | procur*, busca*, pesquis* | zoek*
find: find* | trouve* | encuentra*, encontrar | trova* | encontr* | vind*, vinden
show: zeig* | montre*, affiche* | muestra*, muéstra*, enséñ*, mostrar | mostra*, fammi vedere, visualizza* | mostr*, \
exib* | toon*, laat zien, laat me, laat
list: list* | liste* | lista* | elenc*, lista | lista* | lijst*
give: gib, geben | donne* | dame | dammi | dá, dê | geef
create: erstell*, leg, lege | crée*, créer | crea*, crear | crea* | cria*, criar | maak*, aanmaken, creëer
add: füg*, trag, trage, eintrag*, hinzufüg* | ajoute* | añad*, agreg* | aggiung* | adicion*, acrescent*, junta | voeg*
delete: lösch*, entfern* | supprime*, efface*, retire* | elimin*, borr* | cancella*, elimin*, rimuov* | elimin*, exclu*, \
remov* | verwijder*, wis
cancel: storniere*, stornier*, absag* | annule* | cancel* | annulla*, disdici | cancel*, anul* | annuleer*
open: öffne* | ouvre* | abre, abrir | apri* | abre, abra, abrir | open*
read: lies, lese*, vorles* | lis, lire | lee, leer, léeme | leggi* | lê, ler, leia | lees*
send: schick*, send*, schreib* | envoie*, envoyer, écris* | envía*, enviar*, manda*, escribe* | invia*, manda*, scrivi* | \
envia*, manda*, escrev* | stuur*, verstuur*
buy: kauf* | achète*, acheter | compra* | compra* | compra* | koop*, kopen
book: buch* | réserve* | reserva* | prenota* | reserv* | boek*
order: bestell* | command* | pedido*, pide, pedir, orden | ordin* | encomend*, pedido* | bestel*
start: start* | démarr*, lance* | inicia*, empieza*, arranca* | avvia* | inicia*, começ* | start*
stop: stopp*, beend* | arrête* | para, detén*, detener | ferma* | para, pare | stop*
set: stell*, setz*, dreh*, erhöh*, senk* | mets, mettre, règle*, programme*, baisse*, monte, augmente* | pon, ponme, poner, \
sube, baja, configura*, programa*, establec*, ajusta* | \
imposta*, metti*, mettere, punta, regola*, alza*, abbassa*, aumenta* | define*, definir, põe*, pôr, aumenta*, baixa*, sobe, \
coloca*, ajusta*, programa*, configura* | stel*, zet, zetten, verhoog*, verlaag*
save: speicher* | enregistre*, sauvegard* | guarda* | salva* | guarda*, salva*, grava* | sla op, bewaar
file: datei* | fichier* | archivo*, fichero* | file | ficheiro*, arquivo* | bestand*
folder: ordner, verzeichnis* | dossier* | carpeta* | cartella, cartelle | pasta* | map, mappen
note: notiz*, notier* | note* | nota*, anota* | nota, note, appunto, annota* | nota*, anota* | notitie*, noteer*
task: aufgabe* | tâche* | tarea* | attività, compito, compiti | tarefa* | taak, taken
shopping list: einkaufsliste | liste de courses, liste des courses, liste d' achats | lista de la compra, \
lista de compras | lista della spesa | \
lista de compras | boodschappenlijst*
to-do list: aufgabenliste, to do liste | liste de tâches, liste des tâches | lista de tareas | lista delle cose da fare | \
lista de tarefas | takenlijst
calculate: berechn*, ausrechn* | calcule* | calcul* | calcola* | calcul* | bereken*
sum: summe | somme | suma* | somma* | soma* | som
average: durchschnitt*, mittelwert | moyenne* | promedio, media | media | média | gemiddelde
percent: prozent | pour cent, pourcent | por ciento | per cento, percento | por cento | procent
square root: quadratwurzel, wurzel | racine carrée | raíz cuadrada | radice quadrata | raiz quadrada | wortel
area: fläche* | aire, superficie | área, superficie | area, superficie | área | oppervlakte
news: nachrichten*, neuigkeiten, schlagzeilen | nouvelles, actualités, infos | noticia* | notizi* | notícia* | nieuws
recipe: rezept* | recette* | receta* | ricett* | receita* | recept*
movie: film*, kino* | film*, cinéma | película*, cine | film, cinema | filme*, cinema | film*, bioscoop
book: buch | livre* | libro* | libro, libri | livro* | boek
parcel: paket*, sendung* | colis, paquet* | paquete*, envío* | pacco, pacchi, spedizione | encomenda*, pacote* | pakket*, \
pakje
track: verfolg* | suivre, suis le, suivi | rastre*, seguimiento | traccia* | rastre*, rastreamento | volg*
tracking number: sendungsnummer* | numéro de suivi | número de seguimiento | numero di tracciamento, numero di spedizione | \
número de rastreamento, número de rastreio, código de rastreio | volgnummer, trackingnummer
order number: bestellnummer | numéro de commande | número de pedido | numero d' ordine | número da encomenda, \
número do pedido | bestelnummer
subject: betreff | objet | asunto | oggetto | assunto | onderwerp
text: text* | texte* | texto* | testo | texto* | tekst
word: wort | mot | palabra | parola | palavra | woord
mean: bedeut* | signifie*, veut dire | significa* | significa* | significa* | betekent
far: weit | loin | lejos | lontan* | longe | ver
current: | actuel* | actual* | attual* | atual, actual | huidige
population: einwohner*, bevölkerung | population, habitants | población, habitantes | popolazione, abitanti | população, \
habitantes | bevolking, inwoners
door: tür* | porte | puerta | porta | porta | deur
status: status | statut, état | estado | stato | estado, situação | status
called: namens, mit dem titel, genannt | appelé*, intitulé*, nommé* | llamad*, titulad* | chiamat*, intitolat* | chamad*, \
intitulad* | genaamd
eat: essen | manger | comer | mangiare | comer | eten
search for: suche nach, such nach, suchen nach | | busca por | | procura por, pesquisa por | zoek naar
close: schließ*, mach zu | ferme*, fermer | cierra*, cerrar | chiud* | fech* | sluit*
lock: verriegel*, absperr* | verrouill* | bloquea* | blocca* | tranc*, bloqueia* | vergrendel*
unlock: entriegel*, aufsperr* | déverrouill* | desbloquea* | sblocca* | destranc*, desbloqueia* | ontgrendel*
front door: haustür*, eingangstür* | porte d' entrée | puerta principal, puerta de entrada | porta d' ingresso | \
porta da frente, porta de entrada | voordeur
sunrise: sonnenaufgang | lever du soleil, se lève le soleil | amanecer, sale el sol | alba, sorge il sole | \
nascer do sol, nasce o sol | zonsopgang, zonsopkomst
sunset: sonnenuntergang | coucher du soleil, se couche le soleil | atardecer, puesta de sol, se pone el sol | \
tramonto, tramonta il sole | pôr do sol, põe se o sol | zonsondergang
random number: zufallszahl* | nombre aléatoire, chiffre au hasard | número aleatorio, número al azar | \
numero casuale, numero a caso | número aleatório | willekeurig getal, willekeurig nummer
spent: ausgegeben | dépensé, dépense* | gastado, gasté, gasto* | speso, spesa | gastei, gasto, despesa* | uitgegeven, uitgave*
transfer: überweis* | vire, virement | transfier*, transferir, transferencia | trasferisci*, bonifico | transfer*, \
transfir* | \
overmaken, overboeking
numbers: zahlen | nombres | números | numeri | números | getallen
pay: bezahl*, zahle | paye*, paie* | paga* | paga* | paga* | betaal*
account: konto, konten | compte* | cuenta* | conto | conta, contas | rekening*
balance: kontostand*, saldo | solde* | saldo | saldo | saldo | saldo
invoice: rechnung* | facture* | factura* | fattur* | fatura* | factuur*, facturen
customer: kunde* | client, clients | cliente* | cliente, clienti | cliente* | klant*
product: produkt* | produit* | producto* | prodott* | produto* | product*
picture: bild, bilder*, foto, fotos | image, images, photo, photos | imagen, imágenes, foto, fotos | immagin*, foto | \
imagem, imagens, foto, fotos | foto, afbeelding*
video: video* | vidéo* | video*, vídeo* | video | vídeo* | video*
website: webseite*, website* | site web, page web | sitio web, página web | sito, sito web | site | website*
password: passwort* | mot de passe | contraseña* | password | senha*, palavra passe | wachtwoord*
address: adresse* | adresse* | dirección, direcciones | indirizz* | endereço*, morada* | adres*
phone: telefon* | téléphone | teléfono* | telefono | telefone*, telemóvel | telefoon*
station: bahnhof* | gare* | estación | stazione | estação | station*
airport: flughafen* | aéroport* | aeropuerto* | aeroporto | aeroporto* | luchthaven, vliegveld
car: auto, autos, wagen, mietwagen | voiture* | coche*, carro | auto, macchina | carro* | auto, huurauto
rent: miet* | loue, louer, location | alquil* | noleggi*, affitt* | alug* | huur*
cheap: billig*, günstig* | pas cher, bon marché | barat* | economic* | barat* | goedkoop, goedkope
calories: kalorie* | calorie* | caloría* | calorie | caloria* | calorie*
job: job, jobs, stellenangebot* | emploi* | trabajo*, empleo* | lavoro | emprego*, trabalho | baan, vacature*
score: spielstand, ergebnis* | score*, résultat* | resultado* | risultat* | resultado* | uitslag*
vacuum: saug*, staubsaug* | aspir* | aspira* | aspira* | aspira* | stofzuig*
television: fernseh*, tv | télé, télévision, tv | televisor, televisión, tele | televisore, televisione, tv | televisão, \
tv | televisie, tv
blinds: rollo*, rollläden, rollladen, jalousie* | volet*, stores | persiana* | tapparell*, persian* | persiana*, \
estore* | rolluik*
pause: pausier* | mets en pause | pausa* | metti in pausa, pausa | pausa* | pauzeer*
definition: definition* | définition* | definición | definizione, definisci | definição | definitie
summarize: fass*, zusammenfass* | résume* | resum* | riassum* | resum* | vat samen, samenvat*
weight: gewicht | poids | peso | peso | peso | gewicht
height: körpergröße, höhe | hauteur | altura, estatura | altezza | altura | hoogte
width: breite | largeur | anchura | larghezza | largura | breedte
length: länge | longueur | longitud | lunghezza | comprimento | lengte
radius: radius | rayon | | raggio | raio | straal
circle: kreis* | cercle* | círculo* | cerchio | círculo* | cirkel*
rectangle: rechteck* | rectangle* | rectángulo* | rettangol* | retângulo* | rechthoek*
loan: kredit*, darlehen | prêt | préstamo* | prestito, mutuo | empréstimo* | lening*
interest rate: zinssatz, zinsen | taux d' intérêt | tasa de interés, interés | tasso d' interesse | taxa de juro, \
taxa de juros | rente
tax: steuer* | impôt* | impuesto* | imposte, tasse | imposto* | belasting*
"""
