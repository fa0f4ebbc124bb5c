"""The options of a build, presets for them, and the interface for showing its progress."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from virsci_society.agents.errors import InputError


class BuildProgress:
    """The progress of a build, which only a subclass shows."""

    def begin(self, phase: str) -> None:
        """Begin a phase."""

    def count(self, done: int) -> None:
        """Report the number of records that the phase has read."""

    def texts(self, done: int, of: int, known: int) -> None:
        """Report the numbers of texts with a vector, of all, and of those known before."""


@dataclass(frozen=True)
class PaperFilters:
    """The filters on papers; excluded years still count for people and citations."""

    first_year: int | None = None
    last_year: int | None = None
    require_abstract: bool = True
    min_citations_past: int = 0
    min_citations_contemporary: int = 0


@dataclass(frozen=True)
class PeopleFilters:
    """The filters on people, counted on all papers of the source before the boundary."""

    min_papers: int = 1
    min_coauthors: int = 0
    active_years: int | None = None


@dataclass(frozen=True)
class BuildOptions:
    """The options of a build; the boundary is the year in which the society starts."""

    boundary: int
    papers: PaperFilters = field(default_factory=PaperFilters)
    people: PeopleFilters = field(default_factory=PeopleFilters)
    scientists: Sequence[str] | None = None
    embedding: str = "lsa"
    seed: int = 0
    hosting: Mapping[str, str] = field(default_factory=dict)

    @property
    def filters(self) -> dict[str, Any]:
        """Every filter by its name."""
        return asdict(self.papers) | asdict(self.people)


# The paper counts its boundary year itself as past (appendix A, Table 2); the first contemporary
# year, which is the boundary here, is the one after it.
PRESETS = {
    "virsci-cs": BuildOptions(
        boundary=2011,
        papers=PaperFilters(
            first_year=2000, last_year=2014, min_citations_past=10, min_citations_contemporary=5
        ),
        people=PeopleFilters(min_papers=50, min_coauthors=50),
    ),
    "virsci-oag": BuildOptions(
        boundary=2021,
        papers=PaperFilters(
            first_year=2010, last_year=2023, min_citations_past=200, min_citations_contemporary=50
        ),
        people=PeopleFilters(min_papers=40, min_coauthors=50),
    ),
}
"""Options of the VirSci paper by name.

AMiner CS: 2000 to 2010 and to 2014, 156 authors. OAG 3.1: 2010 to 2020 and to 2023, 3,169 authors.
"""


def build_options(preset: str | None, given: Mapping[str, Any], **also: Any) -> BuildOptions:
    """Make options from a preset and filters, which override it unless None."""
    chosen = {name: value for name, value in given.items() if value is not None}
    if preset is not None and preset not in PRESETS:
        raise InputError(f"preset {preset!r} is not known; known: {', '.join(PRESETS)}")
    if preset is None and "boundary" not in chosen:
        raise InputError("no boundary year is given; give --boundary YEAR or --preset NAME")
    start = BuildOptions(boundary=chosen["boundary"]) if preset is None else PRESETS[preset]

    def with_given(filters: Any) -> Any:
        names = (option.name for option in fields(filters))
        return replace(filters, **{name: chosen[name] for name in names if name in chosen})

    return replace(
        start,
        boundary=chosen.get("boundary", start.boundary),
        papers=with_given(start.papers),
        people=with_given(start.people),
        **also,
    )
