"""Team assembly after Guimera et al. 2005, against an implementation of its own and known graphs.

The implementation below knows neither this project nor SimPy nor Mesa: a list of teams, and the
rules of Science 308:697 as they are printed.
"""

from functools import lru_cache

import numpy as np
import pytest
from scipy.optimize import brentq

from virsci_society.metrics.networks.structure import adjacency, network_statistics
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.runs.build import build_ecosystem_of, build_society
from virsci_society.society.results.run import Run

TEAMS = 200


def assemble(p, q, size, steps, rng, tau=None):
    """Teams of ``size``, one per step: lists of agents, numbered in order of arrival."""
    teams, partners, last, arrived = [], {}, {}, 0
    for now in range(steps):
        incumbents = [a for a, seen in last.items() if tau is None or now - seen <= tau]
        known, team = set(incumbents), []
        while len(team) < size:
            free = [a for a in incumbents if a not in team]
            if free and rng.random() < p:
                inside = [a for a in team if a in known]
                chosen = None
                if inside and rng.random() < q:
                    old = partners[inside[rng.integers(len(inside))]]
                    old = sorted((old & known) - set(team))
                    chosen = old[rng.integers(len(old))] if old else None
                team.append(free[rng.integers(len(free))] if chosen is None else chosen)
            else:
                team.append(arrived)
                arrived += 1
        for agent in team:
            last[agent] = now
            partners.setdefault(agent, set()).update(other for other in team if other != agent)
        teams.append(team)
    return teams


def giant_share(teams):
    """Share of all who were ever in a team that is in the largest component."""
    root = {}

    def find(agent):
        while root.setdefault(agent, agent) != agent:
            root[agent] = root[root[agent]]
            agent = root[agent]
        return agent

    for first, *others in teams:
        for other in others:
            root[find(other)] = find(first)
    sizes = {}
    for agent in list(root):
        sizes[find(agent)] = sizes.get(find(agent), 0) + 1
    return max(sizes.values()) / len(root)


def theirs(p, q, replicates=16, **more):
    rows = [
        assemble(p, q, 4, TEAMS, np.random.default_rng([9, r]), **more) for r in range(replicates)
    ]
    return np.array([[giant_share(teams), len({a for t in teams for a in t})] for teams in rows])


@lru_cache
def strangers(people):
    scenario = load_scenario("community/guimera", **{"population.ecosystem.people": people})
    return build_ecosystem_of(scenario)


def run_of(seed, people=850, teams=TEAMS, **keys):
    """A society of the scenario of the library, as a run."""
    sizes = {"founding.count": teams, "until": teams + 1.0, "population.ecosystem.people": people}
    scenario = load_scenario("community/guimera", seed=seed, **sizes, **keys)
    society = build_society(scenario, strangers(people))
    society.run_to_end()
    return Run.from_rows(society.log.rows, {"seed": seed, "days": society.until}, {})


def ours(p, q, replicates=4, **more):
    keys = {"protocol.selection.p": p, "protocol.selection.q": q, **more}
    rows = []
    for seed in range(replicates):
        told = network_statistics(adjacency(run_of(seed, **keys).table("ties")))
        rows.append([told["giant_share"], told["nodes"]])
    return np.array(rows)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("p", "q", "tau"),
    [
        (0.3, 0.0, None),
        pytest.param(0.35, 0.8, None, marks=pytest.mark.slow),
        pytest.param(0.5, 0.3, 40, marks=pytest.mark.slow),
    ],
)
def test_the_giant_component_agrees_with_an_independent_implementation(p, q, tau):
    """Means over replicates, in standard errors of their difference; and so do the people."""
    window = {} if tau is None else {"protocol.selection.inactivity": float(tau)}
    one, other = ours(p, q, **window), theirs(p, q, tau=tau)
    for column in (0, 1):
        a, b = one[:, column], other[:, column]
        error = (a.var(ddof=1) / len(a) + b.var(ddof=1) / len(b)) ** 0.5
        assert abs(a.mean() - b.mean()) < 4 * error, (column, a.mean(), b.mean(), error)


@pytest.mark.slow
def test_few_incumbents_leave_it_fragmented_and_many_make_it_one():
    """The transition: from components of a few teams to one of nearly everybody."""
    shares = [ours(p, 0.0, replicates=2)[:, 0].mean() for p in (0.1, 0.35, 0.6)]
    assert shares[0] < 0.1 < shares[1] < 0.9 < shares[2]


def test_without_incumbents_every_component_is_one_team():
    told = network_statistics(adjacency(run_of(1, **{"protocol.selection.p": 0.0}).table("ties")))
    assert told["nodes"] == 4 * TEAMS
    assert told["components"] == TEAMS
    assert told["giant_share"] == 1 / TEAMS
    assert told["clustering"] == 1.0
    assert not len(run_of(1, teams=20).table("calls")), "nobody is asked"


def test_repeating_for_ever_the_first_team_is_all_there_is():
    """With incumbents only, nobody comes after the first team."""
    run = run_of(1, **{"protocol.selection.p": 1.0}, teams=50)
    assert len(run.table("papers")) == 50
    assert run.table("authorships")["scientist"].nunique() == 4


@pytest.mark.slow
def test_pairs_of_incumbents_are_a_random_graph(small_past):
    """All incumbents, two to a team: M uniform pairs among n people, the random graph of Erdos
    and Renyi, whose giant component holds the share S = 1 - exp(-c S) of all, c = 2 M / n."""
    people = len(small_past.profiles)
    teams = int(0.75 * people)
    keys = {
        "protocol.team_size": 2,
        "protocol.selection.p": 1.0,
        "protocol.selection.q": 0.0,
        "protocol.selection.incumbents": "ever",
        "founding.count": teams,
        "until": teams + 1.0,
        "population.ecosystem.people": people,
    }
    c = 2 * teams / people
    theory = brentq(lambda share: share - 1 + np.exp(-c * share), 0.01, 1)
    shares = []
    for seed in range(3):
        society = build_society(load_scenario("community/guimera", seed=seed, **keys), small_past)
        society.run_to_end()
        ties = Run.from_rows(society.log.rows, {"seed": seed, "days": 1.0}, {}).table("ties")
        told = network_statistics(adjacency(ties[ties["date"] >= 0]))
        assert told["nodes"] == pytest.approx(people * (1 - np.exp(-c)), rel=0.08)
        shares.append(told["giant_share"] * told["nodes"] / people)
    assert np.mean(shares) == pytest.approx(theory, abs=0.08)


@pytest.fixture(scope="module")
def small_past():
    """Everybody has a paper from before day 0."""
    from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic

    return Synthetic(scientists=600, papers=800).generate(1)
