"""ResearchAgent, by which problem, method and experiment follow from a core paper and its context.

``docs/protocols/research_agent.md`` says what is faithful and what is adapted.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, ClassVar, cast

from pydantic import Field

from virsci_society.agents.prompts.dialogue import Utterance
from virsci_society.agents.prompts.prompt import Prompts
from virsci_society.protocols.ideas import CandidateIdea, Idea
from virsci_society.protocols.parts.forms import PlanStep
from virsci_society.protocols.parts.research_system import ResearchSystem, pages_beside
from virsci_society.protocols.parts.steps import choose_reviewers, review
from virsci_society.protocols.parts.team_work import TeamWork

if TYPE_CHECKING:
    from virsci_society.agents.reference import Reference
    from virsci_society.society.kernel.answer import Answer
    from virsci_society.society.kernel.durations import Process

CRITERIA = {
    "problem": ("Clarity", "Relevance", "Originality", "Feasibility", "Significance"),
    "method": ("Clarity", "Validity", "Rigorousness", "Innovativeness", "Generalizability"),
    "experiment": ("Clarity", "Validity", "Robustness", "Feasibility", "Reproducibility"),
}
"""The steps in their order, and the five criteria by which each is reviewed."""


class ResearchAgent(ResearchSystem):
    """Problem, method, experiment from a core paper, with reviewing agents (Baek et al., 2025)."""

    citation: ClassVar[str] = (
        'Baek et al. 2025, "ResearchAgent: Iterative Research Idea Generation over Scientific '
        'Literature with Large Language Models", arXiv:2404.07738 (NAACL 2025), section 3.'
    )

    system: ClassVar[str] = "research_agent"
    pages: ClassVar[Prompts] = pages_beside(__file__)

    rounds: int = Field(default=2, ge=0, le=20)
    """Rounds of review and refinement of each step. Unit: rounds. Source: Baek et al. 2025 in kind;
    the value is assumed."""
    reviewers: int = Field(default=2, ge=1, le=20)
    """Reviewing scientists, who are not in the team. Unit: people. Source: Baek et al. 2025 in
    kind; the value is assumed."""
    entities: int = Field(default=10, ge=0, le=100)
    """Terms from the entity store that are shown. Unit: terms. Source: Baek et al. 2025 in kind;
    the value is assumed."""
    stored: int = Field(default=50, ge=1, le=1000)
    """Papers nearest to the core paper whose keywords make the entity store. Unit: papers. Source:
    Baek et al. 2025 in kind; the value is assumed."""

    def find_idea(self, work: TeamWork) -> Process[Answer[CandidateIdea]]:
        """Take a core paper, write and refine the three steps, and join them into one idea."""
        lab = work.lab
        core = work.search(work.topic, 1)
        near = work.search(lab.later(text_of_core, core, work.topic))
        papers = lab.later(core_first, core, near)
        store = lab.library.search(lab.later(text_of_core, core, work.topic), self.stored)
        entities = lab.later(partial(common_entities, self.entities), papers, store)
        yield from work.call_meeting()
        reviewers = choose_reviewers(work, self.reviewers)
        steps: tuple[Answer[PlanStep], ...] = ()
        for step in CRITERIA:
            writing = self._write_step(work, step, steps, papers, entities, reviewers)
            steps += ((yield from lab.stage("ideas", writing)),)
        return lab.later(partial(join_steps, work.team.leader), papers, *steps)

    def _write_step(
        self,
        work: TeamWork,
        step: str,
        earlier: tuple[Answer[PlanStep], ...],
        papers: Answer[tuple[Reference, ...]],
        entities: Answer[tuple[str, ...]],
        reviewers: tuple[str, ...],
    ) -> Process[Answer[PlanStep]]:
        """One step: written, then reviewed and refined in rounds."""
        text: Answer[PlanStep] | None = None
        rounds = self.rounds + 1
        for number in range(1, rounds + 1):
            with (yield from work.hold_round(f"writing of the {step}", number, rounds)):
                feedback: tuple[Utterance, ...] = ()
                if text is not None:
                    feedback = yield from review(work, reviewers, step, text, CRITERIA[step])
                text = yield from work.ask(
                    work.team.leader,
                    "step",
                    PlanStep,
                    step=step,
                    earlier=earlier,
                    references=papers,
                    entities=entities,
                    previous=text,
                    feedback=feedback,
                )
        # The first round writes it.
        return cast("Answer[PlanStep]", text)


def text_of_core(core: tuple[Reference, ...], topic: object) -> str:
    """Title and abstract of the core paper; the topic where nothing has been published yet."""
    if not core:
        return str(topic.words())  # type: ignore[attr-defined]
    return f"{core[0].title}. {core[0].abstract}"


def core_first(core: tuple[Reference, ...], near: tuple[Reference, ...]) -> tuple[Reference, ...]:
    """The core paper, then its neighbours, each paper once."""
    ids = [paper.id for paper in core]
    return (*core, *(paper for paper in near if paper.id not in ids))


def common_entities(
    count: int, shown: tuple[Reference, ...], stored: tuple[Reference, ...]
) -> tuple[str, ...]:
    """The most frequent keywords of the stored papers that no shown paper has.

    Args:
        count: terms that are returned at most.
        shown: the core paper and its neighbours.
        stored: papers of the entity store.

    Returns:
        Terms, the most frequent first; of equal ones the first in the order of the papers.
    """
    known = {word.casefold() for paper in shown for word in paper.keywords}
    counts = Counter(word for paper in stored for word in paper.keywords)
    left = [word for word, _ in counts.most_common() if word.casefold() not in known]
    return tuple(left[:count])


def join_steps(author: str, papers: tuple[Reference, ...], *steps: PlanStep) -> CandidateIdea:
    """Problem, method and experiment as one idea, which builds on the core paper.

    Its ratings are the middle of the scale: nobody was asked for any.

    Args:
        author: masked name.
        papers: the core paper and its neighbours.
        steps: problem, method, experiment.
    """
    problem, method, experiment = steps
    idea = Idea(
        reason=problem.reason,
        title=method.title,
        idea=f"{problem.text} {method.text}",
        experiment=experiment.text,
        clarity=5.0,
        feasibility=5.0,
        novelty=5.0,
    )
    return CandidateIdea(
        idea,
        author,
        references=papers[1:],
        used=tuple(paper.id for paper in papers[:1]),
        retrieved=tuple(paper.id for paper in papers),
        builds_on=papers[:1],
    )
