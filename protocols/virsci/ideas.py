"""Stage 3, idea generation: K turns of improving the previous idea or proposing a new one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from virsci_society.agents.prompts.dialogue import Utterance
from virsci_society.protocols.discussion import Discussion
from virsci_society.protocols.forms import Topic
from virsci_society.protocols.ideas import (
    SHORTLIST_SIZE,
    CandidateIdea,
    Idea,
    Weights,
    add_judgement,
    confidence,
    count_equal,
    count_ties,
    make_candidate,
    shortlist,
    without_ratings,
)
from virsci_society.protocols.virsci.released_code import ideas_not_below_best, shortlist_by_next
from virsci_society.protocols.virsci.searches import Papers, SearchRules, find_papers
from virsci_society.society.kernel.answer import Answer
from virsci_society.society.kernel.process import Process

if TYPE_CHECKING:
    from virsci_society.protocols.virsci.team_memory import TeamMemory
    from virsci_society.society.teams.lab import Lab
    from virsci_society.society.teams.team import Team

Ideas: TypeAlias = tuple[Answer[CandidateIdea], ...]
"""Ideas with their references, in the order of being put forward, unread."""


@dataclass(frozen=True, slots=True)
class RankingRules:
    """How the three ideas on the ballot are chosen.

    Attributes:
        weights: of the confidence.
        not_below_best: are only the first idea and those listed that are not below the last one
            listed before them?
        by_next: is each idea ranked by the confidence of the one listed after it?
    """

    weights: Weights
    not_below_best: bool = False
    by_next: bool = False


@dataclass(frozen=True, slots=True)
class IdeaRules:
    """How ideas are generated.

    Attributes:
        search: what a speaker is shown of the literature.
        near: the search for the papers near an idea.
        first_scored: does the self-assessment of the team's first idea count?
        extras: optional fields of ``Idea`` that are asked for: ``gist``, ``marks``.
        dialogue: does a speaker see summaries and what was said in the round?
        ratings: do the ratings of the idea on the table stand with it?
    """

    search: SearchRules
    near: SearchRules
    first_scored: bool = True
    extras: tuple[str, ...] = ()
    dialogue: bool = True
    ratings: bool = False


def generate_ideas(
    team: Team,
    lab: Lab,
    discussion: Discussion,
    topic: Answer[Topic] | Topic,
    rules: IdeaRules,
    memory: TeamMemory,
) -> Process[Ideas]:
    """Let every speaker of K turns improve the previous idea or propose a new one (Eq. 2).

    Args:
        team: whose members speak.
        lab: the team's access to the world.
        discussion: holds the turns.
        topic: what the ideas are about.
        rules: what is searched, shown and asked.
        memory: takes the advice of outsiders; holds what the topic discussion left.

    Returns:
        Every idea with its references.
    """
    ideas: Ideas = ()
    extras = rules.extras
    with discussion:
        while turn := (yield from discussion.next_turn(summarised=rules.dialogue)):
            # Ideas of this round stand among what was said in it, and the last one on the table.
            earlier, last = ideas[:-1], ideas[-1:]
            for seat, speaker in turn.speakers:
                previous = ideas[-1] if ideas else None
                heard = turn.said if rules.dialogue else ()
                cue = topic if previous is None else previous
                shown = find_papers(lab, rules.search, speaker, cue, topic)
                idea, guest = yield from discussion.utter(
                    speaker,
                    seat,
                    "idea_turn",
                    Idea,
                    cue=cue,
                    recall=topic,
                    about=topic,
                    topic=topic,
                    background=memory.shown(memory.topic_summaries),
                    reasons=memory.carries,
                    tried=memory.failed_ideas,
                    earlier=memory.shown(earlier if seat == 0 else (*earlier, *last)),
                    previous=previous,
                    # The idea on the table was the last utterance of this round, if there is one.
                    shown_above=bool(heard),
                    references=shown,
                    summaries=discussion.summaries,
                    said=heard,
                    ratings=rules.ratings,
                    extras=extras,
                )
                # Where others rate an idea too, its author's ratings would anchor theirs.
                spoken = lab.later(without_ratings, idea) if "marks" in extras else idea
                turn.said += (Utterance(speaker, spoken), *guest)
                ideas = _put_forward(lab, rules, memory, ideas, speaker, idea, shown)
    yield from discussion.seat_last_guests()
    memory.advice = discussion.advice
    return ideas


def _put_forward(
    lab: Lab,
    rules: IdeaRules,
    memory: TeamMemory,
    ideas: Ideas,
    speaker: str,
    idea: Answer[Idea],
    shown: Papers,
) -> Ideas:
    """All ideas with a new one, and with what its author says of the one before.

    Args:
        lab: the team's access to the world.
        rules: the search for the papers near it, and what else was asked.
        memory: are the papers that an idea builds on carried to the next page?
        ideas: those put forward before.
        speaker: masked name of its author.
        idea: what the author said.
        shown: the papers that the author was shown.
    """
    near = find_papers(lab, rules.near, speaker, idea)
    make = partial(make_candidate, speaker, bool(ideas) or rules.first_scored)
    # The papers that an idea builds on stand on the next page only where they are carried.
    seen = ideas[-1] if memory.carries and ideas else ()
    new = lab.later(make, idea, shown, near, seen)
    if ideas and "marks" in rules.extras:
        judged = lab.later(partial(add_judgement, speaker), ideas[-1], idea)
        return (*ideas[:-1], judged, new)
    return (*ideas, new)


def shortlist_ideas(
    team: Team, lab: Lab, ideas: Ideas, ranking: RankingRules
) -> Answer[tuple[CandidateIdea, ...]]:
    """The ideas for the ballot, unread; the number of ties is noted.

    Args:
        team: its ``notes`` take the number of ties.
        lab: the team's access to the world.
        ideas: all ideas of the team.
        ranking: how they are chosen.
    """
    team.notes["ties"] = lab.later(partial(count_shortlist_ties, ranking), *ideas)
    return lab.later(partial(choose_shortlist, ranking), *ideas)


def choose_shortlist(rules: RankingRules, *ideas: CandidateIdea) -> tuple[CandidateIdea, ...]:
    """The ideas for the ballot, in the order in which it lists them.

    Args:
        rules: which ideas are listed, and by what they are ranked.
        ideas: all ideas of the team, in the order of being put forward.
    """
    listed = ideas_not_below_best(rules.weights, *ideas) if rules.not_below_best else ideas
    choose = shortlist_by_next if rules.by_next else shortlist
    return choose(rules.weights, *listed)


def count_shortlist_ties(rules: RankingRules, *ideas: CandidateIdea) -> int:
    """Number of ideas on the ballot that are ranked as high as one that is left out."""
    listed = ideas_not_below_best(rules.weights, *ideas) if rules.not_below_best else ideas
    if not rules.by_next:
        return count_ties(rules.weights, *listed)
    if len(listed) <= SHORTLIST_SIZE:
        return 0
    return count_equal([confidence(idea, rules.weights) for idea in listed[1:]])
