"""What is said to be polite, or for words in return, in the tongues of `other_tongues.py`: a row for each phrase."""

from __future__ import annotations

TALK = """
thanks: danke, danke dir, danke ihnen, danke schön, dankeschön | merci, merci bien | gracias | grazie | obrigado, obrigada | \
dank je, dank u, \
bedankt, dankjewel, dank je wel, dank u wel
thanks a lot: vielen dank, danke vielmals, danke sehr, besten dank, herzlichen dank | merci beaucoup, mille mercis, \
merci mille fois | \
muchas gracias, mil gracias, muchísimas gracias | grazie mille, molte grazie, mille grazie, tante grazie, grazie tante | \
muito obrigado, muito obrigada | heel erg bedankt, hartelijk dank, heel veel dank
hello: hallo, guten tag, servus, grüß gott | bonjour, salut, coucou | hola, buenos días, buenas tardes | ciao, \
buongiorno, salve | olá, oi, bom dia, boa tarde | \
hallo, hoi, goedendag
good morning: guten morgen | | | | | goedemorgen, goedemiddag
good evening: guten abend | bonsoir | buenas noches | buonasera | boa noite | goedenavond
good night: gute nacht | bonne nuit | | buonanotte | | goedenacht, welterusten, slaap lekker
bye: tschüss, tschüß, auf wiedersehen, ciao | au revoir | adiós, chao | arrivederci, addio | adeus, tchau | doei, \
tot ziens, dag dag
see you tomorrow: bis morgen | à demain | hasta mañana | a domani | até amanhã | tot morgen
see you soon: bis bald, bis später, bis dann | à bientôt, à plus tard, à plus | hasta luego, hasta pronto, nos vemos | \
a presto, ci vediamo | até logo, até já, até breve | \
tot straks, tot later, tot snel
how are you: wie geht es dir, wie geht' s, wie gehts, wie geht es ihnen, wie geht s | comment ça va, ça va, \
comment vas tu, comment allez vous | \
cómo estás, qué tal, cómo está usted, qué tal estás | come stai, come va, come sta | como estás, tudo bem, como vai, \
como está você, como você está | \
hoe gaat het, hoe gaat het met je, hoe gaat het met u, alles goed
have a nice day: einen schönen tag, schönen tag noch, schönen tag, einen schönen tag noch, schönes wochenende, \
schönen abend, schönen abend noch | \
bonne journée, bonne soirée, bon week end, passe une bonne journée | que tengas un buen día, buen día, \
buen fin de semana, que tengas buen día | \
buona giornata, buona serata, buon fine settimana, buon weekend | tenha um bom dia, bom fim de semana, bom domingo | \
fijne dag, fijne dag nog, prettige dag, fijn weekend, fijne avond
great: super, toll, klasse, prima, wunderbar, perfekt, sehr gut | parfait, génial, super, formidable, très bien | genial, \
perfecto, estupendo, muy bien | \
perfetto, ottimo, fantastico, benissimo, molto bene | perfeito, ótimo, muito bem, fixe, legal, excelente | geweldig, \
perfect, super, prima, heel goed
that was helpful: das war hilfreich, das war sehr hilfreich, das hat mir sehr geholfen, das hat mir geholfen, \
das hat geholfen | \
c' était très utile, c' était utile, ça m' a aidé, ça m' a beaucoup aidé | eso fue muy útil, me ha sido muy útil, \
me ayudó mucho, has sido de gran ayuda, eso me ayudó mucho | \
è stato molto utile, mi è stato utile, sei stato molto utile, sei stato utile | foi muito útil, ajudou muito, \
isso ajudou muito | \
dat was erg nuttig, dat helpt, dat was heel behulpzaam, daar heb ik veel aan
you are great: du bist super, du bist toll, du bist der beste | tu es génial, tu es super, tu es le meilleur | \
eres genial, eres el mejor, eres muy amable | \
sei fantastico, sei il migliore, sei grande | és o melhor, você é ótimo, és fantástico | je bent geweldig, je bent de beste
that's all: das ist alles, das war's, das war s, das wär' s, das wär s | c' est tout | eso es todo, nada más | è tutto, \
basta così | é tudo, é só isso | dat is alles, dat was het
never mind: egal, schon gut, vergiss es | laisse tomber, ce n' est pas grave | no importa, da igual | non importa, \
lascia stare | não importa, deixa estar, deixa pra lá | laat maar
who are you: wer bist du | qui es tu, qui êtes vous | quién eres | chi sei | quem és, quem é você | wie ben je, wie ben jij
what's your name: wie heißt du | comment tu t' appelles, comment t' appelles tu | cómo te llamas | come ti chiami | \
como te chamas, qual é o teu nome, qual é o seu nome | hoe heet je
tell me a joke: erzähl mir einen witz, erzähle mir einen witz, kennst du einen witz | raconte moi une blague | \
cuéntame un chiste | raccontami una barzelletta | \
conta me uma piada, conta uma piada, me conta uma piada | vertel een grap, vertel me een grap, vertel eens een mop
write me a poem: schreib mir ein gedicht, schreibe ein gedicht, schreib ein gedicht | écris moi un poème, \
écris un poème | escríbeme un poema, escribe un poema | \
scrivimi una poesia, scrivi una poesia | escreve me um poema, escreve um poema, escreva um poema | schrijf een gedicht
explain: erklär*, erkläre | explique* | explica*, explíca* | spiega* | explica*, explique* | leg uit, verklaar
why is: warum ist, wieso ist | pourquoi est, pourquoi le, pourquoi la, pourquoi les | por qué es, por qué el, por qué la, \
por qué los, por qué | \
perché il, perché la, perché i, perché è | por que é, porque é que, por que o, por que a | waarom is
who wrote: wer schrieb, wer hat | qui a écrit, qui a peint, qui a inventé, qui a | quién escribió, quién pintó, \
quién inventó, quién descubrió, quién | \
chi ha scritto, chi ha dipinto, chi ha inventato, chi ha | quem escreveu, quem pintou, quem inventou, quem | wie schreef, \
wie heeft
what is the meaning of: was bedeutet, was bedeutet das wort | que signifie, que veut dire | qué significa | \
cosa significa, che cosa significa, che significa | \
o que significa | wat betekent, wat betekent het woord
"""
