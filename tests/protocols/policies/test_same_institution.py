"""Teams of one institution: how often people of the leader's place are asked."""

import numpy as np
import pytest

from virsci_society.protocols.policies.same_institution import SameInstitution
from virsci_society.protocols.policies.uniform import Uniform
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.runs.build import build_society
from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic
from virsci_society.society.results.run import Run

DRAWS = 3000


SMALL = {"scientists": 60, "papers": 400, "institutions": 4}


def society(**keys):
    small = {f"population.ecosystem.{key}": value for key, value in SMALL.items()}
    return build_society(load_scenario("community/assembly", seed=2, **small | keys))


@pytest.fixture(scope="module")
def world():
    return society().world


@pytest.mark.sweep(3)
@pytest.mark.parametrize("share", [0.0, 0.6, 1.0])
def test_draws_follow_the_definition(world, share):
    policy, leader = SameInstitution(share=share, among=Uniform()), 5
    candidates = [row for row in range(len(world.population)) if row != leader]
    weights = policy.probabilities([leader], candidates, world)
    rng = np.random.default_rng(1)
    drawn = [policy.choose([leader], {leader}, world, rng) for _ in range(DRAWS)]
    counts = np.bincount(drawn, minlength=len(world.population))[candidates]
    assert counts / DRAWS == pytest.approx(weights / weights.sum(), abs=0.025)
    places = world.ecosystem.profiles.workplaces
    own = np.mean([places[row] == places[leader] for row in drawn])
    near = np.mean([places[row] == places[leader] for row in candidates])
    assert own == pytest.approx(share + (1 - share) * near, abs=0.04)


def test_where_nobody_of_the_place_is_left_anybody_is_drawn(world):
    policy, leader = SameInstitution(share=1, among=Uniform()), 5
    places = world.ecosystem.profiles.workplaces
    local = {row for row, place in enumerate(places) if place == places[leader]}
    drawn = policy.choose([leader], local, world, np.random.default_rng(1))
    assert drawn is not None
    assert places[drawn] != places[leader]


def test_institutions_change_nothing_else_of_an_ecosystem():
    plain, spread = (
        Synthetic(scientists=30, papers=240, **more).generate(3)
        for more in ({}, {"institutions": 3})
    )
    assert len(set(spread.profiles.workplaces)) == 3
    assert len(set(plain.profiles.workplaces)) > 20
    assert list(spread.profiles.names) == list(plain.profiles.names)
    assert list(spread.profiles.topics) == list(plain.profiles.topics)


@pytest.mark.slow
@pytest.mark.parametrize(("share", "low", "high"), [(0, 0.6, 1.0), (1, 0.0, 0.0)])
def test_teams_are_of_one_place_where_leaders_ask_there(share, low, high):
    keys = {"protocol.newcomers": None, "protocol.repeat_teams": None, "until": "1y"}
    keys["protocol.selection"] = {"use": "same_institution", "share": share}
    made = society(**keys)
    made.run_to_end()
    run = Run.from_rows(made.log.all_rows(), {"seed": 2, "days": 365.0}, {})
    authors = run.table("authorships").merge(run.table("scientists")[["scientist", "institution"]])
    places = authors.groupby("paper")["institution"].agg(["size", "nunique"])
    remote = places.loc[places["size"] > 1, "nunique"] > 1
    assert len(remote) > 15
    assert low <= remote.mean() <= high
