"""Notes: what an ecosystem says of its source, for every report to repeat."""

from __future__ import annotations

from society.ecosystem.filters import Selection
from society.ecosystem.outline import Outline

COLLECTED_LATER = "citations of contemporary papers (for CI) are counts at collection time"
NO_CI = "citations of contemporary papers are unknown: CI and ON are not available"
NO_CONTEMPORARY = "there are no contemporary papers: CD, CI and ON are not available"
OWN_TERMS = "interests of papers without keywords are terms of their own text"


def notes_on(outline: Outline, selection: Selection, scientists: int) -> list[str]:
    """Where the citations come from, what is unknown, and which side is empty."""
    notes = [selection.citations_are]
    counts = selection.citations[selection.contemporary]
    if not len(counts):
        notes.append(NO_CONTEMPORARY)
    elif not (counts >= 0).any():
        notes.append(NO_CI)
    else:
        notes.append(COLLECTED_LATER)
        if unknown := int((counts < 0).sum()):
            notes.append(
                f"citations of {unknown:,} of the {len(counts):,} contemporary papers are unknown; "
                "they are left out of CI"
            )
    if not bool(outline.keywords[outline.known].all()):
        notes.append(OWN_TERMS)
    notes.extend(selection.notes)
    notes.extend(_empty(outline, selection, scientists))
    return notes


def _empty(outline: Outline, selection: Selection, scientists: int) -> list[str]:
    first, last = outline.span
    span = f"the source's years are {first} to {last}"
    found = []
    if not selection.past.any():
        why = "the filters leave none" if outline.known.any() else f"{span}, all from it on"
        found.append(
            f"EMPTY: no past papers before {outline.boundary}: {why}; a society cannot start "
            f"from this, choose {_other(outline)}weaker filters"
        )
    if not selection.contemporary.any():
        why = f"{span}, all before it" if outline.known.all() else "the filters leave none"
        found.append(f"EMPTY: no contemporary papers from {outline.boundary} on: {why}")
    if not scientists:
        found.append(
            "EMPTY: no scientists: nobody passes the filters on people; a society cannot start "
            "from this"
        )
    return found


def _other(outline: Outline) -> str:
    first, last = outline.span
    if first < outline.boundary <= last + 1:
        return "another boundary or "
    return f"a boundary from {first + 1} to {last + 1} or "
