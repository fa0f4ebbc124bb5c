"""Cleans, counts and inflects the words of the slots.

Slots hold whatever a corpus holds, so every text passes through ``clean`` before it is put into a
sentence. The word lists hold words too common to tell one field from another, and names that keep
their capital. Nothing here draws a random number.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

_FUNCTION = """
a about above across after again against all along also although am among an and another any
are around as at away be because been before behind being below beneath beside between beyond
both but by can cannot come could did do does doing done down during each either else enough
even ever every few for from further get give given go had has have having he hence her here
him himself his how however i if in indeed inside instead into is it its itself just last later
least less let like made make makes making many may me might more most much must my near need
needed needs neither never next no nor not nothing now of off often on once one only onto or
other others otherwise our ours out over own per perhaps quite rather same second see seen
several shall she should since so some something soon still such take taken takes than that the
their theirs them themselves then there thereby therefore these they thing things third this
those though three through throughout thus to together too toward towards two under until up
upon us very via was way ways we well were what whatever when where whether which while who
whole whom whose why will with within without would yes yet you your first four five
"""

_ACADEMIC = """
ability able abstract accepted achieve achieved across add added address addressed addresses
adds aim aimed aims allow allowed allows among analyse analyze answer answers apart appear
appears applied apply approach approaches argue article ask asked asks assess assessed
assumption attention author authors background based baseline baselines basis bears become
becomes begin benefit benefits best better bring brings broader build building builds built
called careful carefully carry carries case cases central certain challenge challenges change
changes chosen claim claims clear clearer clearly close closer combination combine combined
combines combining common community compare compared comparing comparison complete completely
concern concerns conclude conclusion conclusions condition conditions conduct connect connects
consequence consider considered contribute contributes contribution contributions core current
currently deal demonstrate demonstrated demonstrates depend depends derive describe described
describes describing design designed develop developed developing develops difference different
differs difficult direct direction directions discuss discussed discussion distinct draw drawn
draws early easily easy effective effectively efficient efficiently effort employ enable
enables enabling encourage ensure establish evaluate evaluated evaluating evidence exact
examine examined example examples existing expect expected expects experience experiment
experimental experiments expertise explain explore explored exploring extend extended extends
extension extent fact fail fails familiar far field fields finally find finding findings finds
focus focused follow following follows form former found framework general generally goal goals
good great greater ground group groups growing guest half hand handle hard help helpful helps
high higher hold holds idea ideas identified identify important improve improved improvement
improves improving include included includes including increase increasing increasingly
independent informed insight insights interest interested interesting interests introduce
introduced introduces introduction investigate investigated involve involved issue issues join
joined joint jointly judge judged judgement keep keeps key kind kinds know known lack large
larger late latter lead leads learn leave leaves left lesson lessons level levels limit limited
limits line link linked links little long look low lower main mainly major manner matter
matters mean meaning means measure measured measures meet meets member members method
methodology methods missing modest move natural nature necessary new note notes novel novelty
number objective observe observed obtain obtained occur offer offered offers open order
original outcome outline paper papers part particular particularly parts people perform
performed perspective phase piece pieces place plan planned plans point points position
possible possibly potential practical practice precise present presented presents previous
previously principle prior problem problems procedure proceed produce produced produces project
promise promising properly proposal propose proposed proposes proposing provide provided
provides providing purpose pursue put question questions raise raised range read reader readers
reason reasons recent recently reference references refine refined related relation relevant
rely remain remains report reported reports require required requires research researcher
researchers respect rest result resulting results return review reviewed rise role room say
scale scientist scientists seek seeks seem seems sense separate separately serve serves set
sets settle settled share shared sharpen show showed showing shown shows side significant
significantly similar simple simply single situation small smaller solution solutions solve
solving specific speak stage stand standard stands start starting state-of-the-art statement
step steps strength strong stronger studied studies study subject suggest suggested suggests
suitable support supported supporting supports task tasks team teams technique techniques tell
term terms test tested tests theme then think thought tie ties title today topic topics touch
treat treated treatment tried true try turn turns type types typical typically unclear
understand understanding understood understands unlike use used useful user-defined uses using
usual usually value valuable various vary view views want wants weak whereas wide widely word
words work worked working works worth write year years
"""

COMMON: frozenset[str] = frozenset((_FUNCTION + _ACADEMIC).split())
"""Function words and the words every paper uses: they never count as a field's own."""

_NAMES = """
bayes bayesian boltzmann boolean brownian cartesian dirichlet delaunay euclidean euler eulerian
fourier galerkin gaussian gauss gibbs hamiltonian hausdorff hessian hilbert jacobian kalman
kolmogorov lagrangian laplace laplacian lyapunov markov lie monte carlo pareto poincare
pascal morse newton newtonian
poisson reeb riemann riemannian shannon turing voronoi wiener zipf african american arabic
asian bengali chinese czech danish dutch english european finnish french german greek hebrew
hindi hungarian indian italian japanese korean latin persian polish portuguese roman russian
spanish swedish turkish vietnamese wikipedia twitter google java python
"""

EPONYMS: frozenset[str] = frozenset(_NAMES.split())
"""Names that keep their capital inside a sentence."""

_THINGS = """
agent algorithm alphabet antenna approach atlas battery benchmark calculation calendar camera card
catalogue chart chip circuit compound corpus curve database dataset device diagram dictionary
display drug electrode engine ensemble equation estimate experiment fabric formula framework
function game gene glyph grammar graph grid hypothesis icon image index instrument interface
interphase kernel lattice lens library list loop machine map matrix membrane menu method metric
microscope mission model molecule museum network object ontology option orbit outline panel
pathway pattern pipeline planet platform plot potential prior probe procedure process program
protocol prototype proxy query reaction region robot route rule sample satellite scale schema
scheme screen sequence signal simulation site sketch spectrum statistic strategy study survey
switch system table tablet telescope test theorem token tool toolkit trace tree tweet vaccine
variable vehicle wave widget window workflow workshop
"""
_THING_WORDS = frozenset(_THINGS.split())
_AGENT_ENDINGS = (
    *("izer", "iser", "ifier", "ator", "ector", "ensor", "oder", "corder", "solver", "ducer"),
    *("verter", "former", "cluster", "meter", "puter", "arser", "anner", "actor", "itor", "eptor"),
    *("ictor", "roller", "piler", "polymer", "layer", "marker", "filter", "vector", "border"),
)
"""Endings of things that do something: a solver, a recorder, a classifier."""
_BEFORE = "of for in by with from on to at under over between via using"
_PREPOSITIONS = frozenset(_BEFORE.split())
_GOVERNING = "a an the one no some any each every its their our my this that"
_DETERMINERS = frozenset(_GOVERNING.split())
_SOUNDS_LIKE_YOU = re.compile(
    r"uni(?![nm])|us[aeu]|eu|ubiq|utili|ut[eo]|one\b|once\b|u(?=-|\b)", re.I
)
_SILENT_H = re.compile(r"hour|honest|honou?r|heir", re.I)
_SPELT_VOWELS = frozenset("AEFHILMNORSX8")
"""Letters and digits whose names begin with a vowel sound."""


_TEXT_CACHE = 2048
_PHRASE_CACHE = 8192
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[^\sa-z])")
_ENDED = re.compile(r"[.!?][\"'”’)\]]?$")
_TAG = re.compile(r"<[^<>]{1,20}>")
_TRAILING = re.compile(r"[.,:%/&+]+(?=\s|$)")
_PLAIN = re.compile(r"[A-Za-z0-9 -]*")
_KEPT_MARKS = frozenset("-+#&'’/().,:%")
_MOST_WORDS = 8


@lru_cache(maxsize=_TEXT_CACHE)
def tokens(text: str) -> tuple[str, ...]:
    """The words of a text in lower case, in order."""
    return tuple(_WORD.findall(text.lower()))


@lru_cache(maxsize=_PHRASE_CACHE)
def stem(word: str) -> str:
    """The word without a plural ending, so that "graphs" meets "graph"."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


@lru_cache(maxsize=_TEXT_CACHE)
def stems(text: str) -> frozenset[str]:
    """The stems of a text's content words; a set to measure with, never to iterate."""
    return frozenset([stem(word) for word in tokens(text) if word not in COMMON])


@lru_cache(maxsize=_TEXT_CACHE)
def all_stems(text: str) -> frozenset[str]:
    """The stems of all words, for interests such as "design studies" that are common words."""
    return frozenset(map(stem, tokens(text)))


@lru_cache(maxsize=_TEXT_CACHE)
def stem_pairs(text: str) -> frozenset[tuple[str, str]]:
    """Pairs of neighbouring content words of a text, as stems."""
    kept = [stem(word) for word in tokens(text) if word not in COMMON]
    return frozenset(pairwise(kept))


def shared_fraction(part: frozenset[str], whole: frozenset[str]) -> float:
    """The fraction of ``part`` that is in ``whole``; 0 for an empty part."""
    return len(part & whole) / len(part) if part else 0.0


def affinity(interests: Iterable[str], text: str) -> float:
    """How near a text is to somebody's interests, from 0 to 1.

    The best-matching interest counts for two thirds, the mean of all for one third.
    """
    return _affinity(tuple(interests), text)


@lru_cache(maxsize=_PHRASE_CACHE)
def _affinity(interests: tuple[str, ...], text: str) -> float:
    whole = stems(text)
    found = [
        shared_fraction(own, whole)
        if (own := stems(interest))
        else float(all_stems(interest) <= all_stems(text))
        for interest in interests
    ]
    if not found:
        return 0.0
    return (2.0 * max(found) + sum(found) / len(found)) / 3.0


@lru_cache(maxsize=_PHRASE_CACHE)
def _printable(character: str) -> str:
    kind = unicodedata.category(character)[0]
    if kind in "LMN" or character in _KEPT_MARKS:
        return character
    return " "


@lru_cache(maxsize=_PHRASE_CACHE)
def clean(text: str) -> str:
    """Letters, digits and inner punctuation of a text on one line, at most eight words."""
    kept = _TAG.sub(" ", unicodedata.normalize("NFC", text[:400]))
    if not _PLAIN.fullmatch(kept):
        kept = "".join(map(_printable, kept))
    words = [word.strip("-'’.,:/&%") for word in _TRAILING.sub(" ", kept).split()]
    words = [word[:40] for word in words if any(c.isalnum() for c in word)][:_MOST_WORDS]
    phrase = " ".join(words)
    if phrase.count("(") != phrase.count(")"):
        phrase = phrase.replace("(", "").replace(")", "").strip()
    return phrase


@lru_cache(maxsize=_PHRASE_CACHE)
def mid_sentence_case(text: str) -> str:
    """A phrase for the middle of a sentence: title case undone, acronyms and names kept."""
    words = clean(text).split(" ")
    return " ".join(_inner_word(word) for word in words)


def _inner_word(word: str) -> str:
    parts = word.split("-")
    if any(part[1:] != part[1:].lower() for part in parts) or (word.isupper() and len(word) > 1):
        return word
    if word.lower().removesuffix("'s") in EPONYMS or parts[0].lower() in EPONYMS:
        return word[:1].upper() + word[1:]
    return word.lower()


@lru_cache(maxsize=_PHRASE_CACHE)
def with_article(term: str) -> str:
    """A term as it stands in a sentence: ``a`` or ``an`` before one thing of which there are many.

    Nouns are told apart by a list and by endings; in doubt a term stays without an article, as
    plural and mass nouns do.
    """
    words = term.split()
    if not words or words[0].lower() in _DETERMINERS or words[0].isdigit():
        return term
    ends = next((n for n, word in enumerate(words) if n and word in _PREPOSITIONS), len(words))
    head = words[ends - 1].lower().rpartition("-")[2]
    if head == "order" or not (head in _THING_WORDS or head.endswith(_AGENT_ENDINGS)):
        return term
    return f"{indefinite_article(term)} {term}"


def indefinite_article(text: str) -> str:
    """``a`` or ``an``, by the sound with which a text begins."""
    first = re.split(r"[\s-]", text, maxsplit=1)[0]
    # Of an acronym the letters are read: an MRI scan, an mRNA vaccine, a GPU.
    if re.fullmatch(r"[a-z]?[A-Z0-9]{2,}s?", first) or len(first) == 1:
        return "an" if first[0].upper() in _SPELT_VOWELS else "a"
    if _SILENT_H.match(text):
        return "an"
    return "an" if text[:1].lower() in "aeiou8" and not _SOUNDS_LIKE_YOU.match(text) else "a"


def capitalise(text: str) -> str:
    """The text with its first letter as a capital."""
    return text[:1].upper() + text[1:]


def as_sentence(text: str) -> str:
    """The text as a sentence: a capital first, one full stop last."""
    body = capitalise(text.strip())
    return body if _ENDED.search(body) else body + "."


def split_sentences(text: str) -> list[str]:
    """The sentences of a text, in order; never an empty one."""
    return [part for part in _SENTENCE_END.split(" ".join(text.split())) if part]


def count_words(text: str) -> int:
    """Number of words, as an editor counts them."""
    return len(text.split())


def join_list(parts: Iterable[str]) -> str:
    """Parts as an English list: ``a``, ``a and b``, ``a, b and c``."""
    items = list(parts)
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def truncate_words(text: str, limit: int) -> str:
    """At most ``limit`` words of a text, not ending in a word that wants another."""
    words = text.split()
    if len(words) <= limit:
        return " ".join(words)
    words = words[:limit]
    while len(words) > 1 and words[-1].lower().strip(",") in COMMON:
        words.pop()
    return " ".join(words).rstrip(",;:")
