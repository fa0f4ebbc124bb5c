"""People without a past, and a small literature by others."""

import numpy as np
import pytest

from virsci_society.society.ecosystem.synthetic.synthetic import Strangers


@pytest.fixture(scope="module")
def ecosystem():
    return Strangers(people=500).generate(3)


def test_nobody_has_written_and_nobody_knows_anybody(ecosystem):
    assert len(ecosystem.profiles) == 500
    assert not ecosystem.profiles.papers.any()
    assert ecosystem.coauthors.nnz == 0
    assert {profile.id for profile in ecosystem.profiles} == {f"Scientist{n}" for n in range(500)}
    assert any("nobody in the population has a paper" in n for n in ecosystem.manifest["notes"])


def test_the_literature_is_by_others(ecosystem):
    everybody = {profile.id for profile in ecosystem.profiles}
    papers = [*ecosystem.past, *ecosystem.contemporary]
    assert len(papers) == 300
    assert all(paper.authors for paper in papers)
    assert not everybody & {author for paper in papers for author in paper.authors}


def test_everybody_is_interested_in_something(ecosystem):
    assert all(profile.interests for profile in ecosystem.profiles)
    assert ecosystem.interest_vectors.shape == (500, ecosystem.embedding.dim)
    assert np.isfinite(ecosystem.interest_vectors).all()


@pytest.mark.slow
def test_the_same_seed_makes_the_same_people(ecosystem):
    assert Strangers(people=500).generate(3).digest() == ecosystem.digest()
    assert Strangers(people=500, seed=3).generate(9).digest() == ecosystem.digest()
    assert Strangers(people=500).generate(4).digest() != ecosystem.digest()
