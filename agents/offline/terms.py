"""Phrases: the terms that a profile, a paper or an utterance brings into the talk.

Papers and utterances are duck-typed, because this layer knows no protocol: an utterance has
a ``direction``, a ``title`` or an ``answer``, or else nothing but ``words()``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any, Protocol

from agents.offline.sayings import UNTITLED
from agents.offline.traces import trace
from agents.offline.vocabulary import COMMON
from agents.offline.words import capital, clean, inner, sentences, shortened, tokens

_CACHE = 4096
_LONGEST = 5
_BREAK = re.compile(r"[^\w\s'’-]+|\s[-–—]+\s|\b\d{3,}\b")
_QUOTED = re.compile(r'"([^"]{2,200})"')
_JOINT = re.compile(
    r"^from\s+|,\s+informed by\s+|[,:;]\s+|\s+(?:for|to|through|with|towards|meets|and)\s+",
    re.IGNORECASE,
)
_MEANS = re.compile(r"\s(?:with|through)\s|: ")
_LEAD = "a an and or but of in on for to the with by from as at via using towards toward into"
_LEADING = frozenset(_LEAD.split())

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


class Known(Protocol):
    """A scientist as far as the rules look: masked name and interests."""

    @property
    def id(self) -> str:
        """The masked name."""

    @property
    def interests(self) -> tuple[str, ...]:
        """Research interests, the most frequent first."""


class Paper(Protocol):
    """A reference as far as the rules look."""

    @property
    def title(self) -> str:
        """The title."""

    @property
    def abstract(self) -> str:
        """The abstract, possibly empty."""

    @property
    def keywords(self) -> tuple[str, ...]:
        """Keywords, possibly none."""

    @property
    def distance(self) -> float:
        """Distance to the query."""


@lru_cache(maxsize=2 * _CACHE)
def _trimmed(phrase: str) -> str:
    words = shortened(inner(phrase), _LONGEST).split(" ")
    while len(words) > 1 and words[0].lower() in _LEADING:
        words = words[1:]
    return "" if len(words) == 1 and words[0].lower() in _LEADING else " ".join(words)


def unique(phrases: Iterable[str]) -> tuple[str, ...]:
    """Phrases as terms for the middle of a sentence: trimmed, none empty, none twice."""
    found: dict[str, str] = {}
    for phrase in phrases:
        term = _trimmed(phrase)
        if term:
            found.setdefault(term.casefold(), term)
    return tuple(found.values())


@lru_cache(maxsize=_CACHE)
def _interests(stated: tuple[str, ...]) -> tuple[str, ...]:
    return unique(stated)


def expertise(profile: Known | None) -> tuple[str, ...]:
    """The interests of a scientist as terms; empty if it has none."""
    return _interests(tuple(profile.interests)) if profile is not None else ()


@lru_cache(maxsize=_CACHE)
def runs(text: str, limit: int = 4) -> tuple[str, ...]:
    """Runs of uncommon words, which in titles and plain prose are mostly noun phrases."""
    found: list[str] = []
    for part in _BREAK.split(text):
        run: list[str] = []
        for word in [*part.split(), "the"]:
            common = word.lower().strip("'’-") in COMMON
            if common or len(run) == limit:
                if any(len(w) > 2 for w in run):
                    found.append(" ".join(run))
                run = []
            if not common:
                run.append(word)
    return unique(found)


def _repeated(text: str) -> list[str]:
    """Neighbouring uncommon words that a text uses more than once, in order."""
    words = tokens(text)
    counts = Counter(pair for pair in pairwise(words) if COMMON.isdisjoint(pair))
    return [" ".join(pair) for pair, n in counts.items() if n > 1]


@lru_cache(maxsize=_CACHE)
def _paper_terms(title: str, keywords: tuple[str, ...], abstract: str) -> tuple[str, ...]:
    found = runs(title)
    head = [*keywords[:4], *(term for term in found if " " in term)]
    if len(head) < 2:
        # A word that stands alone in a title is often an adverb or a verb.
        head += [term for term in found if not term.endswith(("ly", "ing", "ed"))] or found
    if len(head) < 4:
        head += _repeated(abstract[:1200])[:3]
    return unique(head)[:8]


def paper_terms(paper: Paper) -> tuple[str, ...]:
    """What a reference is about: keywords, phrases of its title, then of its abstract."""
    return _paper_terms(paper.title, tuple(paper.keywords), paper.abstract or "")


@lru_cache(maxsize=_CACHE)
def pieces(direction: str) -> tuple[str, ...]:
    """The terms that a direction, topic or title joins."""
    return unique(_JOINT.split(direction)) if clean(direction) else ()


def quoted(text: str) -> list[str]:
    """What stands in double quotes."""
    return _QUOTED.findall(text)


def headed(title: str) -> str:
    """A title without its means: what stands before the last "with" or "through"."""
    head = _MEANS.split(title)[0]
    if not clean(head):
        return UNTITLED
    if len(head.split()) > 11:
        return capital(" for ".join(pieces(head)[:2]))
    return head


def headline(utterance: Any) -> str:
    """What an utterance puts forward: its direction or title; empty for a guest."""
    for name in ("direction", "title"):
        value = getattr(utterance, name, "")
        if isinstance(value, str) and value.strip():
            return value
    return ""


def spoken(utterance: Any) -> str:
    """All the words of an utterance, or of a plain string."""
    if isinstance(utterance, str):
        return utterance
    words = getattr(utterance, "words", None)
    return str(words()) if callable(words) else ""


def raised(utterance: Any) -> tuple[str, ...]:
    """The terms that an utterance, summary or memory line raises."""
    head = headline(utterance)
    return pieces(head) if head else _heard(spoken(utterance)[:2000])


@lru_cache(maxsize=_CACHE)
def _heard(text: str) -> tuple[str, ...]:
    marked = _QUOTED.findall(text)
    if marked:
        return unique(term for part in marked for term in pieces(part))
    traces = [trace(line) for line in sentences(text)]
    known = [term for found in traces if found for value in found for term in pieces(value)]
    return unique(known) if known else runs(text)


@lru_cache(maxsize=_CACHE)
def substance(text: str) -> str:
    """A text without the wording of known frames, which tells nothing about its subject."""
    found = [(line, trace(line)) for line in sentences(text)]
    return " ".join(line if terms is None else ", ".join(terms) for line, terms in found)


def traced(lines: Iterable[str]) -> tuple[str, ...]:
    """The terms in sentences, by their frames where these are known."""
    found: list[str] = []
    for line in lines:
        slots = trace(line)
        found += [t for t in runs(line, 3) if " " in t] if slots is None else slots
    return unique(found)


def listed(value: Any) -> list[Any]:
    """A slot as a list: nothing, one thing or several; a question nobody was asked is None."""
    items = value if isinstance(value, list | tuple) else [value]
    return [item for item in items if item is not None]


def guests(slots: Mapping[str, Any]) -> tuple[str, ...]:
    """The terms that consulted guests brought into this turn."""
    answers = [item for item in listed(slots.get("said")) if is_guest(item)]
    return unique(term for item in answers for term in raised(item)[:1])


def is_guest(utterance: Any) -> bool:
    """True for a consulted outsider's answer."""
    return isinstance(getattr(utterance, "answer", None), str)


def without(terms: Iterable[str], used: Iterable[str]) -> list[str]:
    """Terms that are not among the used ones, in order."""
    taken = {term.casefold() for term in used}
    return [term for term in terms if term.casefold() not in taken]
