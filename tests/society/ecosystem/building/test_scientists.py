"""Who counts as a scientist, and what is known of them, by hand."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.society.ecosystem.raw_records import corpus_of, raw
from virsci_society.society.ecosystem.building.build_options import (
    BuildOptions,
    PaperFilters,
    PeopleFilters,
)
from virsci_society.society.ecosystem.building.builder import build
from virsci_society.society.ecosystem.building.filters import (
    count_joint_papers,
    count_scientists,
    select_papers,
    select_scientists,
)


def chosen(records, filters, boundary=2010, papers=None):
    """The ids of the scientists, sorted, and the steps that led to them."""
    corpus = corpus_of(records, boundary)
    columns, steps = select_scientists(
        corpus, select_papers(corpus, papers or PaperFilters()), filters
    )
    people = {author.id for record in records for author in record.authors}
    found = [who for who in people if set(corpus.columns_of([who])) & set(columns)]
    return "".join(sorted(found)), steps


def people_of(records, boundary=2010, **filters):
    """Profiles by source id, and the ecosystem's names of everybody."""
    plan = BuildOptions(boundary, PaperFilters(require_abstract=False), PeopleFilters(**filters))
    ecosystem = build(records, plan)
    names = {source: masked for masked, (source, _) in ecosystem.key.items()}
    by_name = {profile.id: profile for profile in ecosystem.profiles}
    return {who: by_name[name] for who, name in names.items() if name in by_name}, names


LEAST = [(1, 0, "abc"), (3, 0, "ab"), (4, 0, "a"), (1, 3, "a"), (1, 2, "abc"), (5, 0, "")]


@pytest.mark.parametrize(("papers", "coauthors", "expected"), LEAST)
def test_least_papers_and_coauthors(records, papers, coauthors, expected):
    assert chosen(records, PeopleFilters(papers, coauthors))[0] == expected


KEPT = [(1, 0, "abc"), (3, 0, "ab"), (4, 0, ""), (1, 3, ""), (1, 2, "abc")]


@pytest.mark.parametrize(("papers", "coauthors", "expected"), KEPT)
def test_least_papers_and_coauthors_on_kept_papers(records, papers, coauthors, expected):
    """Ada wrote p5 with Dee, and p5 has no abstract."""
    assert chosen(records, PeopleFilters(papers, coauthors, "kept"))[0] == expected


def test_both_head_counts(records):
    corpus = corpus_of(records, 2010)
    selection = select_papers(corpus, PaperFilters())
    assert count_scientists(corpus, selection, PeopleFilters(4)) == {"all": 1, "kept": 0}
    assert count_scientists(corpus, selection, PeopleFilters(3, 0, "kept")) == {"all": 2, "kept": 2}


def test_a_scientist_has_a_kept_paper_however_many_others(records):
    only_first = PaperFilters(last_year=2005)
    found, steps = chosen(records, PeopleFilters(2), papers=only_first)
    assert found == "ab"
    assert steps[0] == {"filter": "people: at least one kept past paper", "in": 4, "removed": 2}
    assert chosen(records, PeopleFilters(2, 0, "kept"), papers=only_first)[0] == ""


def test_people_without_a_paper_in_the_last_years_are_left_out():
    source = [raw("p1", 2000, "ab"), raw("p2", 2006, "bc"), raw("p3", 2009, "d")]
    for years, left in ((1, "d"), (4, "bcd"), (10, "abcd"), (None, "abcd")):
        found, steps = chosen(source, PeopleFilters(active_years=years))
        assert found == left
    assert steps[-1]["filter"] == "people: at least 0 co-authors"
    _, steps = chosen(source, PeopleFilters(active_years=4))
    assert steps[-1] == {"filter": "people: a kept past paper from 2006 on", "in": 4, "removed": 1}


def test_a_term_counts_once_per_paper():
    source = [raw("p1", 2000, "a", (), ("x", "X", "x", "y")), raw("p2", 2001, "a", (), ("y",))]
    assert people_of(source)[0]["a"].interests == ("y", "x")


def test_at_most_ten_interests_and_collaborators_and_three_places():
    source = [
        raw(f"p{n:02}{m:02}", 1990 + n, ["a", f"b{m}"], (), (f"word{n}", f"term{n}"))
        for n in range(12)
        for m in range(n + 1)
    ]
    moving = [
        replace(one, authors=(one.authors[0]._replace(affiliation=one.title), one.authors[1]))
        for one in source
    ]
    people, names = people_of(moving)
    found = people["a"]
    assert len(found.interests) == len(found.collaborators) == 10
    assert len(found.affiliations) == 3
    assert found.collaborators[0] == names["b0"]


def test_the_latest_place_comes_first_among_equals():
    first, second = raw("p1", 2000, "a"), raw("p2", 2005, "a")
    moved = replace(second, authors=(second.authors[0]._replace(affiliation="New place"),))
    assert people_of([moved, first])[0]["a"].affiliations == ("New place", "Place a")


def test_unknown_citations_stay_unknown_only_if_all_are():
    counted = replace(raw("p2", 2001, "a", citations=4), citations_by_year=((2001, 4),))
    people, _ = people_of([raw("p1", 2000, "ab"), counted])
    assert people["a"].citations == 4
    assert people["b"].citations is None


TEAMS = st.lists(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=5, unique=True))


@given(TEAMS)
def test_joint_papers_are_counted_pair_by_pair(teams):
    corpus = corpus_of([raw(f"p{n}", 2000, team) for n, team in enumerate(teams)], 2001)
    there = [who for who in "abcd" if len(corpus.columns_of([who]))]
    columns = [int(corpus.columns_of([who])[0]) for who in there]
    joint = count_joint_papers(corpus.people, columns)
    assert joint.dtype == np.int64
    assert not (joint.data == 0).any()
    dense = joint.toarray()
    for row, one in enumerate(there):
        for column, other in enumerate(there):
            expected = sum(one in team and other in team for team in teams if one != other)
            assert dense[row, column] == expected
