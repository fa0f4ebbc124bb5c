"""Filters on papers, one at a time."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.society.ecosystem.raw_records import corpus_of, raw
from virsci_society.society.ecosystem.building.build_options import PaperFilters
from virsci_society.society.ecosystem.building.filters import (
    BY_YEAR,
    COLLECTED,
    COUNTED,
    COUNTED_BOTH_WAYS,
    NO_COUNTS,
    select_papers,
)


class Chosen:
    """A selection: of each side, the ids of its papers with their citations, by year, then id."""

    def __init__(self, source, boundary, filters=None):
        corpus = corpus_of(sorted(source, key=lambda r: (r.year, r.id)), boundary)
        self.selection = select_papers(corpus, filters or PaperFilters())
        ids, counts = corpus.ids.to_pylist(), self.selection.citations.tolist()
        sides = {"known": corpus.known}
        sides |= {"past": self.selection.past, "contemporary": self.selection.contemporary}
        for side, rows in sides.items():
            setattr(self, side, {ids[row]: counts[row] for row in rows.nonzero()[0]})


def test_without_filters_only_papers_without_abstract_go(records):
    selection = Chosen(records, 2010)
    assert list(selection.known) == ["p1", "p2", "p3", "p4", "p5"]
    assert list(selection.past) == ["p1", "p2", "p3", "p4"]
    assert list(selection.contemporary) == ["q1", "q2"]
    kept = Chosen(records, 2010, PaperFilters(require_abstract=False))
    assert list(kept.past) == list(kept.known)


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
    selection = Chosen(records, 2010, filters)
    assert (len(selection.past), len(selection.contemporary)) == (past, contemporary)


@pytest.mark.parametrize(("least", "kept"), [(0, "p1 p2 p3 p4"), (1, "p1 p2"), (3, "p1"), (4, "")])
def test_least_citations_of_the_past_count_those_at_the_boundary(records, least, kept):
    selection = Chosen(records, 2010, PaperFilters(min_citations_past=least))
    assert list(selection.past) == kept.split()
    assert list(selection.contemporary) == ["q1", "q2"]


@pytest.mark.parametrize(("least", "kept"), [(0, "q1 q2"), (7, "q1"), (8, "")])
def test_least_citations_of_contemporary_papers_are_the_collected_ones(records, least, kept):
    selection = Chosen(records, 2010, PaperFilters(min_citations_contemporary=least))
    assert list(selection.contemporary) == kept.split()
    assert len(selection.past) == 4


def test_a_paper_cites_another_once_and_itself_never():
    source = [raw("a", 2000, "x"), raw("b", 2001, "x", ("a", "a", "b")), raw("c", 2003, "x")]
    selection = Chosen(source, 2002)
    assert selection.past == {"a": 1, "b": 0}


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ([raw("a", 2000, "x", ("b",), citations=5), raw("b", 2001, "x")], COUNTED),
        ([raw("a", 2000, "x", citations=5), raw("b", 2001, "x", ("a",))], COLLECTED),
        ([raw("a", 2000, "x"), raw("b", 2001, "x", ("a",), citations=5)], NO_COUNTS),
    ],
)
def test_where_the_counts_come_from_is_said(source, sentence):
    assert Chosen(source, 2001).selection.citation_source == sentence


def test_papers_of_unknown_citations_are_left_out_by_a_least_one_and_that_is_said():
    source = [raw("a", 2000, "x"), raw("b", 2001, "x", citations=9), raw("c", 2005, "x")]
    least = PaperFilters(min_citations_past=5, min_citations_contemporary=1)
    chosen = Chosen(source, 2003, least)
    assert list(chosen.past) == ["b"]
    past, contemporary = chosen.selection.notes
    assert past.startswith("1 past papers were left out")
    assert contemporary.startswith("1 contemporary papers were left out")
    assert "theirs is unknown" in past
    assert Chosen(source, 2003).selection.notes == []


def dated(name, year, counts, references=(), citations=None):
    """A record whose source counts citations per year; their sum is the count unless given."""
    total = sum(counts.values()) if citations is None else citations
    record = raw(name, year, "x", references, citations=total)
    return replace(record, citations_by_year=tuple(sorted(counts.items())))


def test_counts_per_year_leave_out_those_from_the_boundary_on():
    source = [
        dated("a", 2000, {2010: 4, 2011: 2, 2012: 7}),
        dated("b", 2001, {2012: 3}, citations=8),
        raw("c", 2002, "x", citations=6),
        raw("d", 2002, "x"),
    ]
    chosen = Chosen(source, 2012)
    assert chosen.past == {"a": 6, "b": 5, "c": 6, "d": -1}
    assert chosen.selection.citation_source == BY_YEAR


def test_counts_per_year_that_begin_after_the_boundary_tell_nothing_of_it():
    source = [dated("a", 2000, {2010: 4, 2012: 7}), dated("b", 2003, {2011: 1})]
    chosen = Chosen(source, 2005)
    assert chosen.past == {"a": 11, "b": 1}
    assert chosen.selection.citation_source == COLLECTED


def test_references_inside_and_counts_per_year_are_both_heard():
    """The source's count covers citing papers that are not in it, and may miss some that are."""
    source = [
        dated("a", 2000, {2003: 4, 2005: 9}),
        dated("b", 2001, {2004: 0}, ("a",)),
        dated("c", 2002, {2004: 0}, ("a", "b")),
        dated("d", 2006, {}, ("a", "b")),
    ]
    chosen = Chosen(source, 2005)
    assert chosen.past == {"a": 4, "b": 1, "c": 0}
    assert chosen.selection.citation_source == COUNTED_BOTH_WAYS


YEARS = st.lists(st.integers(2000, 2010), min_size=1, max_size=30)


@given(years=YEARS, boundary=st.integers(2001, 2011), first=st.integers(1999, 2011))
def test_nothing_is_lost_between_the_steps(years, boundary, first):
    source = [
        raw(f"p{n}", year, "a", citations=n % 4, abstract="x" * (n % 3))
        for n, year in enumerate(years)
    ]
    filters = PaperFilters(first_year=first, min_citations_contemporary=1, min_citations_past=1)
    selection = select_papers(corpus_of(source, boundary), filters)
    for side, kept in (("past", selection.past), ("contemporary", selection.contemporary)):
        steps = [step for step in selection.steps if str(step["filter"]).startswith(side)]
        before = sum((r.year < boundary) == (side == "past") for r in source)
        for step in steps:
            assert step["in"] == before
            before -= step["removed"]
        assert before == kept.sum()
    assert all(year < boundary for year, kept in zip(years, selection.past, strict=True) if kept)
    late = zip(years, selection.contemporary, strict=True)
    assert all(year >= boundary for year, kept in late if kept)
