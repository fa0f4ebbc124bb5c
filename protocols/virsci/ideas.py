"""Stage 3, idea generation: K turns of improving an idea or proposing a new one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from protocols.discussion import Discussion, Said
from protocols.virsci.forms import Idea
from protocols.virsci.prompts import PROMPTS
from protocols.virsci.settings import Settings
from protocols.virsci.standing import best_three, stand, tied
from society.answer import Answer
from society.steps import Steps

if TYPE_CHECKING:
    from society.lab import Lab
    from society.team import Team


def imagine(virsci: Settings, team: Team, lab: Lab, topic: Any) -> Steps:
    """Every idea with its references, in the order of being said; none of them read."""
    discussion = Discussion(virsci, team, lab, virsci.turns_of.ideas, PROMPTS)
    ideas: Said = ()

    def speak(turn: int, speakers: list[str]) -> Steps:
        nonlocal ideas
        said: Said = ()
        for seat, speaker in enumerate(speakers):
            previous = ideas[-1] if ideas else None
            cue = topic if previous is None else previous
            shown = references(virsci, lab, cue, virsci.references.ideas)
            idea, guest = yield from discussion.utter(
                speaker,
                seat,
                "idea_turn",
                Idea,
                cue=cue,
                recall=topic,
                topic=topic,
                previous=previous,
                references=shown,
                summaries=discussion.summaries,
                said=said,
            )
            said = (*said, idea, *guest)
            near = references(virsci, lab, idea, virsci.references.ideas)
            scored = bool(ideas) or virsci.confidence.first_idea == "scored"
            ideas = (*ideas, lab.later(partial(stand, scored), idea, shown, near))
        return said

    yield from discussion.hold(speak)
    return ideas


def keep(virsci: Settings, team: Team, lab: Lab, ideas: Said) -> Answer[Any]:
    """The three ideas with the highest confidence, unread; how many tied is noted."""
    weights = weights_of(virsci)
    team.notes["ties"] = lab.later(partial(tied, weights), *ideas)
    return lab.later(partial(best_three, weights), *ideas)


def references(virsci: Settings, lab: Lab, cue: Any, switch: str) -> Answer[Any] | tuple[()]:
    """B_past(cue), or nothing where the stage sees no papers."""
    return lab.search(cue, virsci.references.count) if switch == "on" else ()


def weights_of(virsci: Settings) -> tuple[float, float, float]:
    """Weights of the self-assessment."""
    weights = virsci.confidence
    return weights.clarity, weights.feasibility, weights.novelty
