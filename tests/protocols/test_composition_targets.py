"""Freshness and diversity as targets: the nearest attainable value, and how teams reach it."""

from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import chisquare

from tests.protocols.scripted_backend import dissolved, play
from virsci_society.agents.offline.backend import Offline
from virsci_society.protocols import collaborator_selection as selection
from virsci_society.protocols.collaborator_selection import CandidateSearch, CompositionTargets
from virsci_society.protocols.policies.coauthorship import Coauthorship, HalfNormal, Share
from virsci_society.protocols.policies.uniform import Uniform
from virsci_society.protocols.virsci.protocol import VirSci
from virsci_society.society.formation.founding import Once
from virsci_society.society.kernel.durations import Times
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.model import Society
from virsci_society.society.population.network import CoauthorNetwork
from virsci_society.society.teams.lab import Lab
from virsci_society.society.teams.team import Team


@pytest.mark.parametrize(
    ("n", "fresh_at"),
    [
        (4, {0.75: 2, 0.74: 2, 0.76: 4, 1.0: 4, 0.5: 2, 0.0: 0, 0.375: 1, 0.125: 0}),
        *((3, {0.5: 1}), (2, {0.4: 0, 0.5: 0, 0.6: 2}), (1, {0.0: 1})),
        *((8, {0.875: 6}), (10, {0.55: 5, 0.35: 3})),
    ],
)
def test_freshness_takes_the_nearest_attainable_value(n, fresh_at):
    for freshness, fresh in fresh_at.items():
        assert CompositionTargets.nearest(n, freshness, None).fresh == fresh


@pytest.mark.parametrize(
    ("n", "distinct_at"),
    [(4, {0.0: 1, 0.25: 1, 0.375: 1, 0.75: 3, 1.0: 4}), (1, {0.0: 1}), (10, {0.55: 5})],
)
def test_diversity_starts_at_one_topic(n, distinct_at):
    for diversity, distinct in distinct_at.items():
        assert CompositionTargets.nearest(n, None, diversity).distinct == distinct


def test_without_targets_nothing_is_aimed_at():
    assert not CompositionTargets.nearest(4, None, None).are_set
    assert CompositionTargets.nearest(4, 0.0, None).are_set
    assert CompositionTargets.nearest(4, None, 0.0).are_set


@cache
def ends(alone, together, seats):
    """Final numbers of people alone, newcomer by newcomer: alone, with some, or with one alone."""
    if seats == 0:
        return frozenset({alone})
    found = ends(alone + 1, together, seats - 1)
    if together:
        found |= ends(alone, together + 1, seats - 1)
    if alone:
        found |= ends(alone - 1, together + 2, seats - 1)
    return found


@pytest.mark.parametrize("n", range(1, 9))
def test_in_reach_is_what_counting_newcomers_one_by_one_says(n):
    for size in range(1, n + 1):
        for together in (0, *range(2, size + 1)):
            alone = size - together
            possible = ends(alone, together, n - size)
            # Members who are together share one topic and have all written with each other.
            topics = ["shared"] * together + [f"own {k}" for k in range(alone)]

            def joint(i, j, together=together):
                return int(max(i, j) < together)

            for aim in range(n + 1):
                if aim == n - 1 and n > 1:
                    continue
                team = range(size)
                fresh = CompositionTargets(n, fresh=aim)
                assert fresh.reachable(team, joint, topics.__getitem__) == (aim in possible)
            for aim in range(1, n + 1):
                least = len(set(topics))
                expected = least <= aim <= least + n - size
                here = CompositionTargets(n, distinct=aim).reachable(
                    range(size), joint, topics.__getitem__
                )
                assert here == expected


def world(seed, people=150, topics=9, degree=6):
    rng = np.random.default_rng(seed)
    ties = rng.random((people, people)) < degree / people
    ties = np.triu(ties, 1)
    ties = ties | ties.T
    subject = rng.integers(topics, size=people).tolist()
    return rng, ties, subject


AIMS = [
    *((n, f / 4, None) for n in (2, 3, 4, 6, 8) for f in range(5)),
    *((n, None, d / 4) for n in (2, 4, 6, 8) for d in range(5)),
    *((4, 0.5, 0.5), (4, 0.0, 1.0), (5, 0.4, 0.6)),
]


def members(played):
    return [played.society.population.rows[row["scientist"]] for row in played.rows("members")]


def every_other_declines(call, request):
    declined = call.act == "invite" and call.seat % 2 == 0
    return {"Selected Action": "Action 2"} if declined else None


@pytest.mark.sweep(4)
@pytest.mark.parametrize(("freshness", "fresh"), [(0.0, 0), (0.25, 1), (0.75, 2), (1.0, 4)])
def test_teams_of_a_society_are_as_fresh_as_they_should_be(synthetic, freshness, fresh):
    for seed in range(4):
        protocol = VirSci(turns=1, freshness=freshness)
        played = play(synthetic, protocol, every_other_declines if seed % 2 else None, seed=seed)
        team = members(played)
        assert len(team) == 4
        counts = played.society.ecosystem.coauthors.toarray()
        assert sum(counts[one, team].sum() == 0 for one in team) == fresh


@pytest.mark.parametrize(("diversity", "value"), [(0.0, 1), (0.5, 2), (1.0, 4)])
def test_teams_of_a_society_are_as_diverse_as_they_should_be(synthetic, diversity, value):
    fields = ("tides", "moons", "comets", "dust", "rings")
    profiles = tuple(
        replace(profile, interests=(fields[row % 5],))
        for row, profile in enumerate(synthetic.profiles)
    )
    protocol = VirSci(turns=1, diversity=diversity)
    played = play(replace(synthetic, profiles=profiles), protocol)
    topics = Counter(fields[row % 5] for row in members(played))
    assert topics.total() == 4
    assert len(topics) == value


@pytest.mark.parametrize("tries", [2, selection.MAX_DRAWS])
@pytest.mark.parametrize("settings", [{"diversity": 1.0}, {"freshness": 0.0}])
def test_an_unreachable_target_dissolves_the_team(synthetic, monkeypatch, settings, tries):
    """Everybody works on the same, and nobody has written with anybody."""
    monkeypatch.setattr(selection, "MAX_DRAWS", tries)
    alike = tuple(replace(profile, interests=("tides",)) for profile in synthetic.profiles)
    strangers = replace(synthetic, profiles=alike, coauthors=synthetic.coauthors * 0)
    assert dissolved(play(strangers, VirSci(turns=1, **settings))) == "target out of reach"


def test_who_is_out_of_reach_is_not_even_asked(synthetic):
    played = play(synthetic, VirSci(turns=1, diversity=0.0))
    leader, *_ = members(played)
    invited = [played.society.population.rows[r["invitee"]] for r in played.rows("invitations")]
    topic = synthetic.profiles[leader].topic
    assert {synthetic.profiles[row].topic for row in invited} == {topic}


@pytest.mark.parametrize("seed", range(4))
def test_everybody_in_reach_is_found_without_asking_everybody(seed):
    """Against the rule itself, asked of one after another."""
    for number, aim in enumerate(AIMS):
        targets = CompositionTargets.nearest(*aim)
        rng, ties, subject = world(100 * seed + number, people=60, topics=5, degree=8)
        net = CoauthorNetwork(csr_array(ties.astype(np.int64)), lambda: 1.0)
        team = rng.permutation(60)[: rng.integers(1, targets.n)].tolist()
        found = targets.suitable_rows(team, net, np.array(subject))
        for row in range(60):
            fits = targets.reachable([*team, row], net.joint_papers, subject.__getitem__)
            assert found[row] == (fits and row not in team), (aim, team, row)


SELECTIONS = {
    "e = 1": Coauthorship(),
    "half normal": Coauthorship(explore=HalfNormal(seed=3)),
    "share": Coauthorship(explore=Share(mass=0.4)),
    "uniform": Uniform(),
}


@pytest.mark.sweep(3)
@pytest.mark.parametrize("tries", [0, 3, 100])
@pytest.mark.parametrize("name", SELECTIONS)
def test_among_those_in_reach_the_policy_decides(synthetic, monkeypatch, name, tries):
    """Whether by refusing who is out of reach, or by looking for all who are in it."""
    monkeypatch.setattr(selection, "MAX_DRAWS", tries)
    policy = SELECTIONS[name]
    virsci = VirSci(freshness=0.5, diversity=0.5, selection=policy)
    society = Society(
        synthetic, protocol=virsci, founding=Once(max_teams=1), times=Times(), backend=Offline()
    )
    population, network = society.population, society.network
    for other in ("a", "b"):
        population.join_team({"a": 2, "b": 9}[other], other)
    team = Team("Scientist1/1", "Scientist1", virsci.name, 0.0)
    for who in ("Scientist1", "Scientist4"):
        society.world.join(team, who, "member")
    search = CandidateSearch(virsci, team, Lab(society.world, team), 4)
    search._asked.add(7)
    open_ = [
        row
        for row in range(len(population))
        if row not in (1, 4, 7, 2, 9)
        and search.targets.reachable([1, 4, row], network.joint_papers, society.world.topic)
    ]
    assert 5 < len(open_) < len(population) - 5
    weights = policy.weights(1, open_, network)
    rng, draws = Streams(5).stream(name, tries), 500 if name == "half normal" else 1500
    drawn = Counter(search._draw_one(rng) for _ in range(draws))
    assert set(drawn) <= set(open_)
    observed = np.array([drawn[row] for row in open_])
    expected = draws * weights / weights.sum()
    rare = expected < 5
    observed = np.append(observed[~rare], observed[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    some = expected > 0
    assert chisquare(observed[some], expected[some]).pvalue > 0.001
