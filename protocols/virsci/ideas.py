"""Stage 3, idea generation: K turns of improving the previous idea or proposing a new one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

from pydantic import Field, model_validator

from virsci_society.agents.config import Part, Switch
from virsci_society.agents.prompts.slots import Utterance
from virsci_society.protocols.discussion import Discussion
from virsci_society.protocols.forms import Topic
from virsci_society.protocols.ideas import (
    CandidateIdea,
    Idea,
    Weights,
    add_judgement,
    make_candidate,
    without_ratings,
)
from virsci_society.protocols.virsci.searches import Papers
from virsci_society.society.kernel.answer import Answer
from virsci_society.society.kernel.durations import Process

if TYPE_CHECKING:
    from virsci_society.protocols.virsci.team_memory import TeamMemory

Ideas: TypeAlias = tuple[Answer[CandidateIdea], ...]
"""Ideas with their references, in the order of being put forward, unread."""


class IdeaStage(Part):
    """How ideas are generated."""

    dialogue: Switch = "on"
    """``off``: speakers see the current idea and no other discussion; no summaries. Source: VirSci,
    equation 2; published program: ``off``."""


class Confidence(Part):
    """Weights of the self-assessment in the choice of the three ideas."""

    clarity: float = Field(default=1.0, ge=0, le=1_000_000, allow_inf_nan=False)
    """Weight of the stated clarity. Unit: weight."""
    feasibility: float = Field(default=1.0, ge=0, le=1_000_000, allow_inf_nan=False)
    """Weight of the stated feasibility. Unit: weight."""
    novelty: float = Field(default=1.0, ge=0, le=1_000_000, allow_inf_nan=False)
    """Weight of the stated novelty. Unit: weight."""
    first_idea: Literal["scored", "unscored"] = "scored"
    """``unscored``: the first idea has confidence 0. Source: VirSci; published program:
    ``unscored``."""

    @model_validator(mode="after")
    def _something_counts(self) -> Confidence:
        if self.clarity + self.feasibility + self.novelty <= 0:
            raise ValueError("at least one weight must be above zero")
        return self

    @property
    def weights(self) -> Weights:
        """Weights of clarity, feasibility and novelty."""
        return self.clarity, self.feasibility, self.novelty


def generate_ideas(
    discussion: Discussion,
    topic: Answer[Topic] | Topic,
    rules: IdeaStage,
    memory: TeamMemory,
    *,
    first_scored: bool,
) -> Process[Ideas]:
    """Let every speaker of K turns improve the previous idea or propose a new one (Eq. 2)."""
    ideas: Ideas = ()
    lab, dialogue, uses = discussion.lab, rules.dialogue == "on", memory.references
    rated = "marks" in memory.extras_of_ideas
    with discussion:
        while turn := (yield from discussion.next_turn(summarised=dialogue)):
            # Ideas of this round are among its utterances, and the last idea is current.
            earlier, last = ideas[:-1], ideas[-1:]
            for seat, speaker in turn.speakers:
                heard = turn.said if dialogue else ()
                listed = earlier if seat == 0 else (*earlier, *last)
                previous = ideas[-1] if ideas else None
                cue = topic if previous is None else previous
                shown: Papers = ()
                if uses.ideas == "on":
                    shown = uses.find_for(speaker, lab, cue, topic)
                idea, guest = yield from discussion.utter(
                    speaker,
                    seat,
                    "idea_turn",
                    Idea,
                    cue=cue,
                    recall=topic,
                    about=topic,
                    # The slots are in the order of the call's needs, which the digest contains.
                    topic=topic,
                    background=memory.shown(memory.topic_summaries[-1:]),
                    reasons=memory.carries,
                    tried=memory.failed_ideas,
                    earlier=memory.shown(listed),
                    previous=previous,
                    # The idea on the table was the last utterance of this round, if there is one.
                    shown_above=bool(heard),
                    references=shown,
                    # Ideas of earlier rounds are listed where they are carried: one summary then.
                    summaries=discussion.summaries[-1 if memory.carries else 0 :],
                    said=heard,
                    ratings=memory.ratings,
                    extras=memory.extras_of_ideas,
                )
                # Where others rate an idea too, its author's ratings would anchor theirs.
                spoken = lab.later(without_ratings, idea) if rated else idea
                turn.said += (Utterance(speaker, spoken), *guest)
                near = uses.find_near(lab, idea) if uses.ideas == "on" else ()
                # The papers of an idea appear in the next prompt only if carried over.
                seen = previous if memory.carries and previous is not None else ()
                make = partial(make_candidate, speaker, bool(ideas) or first_scored)
                new = lab.later(make, idea, shown, near, seen)
                if previous is not None and rated:
                    judged = lab.later(partial(add_judgement, speaker), previous, idea)
                    ideas = (*ideas[:-1], judged, new)
                else:
                    ideas = (*ideas, new)
    yield from discussion.seat_last_guests()
    memory.advice = discussion.advice
    return ideas
