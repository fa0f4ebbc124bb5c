"""ResearchAgent, by which problem, method and experiment follow from a core paper and its context.

``docs/protocols/research_agent.md`` says what is faithful and what is adapted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from virsci_society.agents.prompts.slots import Utterance
from virsci_society.protocols.ideas import CandidateIdea, Idea
from virsci_society.protocols.parts.forms import PlanStep, StepReview
from virsci_society.protocols.parts.research_system import ResearchSystem
from virsci_society.protocols.parts.steps import choose_reviewers
from virsci_society.protocols.parts.team_work import TeamWork

if TYPE_CHECKING:
    from virsci_society.agents.prompts.slots import Reference
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
    published: ClassVar[Mapping[str, Any]] = {
        "references": 10,
        "entities": 30,
        "reviewers": 5,
        "profiles": "off",
    }

    rounds: int = Field(default=2, ge=0, le=20)
    """Rounds of refinement of each step: all versions are reviewed, and the best scored is kept.
    Unit: rounds. Source: Baek et al. 2025 (2: three versions)."""
    reviewers: int = Field(default=2, ge=1, le=5)
    """Reviewing scientists, who are not in the team and share the five criteria. Unit: people.
    Source: Baek et al. 2025 in kind (5: one call for each criterion); the value is assumed."""
    entities: int = Field(default=10, ge=0, le=100)
    """Terms from the entity store that are shown. Unit: terms. Source: Baek et al. 2025 (30); the
    value is assumed."""
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
            known = {"step": step, "earlier": steps, "references": papers, "entities": entities}
            writing = self._write_step(work, step, known, reviewers)
            steps += ((yield from lab.stage("ideas", writing)),)
        return lab.later(partial(join_steps, work.team.leader), papers, *steps)

    def _write_step(
        self, work: TeamWork, step: str, known: dict[str, Any], reviewers: tuple[str, ...]
    ) -> Process[Answer[PlanStep]]:
        """One step: each version is reviewed, and the best scored is kept."""
        versions: list[Answer[PlanStep]] = []
        reviews: list[tuple[Utterance, ...]] = []
        for number in range(1, self.rounds + 2):
            with (yield from work.hold_round(f"writing of the {step}", number, self.rounds + 1)):
                text: Answer[PlanStep] = yield from work.ask(
                    work.team.leader,
                    "step",
                    PlanStep,
                    previous=versions[-1] if versions else None,
                    feedback=reviews[-1] if reviews else (),
                    **known,
                )
                versions.append(text)
                # A version that stands alone is the best one, whatever reviewers think of it.
                if self.rounds:
                    said = yield from self._review(work, step, text, known, reviewers)
                    reviews.append(said)
        said_of = tuple(tuple(one.reply for one in said) for said in reviews)
        return work.lab.later(best_version, tuple(versions), said_of)

    @staticmethod
    def _review(
        work: TeamWork,
        step: str,
        text: Answer[PlanStep],
        known: dict[str, Any],
        reviewers: tuple[str, ...],
    ) -> Process[tuple[Utterance, ...]]:
        """Reviews side by side; the reviewers share the criteria, so that each is scored once."""

        def pose(place: int, who: str) -> Answer[StepReview]:
            criteria = CRITERIA[step][place :: len(reviewers)]
            return work.pose(
                who,
                "step_review",
                StepReview,
                "review",
                seat=1 + place,
                text=text,
                criteria=criteria,
                **known,
            )

        said = yield from work.lab.ask_each(reviewers, pose)
        return tuple(Utterance(who, one) for who, one in zip(reviewers, said, strict=True))


def best_version(
    versions: tuple[PlanStep, ...], reviews: tuple[tuple[StepReview, ...], ...]
) -> PlanStep:
    """The version with the highest mean score; of equal ones, and without scores, the latest.

    Args:
        versions: in the order of writing, at least one.
    """
    if not reviews:
        return versions[-1]
    means = [
        fmean(scores) if (scores := [s for one in said for s in one.scores.values()]) else 0.0
        for said in reviews
    ]
    return versions[max(range(len(versions)), key=lambda place: (means[place], place))]


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
    """
    known = {word.casefold() for paper in shown for word in paper.keywords}
    counts = Counter(word for paper in stored for word in paper.keywords)
    left = [word for word, _ in counts.most_common() if word.casefold() not in known]
    return tuple(left[:count])


def join_steps(author: str, papers: tuple[Reference, ...], *steps: PlanStep) -> CandidateIdea:
    """Problem, method and experiment as one idea, which builds on the core paper.

    Its ratings are the middle of the scale: nobody was asked for any.
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
