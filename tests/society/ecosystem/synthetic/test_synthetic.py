"""Synthetic ecosystems: seeded, of the stated size, with fields that cluster and drift."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from virsci_society.society.ecosystem.synthetic.synthetic import CommunityModel, Synthetic
from virsci_society.society.ecosystem.synthetic.text import research_fields


def digest():
    """A hash of everything in one ecosystem."""
    return Synthetic(scientists=20, papers=150, fields=4).generate(11).digest()


@pytest.fixture(scope="module")
def sixty():
    return Synthetic(scientists=60, papers=600).generate(5)


def test_it_has_the_stated_size(sixty):
    assert len(sixty.profiles) == 60
    assert len(sixty.past) + len(sixty.contemporary) == 600
    assert sixty.boundary == 2024
    assert {p.year for p in sixty.past} == set(range(2008, 2024))
    assert {p.year for p in sixty.contemporary} == set(range(2024, 2028))
    sixty.require_runnable()


@pytest.mark.parametrize(
    ("scientists", "papers", "count"), [(1, 2, 1), (3, 10, 2), (40, 60, 12), (150, 300, 6)]
)
def test_any_size_that_holds_together_is_made(scientists, papers, count):
    settings = Synthetic(scientists=scientists, papers=papers, fields=count, years_past=2)
    ecosystem = settings.generate(1)
    assert len(ecosystem.profiles) == scientists
    assert len(ecosystem.past) + len(ecosystem.contemporary) == papers
    ecosystem.require_runnable()


def test_the_refusal_says_how_many_papers_are_enough():
    with pytest.raises(ValidationError) as caught:
        Synthetic(scientists=90, papers=18)
    enough = int(re.search(r"at least (\d+) papers", str(caught.value)).group(1))
    assert len(Synthetic(scientists=90, papers=enough).generate(1).profiles) == 90


@pytest.mark.parametrize("wrong", [{"fields": 13}, {"fields": 0}, {"papers": 1}, {"topics": 3}])
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(ValidationError):
        Synthetic(**wrong)


def test_two_processes_with_different_hash_seeds_make_the_same(nursery):
    here = "tests.society.ecosystem.synthetic.test_synthetic"
    assert nursery.call(f"{here}:digest") == digest()


def test_a_pinned_seed_wins_over_the_runs_and_others_differ():
    small = {"scientists": 6, "papers": 30, "fields": 2}
    pinned = Synthetic(**small, seed=9)
    assert pinned.generate(1).past == pinned.generate(2).past == Synthetic(**small).generate(9).past
    assert Synthetic(**small).generate(1).past != Synthetic(**small).generate(2).past
    assert Synthetic(**small).generate(-1).past


def test_the_global_generators_are_left_alone():
    import random

    np.random.seed(1)
    random.seed(1)
    before = (np.random.get_state()[1].tolist(), random.getstate())
    Synthetic(scientists=6, papers=30).generate(1)
    assert (np.random.get_state()[1].tolist(), random.getstate()) == before


def test_every_profile_starts_with_the_head_term_of_a_field(sixty):
    heads = {field.head for field in research_fields()}
    for profile in sixty.profiles:
        assert profile.topic in heads
        assert 3 <= len(profile.interests) <= 10
        assert len(set(profile.interests)) == len(profile.interests)


def test_abstracts_read_as_text(sixty):
    for paper in (*sixty.past, *sixty.contemporary):
        assert 120 <= len(paper.abstract.split()) <= 180
        assert "{" not in paper.abstract + paper.title
        for sentence in re.split(r"(?<=\.) ", paper.abstract):
            assert sentence[0].isupper()
            assert sentence.endswith(".")
        assert not re.search(r"\ba [aeio]", paper.abstract)
        assert not re.search(r"\ban [^aeio]", paper.abstract)


def test_vectors_cluster_by_field(sixty):
    topic = np.array([p.keywords[0] for p in sixty.past])
    cosines = sixty.past_vectors @ sixty.past_vectors.T
    alike = topic[:, None] == topic[None, :]
    np.fill_diagonal(cosines, np.nan)
    assert np.nanmean(cosines[alike]) > 3 * np.nanmean(cosines[~alike])
    nearest = topic[np.nanargmax(cosines, axis=1)]
    assert (nearest == topic).mean() > 0.97


def test_fields_drift_in_the_contemporary_years(sixty):
    old = [p.year < 2012 for p in sixty.past]
    late = [p.year >= 2020 for p in sixty.past]
    topic = np.array([p.keywords[0] for p in sixty.past])
    now = np.array([p.keywords[0] for p in sixty.contemporary])
    nearer = 0
    for head in set(topic):
        centre = sixty.contemporary_vectors[now == head].mean(axis=0)
        early_gap, late_gap = (
            np.linalg.norm(
                sixty.past_vectors[np.array(part) & (topic == head)].mean(axis=0) - centre
            )
            for part in (old, late)
        )
        nearer += late_gap < early_gap
    assert nearer >= 0.8 * len(set(topic))


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
