"""Synthetic ecosystems: seeded, of the stated size, with fields that cluster and drift."""

import hashlib
import re
from collections import Counter

import numpy as np
import pytest
from pydantic import ValidationError

from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic
from virsci_society.society.ecosystem.synthetic.text import research_fields, sentence_patterns


def digest():
    """A hash of everything in one ecosystem."""
    e = Synthetic(scientists=20, papers=150, fields=4).generate(11)
    parts = (e.past, e.contemporary, e.profiles, e.career_starts, e.coauthors.toarray().tolist())
    return hashlib.sha256(repr(parts).encode() + e.past_vectors.tobytes()).hexdigest()


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


def test_no_two_abstracts_are_equal_and_no_sentence_is_everywhere(sixty):
    papers = [*sixty.past, *sixty.contemporary]
    assert len({p.abstract for p in papers}) == len(papers)
    assert len({p.title for p in papers}) > 0.85 * len(papers)
    sentences = Counter(s for p in papers for s in p.abstract.split(". "))
    assert sentences.most_common(1)[0][1] < 0.05 * len(papers)


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


def test_the_vocabulary_is_complete():
    assert len(research_fields()) == 12
    for field in research_fields():
        assert len(field.themes) == 12
        assert len(field.methods) == len(field.objects) == 10
        assert len(field.measures) == len(field.settings) == 6
        assert all(terms == tuple(dict.fromkeys(terms)) for terms in (field.themes, field.objects))
    assert all(sentence_patterns().values())


def test_every_pattern_can_be_filled():
    slots = (
        "field theme theme2 method method2 a_method a_method2 object object2 measure measure2 "
        "setting other number percent place"
    )
    names = slots.split()
    for role, lines in sentence_patterns().items():
        for line in lines:
            filled = line.format(**dict.fromkeys(names, "word"))
            assert "{" not in filled
            if role not in ("title", "place", "institution", "department"):
                assert line.endswith(".")
