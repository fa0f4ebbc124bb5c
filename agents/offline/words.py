"""Words: cleaning, counting and inflecting the words that slots bring along.

Slots hold whatever a corpus holds, so every text passes through ``clean`` before it is put
into a sentence. Nothing here draws a random number.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise

from agents.offline.vocabulary import COMMON, EPONYMS

_LONG = 2048
_SHORT = 8192
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[^\sa-z])")
_ENDED = re.compile(r"[.!?][\"'”’)\]]?$")
_TAG = re.compile(r"<[^<>]{1,20}>")
_TRAILING = re.compile(r"[.,:%/&+]+(?=\s|$)")
_PLAIN = re.compile(r"[A-Za-z0-9 -]*")
_KEPT_MARKS = frozenset("-+#&'’/().,:%")
_MOST_WORDS = 8


@lru_cache(maxsize=_LONG)
def tokens(text: str) -> tuple[str, ...]:
    """The words of a text in lower case, in order."""
    return tuple(_WORD.findall(text.lower()))


@lru_cache(maxsize=_SHORT)
def stem(word: str) -> str:
    """The word without a plural ending, so that "graphs" meets "graph"."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


@lru_cache(maxsize=_LONG)
def stems(text: str) -> frozenset[str]:
    """The stems of a text's content words; a set to measure with, never to iterate."""
    return frozenset([stem(word) for word in tokens(text) if word not in COMMON])


@lru_cache(maxsize=_LONG)
def plain(text: str) -> frozenset[str]:
    """The stems of all words, for interests such as "design studies" that are common words."""
    return frozenset(map(stem, tokens(text)))


@lru_cache(maxsize=_LONG)
def pairs(text: str) -> frozenset[tuple[str, str]]:
    """Neighbouring content words of a text, as stems."""
    kept = [stem(word) for word in tokens(text) if word not in COMMON]
    return frozenset(pairwise(kept))


def share(part: frozenset[str], whole: frozenset[str]) -> float:
    """The share of ``part`` that stands in ``whole``; 0 for an empty part."""
    return len(part & whole) / len(part) if part else 0.0


def affinity(interests: Iterable[str], text: str) -> float:
    """How near a text is to someone's interests, 0 to 1.

    The best-matching interest counts for two thirds, the mean of all for one third.
    """
    return _affinity(tuple(interests), text)


@lru_cache(maxsize=_SHORT)
def _affinity(interests: tuple[str, ...], text: str) -> float:
    whole = stems(text)
    found = [
        share(own, whole) if (own := stems(interest)) else float(plain(interest) <= plain(text))
        for interest in interests
    ]
    if not found:
        return 0.0
    return (2.0 * max(found) + sum(found) / len(found)) / 3.0


@lru_cache(maxsize=_SHORT)
def _printable(character: str) -> str:
    kind = unicodedata.category(character)[0]
    if kind in "LMN" or character in _KEPT_MARKS:
        return character
    return " "


@lru_cache(maxsize=_SHORT)
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


@lru_cache(maxsize=_SHORT)
def inner(text: str) -> str:
    """A phrase as it stands inside a sentence: title case undone, acronyms and names kept."""
    words = clean(text).split(" ")
    return " ".join(_inner_word(word) for word in words)


def _inner_word(word: str) -> str:
    parts = word.split("-")
    if any(part[1:] != part[1:].lower() for part in parts) or (word.isupper() and len(word) > 1):
        return word
    if word.lower().removesuffix("'s") in EPONYMS or parts[0].lower() in EPONYMS:
        return word[:1].upper() + word[1:]
    return word.lower()


def capital(text: str) -> str:
    """The text with its first letter as a capital."""
    return text[:1].upper() + text[1:]


def sentence(text: str) -> str:
    """The text as a sentence: a capital first, one full stop last."""
    body = capital(text.strip())
    return body if _ENDED.search(body) else body + "."


def sentences(text: str) -> list[str]:
    """The sentences of a text, in order; never an empty one."""
    return [part for part in _SENTENCE_END.split(" ".join(text.split())) if part]


def count(text: str) -> int:
    """Number of words, as an editor counts them."""
    return len(text.split())


def joined(parts: Iterable[str]) -> str:
    """Parts as an English list: ``a``, ``a and b``, ``a, b and c``."""
    items = list(parts)
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def shortened(text: str, limit: int) -> str:
    """At most ``limit`` words of a text, not ending in a word that wants another."""
    words = text.split()
    if len(words) <= limit:
        return " ".join(words)
    words = words[:limit]
    while len(words) > 1 and words[-1].lower().strip(",") in COMMON:
        words.pop()
    return " ".join(words).rstrip(",;:")
