"""Lists of papers on a page: with the keys that papers keep, or with letters for one comparison."""

from __future__ import annotations

import string
from collections.abc import Sequence

from agents.prompts.dialogue import MARK, flatten
from agents.reference import Reference


def list_references(references: Sequence[Reference]) -> str:
    """Papers with key, title, year, authors in the society, and abstract; one line each."""
    return "\n".join(
        f"{line} {flatten(reference.abstract)}"
        for line, reference in zip(list_titles(references).splitlines(), references, strict=True)
    )


def list_titles(references: Sequence[Reference]) -> str:
    """Papers with key, title and year; one line each."""
    return "\n".join(
        f"{MARK} [{paper_key(reference, number)}] {_describe(reference)}"
        for number, reference in enumerate(references, 1)
    )


def list_lettered(references: Sequence[Reference]) -> str:
    """Papers under the letters A, B, C and so on; one line each."""
    return "\n".join(
        f"{MARK} {letter(place)}: {_describe(reference)} {flatten(reference.abstract)}"
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


def _describe(reference: Reference) -> str:
    return f"{flatten(reference.title)} ({reference.year})."


def list_keys(references: Sequence[Reference]) -> str:
    """The keys of papers, separated by commas."""
    return ", ".join(paper_key(reference, n) for n, reference in enumerate(references, 1))
