"""Who counts as a scientist, and what is known of them, by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from raw_records import raw

from society.ecosystem.population import Careers, choose, joint_papers, mask, profile


def keywords(record):
    return record.keywords


@pytest.fixture
def known(records):
    return [record for record in records if record.year < 2010]


LEAST = [(1, 0, "abc"), (3, 0, "ab"), (4, 0, "a"), (1, 3, "a"), (1, 2, "abc"), (5, 0, "")]


@pytest.mark.parametrize(("papers", "coauthors", "chosen"), LEAST)
def test_least_papers_and_coauthors(known, papers, coauthors, chosen):
    kept = [record for record in known if record.abstract]
    found, _ = choose(Careers(known), kept, papers, coauthors)
    assert "".join(found) == chosen


def test_a_scientist_has_a_kept_paper(known):
    found, steps = choose(Careers(known), known[:1], 1, 0)
    assert found == ["a", "b"]
    assert steps[0] == {"filter": "people: at least one kept past paper", "in": 4, "removed": 2}
    assert choose(Careers(known), [], 1, 0)[0] == []


def test_coauthors_are_counted_by_joint_papers(known):
    careers = Careers(known)
    assert careers.coauthors("a") == {"b": 2, "c": 2, "d": 1}
    assert careers.coauthors("d") == {"a": 1}


def test_every_name_is_masked_and_no_two_alike(records):
    names = mask(["a", "b", "c"], records, seed=1)
    assert sorted(names) == ["a", "b", "c", "d", "e", "z"]
    assert {names[a] for a in "abc"} == {"Scientist0", "Scientist1", "Scientist2"}
    assert [names[a] for a in "dez"] == ["Author0", "Author1", "Author2"]


@settings(max_examples=20)
@given(st.integers(-(2**70), 2**70), st.integers(0, 30))
def test_any_integer_seeds_the_masks(seed, count):
    chosen = [f"x{n}" for n in range(count)]
    assert sorted(mask(chosen, [], seed)) == sorted(chosen)
    assert mask(chosen, [], seed) == mask(chosen, [], seed)


def test_interests_by_frequency_then_by_first_mention(known):
    names = mask(["a"], known, 0)
    found = profile("a", Careers(known), names, {"a"}, keywords)
    assert found.interests == ("trees", "maps", "graphs")


def test_a_term_counts_once_per_paper():
    source = [raw("p1", 2000, "a", (), ("x", "x", "x", "y")), raw("p2", 2001, "a", (), ("y",))]
    found = profile("a", Careers(source), {"a": "Scientist0"}, {"a"}, keywords)
    assert found.interests == ("y", "x")


def test_at_most_ten_interests_and_collaborators_and_three_places():
    source = [
        raw(f"p{n}", 2000 + n, ["a", f"b{m}"], (), (f"word{n}", f"term{n}"))
        for n in range(12)
        for m in range(n + 1)
    ]
    people = {author.id for record in source for author in record.authors}
    names = mask(sorted(people), source, 0)
    found = profile("a", Careers(source), names, people, keywords)
    assert len(found.interests) == len(found.collaborators) == 10
    assert found.collaborators[0] == names["b0"]


def test_the_latest_place_comes_first_among_equals():
    from dataclasses import replace

    first, second = raw("p1", 2000, "a"), raw("p2", 2005, "a")
    moved = replace(second, authors=(replace(second.authors[0], affiliation="New place"),))
    found = profile("a", Careers([first, moved]), {"a": "Scientist0"}, {"a"}, keywords)
    assert found.affiliations == ("New place", "Place a")


def test_collaborators_are_scientists_of_the_population(known):
    names = mask(["a", "c"], known, 0)
    found = profile("a", Careers(known), names, {"a", "c"}, keywords)
    assert found.collaborators == (names["c"],)


def test_unknown_citations_stay_unknown_only_if_all_are():
    source = [raw("p1", 2000, "ab"), raw("p2", 2001, "a", citations=4)]
    careers, names = Careers(source), {"a": "Scientist0", "b": "Scientist1"}
    assert profile("a", careers, names, {"a", "b"}, keywords).citations == 4
    assert profile("b", careers, names, {"a", "b"}, keywords).citations is None


def test_joint_papers_of_nobody_and_of_one():
    assert joint_papers([], {}, []).shape == (0, 0)
    alone = joint_papers(["a"], {"a": "Scientist0"}, [raw("p", 2000, "ab")])
    assert alone.shape == (1, 1)
    assert alone.nnz == 0


TEAMS = st.lists(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=5, unique=True))


@given(TEAMS)
def test_joint_papers_are_counted_pair_by_pair(teams):
    source = [raw(f"p{n}", 2000, team) for n, team in enumerate(teams)]
    chosen = list("abcd")
    names = mask(chosen, source, 3)
    joint = joint_papers(chosen, names, source)
    assert np.issubdtype(joint.dtype, np.integer)
    dense = joint.toarray()
    for one in chosen:
        for other in chosen:
            places = [int(names[who].removeprefix("Scientist")) for who in (one, other)]
            expected = sum(one in team and other in team for team in teams if one != other)
            assert dense[places[0], places[1]] == expected
