"""Document frequencies of the terms that scientists state as interests, and what they rule out.

Where papers have no keywords, interests are terms of their text, and some of these say nothing
("big", "case study", "work progress"). Profiles decide who is found and what embedded scientists
say, so they stay as they are. ``cleaned_interests`` leaves out the worst terms where a profile is
shown to a language model. The frequencies are those of the time before day 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from virsci_society.agents.lazy_imports import pa, pc
from virsci_society.agents.profile import Profile
from virsci_society.society.literature.embedding.lsa import WORD

if TYPE_CHECKING:
    from virsci_society.society.ecosystem.people import People
    from virsci_society.society.literature.papers import Papers

SAMPLE = 10_000
"""Most past papers whose texts are counted; of more, so many are taken at equal steps."""
SHORT = 3
"""Most characters of a single word that counts as an abbreviation or a scrap."""
COMMON_SHARE = 0.05
"""Share of the past papers that contain a term, from which on it is common."""
COMMON_PAPERS = 25
"""Papers that must contain a term before it counts as common, whatever their share."""
KEYWORD_SHARE = 0.1
"""Share of the papers with a term in their text that name it as a keyword, below which a common
term is general language and no subject."""
RARE_PEOPLE = 3
"""Scientists who state a term often enough that it need not be a keyword."""
RARE_PAPERS = 3
"""Papers that contain a phrase often enough that it need not be a keyword."""
LEAST = 3
"""Where fewer interests are left, the first ones with a fault are shown all the same."""
MEMO = 65_536
"""Lists of interests whose cleaned form stays in memory."""

Fault = Literal["short", "common", "rare"]


@dataclass(frozen=True, slots=True)
class TermFrequency:
    """How often a term was used before day 0.

    Attributes:
        texts: past papers whose title and abstract hold its words one after another, among the
            papers that were looked at.
        keywords: past papers that name it as a keyword.
        people: scientists who state it as an interest on day 0.
    """

    texts: int = 0
    keywords: int = 0
    people: int = 0


@dataclass(frozen=True, eq=False)
class InterestVocabulary:
    """The frequencies of all interests of an ecosystem.

    Attributes:
        frequencies: by term in lower case.
        papers: number of past papers, whose keywords were all counted.
        texts: number of those among them whose texts were looked at.
        keywords_known: whether any past paper has keywords.
    """

    frequencies: dict[str, TermFrequency] = field(repr=False)
    papers: int
    texts: int
    keywords_known: bool

    @classmethod
    def count(cls, past: Papers, people: People) -> InterestVocabulary:
        """Count the interests of the people in the past papers."""
        stated = _term_counts(people.table["interests"])
        named = _term_counts(past.table["keywords"])
        step = max(1, -(-len(past) // SAMPLE))
        seen = past.table.select(["title", "abstract"]).take(np.arange(0, len(past), step))
        columns = (seen["title"].to_pylist(), seen["abstract"].to_pylist())
        texts = _phrase_counts(stated, zip(*columns, strict=True))
        frequencies = {
            term: TermFrequency(texts[term], named[term], count) for term, count in stated.items()
        }
        return cls(frequencies, len(past), seen.num_rows, bool(named))

    def fault(self, term: str) -> Fault | None:
        """Why a term is left out where interests are shown; None for a term that is shown.

        - ``short``: a single word of up to ``SHORT`` ASCII characters ("lic", "vs").
        - ``common``: at least ``COMMON_SHARE`` of the papers contain it, and fewer of them than
          ``KEYWORD_SHARE`` name it as a keyword ("techniques", "case study"). Where no paper has
          keywords, only single words can be common.
        - ``rare``: no paper names it as a keyword, fewer than ``RARE_PEOPLE`` scientists state it,
          and it is a single word ("university") or a phrase that fewer than ``RARE_PAPERS``
          papers contain ("work progress").

        A term that nobody stated on day 0 has no frequencies; it can be ``short`` only.
        """
        single = len(term.split()) == 1
        if single and len(term) <= SHORT and term.isascii():
            return "short"
        known = self.frequencies.get(term.lower())
        if known is None:
            return None
        common = known.texts >= max(COMMON_PAPERS, COMMON_SHARE * self.texts)
        if common and (single or self.keywords_known):
            # Estimated for all papers, because the keywords are those of all.
            containing = known.texts * self.papers / self.texts
            return "common" if known.keywords < KEYWORD_SHARE * containing else None
        if known.keywords:
            return None
        spread = known.people >= RARE_PEOPLE or (not single and known.texts >= RARE_PAPERS)
        return None if spread else "rare"

    @cached_property
    def cleaned(self) -> Callable[[tuple[str, ...]], tuple[str, ...]]:
        """What ``cleaned_interests`` does, for a tuple of interests; results stay in memory."""
        return lru_cache(maxsize=MEMO)(partial(_cleaned, self))


def cleaned_interests(profile: Profile, vocabulary: InterestVocabulary) -> tuple[str, ...]:
    """The interests of a scientist as they are shown in a prompt.

    A term is left out if ``InterestVocabulary.fault`` finds one, or if its words, in the singular,
    stand one after another in another interest that is kept ("vector field" beside "vector field
    topology"). Of two that are equal in the singular the one with more keywords, then texts, is
    kept. If fewer than ``LEAST`` are left, the first that had a fault come back. The order is that
    of the profile; there are none only where it has none.
    """
    return vocabulary.cleaned(profile.interests)


def _cleaned(vocabulary: InterestVocabulary, interests: tuple[str, ...]) -> tuple[str, ...]:
    terms = tuple(dict.fromkeys(interests))
    sound = [term for term in terms if vocabulary.fault(term) is None]
    kept = _without_fragments(vocabulary, sound)
    faulty = [term for term in terms if term not in sound]
    back = faulty[: max(0, LEAST - len(kept))]
    return tuple(term for term in terms if term in kept or term in back)


def _without_fragments(vocabulary: InterestVocabulary, terms: Sequence[str]) -> list[str]:
    """The terms that are no part of another one, in the singular; of equal ones the best known."""

    def known(term: str) -> tuple[int, int]:
        found = vocabulary.frequencies.get(term.lower(), TermFrequency())
        return found.keywords, found.texts

    best: dict[tuple[str, ...], str] = {}
    for term in terms:
        words = _singular_words(term)
        # Strictly more, so that of equally known terms the first is kept.
        if words not in best or known(term) > known(best[words]):
            best[words] = term
    return [
        term
        for words, term in best.items()
        if not any(len(words) < len(other) and _contains(other, words) for other in best)
    ]


def _contains(words: tuple[str, ...], part: tuple[str, ...]) -> bool:
    places = range(len(words) - len(part) + 1)
    return any(words[place : place + len(part)] == part for place in places)


def _singular_words(term: str) -> tuple[str, ...]:
    """The words of a term in lower case without the plural ending; the term itself has one."""
    return tuple(map(_singular, _words(term))) or (term.lower(),)


def _singular(word: str) -> str:
    if len(word) <= SHORT or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith(("xes", "ches", "shes", "sses")):
        return word[:-2]
    return word.removesuffix("s")


def _words(text: str) -> list[str]:
    return WORD.findall(text.lower())


def _term_counts(lists: pa.ChunkedArray) -> Counter[str]:
    """In how many lists of a column each term stands, by the term in lower case."""
    rows = np.asarray(pc.list_parent_indices(lists), dtype=np.int64)
    flat = pc.utf8_lower(pc.list_flatten(lists)).combine_chunks().dictionary_encode()
    terms: list[str] = flat.dictionary.to_pylist()
    # Each list counts once, also where it holds a term twice.
    pairs = np.unique(rows * len(terms) + np.asarray(flat.indices, dtype=np.int64))
    counts = np.bincount(pairs % max(1, len(terms)), minlength=len(terms))
    return Counter(dict(zip(terms, counts.tolist(), strict=True)))


def _phrase_counts(terms: Iterable[str], papers: Iterable[tuple[str, str]]) -> Counter[str]:
    """In how many papers, given as title and abstract, the words of each term stand in a row."""
    words_of = {term: tuple(_words(term)) for term in terms}
    phrases = set(words_of.values()) - {()}
    lengths: dict[str, set[int]] = {}
    for phrase in phrases:
        lengths.setdefault(phrase[0], set()).add(len(phrase))
    counts: Counter[tuple[str, ...]] = Counter()
    for texts in papers:
        # Title and abstract apart: a phrase does not run from one into the other.
        found = {run for text in texts for run in _runs(_words(text), lengths) if run in phrases}
        counts.update(found)
    return Counter({term: counts[words] for term, words in words_of.items()})


def _runs(words: list[str], lengths: Mapping[str, set[int]]) -> Iterator[tuple[str, ...]]:
    """The runs of words that are as long as a phrase which begins with their first word."""
    for place, word in enumerate(words):
        for length in lengths.get(word, ()):
            yield tuple(words[place : place + length])
