"""Consecutive prompts of a team begin alike, so that a provider can reuse their beginnings."""

from itertools import pairwise, takewhile

import pytest

from benchmarks.prefix import MARK, record, table
from tests.protocols.paper_equations import Past, expected_words, oneself
from tests.protocols.scripted_backend import PLANTED, play
from virsci_society.agents.replies.form import FIELDS
from virsci_society.protocols.virsci.protocol import VirSci


@pytest.fixture(scope="module")
def team(synthetic):
    """Two turns of everything by a team of four, with consultations and a self-review."""
    protocol = VirSci(team_size=4, turns=2, abstract={"self_review": "on"}, topic={"leaving": "on"})
    return play(synthetic, protocol, consults=True)


def neighbours(played, form):
    """Consecutive speakers or voters of one turn."""
    said = [one for one in played.of_form(form) if one.call.guest is None]
    return [(one, two) for one, two in pairwise(said) if one.call[:4] == two.call[:4]]


def common(one, two):
    assert one.system == two.system
    pairs = zip(one.user, two.user, strict=False)
    return "".join(letter for letter, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def test_the_system_prompt_is_the_same_for_everybody_at_every_stage(team):
    assert len({said.system for said in team.said}) == 1


@pytest.mark.parametrize("form", ["Remark", "Idea"])
def test_who_speaks_next_is_told_what_was_said_so_far_in_the_same_place(team, form):
    pairs = neighbours(team, form)
    assert len(pairs) == 6
    for one, two in pairs:
        told = expected_words(Past(team, one))
        shared = common(one, two)
        if one.call[3:5] == (2, 0):
            # The leader's own summaries are marked as such.
            assert one.user[len(shared) :].startswith(" (you):")
        else:
            assert set(PLANTED.findall(shared)) == told


@pytest.mark.parametrize("form", ["Ballot", "Agreement", "Stay"])
def test_who_is_asked_side_by_side_reads_the_same_up_to_who_it_is(team, form):
    pairs = neighbours(team, form)
    assert pairs
    for one, two in pairs:
        shared, own = common(one, two), one.user.index(oneself(one))
        assert len(shared) > own
        assert set(PLANTED.findall(shared)) == expected_words(Past(team, one))


def test_the_invited_read_of_the_team_and_of_their_options_in_the_same_words(synthetic):
    protocol = VirSci(team_size=4, turns=1, inviting="at_once")
    for one, two in neighbours(play(synthetic, protocol), "Choice"):
        assert "Nobody else is in the team so far." in common(one, two)
        assert '"decline": you decline.' in common(one, two)


def test_after_who_is_asked_nothing_is_new_but_what_concerns_it(team):
    for said in team.said:
        _, own, rest = said.user.partition(oneself(said))
        assert own
        assert not PLANTED.findall(rest)
        assert FIELDS in rest


def test_each_turn_of_the_topic_begins_like_the_one_before_with_its_summaries(synthetic):
    played = play(synthetic, VirSci(team_size=3, turns=3))
    first, second, third = (played.of(stage="topic", turn=turn, seat=0)[0] for turn in (1, 2, 3))
    assert "The team:\n- " in common(first, second)
    told = expected_words(Past(played, second))
    assert told
    assert set(PLANTED.findall(common(second, third))) == told


@pytest.mark.slow
def test_a_team_of_the_papers_size_and_turns_reaches_the_mark():
    *stages, total = table(record())
    assert total["kB anew"] <= MARK
    assert total["calls"] == sum(row["calls"] for row in stages)
