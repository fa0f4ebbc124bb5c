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


def network(seed=5, n=N, share=0.4, now=lambda: 0.0):
    """Joint papers of a small random community."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.integers(1, 9, (n, n)) * (rng.random((n, n)) < share), 1)
    return CoauthorNetwork(csr_array(upper + upper.T), now)


def joint(net, leader=LEADER):
    """The leader's row of A, dense."""
    return np.array([net.joint_papers(leader, other) for other in range(net.size)], dtype=float)


def number(e):
    return lambda net: joint(net) + e


def half_normal(seed):
    def row(net):
        entry = HalfNormal(seed=seed).entry
        return joint(net) + [entry(LEADER, other) for other in range(net.size)]

    return row


def share(mass):
    """With this probability anybody, else by joint papers."""

    def row(net):
        known = joint(net)
        by_papers = known / known.sum() if known.sum() else 0.0
        return (1 - mass) * by_papers + mass / net.size

    return row


def equal(net):
    return np.ones(net.size)


DEFINITIONS = {
    "e = 1": (Coauthorship(), number(1.0)),
    "e = 0.05": (Coauthorship(explore=0.05), number(0.05)),
    "e = 20": (Coauthorship(explore=20.0), number(20.0)),
    "half normal": (Coauthorship(explore=HalfNormal(seed=9)), half_normal(9)),
    "share 0.2": (Coauthorship(explore=Share()), share(0.2)),
    "share 0.7": (Coauthorship(explore=Share(mass=0.7)), share(0.7)),
    "share 1": (Coauthorship(explore=Share(mass=1.0)), equal),
    "uniform": (Uniform(), equal),
}
NOBODY = frozenset({LEADER})
SOME = frozenset({LEADER, 0, 5, 6})
ALL_BUT_TWO = frozenset(range(N)) - {1, 9}


def fit(policy, definition, net, excluded, draws=DRAWS):
    """The p-value of draws under a definition that leaves the excluded out."""
    rng = Streams(11).stream("draws", str(policy), len(excluded))
    drawn = [policy.draw(LEADER, excluded, net, rng) for _ in range(draws)]
    assert not excluded & set(drawn)
    kept = [other for other in range(net.size) if other not in excluded]
    weights = definition(net)[kept]
    counts = np.bincount(drawn, minlength=net.size)[kept]
    return chisquare(counts, draws * weights / weights.sum()).pvalue


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", DEFINITIONS)
@pytest.mark.parametrize("excluded", [NOBODY, SOME, ALL_BUT_TWO], ids=["nobody", "some", "most"])
def test_draws_follow_the_definition(name, excluded):
    policy, definition = DEFINITIONS[name]
    draws = 500 if excluded is ALL_BUT_TWO else DRAWS
    assert fit(policy, definition, network(), excluded, draws) > 0.001


def one_by_one(policy, net, excluded, draws, rng):
    return [policy.draw(LEADER, excluded, net, rng) for _ in range(draws)]


def batched(policy, net, excluded, draws, rng):
    """All at once, among draws of other leaders."""
    leaders = np.tile([LEADER, 8, 2], draws)
    found = policy.draws(leaders, excluded - {LEADER}, net, rng)
    assert not (found == leaders).any()
    return found[leaders == LEADER].tolist()


def grown_network():
    """A society's papers on top of those before it, one of them of today."""
    day = [0.0]
    net = network(now=lambda: day[0])
    old = joint(net)
    for date, authors in enumerate(
        [[LEADER, 7], [2, 11, LEADER], [LEADER, 7], [1, 2], [LEADER, 0]]
    ):
        day[0] = float(date)
        net.record_paper(authors)
    expected = old.copy()
    expected[[7, 2, 11]] += [2, 1, 1]
    assert joint(net).tolist() == expected.tolist()
    return net


@pytest.mark.sweep(4)
@pytest.mark.parametrize("excluded", [NOBODY, SOME], ids=["nobody", "some"])
@pytest.mark.parametrize("net", [network(), grown_network()], ids=["before", "after growth"])
@pytest.mark.parametrize("way", [one_by_one, batched])
@pytest.mark.parametrize("name", DEFINITIONS)
def test_one_draw_or_many_on_a_growing_network(name, way, net, excluded):
    policy, definition = DEFINITIONS[name]
    draws = 1000 if name == "half normal" else DRAWS
    drawn = way(policy, net, excluded, draws, Streams(12).stream(name, way.__name__))
    assert not excluded & set(drawn)
    kept = [other for other in range(N) if other not in excluded]
    weights, counts = definition(net)[kept], np.bincount(drawn, minlength=N)[kept]
    assert counts.sum() == draws
    assert chisquare(counts, draws * weights / weights.sum()).pvalue > 0.001


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", DEFINITIONS)
def test_when_nearly_everybody_is_excluded_the_few_are_drawn_by_the_definition(name):
    """So few that rejection gives up and the definition itself is drawn from."""
    policy, definition = DEFINITIONS[name]
    net, left = network(n=400, share=0.05), [77, 140]
    excluded = frozenset(range(400)) - {*left}
    rng = Streams(13).stream(name)
    draws = 60 if name == "half normal" else 400
    weights = definition(net)[left]
    for drawn in (
        [policy._draw_exactly(LEADER, excluded, net, rng) for _ in range(draws)]
        if name != "uniform"
        else [policy.draw(LEADER, excluded, net, rng) for _ in range(draws)],
        policy.draws(np.full(draws, LEADER), excluded, net, rng).tolist(),
    ):
        counts = [drawn.count(row) for row in left]
        assert sum(counts) == draws
        assert chisquare(counts, draws * weights / weights.sum()).pvalue > 0.001


@pytest.mark.parametrize("name", DEFINITIONS)
def test_of_many_leaders_those_whom_nobody_is_left_for_draw_nobody(name):
    policy, _ = DEFINITIONS[name]
    net, rng = network(), Streams(14).stream(name)
    everybody = frozenset(range(N))
    assert policy.draws(np.array([1, 2]), everybody, net, rng).tolist() == [-1, -1]
    only = policy.draws(np.array([1, 2, 1]), everybody - {1}, net, rng)
    assert only.tolist() == [-1, 1, -1]


@pytest.mark.parametrize(
    ("policy", "wrong"),
    [
        (Coauthorship(), number(1e-9)),
        (Coauthorship(), number(2.0)),
        (Coauthorship(explore=HalfNormal(seed=9)), half_normal(8)),
        (Coauthorship(explore=Share(mass=0.2)), share(0.3)),
        (Uniform(), number(1.0)),
    ],
)
def test_the_comparison_tells_a_wrong_definition(policy, wrong):
    assert fit(policy, wrong, network(), NOBODY) < 1e-6


@pytest.mark.parametrize("name", DEFINITIONS)
def test_weights_are_the_definition(name):
    policy, definition = DEFINITIONS[name]
    net = network()
    others = [other for other in range(N) if other != LEADER]
    weights, dense = policy.weights(LEADER, others, net), definition(net)[others]
    assert weights / weights.sum() == pytest.approx(dense / dense.sum())


@pytest.mark.parametrize("name", DEFINITIONS)
def test_a_leader_without_past_draws_too(name):
    policy, _ = DEFINITIONS[name]
    net = CoauthorNetwork(csr_array((N, N), dtype=np.int64), lambda: 0.0)
    flat = half_normal(9) if name == "half normal" else equal
    assert fit(policy, flat, net, SOME, draws=2000) > 0.001


@pytest.mark.parametrize("name", DEFINITIONS)
def test_the_last_one_is_found_and_then_nobody(name):
    policy, _ = DEFINITIONS[name]
    everybody, net = frozenset(range(200)), network(n=200, share=0.05)
    rng = Streams(1).stream("last")
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
        *((Coauthorship, "guests", g) for g in (-1.0, float("inf"), float("nan"))),
        *((Share, "mass", mass) for mass in (0, -0.1, 1.1)),
    ],
)
def test_numbers_that_make_no_sense_are_refused(kind, key, wrong):
    with pytest.raises(ValueError, match=key):
        kind(**{key: wrong})
