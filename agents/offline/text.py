"""Cleans, counts and inflects the words of the slots, which hold whatever a corpus holds."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np


def read_sections(name: str) -> dict[str, list[str]]:
    """The lines of a text file of this folder by section; a line that begins with # is a remark."""
    found: dict[str, list[str]] = {}
    for line in Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            section = found.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            section.append(line)
    return found


WORDS = {
    name: frozenset(" ".join(lines).split()) for name, lines in read_sections("words.txt").items()
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
    found = [
        shared_fraction(own, whole)
        if (own := stems(interest))
        else float(all_stems(interest) <= all_stems(text))
        for interest in interests
    ]
    return (2.0 * max(found) + sum(found) / len(found)) / 3.0 if found else 0.0


@lru_cache(maxsize=_PHRASE_CACHE)
def clean(text: str) -> str:
    """Letters, digits and inner punctuation of a text on one line, at most eight words."""
    kept = _TAG.sub(" ", unicodedata.normalize("NFC", text[:400]))
    if not _PLAIN.fullmatch(kept):
        kept = "".join(
            one if one in _KEPT_MARKS or unicodedata.category(one)[0] in "LMN" else " "
            for one in kept
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
