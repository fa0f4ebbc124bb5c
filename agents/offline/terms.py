"""The terms of a discussion, put into sentences and read back out of them.

The frames of sentences stand in ``frames.txt``. Offline scientists understand each other by reading
the slots back out of them; for anybody else's sentence there is no frame.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, Final

from virsci_society.agents.offline.text import (
    COMMON,
    WORDS,
    capitalise,
    clean,
    mid_sentence_case,
    read_sections,
    split_sentences,
    tokens,
    with_article,
)
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.slots import Reference

FRAMES: Final = {name: tuple(lines) for name, lines in read_sections("frames.txt").items()}
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
    found: dict[str, str] = {}
    for phrase in phrases:
        term = _trimmed(phrase)
        if term:
            found.setdefault(term.casefold(), term)
    return tuple(found.values())


# Cached apart, because only a tuple can be a key, and ``unique_terms`` takes anything.
_interests = lru_cache(maxsize=_CACHE)(unique_terms)


def expertise(profile: Profile | None) -> tuple[str, ...]:
    """The interests of a scientist as terms; empty if it has none."""
    return _interests(tuple(profile.interests)) if profile is not None else ()


@lru_cache(maxsize=_CACHE)
def noun_phrases(text: str, limit: int = 4) -> tuple[str, ...]:
    """Sequences of uncommon words, of each the last ``limit``, which hold its head."""
    found: list[str] = []
    for part in _BREAK.split(_PAIRS.sub(r"\1-and-\2", text)):
        run: list[str] = []
        # A common word at the end, which closes the last phrase.
        for word in [*part.split(), "the"]:
            if word.lower().strip("'’-") not in COMMON and not _MASKED.fullmatch(word):
                run.append(word)
                continue
            if any(len(w) > 2 for w in run):
                found.append(" ".join(run[-limit:]))
            run = []
    return unique_terms(found)


@lru_cache(maxsize=_CACHE)
def _paper_terms(title: str, keywords: tuple[str, ...], abstract: str) -> tuple[str, ...]:
    found = noun_phrases(title)
    head = [*keywords[:4], *(term for term in found if " " in term)]
    if len(head) < 2:
        # A word that stands alone in a title is often an adverb or a verb.
        head += [term for term in found if not term.endswith(("ly", "ing", "ed"))] or found
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
    found = [(line, frame_terms(line)) for line in split_sentences(text)]
    return " ".join(line if terms is None else ", ".join(terms) for line, terms in found)


def sentence_terms(lines: Iterable[str]) -> tuple[str, ...]:
    """The terms in sentences; those of a known frame are read from its slots."""
    found: list[str] = []
    for line in lines:
        slots = frame_terms(line)
        found += [t for t in noun_phrases(line, 3) if " " in t] if slots is None else slots
    return unique_terms(found)


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
