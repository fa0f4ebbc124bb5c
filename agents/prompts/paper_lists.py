"""Lists of papers on a page, with the keys that papers keep or with letters for one comparison."""

from __future__ import annotations

import re
import string
from collections.abc import Container, Sequence

from virsci_society.agents.prompts.dialogue import MARK, flatten
from virsci_society.agents.reference import Reference

LEFT_OUT = "[…]"
"""Stands where the rest of an abstract is left out."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9(\"'])")
_OWN_WORK = re.compile(
    r"(?i)\b(?:we|our|(?:this|the present) (?:paper|article|work|study|thesis))\b"
)


def list_references(
    references: Sequence[Reference], sentences: int | None = None, named: Container[str] = ()
) -> str:
    """Papers with key, title, year, authors and abstract; one line each.

    Args:
        references: the papers.
        sentences: number of sentences of each abstract that are shown; None: all.
        named: masked names of the authors who are named.
    """
    titles = list_titles(references, named).splitlines()
    return "\n".join(
        f"{line} {own_sentences(reference.abstract, sentences)}".rstrip()
        for line, reference in zip(titles, references, strict=True)
    )


def own_sentences(abstract: str, count: int | None) -> str:
    """The sentences in which an abstract says what its paper does, on one line.

    They begin with the first that has a word such as "we" or "this paper", because those before it
    tell what is known; where there is none, with the first of all. A mark stands where something is
    left out.

    Args:
        abstract: the text.
        count: number of sentences; None: the whole text.
    """
    flat = flatten(abstract)
    parts = _SENTENCE.split(flat)
    if count is None or not flat or len(parts) <= count:
        return flat
    own = next((at for at, part in enumerate(parts) if _OWN_WORK.search(part)), 0)
    start = min(own, len(parts) - count)
    shown = parts[start : start + count]
    before, after = start > 0, start + count < len(parts)
    return " ".join([*[LEFT_OUT] * before, *shown, *[LEFT_OUT] * after])


def list_titles(references: Sequence[Reference], named: Container[str] = ()) -> str:
    """Papers with key, title, year and authors, as in ``list_references``; one line each."""
    return "\n".join(
        f"{MARK} [{paper_key(reference, number)}] {_describe(reference, named)}"
        for number, reference in enumerate(references, 1)
    )


def list_lettered(references: Sequence[Reference]) -> str:
    """Papers under the letters A, B, C and so on; one line each."""
    return "\n".join(
        f"{MARK} {letter(place)}: {_describe(reference)} {flatten(reference.abstract)}".rstrip()
        for place, reference in enumerate(references)
    )


def paper_key(reference: Reference, number: int) -> str:
    """The key of a paper on a page: its own, or its number in the list where it has none."""
    return reference.key or f"P{number}"


def letter(place: int) -> str:
    """The letter of a place, from 0: A to Z, then AA, AB and so on."""
    letters = string.ascii_uppercase
    return letters[place] if place < 26 else letter(place // 26 - 1) + letters[place % 26]


def pair_name(place: int) -> str:
    """The name under which a written abstract is compared with the paper at a place, from 0."""
    return f"Written Abstract vs {letter(place)}"


def _describe(reference: Reference, named: Container[str] = ()) -> str:
    names = [name for name in reference.authors if name in named]
    authors = f"; by {', '.join(names)}" if names else ""
    return flatten(f"{reference.title} ({reference.year}{authors}).")


def list_keys(references: Sequence[Reference]) -> str:
    """The keys of papers, separated by commas."""
    return ", ".join(paper_key(reference, n) for n, reference in enumerate(references, 1))
