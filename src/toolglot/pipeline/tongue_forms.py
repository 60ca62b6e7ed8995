"""Numbers, months, days and times of the day in the tongues of `other_tongues.py`, in the same order."""

from __future__ import annotations

import msgspec


class Tongue(msgspec.Struct, frozen=True):
    """Numbers from one, months and days in their order; `times` with the minutes that each adds to its hour.

    `<h>` is an hour and `<m>` minutes; `late` makes an hour one of the afternoon, `turns` are said in other words.
    """

    numbers: str
    months: str
    days: str
    times: dict[str, int]
    late: str
    early: str
    turns: dict[str, str]
    accents_fade: bool = True  # many write without them


_INFINITIVE = r"(?=(?-i:[a-zà-ÿ]+[aeiáéí]r(?:me|te|se|le|lo|la)?)\b)"  # de llamar
_SWITCHED = r"(?=[^.,;:!?\n]{1,60} (?:an|aus|aan|uit)\s*(?:$|[.,;!?]|bitte\b|alsjeblieft\b))"  # mach das Licht aus
_PLACE = r"(?-i:[A-ZÀ-Þ])[\w'’-]*(?: (?-i:[A-ZÀ-Þ])[\w'’-]*)*"

TONGUES = (
    Tongue(
        "eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn"
        " neunzehn zwanzig",
        "januar februar märz april mai juni juli august september oktober november dezember",
        "montag dienstag mittwoch donnerstag freitag samstag sonntag",
        {
            r"(?:um |auf |gegen )?halb <h>(?: uhr)?": -30,
            r"(?:um |auf |gegen )?viertel nach <h>": 15,
            r"(?:um |auf |gegen )?(?:viertel vor|dreiviertel) <h>": -15,
            r"(?P<to>daran, )?(?:um |auf |gegen |für )?<h>(?:[:.]<m>)? ?uhr(?: (?P<m2>\d\d))?": 0,
            r"um <h>(?::<m>)?(?! ?(?:%|prozent|grad|euro|\d))": 0,
        },
        "abends|nachmittags|am abend|am nachmittag|nachts",
        "morgens|früh|am morgen|vormittags",
        {
            r"\bdaran,? ": "to ",
            r"(?<=nachricht), dass ": ": ",
            rf"\bmache?\b{_SWITCHED}": "turn",
            r"\bschließe?\b(?=[^.,;:!?\n]{1,60} ab\b)": "lock",
            r"\b(?:im (?:internet|netz|web)|online) nach ": "the web for ",
        },
        accents_fade=False,
    ),
    Tongue(
        "un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit"
        " dix-neuf vingt",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "lundi mardi mercredi jeudi vendredi samedi dimanche",
        {
            r"(?:à |pour |vers )?<h> ?h(?:eures?)? et demie?": 30,
            r"(?:à |pour |vers )?<h> ?h(?:eures?)? et quart": 15,
            r"(?:à |pour |vers )?<h> ?h(?:eures?)? moins le quart": -15,
            r"(?:à|pour|vers|dès) <h>(?: ?h(?:eures?)?(?: ?<m>)?|:(?P<m2>\d\d))": 0,
            r"(?<!de )<h> ?h ?<m>": 0,
        },
        "du soir|de l['’]après-midi",
        "du matin",
        {
            rf"\bd(?:e |['’])(?={_PLACE} (?:à|vers|jusqu))": "from ",
            r"\b(?:de |d['’])(?=(?-i:[a-zà-ÿ]{2,}(?:er|ir|re))\b)": "to ",
            r"\bsur (?:le web|internet|le net|google) (?:des |les |une? |de )?": "the web for ",
            r",? (?:pour (?:lui )?dire|disant|en disant) qu(?:e |['’])": ": ",
        },
    ),
    Tongue(
        "uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho"
        " diecinueve veinte",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "lunes martes miércoles jueves viernes sábado domingo",
        {
            r"(?:a |para |sobre )?las? <h> y media": 30,
            r"(?:a |para |sobre )?las? <h> y cuarto": 15,
            r"(?:a |para |sobre )?las? <h> menos cuarto": -15,
            r"(?:a|para|sobre) las? <h>(?:[:.]<m>)?(?: ?h(?:oras)?)?": 0,
        },
        "de la tarde|de la noche",
        "de la mañana",
        {
            rf"\bde (?={_PLACE} (?:a|hasta|hacia) )": "from ",
            rf"\b(?:de|que) {_INFINITIVE}": "to ",
            r"\ben (?:internet|la web|google) ": "the web for ",
            r",? (?:diciendo(?:le)?|diciéndole|que diga) que ": ": ",
            rf"(?:(?<=recuérdame )|(?<=\d )){_INFINITIVE}": "to ",
        },
    ),
    Tongue(
        "uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici diciassette"
        " diciotto diciannove venti",
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
        "lunedì martedì mercoledì giovedì venerdì sabato domenica",
        {
            r"(?:alle|all['’]|per le|verso le) ?<h> e mezz[ao]": 30,
            r"(?:alle|all['’]|per le|verso le) ?<h> e un quarto": 15,
            r"(?:alle|all['’]|per le|verso le) ?<h> meno un quarto": -15,
            r"(?:alle|all['’]|per le|verso le) ?(?:ore )?<h>(?:[:.]<m>)?": 0,
        },
        "di sera|del pomeriggio|della sera",
        "di mattina|del mattino",
        {
            r"\b(?:di|d['’]) ?(?=(?-i:[a-zà-ÿ]{2,}(?:are|ere|ire|armi|rlo|rla|r))\b)": "to ",
            r"\b(?:su|in) (?:internet|google) (?:il |la |i |le )?": "the web for ",
            r",? (?:per dir(?:e|le|gli)|dicendo(?:le|gli)?) che ": ": ",
        },
    ),
    Tongue(
        "um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezasseis dezassete dezoito"
        " dezanove vinte",
        "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
        "segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo",
        {
            r"(?:às|à|para as|pelas) <h> e meia": 30,
            r"(?:às|à|para as|pelas) <h> e um quarto": 15,
            r"(?:às|para as|pelas|para a|à) <h>(?: ?h(?:oras?)?(?: ?<m>)?|:(?P<m2>\d\d))?": 0,
        },
        "da tarde|da noite",
        "da manhã",
        {
            rf"\bd[eoa] (?={_PLACE} (?:a|à|ao|para|até) )": "from ",
            rf"(?<!liga )(?<!ligar )\b(?:para [oa]|para|ao|à) (?={_PLACE}[ .?!:]*)": "to ",
            rf"\bd[oa] (?={_PLACE})": "of ",
            rf"\bligar? à (?={_PLACE})": "call ",
            r"\b(?:na (?:web|internet|net)|no google) (?:por )?": "the web for ",
            r",? (?:a dizer|dizendo)(?:-lhe)? que ": ": ",
            rf"\b(?:de|que) {_INFINITIVE}": "to ",
        },
    ),
    Tongue(
        "één twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien zeventien achttien"
        " negentien twintig",
        "januari februari maart april mei juni juli augustus september oktober november december",
        "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
        {
            r"(?:om |voor |rond |op )?half <h>": -30,
            r"(?:om |voor |rond |op )?kwart over <h>": 15,
            r"(?:om |rond |op )?kwart voor <h>": -15,
            r"(?P<to>eraan )?(?:om|voor|rond|op|tot) <h>(?:[:.]<m>)? ?uur": 0,
            r"(?P<to>eraan )?om <h>(?:[:.]<m>)?(?! ?(?:%|graden|euro|\d))": 0,
        },
        "'s avonds|'s middags",
        "'s ochtends|'s morgens",
        {
            r"\beraan(?: om)? ": "to ",
            r"(?<=bericht),? dat ": ": ",
            rf"\bzet\b{_SWITCHED}": "turn",
            r"\bop (?=\d)": "to ",
            r"\bop (?:internet|google|het web) (?:naar )?": "the web for ",
        },
    ),
)
