"""A population and a network that grow are what they would be if everybody had been there."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests.society import tiny_society
from virsci_society.agents.profile import Profile
from virsci_society.protocols.policies.nearest_topics import NearestTopics
from virsci_society.society.careers import add_newcomer
from virsci_society.society.ecosystem.knowledge_bank import People
from virsci_society.society.population import population
from virsci_society.society.population.network import CoauthorNetwork
from virsci_society.society.population.population import Population

COME = 12


class Clock:
    date = 0.0

    def __call__(self):
        return self.date


def grown_and_whole(seed):
    """Two networks with the same papers: one grows by rows, one has had them all along."""
    rng, clock, people = np.random.default_rng(seed), Clock(), 8
    base = np.triu(rng.integers(0, 3, (people, people)) * (rng.random((people, people)) < 0.4), 1)
    base = base + base.T
    padded = np.pad(base, (0, COME))
    grown = CoauthorNetwork(csr_array(base), clock)
    whole = CoauthorNetwork(csr_array(padded), clock)
    for step in range(COME):
        clock.date = float(step + 1)
        grown.add_row()
        for _ in range(2):
            authors = rng.permutation(grown.size)[: int(rng.integers(1, 5))].tolist()
            grown.record_paper(authors)
            whole.record_paper(authors)
    return clock, grown, whole


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("later", [0.0, 1.0], ids=["on a day of papers", "after it"])
def test_a_network_that_grew_equals_one_built_whole(seed, later):
    clock, grown, whole = grown_and_whole(seed)
    clock.date += later
    assert grown.size == whole.size == 8 + COME
    everybody = np.arange(grown.size)
    assert grown.degrees().tolist() == whole.degrees().tolist()
    assert grown.degrees()[8:].any()
    assert list(map(grown.strength, everybody)) == list(map(whole.strength, everybody))
    for row in everybody.tolist():
        for mine, theirs in zip(grown.coauthors(row), whole.coauthors(row), strict=True):
            assert mine.tolist() == theirs.tolist()
        assert (
            grown.joint_papers_with(row, everybody).tolist()
            == whole.joint_papers_with(row, everybody).tolist()
        )
        known = grown.strength(row)
        assert known == whole.strength(row)
        assert [grown.partner_at(row, at) for at in range(known)] == [
            whole.partner_at(row, at) for at in range(known)
        ]
    assert grown.ties_before_day_0().tolist() == whole.ties_before_day_0().tolist()
    assert (
        grown.ties_before_day_0(np.array([9, 2])).tolist()
        == whole.ties_before_day_0(np.array([2])).tolist()
    )
    assert set(grown.graph().edges) == set(whole.graph().edges)
    assert grown.distinct_coauthors.total() == whole.distinct_coauthors.total()
    counts = [one.distinct_coauthors.counts(one.size).tolist() for one in (grown, whole)]
    assert counts[0] == counts[1]


@pytest.mark.parametrize("most", [20_000, 2], ids=["agents", "columns"])
@pytest.mark.parametrize(
    "called", [["Scientist0", "Scientist1", "Scientist2"], ["Zoe", "Scientist4", "Ann"]]
)
def test_newcomers_continue_the_names_and_rows(monkeypatch, most, called):
    monkeypatch.setattr(population, "ALL_AGENTS_LIMIT", most)
    monkeypatch.setattr(Population, "scientist", lambda self, row: None)
    clock = Clock()
    people = People.of([Profile(who, ("Here",), ("graphs",), papers=3) for who in called])
    crowd = Population(
        people, None, CoauthorNetwork(csr_array((3, 3), dtype=np.int64), clock), clock
    )
    clock.date = 5.0
    rows = [crowd.add_newcomer(("There",), ("vision",)) for _ in range(2)]
    names = ["Scientist3", "Scientist4"] if "Zoe" not in called else ["Scientist3", "Scientist5"]
    assert rows == [3, 4]
    assert len(crowd) == len(crowd.names) == len(crowd.rows) == 5
    assert list(crowd.names) == list(crowd.rows) == [*called, *names]
    assert [crowd.rows[who] for who in crowd.names] == [0, 1, 2, 3, 4]
    assert [crowd.names[row] for row in range(5)] == [*called, *names]
    assert [crowd.present_since(row) for row in (0, 3)] == [0.0, 5.0]
    assert crowd.profile(3, 9.0) == Profile(names[0], ("There",), ("vision",))
    assert crowd.totals("papers").tolist() == [3, 3, 3, 0, 0]
    assert crowd.just_arrived() == {3, 4}
    clock.date = 6.0
    assert crowd.just_arrived() == set()


@pytest.fixture
def society():
    """Ten people and six who came on day 1; one of them has written with two of the ten."""
    society = tiny_society.found(tiny_society.talk(), (1e5, 0), until=50.0)
    society.env.run(until=1.0)
    for place in range(6):
        add_newcomer(society.world, ("University",), (tiny_society.INTERESTS[place],), None)
    return society


@pytest.fixture
def world(society):
    return society.world


def let_a_day_pass(world):
    world.env.run(until=2.0)
    world.network.record_paper([2, 11, 5])
    world.population.record_paper([2, 11, 5], [])
    world.env.run(until=3.0)


def test_nearest_topics_are_those_of_people_who_are_here(world):
    let_a_day_pass(world)
    policy, rng = NearestTopics(nearest=0.25, explore=0.0), np.random.default_rng(1)
    left = {policy.choose((2,), frozenset({2}), world, rng) for _ in range(100)}
    assert len(left) == 4
    for row in left:
        world.depart(row, "removed")
    closed = world.unavailable() | {2}
    others = {policy.choose((2,), closed, world, rng) for _ in range(100)}
    assert None not in others
    assert len(others) == 3  # a quarter of the twelve who are left
    assert not others & left


def test_nobody_is_won_on_the_date_of_its_coming(world):
    assert world.unavailable() == set(range(10, 16))
    assert world.at_limit(12)
    assert not world.at_limit(2)
    let_a_day_pass(world)
    assert not world.unavailable()
    assert not world.at_limit(12)


def test_newcomers_are_searched_known_and_told_to_mesa(society, world):
    before = {one.id for one in world.nearest_scientists(16, frozenset(), 1.0, "graphs")}
    let_a_day_pass(world)
    after = [one.id for one in world.nearest_scientists(16, frozenset(), 3.0, "graphs")]
    assert len(before) == 10
    assert len(after) == 16
    assert set(after[:3]) == {"Scientist0", "Scientist8", "Scientist10"}
    assert world.acquaintance("Scientist2", "Scientist11") == {"ties": 1, "similarity": 0.0}
    assert world.topic_numbers[10:].tolist() == world.topic_numbers[:6].tolist()
    assert [agent.row for agent in society.agents][-6:] == list(range(10, 16))
    assert len(society.space.G) == 16
    add_newcomer(world, (), ("graphs",), None)
    assert len(society.space.G) == 17
    assert [row[0] for row in world.log.rows["scientists"]][-1] == "Scientist16"
