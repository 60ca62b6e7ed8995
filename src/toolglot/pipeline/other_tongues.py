"""What a text in German, French, Spanish, Italian, Portuguese or Dutch says, in plain English words: the data.

Each row has a plain word, and what it is called in each of the six; `*` is any ending, `$` the end of a clause (schalte es
*ein*). A row whose plain words are all function words of English tells function words: a language is told by them.
"""

from __future__ import annotations

NAMES = ("German", "French", "Spanish", "Italian", "Portuguese", "Dutch")

# what is said with words that name nothing, and how something is asked for
ROWS = """
the: der, die, das, den, dem, des | le, la, les, l' | el, la, los, las | il, lo, la, i, gli, le, l' | o, os, as, a | de, het
a: ein, eine, einen, einem, einer, eines | un, une | un, una | un, una, uno, un' | um, uma | een
and: und | et | y, e | e, ed | e | en
or: oder | ou | o, u | o, oppure | ou | of
some: einige, etwas, ein paar | des, quelques | unos, unas, algunos, algunas | alcuni, alcune | uns, umas, alguns, \
algumas | enkele
of: | de, d' | de | di, d' | de |
of the: | du | del | del, dello, della, dei, degli, delle, dell' | do, da, dos, das |
from: von, aus, ab | depuis | desde | da | desde | van, uit, vanaf
from the: vom | | | dal, dallo, dalla, dai, dagli, dalle, dall' | |
in: in | en, dans | en | in | em | in
in the: im | | | nel, nello, nella, nei, negli, nelle, nell' | no, na, nos, nas, num, numa | in de, in het
to: nach, zu, an, auf | à, vers | a, hacia | a, ad | | naar, te, aan
to the: zum, zur, ins, ans | au, aux | al | al, allo, alla, ai, agli, alle, all' | ao, à, aos, às |
on: am, auf$ | | | | | op
about: über | sur, à propos de | sobre, acerca de | su, sul, sulla, sulle, sull', riguardo a | sobre | over
for the: | | | | pelo, pela, pelos, pelas |
for: für | pour | para, por | per | para, por | voor
with: mit | avec | con | con | com | met
without: ohne | sans | sin | senza | sem | zonder
by: durch | par | | | por | door
at: um, bei, gegen | chez | | | | om, bij, rond
this: diese, dieser, dieses, diesen, diesem | ce, cet, cette, ces | este, esta, estos, estas | questo, questa, questi, \
queste | \
este, esta, estes, estas, deste, desta, neste, nesta | deze, dit
that: dass | que, qu' | que | che | que | dat, die
what: was, welche, welcher, welches, welchen | quel, quelle, quels, quelles, quoi | qué, cuál, cuáles | \
cosa, che cosa, quale, quali, qual | qual, quais, o que | wat, welk, welke
what is: | qu' est ce que, quel est, quelle est, c' est quoi | | qual è, cos' è | |
is: ist | est | es, está | è | é, está | is
are: sind, seid, bin, bist | sont, es, suis, êtes | son, están, eres, estás | sono, sei | são, estás, és | zijn, ben, bent
there is: gibt es, gibt | il y a, y a t il | hay | c' è, ci sono | há | is er, zijn er
was: war, waren | était | era, fue | era, fu | era, foi | was, waren
will: wird, werden, wirst | va | va | | vai | zal, wordt, gaat
do: tut | fait, fais, font | hace | fa, fai | faz | doet
have: hat, habe, haben, hast | ai, as, avez, avons, ont, a | tengo, tiene, tienes, ha, he, has | ho, hai, ha, hanno, \
abbiamo | \
tenho, tem, tens, temos | heb, hebt, heeft, hebben
can: kann, kannst, können | peux, peut, pouvez, puis | puedes, puede, puedo, pueden | puoi, può, posso | podes, pode, \
posso | \
kan, kun, kunt, kunnen
could: könntest, könnten, könnte | pourrais, pourriez, pourrait | podrías, podría | potresti, potrebbe | poderia, podias | zou
want: möchte, möchten, will, willst | veux, voudrais, aimerais | quiero, quisiera, me gustaría | voglio, vorrei | \
quero, queria, gostaria | wil, wilt
need: brauche, brauchen | ai besoin de, ai besoin d' | necesito | ho bisogno di | preciso, preciso de | nodig
must: muss, musst, müssen | dois, doit, faut | debo, tengo que, hay que | devo, deve | devo, tenho de, tenho que | moet, \
moeten
I: ich | je, j' | yo | io | eu | ik
me: mich, mir | moi, me, m' | me, mí | mi | me, mim | mij, me
my: mein, meine, meinen, meinem, meiner, meines | mon, ma, mes | mi, mis | mio, mia, miei, mie | meu, minha, meus, \
minhas | mijn
you: du, dich, dir, sie, ihnen | tu, te, t', vous | tú, te, usted | tu, ti, lei | tu, te, você | je, jij, jou, u
your: dein, deine, deinen, ihr, ihre | ton, ta, tes, votre, vos | tu, tus, su | tuo, tua, tuoi, tue | teu, tua, seu, \
sua | jouw, uw
our: unser, unsere, unseren, unserem | notre, nos | nuestro, nuestra | nostro, nostra | nosso, nossa | ons, onze
we: wir | nous, on | nosotros | noi | nós | we, wij
us: uns | | nos | ci | nos |
he: er | | él | lui | ele | hij
she: | elle | ella | | ela | zij, ze
it: es, sich | il, ça, s', se | se, lo | si | se | zich, 't
how: wie | comment | cómo | come | como | hoe
how much: wie viel, wieviel | combien | cuánto, cuánta | quanto, quanta | quanto, quanta | hoeveel
how many: wie viele | combien de | cuántos, cuántas | quanti, quante | quantos, quantas |
how long: wie lange | combien de temps | cuánto tiempo, cuánto tarda, cuánto dura | quanto tempo, quanto dura | \
quanto tempo | hoe lang
how far: wie weit | | \
a qué distancia, qué tan lejos | quanto dista, quanto è lontano, quanto è lontana | a que distância, quão longe | hoe ver
how much is: was kostet, was kosten, wie teuer, wie teuer ist, wie teuer sind | \
combien coûte, combien coûtent, combien vaut, à combien est | cuánto cuesta, cuánto cuestan, cuánto vale, cuánto es | \
quanto costa, quanto costano, quanto vale, quanto fa, quant' è | quanto custa, quanto custam, quanto vale, quanto é | \
hoe duur, hoe duur is, wat kost, wat kosten
where: wo, wohin | où | dónde, adónde | dove, dov' | onde, aonde | waar
when: wann | quand | cuándo | quando | quando | wanneer
who: wer, wen, wem | qui | quién, quiénes | chi | quem | wie
why: warum, wieso, weshalb | pourquoi | por qué | perché | por que, porquê | waarom
please: bitte | s' il te plaît, s' il vous plaît, svp | por favor | per favore, per piacere | por favor, se faz favor, \
faz favor | \
alsjeblieft, alstublieft, graag
not: nicht | pas, ne, n' | no | non | não | niet
no: kein, keine, keinen, nein | aucun, aucune, non | ningún, ninguna | nessun, nessuna | nenhum, nenhuma | geen, nee
yes: ja | oui | sí | sì | sim | ja
also: auch | aussi | también | anche | também | ook
just: mal, doch, denn, nur, gerade | donc, juste | solo, sólo | solo, pure | só, apenas | maar, eens, even
now: jetzt | maintenant | ahora | adesso, ora | agora | nu
there: da, dort | là, y | allí, ahí | lì, là | lá, aí | daar, er
here: hier | ici | aquí | qui | aqui | hier
very: sehr | très | muy | molto | muito | heel, erg
all: alle, alles, allen | tout, tous, toute, toutes | todo, todos, toda, todas | tutto, tutti, tutte, tutta | \
todo, todos, toda, todas, tudo | alle, alles
if: wenn, ob | si | si | se | se | als
but: aber | mais | pero | ma | mas |
more: mehr | plus | más | più | mais | meer
then: dann | puis, ensuite, alors | luego, entonces | poi | depois, então | dan, daarna
every: jeden, jede, jedes | chaque | cada | ogni | cada | elke, iedere
between: zwischen | entre | entre | tra, fra | entre | tussen
until: bis | jusqu' à, jusque | hasta | fino a | até | tot
to: | | | | | om naar, om in, toe aan
about: zum thema, zu dem thema | au sujet de, à propos d' | | | acerca de, a respeito de | omtrent
news about: nachrichten zu, nachrichten zum, nachrichten zum thema | nouvelles de, infos sur | noticias de | \
notizie di, notizie su, notizie sul, notizie sulla | notícias de, notícias do, notícias da |
coming: unterwegs | en route, en chemin | en camino | per strada | a caminho | onderweg
directions: wie komme ich | comment aller, comment je vais, comment se rendre | cómo llego, cómo voy, cómo se va, cómo ir | \
come arrivo, come si va, come vado, come si arriva | como chego, como vou, como ir | hoe kom ik, hoe ga ik
: um$, hinzu$, ab$, vor$ | | | | | om$, toe$, zien$, af$
because: weil | parce que, parce qu', car | porque | | porque | omdat
next: nächste* | prochain* | próxim* | prossim* | próxim* | volgende, komende
latest: letzte*, neueste*, aktuell* | dernier*, dernière*, actualité* | últim* | ultim* | últim* | laatste, actuele
before: vor | avant | antes de | prima di | antes de |
after: | après | después de | dopo | depois de | na
near: nahe, in der nähe | près de, près d', proche de | cerca de | vicino a, vicino al, vicino alla, presso | perto de, \
perto da, perto do | \
dichtbij, in de buurt van
"""

# what tools name in English themselves: these stay so in a call
KEPT = """
one: | | | | | één
two: | | | | duas |
sixteen: | | | | dezesseis |
seventeen: | | | | dezessete |
nineteen: | | | | dezenove |
thirty: dreißig | trente | treinta | trenta | trinta | dertig
forty: vierzig | quarante | cuarenta | quaranta | quarenta | veertig
fifty: fünfzig | cinquante | cincuenta | cinquanta | cinquenta | vijftig
sixty: sechzig | soixante | sesenta | sessanta | sessenta | zestig
hundred: hundert | cent | cien, ciento | cento | cem, cento | honderd
thousand: tausend | mille | mil | mille, mila | mil | duizend
today: heute | aujourd' hui | hoy | oggi | hoje | vandaag
tonight: heute abend | ce soir | esta noche | stasera | esta noite, hoje à noite | vanavond
tomorrow: morgen | demain | mañana | domani | amanhã | morgen
yesterday: gestern | hier | ayer | ieri | ontem | gisteren
the day after tomorrow: übermorgen | après demain | pasado mañana | dopodomani | depois de amanhã | overmorgen
noon: mittag, mittags | midi | mediodía | mezzogiorno | meio dia | twaalf uur 's middags
midnight: mitternacht | minuit | medianoche | mezzanotte | meia noite | middernacht
second: sekunde, sekunden | seconde* | segundo* | secondo, secondi | segundo* | seconde, seconden
minutes: minute, minuten | minute* | minuto* | minuto, minuti | minuto* | minuut, minuten
hours: stunde, stunden | heures | horas | ore | horas | uur, uren
half an hour: halbe stunde, eine halbe stunde, einer halben stunde | demi heure, une demi heure | media hora | mezz' ora, \
mezzora | meia hora | \
half uur, een half uur
an hour: eine stunde, einer stunde | une heure | una hora | un' ora | uma hora | een uur
day: tag | jour | día | giorno | dia | dag
days: tage, tagen | jours | días | giorni | dias | dagen
week: woche | semaine | semana | settimana | semana | week
weeks: wochen | semaines | semanas | settimane | semanas | weken
month: monat | mois | mes | mese | mês | maand
months: monate, monaten | | meses | mesi | meses | maanden
year: jahr | an, année | año | anno | ano | jaar
years: jahre, jahren | ans, années | años | anni | anos | jaren
degrees: grad | degré* | grado* | gradi | grau* | graden
euros: euro, euros | euro* | euro* | euro | euro* | euro
dollars: dollar, dollars, us dollar | dollar* | dólar* | dollar*, dollari | dólar*, dólares | dollar*
pounds: pfund | livres sterling | libra*, libras esterlinas | sterlin* | libra* | pond
swiss francs: schweizer franken, franken | francs suisses, franc suisse | francos suizos | franchi svizzeri, franchi | \
francos suíços | zwitserse frank
kilometers: kilometer*, kilometern | kilomètre* | kilómetro* | chilometr* | quilómetro*, quilômetro* | kilometer*
meters: meter*, metern | mètre* | metro, metros | metro, metri | metro, metros | meter*
miles: meile, meilen | mile*, milles | milla* | miglia, miglio | milha* | mijl*
feet: fuß | pieds | pies | piedi | pés | voet
inches: zoll | pouce* | pulgada* | pollici, pollice | polegada* | inch
kilograms: kilo, kilogramm | kilo*, kilogramme* | kilo*, kilogramo* | kilo, chil*, chilogramm* | quilo*, quilograma* | kilo*
grams: gramm | gramme* | gramo* | gramm* | grama* | gram
liters: liter*, litern | litre* | litro* | litr* | litro* | liter*
celsius: celsius | celsius | celsius | celsius | celsius | celsius
kitchen: küche | cuisine | cocina | cucina | cozinha | keuken
living room: wohnzimmer* | salon, séjour | salón, sala de estar, sala | soggiorno, salotto | sala, sala de estar | woonkamer
bedroom: schlafzimmer* | chambre, chambre à coucher | dormitorio, habitación, recámara | camera da letto | quarto | slaapkamer
bathroom: badezimmer*, bad | salle de bain, salle de bains | baño, cuarto de baño | bagno | casa de banho, banheiro | badkamer
office: büro, arbeitszimmer | bureau | oficina, despacho | ufficio, studio | escritório | kantoor, werkkamer
hallway: flur | couloir, entrée | pasillo | corridoio, ingresso | corredor | gang, hal
garden: garten | jardin | jardín | giardino | jardim | tuin
German: deutsch, deutsche, deutschen, deutsches | allemand* | alemán, alemana | tedesc* | alemão, alemã | duits, duitse
English: englisch* | anglais* | inglés, inglesa | inglese | inglês, inglesa | engels, engelse
French: französisch* | français* | francés, francesa | francese | francês, francesa | frans, franse
Spanish: spanisch* | espagnol* | español, española | spagnol* | espanhol, espanhola | spaans, spaanse
Italian: italienisch* | italien, italienne, italiens | italiano, italiana, italianos | italian* | italiano, italiana | \
italiaans, italiaanse
Portuguese: portugiesisch* | portugais* | portugués, portuguesa | portoghese | português, portuguesa | portugees, portugese
Dutch: niederländisch*, holländisch* | néerlandais* | neerlandés, holandés | olandese | neerlandês, holandês | \
nederlands, nederlandse
Japanese: japanisch* | japonais* | japonés, japonesa | giapponese | japonês, japonesa | japans, japanse
Chinese: chinesisch* | chinois* | chino, china | cinese | chinês, chinesa | chinees, chinese
Russian: russisch* | russe | ruso, rusa | russo, russa | russo, russa | russisch, russische
Thai: thailändisch* | thaï*, thaïlandais* | tailandés, tailandesa | tailandese, thailandese | tailandês, tailandesa | \
thais, thaise
Indian: indisch* | indien, indienne | indio, india | indian* | indiano, indiana | indiaas, indiase
Mexican: mexikanisch* | mexicain* | mexicano, mexicana | messican* | mexicano, mexicana | mexicaans, mexicaanse
Greek: griechisch* | grec, grecque | griego, griega | greco, greca | grego, grega | grieks, griekse
red: rot, rote, rotes, roten | rouge* | rojo, roja | rosso, rossa | vermelho, vermelha | rood, rode
blue: blau, blaue, blaues, blauen | bleu* | azul, azules | blu | azul, azuis | blauw, blauwe
green: grün, grüne, grünes, grünen | vert, verte | verde | verde | verde | groen, groene
black: schwarz* | noir* | negro, negra | nero, nera | preto, preta | zwart, zwarte
white: weiß* | blanc, blanche | blanco, blanca | bianco, bianca | branco, branca | wit, witte
"""
