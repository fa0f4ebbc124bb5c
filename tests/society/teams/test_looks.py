"""What votes and reviews by rule know of worth, and that no model and no page knows it."""

import numpy as np
import pytest
from pydantic import PrivateAttr

from tests.protocols.scripted_backend import Players, play
from virsci_society.agents.offline.backend import Offline
from virsci_society.protocols.ideas import idea_text
from virsci_society.protocols.peer_review.protocol import PeerReview
from virsci_society.protocols.virsci.protocol import VirSci
from virsci_society.scenarios.config.reader import import_class
from virsci_society.scenarios.config.registry import PROTOCOLS
from virsci_society.society.kernel.durations import FixedDuration
from virsci_society.society.literature.landscape import Landscape
from virsci_society.society.teams.execution import ExecutionAttempt, worth_of_text


class Noted(Offline):
    """Rules that keep every question."""

    _asked: list = PrivateAttr(default_factory=list)

    async def complete(self, request):
        self._asked.append(request)
        return await super().complete(request)

    def of(self, form):
        return [request for request in self._asked if request.form.__name__ == form]


def carrying_out(signal):
    """Ideas with a worth, which are carried out in a day and always published."""

    def meanwhile(society):
        world, rng = society.world, np.random.default_rng(5)
        world.landscape = Landscape(worthless=0).field(world.ecosystem.past_vectors, rng)
        day = FixedDuration(length=1.0)
        world.execution = ExecutionAttempt(signal=signal, duration=day, success=-10)

    return meanwhile


def talked(synthetic, signal, backend=None, seed=1):
    backend = backend or Noted()
    protocol = VirSci(team_size=3, turns=2, prompts={"idea_order": "permuted"})
    review = PeerReview(effort=FixedDuration(length=1.0))
    meanwhile = None if signal is None else carrying_out(signal)
    keys = {"backend": backend, "publication": review, "seed": seed, "meanwhile": meanwhile}
    return play(synthetic, protocol, **keys), backend


def worths(world, ideas):
    return [worth_of_text(world, "test", idea_text(idea)) for idea in ideas]


def test_with_full_signal_all_vote_for_the_idea_that_is_worth_most(synthetic):
    for seed in (1, 2, 3):
        played, rules = talked(synthetic, 1.0, seed=seed)
        world, chosen = played.society.world, set()
        votes = {row["call"]: row["reply"] for row in played.rows("calls") if row["act"] == "vote"}
        assert len(votes) == 6
        for asked in rules.of("Ballot"):
            ideas = asked.slots["ideas"]
            known = worths(world, ideas)
            best = known.index(max(known))
            assert f"Idea {best}" in votes[asked.id]
            chosen.add(ideas[best].idea.title)
            assert asked.slots["looks"] == pytest.approx(
                [world.landscape.standardised(worth) for worth in known]
            )
        assert len(chosen) == 1


@pytest.mark.parametrize(
    "system",
    [
        import_class(PROTOCOLS["ai_researcher"])(seeds=6, rounds=3),
        import_class(PROTOCOLS["co_scientist"])(debate_turns=3),
    ],
)
def test_with_full_signal_the_better_of_two_ideas_wins_every_pair(synthetic, system):
    rules = Noted()
    played = play(synthetic, system, backend=rules, meanwhile=carrying_out(1.0))
    replies = {row["call"]: row["reply"] for row in played.rows("calls")}
    world, pairs = played.society.world, rules.of("PairChoice")
    assert len(pairs) > 4
    for asked in pairs:
        known = worths(world, [asked.slots["first"], asked.slots["second"]])
        looks = [world.landscape.standardised(worth) for worth in known]
        assert asked.slots["looks"] == pytest.approx(looks)
        assert f'"Better":"{"AB"[known[0] < known[1]]}"' in replies[asked.id].replace(": ", ":")
    blind = Noted()
    play(synthetic, system, backend=blind, meanwhile=carrying_out(0.0))
    assert all(asked.slots.get("looks") is None for asked in blind.of("PairChoice"))


def test_in_every_round_reviewers_see_the_same_in_the_manuscript(synthetic):
    played, rules = talked(synthetic, 1.0)
    reviews = rules.of("Review")
    assert len(reviews) >= 3
    world = played.society.world
    for asked in reviews:
        text = asked.slots["manuscript"]
        worth = worth_of_text(world, "test", f"{text.title}. {text.abstract}")
        assert asked.slots["looks"] == pytest.approx(world.landscape.standardised(worth))
    _, half = talked(synthetic, 1e-9)
    by_round = {}
    for asked in half.of("Review"):
        by_round.setdefault(asked.slots["round"], set()).add(round(asked.slots["looks"], 6))
    assert len(set.union(*by_round.values())) == 1


def test_no_page_and_no_model_is_told_how_an_idea_looks(synthetic):
    """Without a signal, with one and without execution the pages before the first vote are one."""
    players = Players()
    played, _ = talked(synthetic, 1.0, backend=players)
    assert played.of_form("Ballot")
    assert played.of_form("Review")
    assert not any("looks" in said.request.slots for said in players.said)
    _, with_signal = talked(synthetic, 1.0)
    _, without = talked(synthetic, None)
    pages = [[one.messages for one in rules.of("Ballot")][:3] for rules in (with_signal, without)]
    assert pages[0] == pages[1]


def test_without_a_signal_nothing_is_told_and_nothing_changes(synthetic):
    played, rules = talked(synthetic, 0.0)
    plain, _ = talked(synthetic, None)
    assert not any("looks" in one.slots for one in rules._asked)
    before = [row for row in plain.rows("calls") if row["stage"] != "publication"]
    after = [row for row in played.rows("calls") if row["stage"] != "publication"]
    assert after == before
