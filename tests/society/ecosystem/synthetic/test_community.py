"""The made-up community: careers, teams and citations without words."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from virsci_society.society.ecosystem.synthetic.community import CommunityModel


def grown(seed=0, years=12, papers=40, fields=4, newcomers=0.5):
    community = CommunityModel(np.random.default_rng(seed), np.ones(fields), newcomers)
    for year in range(2000, 2000 + years):
        community.write_year(year, papers)
    return community


@pytest.fixture(scope="module")
def community():
    return grown(seed=1, years=20, papers=80)


def test_the_same_generator_grows_the_same_community():
    assert grown(3).works == grown(3).works
    assert grown(3).people == grown(3).people
    assert grown(3).works != grown(4).works


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 999),
    years=st.integers(1, 6),
    papers=st.integers(0, 12),
    fields=st.integers(1, 5),
    newcomers=st.sampled_from([0.1, 0.5, 1.0]),
)
def test_whatever_its_size_it_holds_together(seed, years, papers, fields, newcomers):
    community = grown(seed, years, papers, fields, newcomers)
    assert len(community.works) == years * papers
    wrote = {author for work in community.works for author in work.authors}
    assert wrote == set(range(len(community.people)))
    for work in community.works:
        assert 0 <= work.field < fields
        assert len(set(work.authors)) == len(work.authors) >= 1
        assert len(set(work.references)) == len(work.references)
        assert all(community.works[cited].year < work.year for cited in work.references)
        for author in work.authors:
            person = community.people[author]
            assert person.entry <= work.year <= person.leaves


def test_with_newcomers_only_nobody_writes_twice():
    seats = Counter(a for work in grown(newcomers=1.0).works for a in work.authors)
    assert set(seats.values()) == {1}


def test_teams_are_of_the_stated_mean_size(community):
    assert np.mean([len(work.authors) for work in community.works]) == pytest.approx(3.3, abs=0.15)


def test_productivity_has_a_heavy_tail(community):
    written = np.array(sorted(Counter(a for w in community.works for a in w.authors).values()))
    assert np.median(written) == 1
    assert written[-1] > 10 * written.mean()
    top = written[-len(written) // 10 :].sum() / written.sum()
    assert top > 0.3


def test_partners_come_back_more_often_than_by_chance(community):
    pairs = Counter(
        frozenset((one, other))
        for work in community.works
        for one in work.authors
        for other in work.authors
        if one < other
    )
    regular = {
        a for a, n in Counter(a for w in community.works for a in w.authors).items() if n > 4
    }
    among = [count for pair, count in pairs.items() if pair <= regular]
    assert np.mean([count > 1 for count in among]) > 0.25


def test_people_stay_in_their_field_mostly(community):
    own = [
        community.people[author].field == work.field
        for work in community.works
        for author in work.authors
    ]
    assert 0.8 < np.mean(own) < 1.0


def test_citations_stay_in_the_field_mostly_and_prefer_the_recent(community):
    works = community.works
    same, ages = [], []
    for work in works:
        for cited in work.references:
            same.append(works[cited].field == work.field)
            ages.append(work.year - works[cited].year)
    assert np.mean(same) > 0.7
    late = [w for w in works if w.year >= 2015]
    uniform = np.mean([w.year - v.year for w in late[::40] for v in works if v.year < w.year])
    assert np.mean(ages) < uniform


def test_citations_go_to_the_cited(community):
    received = Counter(cited for work in community.works for cited in work.references)
    counts = np.sort([received[n] for n in range(len(community.works))])[::-1]
    assert counts[: len(counts) // 10].sum() > 0.3 * counts.sum()


def test_a_field_of_no_weight_is_not_written_in():
    weights = np.array([1.0, 0.0, 1.0])
    community = CommunityModel(np.random.default_rng(2), weights, 0.5)
    for year in range(2000, 2005):
        community.write_year(year, 50)
    assert {work.field for work in community.works} == {0, 2}


def test_the_first_year_cites_nothing():
    assert all(not work.references for work in grown(years=1).works)
