"""Filters on papers, one at a time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from raw_records import raw

from agents.errors import InputError
from society.ecosystem.filters import COLLECTED, COUNTED, UNKNOWN, PaperFilters, select


def names(records):
    return [record.id for record in records]


def test_without_filters_only_papers_without_abstract_go(records):
    selection = select(records, 2010, PaperFilters())
    assert names(selection.known) == ["p1", "p2", "p3", "p4", "p5"]
    assert names(selection.past) == ["p1", "p2", "p3", "p4"]
    assert names(selection.contemporary) == ["q1", "q2"]
    kept = select(records, 2010, PaperFilters(require_abstract=False))
    assert names(kept.past) == names(kept.known)


@pytest.mark.parametrize(
    ("first", "last", "past", "contemporary"),
    [
        (None, None, 5, 2),
        (2007, None, 3, 2),
        (None, 2011, 5, 1),
        (2009, 2009, 1, 0),
        (2013, None, 0, 0),
    ],
)
def test_year_range_includes_both_ends(records, first, last, past, contemporary):
    filters = PaperFilters(first_year=first, last_year=last, require_abstract=False)
    selection = select(records, 2010, filters)
    assert (len(selection.past), len(selection.contemporary)) == (past, contemporary)


def test_papers_before_the_first_year_still_give_citations(records):
    filters = PaperFilters(last_year=2005)
    selection = select(records, 2010, filters)
    assert [(r.id, r.citations) for r in selection.past] == [("p1", 3)]


@pytest.mark.parametrize(("least", "kept"), [(0, "p1 p2 p3 p4"), (1, "p1 p2"), (3, "p1"), (4, "")])
def test_least_citations_of_the_past_count_those_at_the_boundary(records, least, kept):
    selection = select(records, 2010, PaperFilters(min_citations_past=least))
    assert names(selection.past) == kept.split()
    assert names(selection.contemporary) == ["q1", "q2"]


@pytest.mark.parametrize(("least", "kept"), [(0, "q1 q2"), (7, "q1"), (8, "")])
def test_least_citations_of_contemporary_papers_are_the_collected_ones(records, least, kept):
    selection = select(records, 2010, PaperFilters(min_citations_contemporary=least))
    assert names(selection.contemporary) == kept.split()
    assert len(selection.past) == 4


def test_a_paper_cites_another_once_and_itself_never():
    source = [
        raw("a", 2000, "x"),
        raw("b", 2001, "x", ("a", "a", "b")),
        raw("c", 2003, "x"),
    ]
    selection = select(source, 2002, PaperFilters())
    assert [(r.id, r.citations) for r in selection.past] == [("a", 1), ("b", 0)]


def test_a_citation_needs_a_citing_paper_before_the_boundary():
    source = [raw("a", 2000, "x", ("old",)), raw("b", 2002, "x", ("a",)), raw("c", 2003, "x")]
    assert select(source, 2002, PaperFilters()).past[0].citations == 0
    assert select(source, 2003, PaperFilters()).past[0].citations == 1


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ([raw("a", 2000, "x", ("b",), citations=5), raw("b", 2001, "x")], COUNTED),
        ([raw("a", 2000, "x", citations=5), raw("b", 2001, "x", ("a",))], COLLECTED),
        ([raw("a", 2000, "x"), raw("b", 2001, "x", ("a",), citations=5)], UNKNOWN),
    ],
)
def test_where_the_counts_come_from_is_said(source, sentence):
    assert select(source, 2001, PaperFilters()).citations_are == sentence


@pytest.mark.parametrize("boundary", [1999, 2000, 2003])
def test_a_boundary_outside_is_told_with_what_to_choose(boundary):
    source = [raw("a", 2000, "x"), raw("b", 2001, "x")]
    with pytest.raises(InputError, match=r"2000 to 2001; choose a boundary from 2001 to 2002"):
        select(source, boundary, PaperFilters())


YEARS = st.lists(st.integers(2000, 2010), min_size=1, max_size=30)


@given(years=YEARS, boundary=st.integers(2001, 2011), first=st.integers(1999, 2011))
def test_nothing_is_lost_between_the_steps(years, boundary, first):
    source = [
        raw(f"p{n}", year, "a", citations=n % 4, abstract="x" * (n % 3))
        for n, year in enumerate(years)
    ]
    filters = PaperFilters(first_year=first, min_citations_contemporary=1, min_citations_past=1)
    try:
        selection = select(source, boundary, filters)
    except InputError:
        assert not min(years) < boundary <= max(years) + 1
        return
    for side, kept in (("past", selection.past), ("contemporary", selection.contemporary)):
        steps = [step for step in selection.steps if str(step["filter"]).startswith(side)]
        before = sum((r.year < boundary) == (side == "past") for r in source)
        for step in steps:
            assert step["in"] == before
            before -= step["removed"]
        assert before == len(kept)
    assert all(r.year < boundary for r in selection.past)
    assert all(r.year >= boundary for r in selection.contemporary)
