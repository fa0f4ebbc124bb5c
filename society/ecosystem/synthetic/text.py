"""The words of synthetic ecosystems, English that clusters by field and says nothing true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.random import Generator

from virsci_society.agents.arrays import FloatArray

FOLDER = Path(__file__).parent
FEWEST_WORDS = 122
MOST_WORDS = 178
SPREAD = 35
ROLES = ("opening", "problem", "approach", "detail", "evidence", "result", "closing")
NEIGHBOUR = 0.35
DRIFT_WIDTH = 0.16


@dataclass(frozen=True)
class ResearchField:
    """A field of research and its terms."""

    head: str
    themes: tuple[str, ...]
    methods: tuple[str, ...]
    objects: tuple[str, ...]
    measures: tuple[str, ...]
    settings: tuple[str, ...]


def _pick(rng: Generator, choices: Sequence[str]) -> str:
    return choices[int(rng.random() * len(choices))]


def _pick_two(rng: Generator, choices: Sequence[str]) -> tuple[str, str]:
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


def theme_weights(now: float, count: int) -> FloatArray:
    """Positive weights of the themes of a field whose attention is at ``now``, from 0 (oldest)."""
    places = (np.arange(count) + 0.5) / count
    return np.exp(-np.square((places - now) / DRIFT_WIDTH) / 2) + 0.02


def affiliation(rng: Generator, field: ResearchField) -> str:
    """Invent a department at an institution."""
    patterns = sentence_patterns()
    department = _pick(rng, patterns["department"]).format(field=field.head.title())
    place = _pick(rng, patterns["place"])
    return f"{department}, {_pick(rng, patterns['institution']).format(place=place)}"


def write_paper(
    rng: Generator, field: ResearchField, neighbour: ResearchField, themes: tuple[str, str]
) -> tuple[str, str, tuple[str, ...]]:
    """Write title, abstract and keywords of a paper on two themes of a field."""
    method, method2 = _pick_two(rng, field.methods)
    object1, object2 = _pick_two(rng, field.objects)
    measure, measure2 = _pick_two(rng, field.measures)
    lender = neighbour if rng.random() < NEIGHBOUR else field
    slots = {"field": field.head, "theme": themes[0], "theme2": themes[1]}
    slots |= {"method": method, "method2": method2, "object": object1, "object2": object2}
    slots |= {"a_method": _with_article(method), "a_method2": _with_article(method2)}
    slots |= {"measure": measure, "measure2": measure2}
    slots |= {"setting": _pick(rng, field.settings), "other": _pick(rng, lender.themes)}
    patterns = sentence_patterns()
    title = _sentence(_pick(rng, patterns["title"]), slots, rng)
    sentences = [_sentence(_pick(rng, patterns[role]), slots, rng) for role in ROLES]
    details = [patterns["detail"][at] for at in rng.permutation(len(patterns["detail"]))]
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
    return title, " ".join(sentences), (field.head, *themes, method)


def _sentence(pattern: str, slots: dict[str, str], rng: Generator) -> str:
    drawn = {
        "number": str(20 * (1 + int(rng.random() * 60))),
        "percent": str(3 + int(rng.random() * 40)),
    }
    text = pattern.format_map(slots | drawn)
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
