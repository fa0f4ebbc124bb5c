"""Whom a leader asks next: draws agree with the definition P_ij = (A_ij + e) / sum_j."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import chisquare, foldnorm, kstest

from virsci_society.protocols.policies.coauthorship import Coauthorship, HalfNormal, Share
from virsci_society.protocols.policies.uniform import Uniform
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.population.network import CoauthorNetwork

N = 12
LEADER = 3
DRAWS = 2500


def network(seed=5, n=N, share=0.4):
    """Joint papers of a small random community."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.integers(1, 9, (n, n)) * (rng.random((n, n)) < share), 1)
    return CoauthorNetwork(csr_array(upper + upper.T), lambda: 0.0)


def joint(net, leader=LEADER):
    """The leader's row of A, dense."""
    return np.array([net.joint_papers(leader, other) for other in range(net.size)], dtype=float)


POLICIES = {
    "e = 1": Coauthorship(),
    "e = 0.05": Coauthorship(explore=0.05),
    "e = 20": Coauthorship(explore=20.0),
    "half normal": Coauthorship(explore=HalfNormal(seed=9)),
    "share 0.2": Coauthorship(explore=Share()),
    "share 0.7": Coauthorship(explore=Share(mass=0.7)),
    "share 1": Coauthorship(explore=Share(mass=1.0)),
    "uniform": Uniform(),
}


def definition(policy, net):
    """P_ij up to a factor, as the documentation states it."""
    if isinstance(policy, Uniform):
        return np.ones(net.size)
    past = joint(net)
    if isinstance(policy.explore, HalfNormal):
        return past + [policy.explore.entry(LEADER, other) for other in range(net.size)]
    if isinstance(policy.explore, Share):
        # With this probability anybody, else by joint papers.
        mass = policy.explore.mass
        return (1 - mass) * (past / past.sum() if past.any() else past) + mass / net.size
    return past + policy.explore


each = pytest.mark.parametrize("name", POLICIES)


def p_value(policy, net, drawn, kept):
    """Of draws of some people under the definition."""
    weights = definition(policy, net)[kept]
    counts = np.bincount(drawn, minlength=net.size)[kept]
    assert counts.sum() == len(drawn)
    return chisquare(counts, len(drawn) * weights / weights.sum()).pvalue


NOBODY = frozenset({LEADER})
SOME = frozenset({LEADER, 0, 5, 6})
ALL_BUT_TWO = frozenset(range(N)) - {1, 9}


def fit(policy, like, net, excluded, draws=DRAWS):
    """The p-value of draws under the definition of a policy, with the excluded left out."""
    rng = Streams(11).stream("draws", str(policy), len(excluded))
    drawn = [policy.draw(LEADER, excluded, net, rng) for _ in range(draws)]
    return p_value(like, net, drawn, [row for row in range(net.size) if row not in excluded])


@pytest.mark.sweep(4)
@each
@pytest.mark.parametrize("excluded", [NOBODY, SOME, ALL_BUT_TWO], ids=["nobody", "some", "most"])
def test_draws_follow_the_definition(name, excluded):
    policy, draws = POLICIES[name], 500 if excluded is ALL_BUT_TWO else DRAWS
    assert fit(policy, policy, network(), excluded, draws) > 0.001


@pytest.mark.sweep(4)
@each
def test_when_nearly_everybody_is_excluded_the_few_are_drawn_by_the_definition(name):
    """So few that rejection gives up and the definition itself is drawn from."""
    policy, net, left = POLICIES[name], network(n=400, share=0.05), [77, 140]
    excluded, rng = frozenset(range(400)) - {*left}, Streams(13).stream(name)
    draws = 60 if "half" in name else 400
    exactly = getattr(policy, "_draw_exactly", policy.draw)
    drawn = [exactly(LEADER, excluded, net, rng) for _ in range(draws)]
    assert p_value(policy, net, drawn, left) > 0.001


@pytest.mark.parametrize(
    ("policy", "wrong"),
    [
        (Coauthorship(), Coauthorship(explore=1e-9)),
        (Coauthorship(), Coauthorship(explore=2.0)),
        (Coauthorship(explore=HalfNormal(seed=9)), Coauthorship(explore=HalfNormal(seed=8))),
        (Coauthorship(explore=Share(mass=0.2)), Coauthorship(explore=Share(mass=0.3))),
        (Uniform(), Coauthorship()),
    ],
)
def test_the_comparison_tells_a_wrong_definition(policy, wrong):
    assert fit(policy, wrong, network(), NOBODY) < 1e-6


@each
def test_weights_are_the_definition(name):
    policy, net = POLICIES[name], network()
    others = [other for other in range(N) if other != LEADER]
    weights, dense = policy.weights(LEADER, others, net), definition(policy, net)[others]
    assert weights / weights.sum() == pytest.approx(dense / dense.sum())


@each
def test_a_leader_without_past_draws_too(name):
    policy = POLICIES[name]
    net = CoauthorNetwork(csr_array((N, N), dtype=np.int64), lambda: 0.0)
    assert fit(policy, policy, net, SOME, draws=2000) > 0.001


@each
def test_the_last_one_is_found_and_then_nobody(name):
    policy, rng = POLICIES[name], Streams(1).stream("last")
    everybody, net = frozenset(range(200)), network(n=200, share=0.05)
    assert policy.draw(LEADER, everybody - {77}, net, rng) == 77
    assert policy.draw(LEADER, everybody, net, rng) is None


def test_joint_papers_of_the_society_count_from_the_day_after():
    day = [0.0]
    net = CoauthorNetwork(csr_array((N, N), dtype=np.int64), lambda: day[0])
    policy = Coauthorship(explore=0.01)
    net.record_paper([LEADER, 7])
    assert policy.weights(LEADER, [7, 8], net).tolist() == [0.01, 0.01]
    day[0] = 1.0
    assert policy.weights(LEADER, [7, 8], net).tolist() == [1.01, 0.01]


def test_half_normal_increments_are_symmetric_and_fixed_for_the_run():
    explore = HalfNormal(seed=4)
    pairs = [(i, j) for i in range(9) for j in range(9) if i != j]
    assert all(explore.entry(i, j) == explore.entry(j, i) for i, j in pairs)
    assert all(explore.entry(i, j) == HalfNormal(seed=4).entry(i, j) for i, j in pairs)
    assert len({explore.entry(i, j) for i, j in pairs}) == len(pairs) / 2
    assert explore.entry(0, 1) != HalfNormal(seed=5).entry(0, 1)


def test_half_normal_increments_are_those_of_the_paper():
    """|N(1,1)|: mean 1.1667; nothing above 6."""
    explore = HalfNormal(seed=1)
    drawn = np.array([explore.entry(i, j) for i in range(90) for j in range(i)])
    assert drawn.min() >= 0
    assert drawn.max() <= 6
    exact = foldnorm(c=1.0)
    assert exact.mean() == pytest.approx(1.1667, abs=1e-4)
    assert drawn.mean() == pytest.approx(exact.mean(), abs=4 * drawn.std() / len(drawn) ** 0.5)
    assert kstest(drawn, exact.cdf).pvalue > 0.001


@pytest.mark.parametrize(
    ("kind", "key", "wrong"),
    [
        *((Coauthorship, "explore", e) for e in (0, -1, float("inf"), float("nan"))),
        *((Share, "mass", mass) for mass in (0, -0.1, 1.1)),
    ],
)
def test_numbers_that_make_no_sense_are_refused(kind, key, wrong):
    with pytest.raises(ValueError, match=key):
        kind(**{key: wrong})
