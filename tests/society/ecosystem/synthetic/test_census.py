"""Counting everybody at once comes to what counting one after the other does."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from virsci_society.society.ecosystem.building.filters import count_joint_papers
from virsci_society.society.ecosystem.building.profiles import collaborator_lists
from virsci_society.society.ecosystem.synthetic.large import AuthorshipCounts

PEOPLE = 6
TEAMS = st.lists(st.lists(st.integers(0, PEOPLE - 1), unique=True, max_size=5), max_size=9)
WORDS = pa.array([f"word{number}" for number in range(7)], pa.large_string())
NAMES = pa.array([f"Scientist{number}" for number in (10, 9, 2, 1, 0, 11)], pa.large_string())


def census_of(teams):
    """Everybody has a seat: each writes one paper alone before the teams do."""
    teams = [[person] for person in range(PEOPLE)] + teams
    papers = np.repeat(np.arange(len(teams)), [len(team) for team in teams])
    people = np.array([person for team in teams for person in team])
    return teams, AuthorshipCounts(PEOPLE, papers, people)


@settings(max_examples=80, deadline=None)
@given(TEAMS, st.randoms(use_true_random=False))
def test_figures_of_everybody(teams, random):
    teams, census = census_of(teams)
    figures = np.array([random.randrange(9) for _ in teams])
    own = [[number for number, team in enumerate(teams) if one in team] for one in range(PEOPLE)]
    assert census.paper_counts().tolist() == [len(papers) for papers in own]
    assert census.sum_over_papers(figures).tolist() == [sum(figures[papers]) for papers in own]
    assert census.value_of_first_paper(figures).tolist() == [figures[papers[0]] for papers in own]


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(TEAMS, st.randoms(use_true_random=False))
def test_interests_of_everybody(teams, random):
    teams, census = census_of(teams)
    terms = np.array([random.sample(range(len(WORDS)), 4) for _ in teams])
    found = census.interests(terms, WORDS).to_pylist()
    for one in range(PEOPLE):
        counts = Counter(
            t for team, about in zip(teams, terms, strict=True) if one in team for t in about
        )
        assert found[one] == [WORDS[t].as_py() for t, _ in counts.most_common(10)]


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(TEAMS)
def test_collaborators_of_everybody(teams):
    teams, census = census_of(teams)
    joint = count_joint_papers(census.incidence(len(teams)), np.arange(PEOPLE))
    names, found = NAMES.to_pylist(), collaborator_lists(joint, NAMES).to_pylist()
    for one in range(PEOPLE):
        counts = Counter(names[other] for team in teams if one in team for other in team)
        del counts[names[one]]
        assert found[one] == sorted(counts, key=lambda name: (-counts[name], name))
        assert joint.toarray()[one].tolist() == [counts[name] for name in names]


def test_of_many_terms_and_collaborators_ten_are_kept():
    teams = [list(range(12))]
    census = AuthorshipCounts(12, np.zeros(12, dtype=np.int64), np.arange(12))
    words = pa.array([f"w{number}" for number in range(12)], pa.large_string())
    terms = np.arange(12)[None, ::-1]
    assert census.interests(terms, words).to_pylist() == [[f"w{n}" for n in range(11, 1, -1)]] * 12
    joint = count_joint_papers(census.incidence(len(teams)), np.arange(12))
    assert [len(names) for names in collaborator_lists(joint, words).to_pylist()] == [10] * 12
