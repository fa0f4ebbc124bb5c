"""Runs of one process, one after another, that start from the same ecosystem."""

import pytest

from virsci_society import load_scenario, run_scenario
from virsci_society.scenarios.runs.execute import SharedResources
from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic

PINNED = {"population.ecosystem.seed": 4}


def small(seed, **more):
    settings = {
        "population.ecosystem.scientists": 12,
        "population.ecosystem.papers": 60,
        "protocol.team_size": 2,
        "protocol.turns": 1,
        "until": "60d",
        "metrics": [],
    }
    return load_scenario("virsci/paper", seed=seed, **(settings | more))


@pytest.fixture
def made(monkeypatch):
    """The seeds for which an ecosystem was made."""
    seeds = []
    whole = Synthetic.generate

    def counted(self, seed, *more):
        seeds.append(seed)
        return whole(self, seed, *more)

    monkeypatch.setattr(Synthetic, "generate", counted)
    return seeds


def digests(place, resources):
    """Of three runs with different seeds, of which the last differs in its protocol as well."""
    found = []
    for seed in (1, 2, 3):
        scenario = small(seed, **PINNED, **{"protocol.turns": 1 + seed // 3})
        folder = run_scenario(scenario, place / str(seed), page=False, resources=resources)
        found.append((folder / "digest").read_text(encoding="utf-8"))
    return found


@pytest.mark.slow
def test_a_pinned_ecosystem_is_made_once_and_no_run_leaves_a_trace_in_it(tmp_path, made):
    together = digests(tmp_path / "shared", SharedResources())
    assert made == [1]
    assert together == digests(tmp_path / "alone", None)
    assert len(made) == 4
    assert len(set(together)) == 3


def test_it_is_made_again_where_it_is_another(made):
    resources = SharedResources()
    first = resources.ecosystem_of(small(1, **PINNED))
    assert resources.ecosystem_of(small(2, **PINNED)) is first
    assert made == [1]
    resources.ecosystem_of(small(2, **{"population.ecosystem.seed": 5}))
    assert made == [1, 2]
    # By default it comes of the seed of the run.
    resources.ecosystem_of(small(1))
    resources.ecosystem_of(small(1, **{"protocol.turns": 2}))
    assert made == [1, 2, 1]
    resources.ecosystem_of(small(2))
    assert made == [1, 2, 1, 2]


def test_runs_at_the_same_time_have_one_each(made):
    resources = SharedResources(shared=True)
    for _ in range(2):
        resources.ecosystem_of(small(1, **PINNED))
    assert made == [1, 1]
