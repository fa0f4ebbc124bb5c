"""The paper's years and thresholds, and what may be given instead."""

from dataclasses import replace

import pytest

from tests.society.ecosystem.raw_records import raw
from virsci_society.agents.errors import InputError
from virsci_society.society.ecosystem.building.build_options import (
    PRESETS,
    BuildOptions,
    PaperFilters,
    PeopleFilters,
    build_options,
)
from virsci_society.society.ecosystem.building.builder import build


def test_the_paper_of_aminer_cs():
    """2000 to 2010 is past, 2011 to 2014 contemporary (VirSci, appendix A)."""
    plan, facts = build_options("virsci-cs", {})
    assert plan == BuildOptions(
        2011, PaperFilters(2000, 2014, True, 10, 5), PeopleFilters(50, 50, "all"), seed=0
    )
    assert facts == {"preset": "virsci-cs", "instead_of_preset": {}}


def test_the_paper_of_the_open_academic_graph():
    """2010 to 2020 is past, 2021 to 2023 contemporary (VirSci, appendix A)."""
    plan, _ = build_options("virsci-oag", {})
    assert plan.boundary == 2021
    assert plan.papers == PaperFilters(2010, 2023, True, 200, 50)
    assert plan.people == PeopleFilters(40, 50, "all")


def test_what_is_given_beside_a_preset_holds_and_is_said():
    given = {"min_papers": 3, "boundary": 2012, "require_abstract": False, "first_year": None}
    plan, facts = build_options("virsci-cs", given, seed=7)
    assert (plan.boundary, plan.people.min_papers, plan.people.min_coauthors) == (2012, 3, 50)
    assert (plan.papers.require_abstract, plan.papers.first_year, plan.seed) == (False, 2000, 7)
    assert facts["instead_of_preset"] == {
        "boundary": {"preset": 2011, "given": 2012},
        "require_abstract": {"preset": True, "given": False},
        "min_papers": {"preset": 50, "given": 3},
    }


def test_without_a_preset_the_defaults_hold():
    plan, facts = build_options(None, {"boundary": 2012, "min_papers": None})
    assert plan == BuildOptions(2012)
    assert facts == {}


def test_a_boundary_is_needed_and_a_preset_is_known():
    with pytest.raises(InputError, match="--boundary YEAR or --preset NAME"):
        build_options(None, {"boundary": None})
    with pytest.raises(InputError, match="'virsci' is not known; known: virsci-cs, virsci-oag"):
        build_options("virsci", {})


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_the_boundary_year_of_the_paper_is_past(preset):
    """People are counted on all papers before the boundary, but need a kept one."""
    plan = PRESETS[preset]
    last, later = plan.boundary - 1, plan.boundary
    kept = [raw("k", last, "ab"), raw("l", last, "c")]
    citing = [raw(f"r{n}", last, "x", ("k",)) for n in range(plan.papers.min_citations_past)]
    many = range(max(plan.people.min_papers, plan.people.min_coauthors))
    early = [raw(f"e{n}", 1980, ["a", f"m{n}"]) for n in many]
    others = [raw(f"o{n}", 1980, ["z", f"m{n}"]) for n in many]
    new = [raw("q", later, "a", citations=plan.papers.min_citations_contemporary)]
    built = build([*kept, *citing, *early, *others, *new], plan)
    assert [paper.id for paper in built.past] == ["k"]
    assert [paper.id for paper in built.contemporary] == ["q"]
    assert [built.key[profile.id][0] for profile in built.profiles] == ["a"]
    assert built.manifest["heads"] == {"all": 1, "kept": 0}
    on_kept = replace(plan, people=replace(plan.people, count_on="kept"))
    assert build([*kept, *citing, *early, *new], on_kept).counts["scientists"] == 0
