"""Policies that look at more than the leader's row: draws agree with each one's definition."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy.stats import chisquare

from tests.society import tiny_society
from virsci_society.agents.errors import InputError
from virsci_society.protocols.policies.coauthorship import Coauthorship, Share
from virsci_society.protocols.policies.fixed import FixedTeam
from virsci_society.protocols.policies.guimera import Guimera
from virsci_society.protocols.policies.nearest_topics import NearestTopics
from virsci_society.protocols.policies.preferential_attachment import PreferentialAttachment
from virsci_society.protocols.policies.relational import Relational
from virsci_society.protocols.policies.two_step import TwoStep, coauthors_of_coauthors
from virsci_society.protocols.policies.uniform import Uniform
from virsci_society.society.careers import add_newcomer
from virsci_society.society.formation.leaders import Anybody, ByFadingPapers, Productive, Selected
from virsci_society.society.formation.leaders import ByPreferentialAttachment as StandingLeaders
from virsci_society.society.formation.leaders import Named as NamedLeaders
from virsci_society.society.kernel.streams import Streams

DRAWS = 1000
TEAMS = [(1, 2), (2, 5, 6), (5, 6, 11), (1, 2), (7, 3)]
EVERYBODY = range(12)


@pytest.fixture
def world():
    """Ten people with ties before day 0, two newcomers, and five papers, one of them of today."""
    society = tiny_society.found(tiny_society.talk(), until=50.0)
    for date, authors in enumerate(TEAMS):
        society.env.run(until=date + 1.0)
        if date < 2:
            add_newcomer(society.world, ("University",), ("privacy",), None)
        society.network.record_paper(authors)
        society.world.history.record(authors)
        society.population.record_paper(authors, [authors[0], 9])
    return society.world


def one_day_later(world):
    world.env.run(until=world.env.now + 1.0)
    return world


POLICIES = {
    "uniform": Uniform(),
    "co-authorship": Coauthorship(explore=1.0),
    "co-authorship, share": Coauthorship(explore=Share(mass=0.5)),
    "co-authors": PreferentialAttachment(),
    "co-authors only": PreferentialAttachment(floor=0),
    "papers": PreferentialAttachment(by="papers", floor=0.5),
    "fading papers": PreferentialAttachment(by="papers", floor=0.2, memory=31),
    "citations": PreferentialAttachment(by="citations", floor=10),
    "two steps": TwoStep(),
    "two steps only": TwoStep(explore=0),
    "near": NearestTopics(nearest=0.3, explore=0.3),
    "fixed": FixedTeam(people=("Scientist8", "Scientist2", "Scientist0")),
    "guimera": Guimera(p=0.6, q=0.5),
    "guimera, q = 1": Guimera(p=0.9, q=1.0),
    "guimera, tau": Guimera(p=0.7, q=0.3, inactivity=2.0),
    "guimera, ever": Guimera(p=0.5, q=0.4, incumbents="ever"),
    "relational": Relational(q=0.5, friends=0.4, papers=0.7, silence=-0.3),
    "relational, ties only": Relational(q=1.0, friends=1.0, joint=0, recency=0),
    "relational, strangers": Relational(q=0.0, friends=0.0, exponent=0.5, memory=60),
    "relational, near": Relational(q=0.2, friends=0.0, exponent=2, memory=None, topic=2.0),
    "guimera, ever and tau": Guimera(p=0.5, q=0.4, inactivity=3.0, incumbents="ever"),
}


def fits(drawn, weights, rows):
    """The p-value of rows drawn under unnormalised weights; nobody without weight is drawn.

    A seat stays empty only where newcomers have run out, whose share the weights then lack.
    """
    whole = drawn.total()
    empty = drawn.pop(None, 0)
    if empty:
        lacking = 1 - weights.sum()
        spread = 4 * (lacking * (1 - lacking) * whole) ** 0.5
        assert empty == pytest.approx(lacking * whole, abs=spread)
    counts = np.array([drawn[row] for row in rows])
    assert counts.sum() == drawn.total()
    assert not counts[weights == 0].any()
    some = weights > 0
    if some.sum() == 1:
        return 1.0
    expected = weights[some] / weights.sum() * drawn.total()
    return chisquare(counts[some], expected).pvalue


FEW = [((2,), ()), ((1, 5), (6, 0)), ((8, 4), ())]
"""Members and others excluded of ``make test``; ``make test-slow`` tries all."""


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", POLICIES)
def test_a_newcomer_may_lead_on_the_day_it_comes(world, name):
    row = add_newcomer(world, ("University",), ("privacy",), None)
    chosen = POLICIES[name].choose((row,), frozenset({row}), world, Streams(3).stream("lead"))
    assert chosen in EVERYBODY


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize(
    ("members", "also"),
    [
        pytest.param(*one, marks=() if one in FEW else pytest.mark.slow)
        for one in product([(2,), (1, 5), (8, 4)], [(), (6, 0)])
    ],
    ids=str,
)
def test_draws_follow_the_definition(world, name, members, also):
    policy, excluded = POLICIES[name], frozenset((*members, *also))
    rng = Streams(3).stream(name, members, also)
    drawn = Counter(policy.choose(members, excluded, world, rng) for _ in range(DRAWS))
    rows = [row for row in EVERYBODY if row not in excluded]
    weights = policy.probabilities(members, rows, world)
    if not weights.any():
        assert set(drawn) == {None}
        return
    assert fits(drawn, weights, rows) > 1e-4


@pytest.mark.parametrize(
    "name", ["co-authors", "papers", "near", "guimera", "two steps", "relational"]
)
def test_a_leader_can_be_drawn_for_an_empty_team(world, name):
    policy, rng = POLICIES[name], Streams(5).stream(name)
    rows = list(EVERYBODY)
    drawn = Counter(policy.choose((), frozenset(), world, rng) for _ in range(DRAWS))
    assert fits(drawn, policy.probabilities((), rows, world), rows) > 1e-4


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", POLICIES)
def test_when_so_many_are_excluded_that_proposing_fails_the_definition_still_holds(
    world, name, monkeypatch
):
    monkeypatch.setattr("virsci_society.society.formation.sampling.MAX_PROPOSALS", 0)
    policy, members, rng = POLICIES[name], (1, 5), Streams(6).stream(name)
    drawn = Counter(policy.choose(members, frozenset(members), world, rng) for _ in range(1500))
    rows = [row for row in EVERYBODY if row not in members]
    assert fits(drawn, policy.probabilities(members, rows, world), rows) > 1e-4


@pytest.mark.parametrize("name", POLICIES)
def test_nobody_is_drawn_where_everybody_is_excluded(world, name):
    policy, rng = POLICIES[name], Streams(7).stream(name)
    assert policy.choose((2,), frozenset(EVERYBODY), world, rng) is None


def test_standing_is_what_was_before_now(world):
    """The paper of 7 and 3 is of today: 3 has the tie with 4 before day 0 only, 7 has none."""
    rows = list(EVERYBODY)
    coauthors = [1, 2, 3, 1, 1, 3, 3, 0, 0, 0, 0, 2]
    assert PreferentialAttachment(floor=0).probabilities((), rows, world).tolist() == coauthors
    papers = [0, 1 + 2, 2 + 3, 3, 4, 5 + 2, 6 + 2, 7, 8, 9, 0, 1]
    by_papers = PreferentialAttachment(by="papers", floor=0)
    assert by_papers.probabilities((), rows, world).tolist() == papers
    cited = [0, 10 + 2, 20 + 1, 30, 40, 50 + 1, 60, 70, 80, 90 + 4, 0, 0]
    by_citations = PreferentialAttachment(by="citations", floor=0)
    assert by_citations.probabilities((), rows, world).tolist() == cited
    one_day_later(world)
    later = PreferentialAttachment(floor=0).probabilities((), rows, world)
    assert later.tolist() == [1, 2, 3, 2, 1, 3, 3, 1, 0, 0, 0, 2]


def test_paths_of_two_steps_by_hand(world):
    """0 knows 1, who knows 2: one path. 1 knows 0 and 2; 2 leads to 5 and 6."""
    assert sorted(coauthors_of_coauthors(0, world.network)) == [2]
    assert sorted(coauthors_of_coauthors(1, world.network)) == [5, 6]
    assert coauthors_of_coauthors(9, world.network).tolist() == []
    probabilities = TwoStep(explore=0).probabilities((1,), EVERYBODY, world)
    assert probabilities.tolist() == [0, 0, 0, 0, 0, 0.5, 0.5, 0, 0, 0, 0, 0]


def test_the_nearest_are_those_with_the_same_interest(world):
    """8 has the interest of 0, 9 that of 1; all others have one of their own."""
    probabilities = NearestTopics(nearest=0.1, explore=0).probabilities((0,), EVERYBODY, world)
    assert probabilities.tolist() == [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]


def test_guimera_by_hand(world):
    """Incumbents are 1, 2, 5, 6 and 11; 3 and 7 become it tomorrow."""
    rows = [row for row in EVERYBODY if row != 1]
    values = Guimera(p=0.8, q=0.5).probabilities((1,), rows, world)
    probabilities = dict(zip(rows, values, strict=True))
    assert probabilities[2] == pytest.approx(0.8 * (0.5 * 1 + 0.5 / 4))
    assert probabilities[5] == probabilities[6] == pytest.approx(0.8 * 0.5 / 4)
    assert all(probabilities[row] == pytest.approx(0.2 / 7) for row in (0, 3, 4, 7, 8, 9, 10))
    one_day_later(world)
    later = dict(zip(rows, Guimera(p=1.0, q=0.0).probabilities((1,), rows, world), strict=True))
    assert [row for row in rows if later[row] > 0] == [2, 3, 5, 6, 7, 11]


def test_whoever_has_been_inactive_for_too_long_is_neither(world):
    """Today is day 5: the last papers of 5 and 6 are two days old, those of 1 and 2 one day."""
    rows = list(EVERYBODY)
    recent = Guimera(p=0.5, q=0, inactivity=1.0).probabilities((), rows, world)
    assert recent[[5, 6]].tolist() == [0, 0]
    assert recent[[1, 2]].tolist() == [0.25, 0.25]
    assert recent[[3, 9]] == pytest.approx(0.5 / 7)
    two = Guimera(p=0.5, q=0, inactivity=2.0).probabilities((), rows, world)
    assert two[[1, 2, 5, 6]].tolist() == [0.1] * 4


def test_a_stated_team_of_unknown_people_is_told(world):
    with pytest.raises(
        InputError, match=r"protocol\.selection\.people: no scientist is called Adam"
    ):
        FixedTeam(people=("Adam",)).choose((0,), frozenset({0}), world, Streams(1).stream("x"))


RULES = {
    "anybody": Anybody(),
    "productive": Productive(floor=2),
    "productive, fading": Productive(floor=0.1, memory=31),
    "fading": ByFadingPapers(memory=200, exponent=0.7),
    "led": ByFadingPapers(memory=None, coauthored=0.1),
    "limited": ByFadingPapers(memory=400, exponent=2, limit=1.5),
    "productivities": ByFadingPapers(memory=None, exponent=0, shape=0.8),
    "cited": StandingLeaders(floor=5),
    "connected": StandingLeaders(by="coauthors", floor=0.5),
    "named": NamedLeaders(people=("Scientist4", "Scientist7")),
}


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("excluded", [frozenset(), frozenset({4, 9})], ids=["all", "some"])
def test_leaders_follow_the_definition_of_their_rule(world, name, excluded):
    rule, rng = RULES[name], Streams(8).stream(name)
    rows = [row for row in EVERYBODY if row not in excluded]
    drawn = Counter(rule.choose(excluded, world, rng) for _ in range(DRAWS))
    assert fits(drawn, rule.weights(rows, world), rows) > 1e-4


def test_leaders_by_a_policy_need_a_protocol_that_has_one(world):
    with pytest.raises(
        InputError, match=r"founding\.leaders: the protocol written has no selection policy"
    ):
        Selected().choose(frozenset(), world, Streams(1).stream("x"))
