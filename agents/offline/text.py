"""The words, terms and sentences of rule-based scientists."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np

from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.slots import Reference
from virsci_society.agents.spelling import read_sections

_HERE = Path(__file__)
WORDS = {
    name: frozenset(" ".join(lines).split())
    for name, lines in read_sections(_HERE.with_name("words.txt")).items()
}
"""Lists of words by name; sets to look up, never to iterate."""
COMMON = WORDS["common"]
EPONYMS = WORDS["eponyms"]
_ENDINGS = tuple(sorted(WORDS["endings"]))
_SOUNDS_LIKE_YOU = re.compile(
    r"uni(?![nm])|us[aeu]|eu|ubiq|utili|ut[eo]|one\b|once\b|u(?=-|\b)", re.I
)
_SILENT_H = re.compile(r"hour|honest|honou?r|heir", re.I)
_SPELT_VOWELS = frozenset("AEFHILMNORSX8")
"""Letters and digits whose names begin with a vowel sound."""

_TEXT_CACHE = 2048
_PHRASE_CACHE = 8192
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
# Not before a small letter, which follows the full stop of an abbreviation.
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[^\sa-z])")
_ENDED = re.compile(r"[.!?][\"'”’)\]]?$")
# Titles in corpora hold marks of HTML, such as <sub>.
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


@lru_cache(maxsize=_PHRASE_CACHE)
def affinity(interests: tuple[str, ...], text: str) -> float:
    """How near a text is to interests, 0 to 1: two thirds the best match, one third the mean."""
    whole = stems(text)
    matches = [
        shared_fraction(own, whole)
        if (own := stems(interest))
        else float(all_stems(interest) <= all_stems(text))
        for interest in interests
    ]
    return (2.0 * max(matches) + sum(matches) / len(matches)) / 3.0 if matches else 0.0


@lru_cache(maxsize=_PHRASE_CACHE)
def clean(text: str) -> str:
    """Letters, digits and inner punctuation of a text on one line, at most eight words."""
    kept = _TAG.sub(" ", unicodedata.normalize("NFC", text[:400]))
    if not _PLAIN.fullmatch(kept):
        kept = "".join(
            char if char in _KEPT_MARKS or unicodedata.category(char)[0] in "LMN" else " "
            for char in kept
        )
    words = [word.strip("-'’.,:/&%") for word in _TRAILING.sub(" ", kept).split()]
    words = [word[:40] for word in words if any(c.isalnum() for c in word)][:_MOST_WORDS]
    phrase = " ".join(words)
    # Half of a pair is left where the phrase was cut.
    if phrase.count("(") != phrase.count(")"):
        phrase = phrase.replace("(", "").replace(")", "").strip()
    return phrase


@lru_cache(maxsize=_PHRASE_CACHE)
def mid_sentence_case(text: str) -> str:
    """A phrase for the middle of a sentence: title case undone, acronyms and names kept."""
    words = []
    for word in clean(text).split(" "):
        parts = word.split("-")
        mixed = any(part[1:] != part[1:].lower() for part in parts)
        if mixed or (word.isupper() and len(word) > 1):
            words.append(word)
        elif word.lower().removesuffix("'s") in EPONYMS or parts[0].lower() in EPONYMS:
            words.append(word[:1].upper() + word[1:])
        else:
            words.append(word.lower())
    return " ".join(words)


@lru_cache(maxsize=_PHRASE_CACHE)
def with_article(term: str) -> str:
    """A term with ``a`` or ``an`` where a list or its ending says that it is one of many."""
    words = term.split()
    if not words or words[0].lower() in WORDS["determiners"] or words[0].isdigit():
        return term
    # Not the first word, before which no noun could stand.
    ends = next(
        (n for n, word in enumerate(words) if n and word in WORDS["prepositions"]), len(words)
    )
    head = words[ends - 1].lower().rpartition("-")[2]
    if head == "order" or not (head in WORDS["things"] or head.endswith(_ENDINGS)):
        return term
    first = re.split(r"[\s-]", term, maxsplit=1)[0]
    if re.fullmatch(r"[a-z]?[A-Z0-9]{2,}s?", first) or len(first) == 1:
        # Of an acronym the letters are read: an MRI scan, an mRNA vaccine, a GPU.
        vowel = first[0].upper() in _SPELT_VOWELS
    else:
        sounded = term[:1].lower() in "aeiou8" and not _SOUNDS_LIKE_YOU.match(term)
        vowel = bool(_SILENT_H.match(term)) or sounded
    return f"{'an' if vowel else 'a'} {term}"


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


def gumbel_noise(rng: np.random.Generator, scale: float) -> float:
    """Gumbel noise of this scale: the largest noisy score is a draw from the softmax."""
    # The generator may give 0, which has no logarithm.
    return -scale * math.log(-math.log(max(rng.random(), 1e-300)))


def sigmoid(x: float) -> float:
    """The logistic function, without overflow for any finite argument."""
    return 0.5 * (1.0 + math.tanh(0.5 * x))


def finite_number(value: object, default: float = 0.0) -> float:
    """The value as a finite float, or the default."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        return default
    got = float(value)
    return got if math.isfinite(got) else default


FRAMES: Final = {
    name: tuple(lines) for name, lines in read_sections(_HERE.with_name("frames.txt")).items()
}
"""Frames by kind."""
PARTS: Final = ("introduction", "objective", "methods", "results", "conclusion")
"""The kinds that are the parts of an abstract, in their order."""
HEARD: Final = tuple(kind for kind in FRAMES if kind not in ("directions", "titles", "unruled"))
"""The kinds whose sentences others may hear or read, and take terms from."""
UNTITLED: Final = "A joint study of an open question"
_SLOT = re.compile(r"\{(\w+)\}")
_AS_IT_STANDS = ("who", "d")
"""Slots of names and directions, which take no article."""


def fill(frame: str, **terms: str) -> str:
    """A frame with its terms by slot, each with the article that it wants."""
    return frame.format_map(
        {
            slot: term if slot in _AS_IT_STANDS else with_article(term)
            for slot, term in terms.items()
        }
    )


def frame_mark(text: str) -> str:
    """The first two words of a sentence or frame, by which its frame is recognised."""
    return " ".join(text.split(" ", 2)[:2]).lower().rstrip(",")


MARKS: Final = {
    frame_mark(frame): "objective" if kind == "cores" else kind
    for kind in ("cores", *PARTS)
    for frame in FRAMES[kind]
}
"""The part that each mark belongs to; an idea's own sentence counts as the objective."""
# Lists, because frames that begin alike differ further on.
_BY_MARK: dict[str, list[str]] = defaultdict(list)
for _kind in HEARD:
    for _frame in FRAMES[_kind]:
        _BY_MARK[frame_mark(_frame)].append(_frame)


@cache
def _pattern(frame: str) -> tuple[re.Pattern[str], tuple[str, ...]]:
    """A pattern that reads the slots of a frame, and their names."""
    parts = _SLOT.split(frame)
    return re.compile("(.+?)".join(map(re.escape, parts[::2]))), tuple(parts[1::2])


@lru_cache(maxsize=4096)
def frame_terms(sentence: str) -> tuple[str, ...] | None:
    """The terms in a sentence made from a known frame, in order; None for other sentences."""
    for frame in _BY_MARK.get(frame_mark(sentence), ()):
        pattern, names = _pattern(frame)
        if match := pattern.fullmatch(sentence):
            pairs = zip(names, match.groups(), strict=True)
            return tuple(value for name, value in pairs if name != "who")
    return None


_CACHE = 4096
_LONGEST = 5
_LONGEST_HEAD = 13
_BREAK = re.compile(r"[^\w\s'’-]+|\s[-–—]+\s|\b\d{3,}\b")
_PAIRS = re.compile(
    r"\b(focus|overview|divide|command|supply|cause|search|question|trial)\s*(?:and|\+|&)\s*"
    r"(context|detail|conquer|control|demand|effect|rescue|answer|answering|error)\b",
    re.IGNORECASE,
)
"""Fixed expressions, half of which would be another concept."""
_MASKED = re.compile(r"\W*scientist\s?\d+(?:['’]s)?\W*", re.IGNORECASE)
"""A masked name of a scientist, which is no concept."""
QUOTED = re.compile(r'"([^"]{2,200})"')
"""A part of a text that stands in double quotes."""
_JOINT = re.compile(
    r",\s+informed by\s+|[,:;]\s+|\s+(?:for|through|with|towards|meets)\s+", re.IGNORECASE
)
"""Between two terms; never a bare "and", which a term can hold itself ("focus and context")."""
_FROM_TO = re.compile(r"^from\s+(.*?)\s+to\s+", re.IGNORECASE)
_MEANS = re.compile(r"\s(?:with|through)\s|: ")
_LEADING = WORDS["leading"]
# In "a priori" the first word is no article.
_LATIN = frozenset(("priori", "posteriori"))

NEUTRAL: tuple[str, ...] = (
    "controlled comparisons",
    "case studies",
    "statistical modelling",
    "simulation experiments",
    "surveys of practice",
    "replication",
    "open benchmarks",
    "error analysis",
)
"""What a scientist without stated interests can still bring in."""


@lru_cache(maxsize=2 * _CACHE)
def _trimmed(phrase: str) -> str:
    """A phrase as a term: at most five words, no leading article or preposition, no masked name."""
    words = mid_sentence_case(_MASKED.sub(" ", phrase)).split(" ")
    while len(words) > 1 and words[0].lower() in _LEADING and words[1].lower() not in _LATIN:
        words = words[1:]
    if len(words) > _LONGEST:
        # The head of a noun phrase stands before its first preposition.
        ends = (n for n, word in enumerate(words) if n and word.lower() in _LEADING)
        cut = next(ends, len(words))
        words = words[max(0, cut - _LONGEST) : cut]
    return "" if len(words) == 1 and words[0].lower() in _LEADING else " ".join(words)


def unique_terms(phrases: Iterable[str]) -> tuple[str, ...]:
    """Phrases as terms for the middle of a sentence: trimmed, none empty, none twice."""
    terms: dict[str, str] = {}
    for phrase in phrases:
        term = _trimmed(phrase)
        if term:
            terms.setdefault(term.casefold(), term)
    return tuple(terms.values())


# Cached apart, because only a tuple can be a key, and ``unique_terms`` takes anything.
_interests = lru_cache(maxsize=_CACHE)(unique_terms)


def expertise(profile: Profile | None) -> tuple[str, ...]:
    """The interests of a scientist as terms; empty if it has none."""
    return _interests(tuple(profile.interests)) if profile is not None else ()


@lru_cache(maxsize=_CACHE)
def noun_phrases(text: str, limit: int = 4) -> tuple[str, ...]:
    """Sequences of uncommon words, of each the last ``limit``, which hold its head."""
    phrases: list[str] = []
    for part in _BREAK.split(_PAIRS.sub(r"\1-and-\2", text)):
        run: list[str] = []
        # A common word at the end, which closes the last phrase.
        for word in [*part.split(), "the"]:
            if word.lower().strip("'’-") not in COMMON and not _MASKED.fullmatch(word):
                run.append(word)
                continue
            if any(len(w) > 2 for w in run):
                phrases.append(" ".join(run[-limit:]))
            run = []
    return unique_terms(phrases)


@lru_cache(maxsize=_CACHE)
def _paper_terms(title: str, keywords: tuple[str, ...], abstract: str) -> tuple[str, ...]:
    phrases = noun_phrases(title)
    head = [*keywords[:4], *(term for term in phrases if " " in term)]
    if len(head) < 2:
        # A word that stands alone in a title is often an adverb or a verb.
        head += [term for term in phrases if not term.endswith(("ly", "ing", "ed"))] or phrases
    if len(head) < 4:
        # Pairs of neighbouring uncommon words that the abstract uses more than once.
        pairs = pairwise(tokens(abstract[:1200]))
        counts = Counter(pair for pair in pairs if COMMON.isdisjoint(pair))
        head += [" ".join(pair) for pair, n in counts.items() if n > 1][:3]
    return unique_terms(head)[:8]


def paper_terms(paper: Reference) -> tuple[str, ...]:
    """Terms of a reference: keywords, phrases of its title, then of its abstract."""
    return _paper_terms(paper.title, tuple(paper.keywords), paper.abstract or "")


@lru_cache(maxsize=_CACHE)
def split_terms(direction: str) -> tuple[str, ...]:
    """The terms that a direction, topic or title joins."""
    if not clean(direction):
        return ()
    return unique_terms(_JOINT.split(_FROM_TO.sub(r"\1, ", direction)))


def title_head(title: str) -> str:
    """A title without its means: what stands before the last "with" or "through"."""
    head = _MEANS.split(title)[0]
    if not clean(head):
        return UNTITLED
    if len(head.split()) > _LONGEST_HEAD:
        return capitalise(" for ".join(split_terms(head)[:2]))
    return head


def headline(utterance: Any) -> str:
    """The direction or title that an utterance puts forward; empty for a guest."""
    for name in ("direction", "title"):
        value = getattr(utterance, name, "")
        if isinstance(value, str) and value.strip():
            return value
    return ""


def full_text(utterance: Any) -> str:
    """All the words of an utterance, or of a plain string."""
    if isinstance(utterance, str):
        return utterance
    words = getattr(utterance, "words", None)
    return str(words()) if callable(words) else ""


def utterance_terms(utterance: Any) -> tuple[str, ...]:
    """The terms that an utterance, summary or memory line brings up."""
    head = headline(utterance)
    return split_terms(head) if head else _terms_in_words(full_text(utterance)[:2000])


@lru_cache(maxsize=_CACHE)
def _terms_in_words(text: str) -> tuple[str, ...]:
    """The terms in plain words: quoted ones, else those of known frames, else noun phrases."""
    marked = QUOTED.findall(text)
    if marked:
        return unique_terms(term for part in marked for term in split_terms(part))
    traces = [frame_terms(line) for line in split_sentences(text)]
    known = [term for found in traces if found for value in found for term in split_terms(value)]
    return unique_terms(known) if known else noun_phrases(text)


@lru_cache(maxsize=_CACHE)
def text_without_frames(text: str) -> str:
    """A text without the wording of known frames, which tells nothing about its subject."""
    sentences = [(line, frame_terms(line)) for line in split_sentences(text)]
    return " ".join(line if terms is None else ", ".join(terms) for line, terms in sentences)


def sentence_terms(lines: Iterable[str]) -> tuple[str, ...]:
    """The terms in sentences; those of a known frame are read from its slots."""
    terms: list[str] = []
    for line in lines:
        slots = frame_terms(line)
        terms += [t for t in noun_phrases(line, 3) if " " in t] if slots is None else slots
    return unique_terms(terms)


def as_list(value: Any) -> list[Any]:
    """A slot as a list without None; of utterances and advice, the replies."""
    # An utterance is a tuple itself.
    several = isinstance(value, list | tuple) and not hasattr(value, "reply")
    items = value if several else [value]
    return [getattr(item, "reply", item) for item in items if item is not None]


def is_guest(utterance: Any) -> bool:
    """True for a consulted outsider's answer."""
    return isinstance(getattr(utterance, "answer", None), str)


def exclude_terms(terms: Iterable[str], used: Iterable[str]) -> list[str]:
    """The terms that are not among the used ones, in order; case does not matter."""
    taken = {term.casefold() for term in used}
    return [term for term in terms if term.casefold() not in taken]
