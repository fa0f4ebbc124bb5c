"""The words of synthetic ecosystems, fields with their terms and abstracts made of them.

Terms and sentence patterns are in two text files beside this one. The text reads as English and
clusters by field; it says nothing true. The words of very many papers are written in streams of
some thousand, straight into columns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.agents.lazy_imports import pa
from virsci_society.society.ecosystem.synthetic.community import InventedPapers
from virsci_society.society.literature.embedding.base import paper_text

FOLDER = Path(__file__).parent
FEWEST_WORDS = 122
MOST_WORDS = 178
SPREAD = 35
ROLES = ("opening", "problem", "approach", "detail", "evidence", "result", "closing")
NEIGHBOUR = 0.35
DRIFT_WIDTH = 0.16


@dataclass(frozen=True)
class ResearchField:
    """A field of research and its terms.

    Attributes:
        head: the term that names it.
        themes: topics of study, from old to new.
        methods: methods of study; each takes an indefinite article.
        objects: objects of study; plural.
        measures: measured quantities; each takes "the".
        settings: places of use; each follows "in".
    """

    head: str
    themes: tuple[str, ...]
    methods: tuple[str, ...]
    objects: tuple[str, ...]
    measures: tuple[str, ...]
    settings: tuple[str, ...]


def pick(rng: Generator, choices: Sequence[str]) -> str:
    """Draw one of the choices, each with the same probability."""
    return choices[int(rng.random() * len(choices))]


def pick_two(rng: Generator, choices: Sequence[str]) -> tuple[str, str]:
    """Draw two different choices."""
    first = int(rng.random() * len(choices))
    second = (first + 1 + int(rng.random() * (len(choices) - 1))) % len(choices)
    return choices[first], choices[second]


@cache
def research_fields() -> tuple[ResearchField, ...]:
    """Every field of the vocabulary, in the order of the file."""
    fields = []
    for head, lines in _sections("vocabulary.txt").items():
        terms = {name: _terms(rest) for name, _, rest in (line.partition(":") for line in lines)}
        fields.append(ResearchField(head=head, **terms))
    return tuple(fields)


@cache
def sentence_patterns() -> dict[str, tuple[str, ...]]:
    """The sentence patterns, by role; places and institutions are terms on one line."""
    return {
        role: tuple(term for line in lines for term in _terms(line))
        for role, lines in _sections("sentences.txt").items()
    }


def theme_weights(now: float | FloatArray, count: int) -> FloatArray:
    """Positive weights of a field's themes (count, or n x count) by the position of its attention.

    The position ``now`` goes from 0, the oldest theme, to 1; several stand in a column (n x 1).
    """
    places = (np.arange(count) + 0.5) / count
    weights: FloatArray = np.exp(-np.square((places - now) / DRIFT_WIDTH) / 2) + 0.02
    return weights


def affiliation(rng: Generator, field: ResearchField) -> str:
    """Invent a department at an institution."""
    known = sentence_patterns()
    department = pick(rng, known["department"]).format(field=field.head.title())
    place = pick(rng, known["place"])
    return f"{department}, {pick(rng, known['institution']).format(place=place)}"


def write_paper(
    rng: Generator, field: ResearchField, neighbour: ResearchField, themes: tuple[str, str]
) -> tuple[str, str, tuple[str, ...]]:
    """Write title, abstract and keywords of a paper on two themes of a field.

    The neighbour lends a theme now and then, in the text alone. The abstract has about 122 to 178
    words; the keywords are field, themes and method.
    """
    slots = _slots(rng, field, neighbour, themes)
    known = sentence_patterns()
    title = _sentence(pick(rng, known["title"]), slots, rng)
    sentences = [_sentence(pick(rng, known[role]), slots, rng) for role in ROLES]
    details: list[str] = rng.permutation(known["detail"]).tolist()
    length = sum(len(sentence.split()) for sentence in sentences)
    # Drawn in any case: a text that is long enough must not shift the draws of the next one.
    fewest = FEWEST_WORDS + int(rng.random() * SPREAD)
    while length < fewest and details:
        extra = _sentence(details.pop(), slots, rng)
        if extra not in sentences:
            sentences.insert(ROLES.index("evidence"), extra)
            length += len(extra.split())
    while length > MOST_WORDS:
        length -= len(sentences.pop(ROLES.index("detail")).split())
    return title, " ".join(sentences), (field.head, *themes, slots["method"])


def _slots(
    rng: Generator, field: ResearchField, neighbour: ResearchField, themes: tuple[str, str]
) -> dict[str, str]:
    method, method2 = pick_two(rng, field.methods)
    object1, object2 = pick_two(rng, field.objects)
    measure, measure2 = pick_two(rng, field.measures)
    lender = neighbour if rng.random() < NEIGHBOUR else field
    return {
        "field": field.head,
        "theme": themes[0],
        "theme2": themes[1],
        "method": method,
        "method2": method2,
        "a_method": _with_article(method),
        "a_method2": _with_article(method2),
        "object": object1,
        "object2": object2,
        "measure": measure,
        "measure2": measure2,
        "setting": pick(rng, field.settings),
        "other": pick(rng, lender.themes),
    }


def _sentence(pattern: str, slots: dict[str, str], rng: Generator) -> str:
    drawn = {
        "number": str(20 * (1 + int(rng.random() * 60))),
        "percent": str(3 + int(rng.random() * 40)),
    }
    text = pattern.format(**slots, **drawn)
    return text[0].upper() + text[1:]


def _with_article(noun: str) -> str:
    return f"{'an' if noun[0].lower() in 'aeio' else 'a'} {noun}"


def _terms(text: str) -> tuple[str, ...]:
    return tuple(term.strip() for term in text.split("|"))


def _sections(name: str) -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in (FOLDER / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            lines = sections.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            lines.append(line)
    return sections


PAPERS_PER_STREAM = 20_000
"""Papers that are written from one random stream."""


@dataclass(eq=False)
class PaperTexts:
    """Titles, abstracts and keywords of very many papers, in columns.

    Every ``PAPERS_PER_STREAM`` papers have a random stream of their own.

    Attributes:
        fields: the fields, by number.
        words: every keyword: of each field its head, themes and methods.
        titles: one per paper, in chunks.
        abstracts: one per paper, in chunks.
        keywords: a row per paper: head, two themes, method, as numbers into ``words``.
        sample: texts of the papers that were asked for, by number of the paper.
    """

    fields: Sequence[ResearchField]
    words: list[str] = field(default_factory=list)
    titles: list[Any] = field(default_factory=list)
    abstracts: list[Any] = field(default_factory=list)
    keywords: IntArray = field(default_factory=lambda: np.zeros((0, 4), dtype=np.int64))
    sample: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for one in self.fields:
            self.words += [one.head, *one.themes, *one.methods]
        self._number_of = {word: number for number, word in enumerate(self.words)}

    def write(
        self,
        works: InventedPapers,
        now: FloatArray,
        seed: int,
        asked: IntArray,
        count: Callable[[int], None],
    ) -> None:
        """Write every paper, and store the texts of the ``asked`` ones in ``sample``.

        Only years and fields of the works matter; ``now`` is the position of the field's attention
        at each paper, from 0 to 1; ``count`` is called with the number of papers written.
        """
        self.keywords = np.empty((len(works), 4), dtype=np.int64)
        wanted = frozenset(asked.tolist())
        for start in range(0, len(works), PAPERS_PER_STREAM):
            rng = np.random.default_rng([seed, 2, start])
            rows = range(start, min(start + PAPERS_PER_STREAM, len(works)))
            self._write(rows, works, now, rng, wanted)
            count(rows.stop)

    def columns(self) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
        """The columns of titles and abstracts."""
        text = pa.large_string()
        return pa.chunked_array(self.titles, text), pa.chunked_array(self.abstracts, text)

    def _write(
        self,
        rows: range,
        works: InventedPapers,
        now: FloatArray,
        rng: Generator,
        wanted: frozenset[int],
    ) -> None:
        titles, abstracts = [], []
        pairs = _pairs(now[rows.start : rows.stop], len(self.fields[0].themes), rng)
        own = works.fields[rows.start : rows.stop].tolist()
        for row, number, (first, second) in zip(rows, own, pairs.tolist(), strict=True):
            one = self.fields[number]
            neighbour = self.fields[int(rng.random() * len(self.fields))]
            themes = (one.themes[first], one.themes[second])
            title, abstract, keywords = write_paper(rng, one, neighbour, themes)
            titles.append(title)
            abstracts.append(abstract)
            self.keywords[row] = [self._number_of[word] for word in keywords]
            if row in wanted:
                self.sample[row] = paper_text(title, abstract)
        self.titles.append(pa.array(titles, pa.large_string()))
        self.abstracts.append(pa.array(abstracts, pa.large_string()))


def _pairs(now: FloatArray, themes: int, rng: Generator) -> IntArray:
    """Draw two different themes for each moment, by weight, without replacement."""
    # The largest of weights with Gumbel noise are draws without replacement.
    keys = np.log(theme_weights(now[:, None], themes)) + rng.gumbel(size=(len(now), themes))
    return np.argsort(-keys, axis=1)[:, :2].astype(np.int64)
