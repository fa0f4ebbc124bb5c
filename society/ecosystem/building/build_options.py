"""Presets: the years and thresholds of the VirSci paper, and how given ones replace them.

The paper counts its boundary year itself as past (appendix A, Table 2), so that the first
contemporary year, which is our boundary, is the one after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import Any

from agents.errors import InputError
from society.ecosystem.filters import PaperFilters
from society.ecosystem.plan import Plan
from society.ecosystem.population import PeopleFilters

PRESETS = {
    "virsci-cs": Plan(
        boundary=2011,
        papers=PaperFilters(
            first_year=2000,
            last_year=2014,
            min_citations_past=10,
            min_citations_contemporary=5,
        ),
        people=PeopleFilters(min_papers=50, min_coauthors=50),
    ),
    "virsci-oag": Plan(
        boundary=2021,
        papers=PaperFilters(
            first_year=2010,
            last_year=2023,
            min_citations_past=200,
            min_citations_contemporary=50,
        ),
        people=PeopleFilters(min_papers=40, min_coauthors=50),
    ),
}
"""AMiner CS as in the paper: 2000 to 2010 and to 2014, 156 authors. OAG 3.1: 2010 to 2020 and to
2023, 3,169 authors."""


def planned(
    preset: str | None, given: Mapping[str, Any], **also: Any
) -> tuple[Plan, dict[str, Any]]:
    """A plan from a preset and what was given beside it, and what the manifest says of that.

    Args:
        preset: a name in ``PRESETS``; None for the plain defaults.
        given: ``boundary`` and fields of the filters; None stands for not given.
        also: other fields of the plan.

    Raises:
        InputError: an unknown preset, or neither a preset nor a boundary.
    """
    chosen = {name: value for name, value in given.items() if value is not None}
    plan = _preset(preset) if preset is not None else None
    if plan is None and "boundary" not in chosen:
        raise InputError("no boundary year is given; give --boundary YEAR or --preset NAME")
    start = plan or Plan(boundary=chosen["boundary"])
    papers = {one.name: chosen[one.name] for one in fields(PaperFilters) if one.name in chosen}
    people = {one.name: chosen[one.name] for one in fields(PeopleFilters) if one.name in chosen}
    made = replace(
        start,
        boundary=chosen.get("boundary", start.boundary),
        papers=replace(start.papers, **papers),
        people=replace(start.people, **people),
        **also,
    )
    if plan is None:
        return made, {}
    return made, {"preset": preset, "instead_of_preset": _changed(plan, made)}


def _preset(name: str) -> Plan:
    if name not in PRESETS:
        raise InputError(f"preset {name!r} is not known; known: {', '.join(PRESETS)}")
    return PRESETS[name]


def _changed(preset: Plan, made: Plan) -> dict[str, dict[str, Any]]:
    before, after = _flat(preset), _flat(made)
    return {
        name: {"preset": before[name], "given": after[name]}
        for name in before
        if before[name] != after[name]
    }


def _flat(plan: Plan) -> dict[str, Any]:
    return {"boundary": plan.boundary} | asdict(plan.papers) | asdict(plan.people)
