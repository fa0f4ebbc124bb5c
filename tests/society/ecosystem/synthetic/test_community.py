"""The made-up community: careers, teams and citations without words."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from virsci_society.society.ecosystem.synthetic.synthetic import CommunityModel


def grown(seed=0, years=12, papers=40, fields=4, newcomers=0.5):
    community = CommunityModel(np.random.default_rng(seed), np.ones(fields), newcomers)
    for year in range(2000, 2000 + years):
        community.write_year(year, papers)
    return community


@pytest.fixture(scope="module")
def community():
    return grown(seed=1, years=20, papers=80)


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


def test_teams_are_of_the_stated_mean_size(community):
    assert np.mean([len(work.authors) for work in community.works]) == pytest.approx(3.3, abs=0.15)


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
