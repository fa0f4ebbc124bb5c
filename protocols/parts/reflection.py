"""Reflection, in which the author of an idea goes over it again until it calls it finished."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from virsci_society.protocols.parts.forms import RefinedIdea
from virsci_society.protocols.parts.team_work import TeamWork
from virsci_society.society.kernel.answer import Answer

if TYPE_CHECKING:
    from virsci_society.protocols.ideas import CandidateIdea
    from virsci_society.society.kernel.process import Process


def refine(
    work: TeamWork, who: str, idea: Answer[CandidateIdea], seat: int = 0, **slots: Any
) -> Process[tuple[Answer[CandidateIdea], Answer[RefinedIdea]]]:
    """One refinement of an idea, with the papers near it at hand.

    Args:
        work: of the team.
        who: masked name of who refines it.
        idea: as it stands.
        seat: place in the round, from 0.
        **slots: ``feedback``: Utterances on the idea; ``others``: ideas of others;
            ``summaries``: notes on the literature.

    Returns:
        The new idea with its references, and the reply itself, which says whether it is done.
    """
    near = work.search(idea)
    said: Answer[RefinedIdea] = yield from work.ask(
        who, "refinement", RefinedIdea, seat=seat, **refinement_slots(idea, near, **slots)
    )
    return work.candidate(who, said, near, idea), said


def refinement_slots(idea: Any, near: Any, **slots: Any) -> dict[str, Any]:
    """The slots of the page ``refinement``.

    Args:
        idea: as it stands, unread.
        near: the papers near it, unread.
        **slots: those of ``refine``.
    """
    given = {"feedback": (), "others": (), "summaries": (), **slots}
    return {"previous": idea, "references": near, **given}


def reflect(
    work: TeamWork,
    who: str,
    idea: Answer[CandidateIdea],
    rounds: int,
    *,
    stage: str = "reflection",
    first: int = 1,
    early_end: bool = True,
) -> Process[Answer[CandidateIdea]]:
    """Rounds of reflection, which end when the author calls the idea finished.

    Whether it does is read on the date of the next round.

    Args:
        work: of the team.
        who: masked name of the author.
        idea: as it stands.
        rounds: most rounds; 0: the idea stays as it is.
        stage: name of the stage on pages.
        first: number of the first meeting in its stage.
        early_end: do the rounds end when the author calls the idea finished?
    """
    last: Answer[RefinedIdea] | None = None

    def speak(_: int) -> Process[None]:
        nonlocal idea, last
        idea, last = yield from refine(work, who, idea)

    def over() -> bool:
        return last is not None and last.read().done

    if rounds:
        yield from work.hold_rounds(stage, rounds, speak, over if early_end else None, first)
    return idea
