"""Zollman's and Weisberg and Muldoon's models, held against implementations of our own.

Each curve is compared point by point: no point may lie further than 3.5 standard errors of the
difference from the independent one, and the sum of squares has to be what chance allows. Seeds are
fixed, so the outcome is always the same.
"""

import numpy as np
import pytest
from scipy.stats import chi2

from tests.protocols.classics import independent
from virsci_society.agents.errors import InputError
from virsci_society.agents.offline.backend import Offline
from virsci_society.metrics.idea_quality import consensus, epistemic_progress
from virsci_society.protocols.classics.epistemic_landscape import (
    AROUND,
    PEAKS,
    SIDE,
    SIGNIFICANCE,
    EpistemicLandscape,
    Searcher,
)
from virsci_society.protocols.classics.network_bandit import Bandit
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.society.ecosystem.synthetic.synthetic import Strangers
from virsci_society.society.formation.founding import Once
from virsci_society.society.kernel.durations import Times
from virsci_society.society.model import Society
from virsci_society.society.results.run import Run

PEOPLE = 240
EDGE, TRIALS, PERIODS = 0.1, 5, 50
NETWORKS, COMMUNITIES = ("cycle", "wheel", "complete"), (5, 6, 10)
MOVES = 60
SEARCHES = [("control", 20), ("control", 100), ("follower", 20), ("follower", 50)]
SEARCHES += [("follower", 100), ("published_follower", 50), ("published_follower", 100)]
SEARCHES += [("maverick", people) for people in (20, 50, 100)]


@pytest.fixture(scope="module")
def strangers():
    return Strangers(people=PEOPLE, papers=200, fields=1, seed=1).generate(0)


@pytest.fixture(scope="module")
def lived(begun):

    def live(*arguments, **more):
        society = begun(*arguments, **more)
        society.run_to_end()
        about = {"seed": society.seed, "days": society.until}
        return Run.from_rows(society.log.rows, about, {}, events=society.log.events)

    return live


@pytest.fixture(scope="module")
def begun(strangers):

    def found(protocol, people, days, seed=1, founding=None, of=None):
        return Society(
            of or strangers,
            protocol=protocol,
            founding=founding or Once(count=people),
            times=Times(),
            backend=Offline(),
            attention="unlimited",
            until=days,
            seed=seed,
        )

    return found


def require_agreement(distances):
    """Distances in standard errors, by point, are those of two samples of one population."""
    assert len(distances) >= 8
    assert max(map(abs, distances.values())) < 3.5, distances
    assert sum(one**2 for one in distances.values()) < chi2.ppf(0.999, len(distances)), distances


def apart(ours, theirs):
    """Distance of two means, in standard errors of their difference."""
    # The larger sample tells the spread of both: ours may be of a few values that are all equal.
    spread = max(np.std(theirs, ddof=1), 1e-9)
    return (np.mean(ours) - np.mean(theirs)) / (spread * np.sqrt(1 / len(ours) + 1 / len(theirs)))


def compare_bandits(lived, seeds, replicates, communities=COMMUNITIES):
    distances = {}
    for network in NETWORKS:
        for size in communities:
            protocol = Bandit(network=network, community=size, edge=EDGE, trials=TRIALS)
            runs = [consensus(lived(protocol, PEOPLE, PERIODS, seed)) for seed in seeds]
            right = np.concatenate([run["right"].to_numpy(float) for run in runs])
            agreed = np.concatenate([run["agreed"].dropna().to_numpy(float) for run in runs])
            theirs, since = independent.bandits(
                network, size, EDGE, TRIALS, PERIODS, replicates, seed=9
            )
            distances[network, size, "right"] = apart(right, theirs.astype(float))
            distances[network, size, "agreed"] = apart(agreed, since[theirs])
    return distances


def compare_searches(lived, seeds, replicates, moves, points):
    distances = {}
    for strategy, people in points:
        protocol = EpistemicLandscape(strategy=strategy)
        runs = [epistemic_progress(lived(protocol, people, moves + 1, seed)) for seed in seeds]
        ours = [run["progress"].item() for run in runs]
        theirs, _ = independent.searches(strategy, people, moves, replicates, seed=9)
        distances[strategy, people] = apart(ours, theirs)
    return distances


@pytest.mark.slow
def test_bandits_agree_with_the_independent_implementation(lived):
    require_agreement(compare_bandits(lived, seeds=[1], replicates=1000))


@pytest.mark.slow
def test_searches_agree_with_the_independent_implementation(lived):
    require_agreement(compare_searches(lived, [1, 2], 20, MOVES, SEARCHES))


@pytest.mark.slow
def test_long_bandits_agree_with_the_independent_implementation(lived):
    require_agreement(compare_bandits(lived, range(10, 20), 8000, (5, 6, 8, 10)))


@pytest.mark.slow
def test_long_searches_agree_with_the_independent_implementation(lived):
    sizes = (10, 20, 50, 100, 150, 200, 240)
    points = [(one, n) for one in ("follower", "published_follower", "maverick") for n in sizes]
    require_agreement(compare_searches(lived, range(5), 60, 200, [*points, ("control", 240)]))


def test_fewer_ties_are_slower_and_more_often_right():
    """What Zollman found, in the independent implementation, from which ours does not differ."""
    found = [independent.bandits(one, 6, EDGE, TRIALS, PERIODS, 4000, seed=2) for one in NETWORKS]
    shares, dates = zip(
        *((right.mean(), since[right].mean()) for right, since in found), strict=True
    )
    assert shares[0] > shares[1] + 0.01 > shares[2] + 0.05
    assert dates[0] > dates[1] + 2 > dates[2] + 4


@pytest.mark.parametrize("network", [*NETWORKS, "coauthors"])
def test_everybody_uses_what_looks_better_by_all_that_she_has_heard(begun, synthetic, network):
    """Priors, and every choice of every day, told again from the results that were reported."""
    if network == "coauthors":
        society = begun(Bandit(network=network, edge=0.1, trials=3), 30, 12.0, of=synthetic)
        hears = (synthetic.coauthors.toarray() > 0) + np.eye(30)
        assert hears.sum() > 60
    else:
        bandit = Bandit(network=network, community=6, edge=0.1, trials=3)
        society = begun(bandit, PEOPLE, 12.0)
        hears = np.kron(np.eye(PEOPLE // 6), independent.adjacency(network, 6))
    society.run_to_end()
    board, names = society.world.shared["bandit"], society.population.names
    streams = [society.world.streams.stream("team", f"{name}/1", "trials") for name in names]
    priors = np.array([stream.uniform(0, 4, (2, 2)) for stream in streams])
    results = np.array([board[row] for row in range(len(names))])
    days, methods, successes = results.transpose(2, 1, 0)
    assert (days == np.arange(12)[:, None]).all()
    for day in range(12):
        counts = priors.copy()
        for method in (0, 1):
            used = methods[:day] == method
            counts[:, method, 0] += hears @ (successes[:day] * used).sum(axis=0)
            counts[:, method, 1] += hears @ ((3 - successes[:day]) * used).sum(axis=0)
        looks = counts[..., 0] / counts.sum(axis=-1)
        assert np.array_equal(methods[day], looks[:, 1] > looks[:, 0])
    for method, chance in ((0, 0.5), (1, 0.6)):
        shares = successes[methods == method] / 3
        assert shares.mean() == pytest.approx(chance, abs=4 * 0.29 / np.sqrt(shares.size))


def test_a_patch_is_known_from_the_day_after_somebody_came(begun):
    society = begun(EpistemicLandscape(strategy="maverick"), 100, 3.0)
    society.run_to_end()
    known = np.array(society.world.shared["landscape"].known)
    first, second, third = ((known == day).sum() for day in (1, 2, 3))
    assert 90 < first <= 100, "where they start, on different patches but for chance"
    assert 90 < second <= 100
    assert 80 < third <= 100
    assert np.isfinite(known).sum() == first + second + third


def test_progress_and_peaks_are_those_of_the_patches_that_somebody_visited(begun):
    society = begun(EpistemicLandscape(strategy="maverick"), 100, 61.0)
    society.run_to_end()
    known = np.array(society.world.shared["landscape"].known)
    run = Run.from_rows({}, {"seed": 1, "days": 61.0}, {}, events=society.log.events)
    measured = epistemic_progress(run)
    significant = independent.hills().ravel() > 0
    progress = (np.isfinite(known) & significant).sum() / significant.sum()
    assert measured["progress"].item() == pytest.approx(progress, abs=1e-9)
    assert measured["both"].item() == max(known[peak] for peak in PEAKS) - 1 < 60


def test_a_control_goes_on_uphill_back_downhill_and_seldom_anywhere_on_level_ground():
    control, rng = EpistemicLandscape(strategy="control"), np.random.default_rng(1)
    assert SIGNIFICANCE[0] == 0
    moved = 0
    for _ in range(20_000):
        me = Searcher(0, heading=2)
        control._move(me, [True] * 8, rng)
        moved += me.patch != 0
    assert moved == pytest.approx(400, abs=80)
    peak = PEAKS[1]
    up = Searcher(peak, heading=5, before=600)
    control._move(up, [True] * 8, rng)
    assert (up.patch, up.heading, up.before) == (AROUND[peak][5], 5, 700)
    control._move(up, [True] * 8, rng)
    assert (up.patch, up.before) == (peak, 700)


def test_the_landscape_has_the_published_peaks():
    assert [SIGNIFICANCE[peak] for peak in PEAKS] == [750, 700]
    assert max(SIGNIFICANCE) == 750
    assert np.array_equal(np.reshape(SIGNIFICANCE, (SIDE, SIDE)), independent.hills())
    corner, last = (x * SIDE + y for x, y in ((0, 0), (100, 100)))
    assert {corner, last - 1, last - SIDE} < set(AROUND[last])
    for heading, near in enumerate(AROUND[corner]):
        assert AROUND[near][(heading + 4) % 8] == corner


def test_only_the_published_follower_goes_back_to_a_patch_as_good():
    """On the plain, where the only visited neighbour is the patch one comes from."""
    flat, seen = 0, [True, *[False] * 7]
    assert SIGNIFICANCE[flat] == SIGNIFICANCE[AROUND[flat][0]] == 0
    went = {"follower": set(), "published_follower": set()}
    for strategy, patches in went.items():
        for seed in range(50):
            me = Searcher(flat, heading=0)
            EpistemicLandscape(strategy=strategy)._move(me, seen, np.random.default_rng(seed))
            patches.add(me.patch)
    assert went["published_follower"] == {AROUND[flat][0]}
    assert went["follower"] == set(AROUND[flat][1:])


def test_a_maverick_goes_back_where_it_gets_worse_and_ahead_where_nobody_was():
    peak, rng = PEAKS[0], np.random.default_rng(1)
    maverick = EpistemicLandscape(strategy="maverick")
    me = Searcher(AROUND[peak][2], heading=2, before=750)
    maverick._move(me, [False] * 8, rng)
    assert (me.patch, me.before) == (peak, 750)
    me = Searcher(0, heading=3)
    maverick._move(me, [heading != 3 for heading in range(8)], rng)
    assert me.patch == AROUND[0][3]
    plain = Searcher(0, heading=3)
    maverick._move(plain, [True] * 8, rng)
    assert plain.patch != 0, "to a visited patch that is as good, since all are visited"
    top = Searcher(peak, heading=3, before=700)
    maverick._move(top, [True] * 8, rng)
    assert top.patch == peak, "nothing beside it is as good"


def test_a_second_team_of_a_scientist_ends_at_once(lived):
    for protocol in (Bandit(network="coauthors"), EpistemicLandscape()):
        teams = lived(protocol, 0, 5.0, founding=Once(count=PEOPLE + 3)).table("teams")
        assert teams["reason"].value_counts().to_dict() == {"has begun already": 3}


def test_those_who_have_no_coauthors_learn_by_themselves(lived):
    """The strangers never wrote with anybody: they are one community, and hear nobody."""
    run = consensus(lived(Bandit(network="coauthors", edge=0.2, trials=5), 100, 30.0))
    assert run[["community", "people"]].values.tolist() == [[0, 100]]
    assert 0.3 < run["better"].item() < 1.0
    assert run["right"].item() == 0.0
    assert run["agreed"].isna().all()


def test_communities_that_do_not_divide_the_people_are_refused(lived):
    with pytest.raises(InputError, match=r"protocol.community: 240 people do not make .* 7 each"):
        lived(Bandit(community=7), PEOPLE, 2.0)


@pytest.mark.parametrize(
    ("said", "settings"),
    [
        (
            "network: coauthors is one community; leave community",
            ["protocol.network=coauthors", "protocol.community=6"],
        ),
        ("network", ["protocol.network=star"]),
        ("strategy", ["protocol.use=epistemic_landscape", "protocol.strategy=swarm"]),
        *(
            (key, [f"protocol.{key}={n}"])
            for key, n in (("community", 2), ("edge", 0), ("trials", 0))
        ),
    ],
)
def test_wrong_keys_are_refused_in_words(said, settings):
    with pytest.raises(InputError, match=said):
        load_scenario("community/guimera", settings=["protocol.use=bandit", *settings])
