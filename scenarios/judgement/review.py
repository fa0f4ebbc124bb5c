"""Reviews of the abstracts of a run or a study by a panel of reviewers, who are a model.

A panel lives in a folder of its own, ``reviews/NAME`` of the run, with its own journal. The run's
tables and its digest stay as they are. A study has panels of its own, each for the abstracts of all
its runs, so that they share slots and one budget.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.file_hashes import check_file
from virsci_society.agents.profile import Profile
from virsci_society.agents.spelling import did_you_mean
from virsci_society.scenarios.judgement.model_questions import (
    ModelQuestions,
    QuestionJob,
    QuestionRecord,
    load_speaker,
    speaker_slug,
)
from virsci_society.scenarios.judgement.review_kinds import (
    KINDS,
    RUBRIC,
    ReviewKind,
    ReviewQuestion,
)
from virsci_society.scenarios.judgement.review_tables import (
    CHAIR,
    FOLDER,
    RECORD,
    ReviewRound,
    last_readable,
    write_reviews,
)
from virsci_society.scenarios.study.folder import BASE, LOCK, done_runs
from virsci_society.scenarios.study.status import folder_of
from virsci_society.society.kernel.answer import Answer, settled
from virsci_society.society.results.run import Run


@dataclass(frozen=True, slots=True)
class ReviewedPaper:
    """What a reviewer sees of a paper, and the id by which it is known."""

    id: str
    title: str
    abstract: str
    topic: str = ""


@dataclass(frozen=True)
class Panel:
    """Reviewers of one kind, who are asked all at once.

    Call ids are paper / kind / reviewer / round; reviewer 0 is the chair. An unreadable reflection
    leaves the review before it in force.

    Attributes:
        questions: put the questions to the model.
        kind: of review.
    """

    questions: ModelQuestions[ReviewRound]
    kind: ReviewKind

    def begin(self, papers: Sequence[ReviewedPaper]) -> list[Answer[list[ReviewRound]]]:
        """Submit all opinions, in the order of papers and reviewers, the chair last."""
        return [answer for paper in papers for answer in self._ask(paper)]

    def _ask(self, paper: ReviewedPaper) -> list[Answer[list[ReviewRound]]]:
        reviewers = range(1, self.kind.reviewers + 1)
        answers = [self._submit(paper, one, self._reviewed(paper, one)) for one in reviewers]
        if self.kind.meta is None:
            return answers
        chair = self._submit(paper, CHAIR, self._agreed(paper, self.kind.meta, tuple(answers)))
        return [*answers, chair]

    def _submit(self, paper: ReviewedPaper, reviewer: int, work: Any) -> Answer[list[ReviewRound]]:
        return self.questions.submit(f"{paper.id}/{reviewer}", work)

    async def _reviewed(self, paper: ReviewedPaper, reviewer: int) -> list[ReviewRound]:
        """The review and its reflections; each goes on from the last that could be read."""
        opinions = [await self._opinion(paper, reviewer, 0, self.kind.first, {})]
        for number in range(1, self.kind.reflections + 1):
            standing = last_readable(opinions)
            # A reflection needs a review from which it goes on.
            if standing is None or self.kind.reflection is None:
                break
            slots = {"previous": standing, "round": number, "rounds": self.kind.reflections}
            opinions.append(
                await self._opinion(paper, reviewer, number, self.kind.reflection, slots)
            )
        return opinions

    async def _agreed(
        self,
        paper: ReviewedPaper,
        page: ReviewQuestion,
        answers: tuple[Answer[list[ReviewRound]], ...],
    ) -> list[ReviewRound]:
        given = [last_readable(await settled(answer)) for answer in answers]
        reviews = tuple(review for review in given if review is not None)
        # A meta-review of no reviews would be made up.
        if not reviews:
            return []
        return [await self._opinion(paper, CHAIR, 0, page, {"reviews": reviews})]

    async def _opinion(
        self,
        paper: ReviewedPaper,
        reviewer: int,
        number: int,
        page: ReviewQuestion,
        more: dict[str, Any],
    ) -> ReviewRound:
        who = "Chair" if reviewer == CHAIR else f"Reviewer{reviewer}"
        slots = {"title": paper.title, "abstract": paper.abstract, **more}
        slots |= {"topic": paper.topic, "rubric": RUBRIC}
        words, calls = await self.questions.ask(
            f"{paper.id}/{self.kind.name}/{reviewer}/{number}",
            (paper.id, self.kind.name, 1, number, reviewer, "review", who),
            Profile(who),
            "reviewer",
            page.prompt,
            page.form,
            slots,
        )
        return ReviewRound(paper.id, reviewer, number, words, calls)


@dataclass(frozen=True)
class ReviewJob(QuestionJob[ReviewRound]):
    """One review: runs, the model that reviews them, and the kind of review.

    Attributes:
        runs: finished, by what their papers' ids begin with: of a study's runs ``0007/``, of a
            single one nothing.
        kind: of review.
    """

    runs: Mapping[str, Run]
    kind: ReviewKind
    stream = "review"
    advice = "of a review: --panel NEW"

    @classmethod
    def of(
        cls,
        path: Path,
        kind: str,
        settings: Sequence[str] = (),
        panel: str | None = None,
        *,
        trust: bool = False,
    ) -> ReviewJob:
        """Read the runs and make up their panel.

        Args:
            path: the folder of a run, or of a study, of which the runs that are done are taken.
            kind: a name of ``KINDS``.
            settings: ``backend.key=value``: the reviewing model; the run's own backend by default.
            panel: its name; that of the model by default.
            trust: let dotted paths in the scenario be imported.

        Raises:
            InputError: no finished run, no such kind, or settings of something else.
        """
        if kind not in KINDS:
            known = ", ".join(KINDS)
            raise InputError(f"--kind {kind}: there are {known}{did_you_mean(kind, KINDS)}")
        runs, written = _runs_of(path)
        scenario = load_speaker(written, settings, "a review", trust=trust)
        name = panel or speaker_slug(scenario)
        if not re.fullmatch(r"\w[\w.-]*", name):
            raise InputError(f"--panel {name}: letters, digits, dots, dashes and _ only")
        return cls(scenario, scenario.seed, path / FOLDER / name, 0.0, runs, KINDS[kind])

    @cached_property
    def record(self) -> QuestionRecord:
        """What is asked, of whom, about which abstracts."""
        papers = [[one.id, one.title, one.abstract, one.topic] for one in self._manuscripts]
        who = self.scenario.identity().get("backend", {})
        content = json.dumps([self.kind.hash, who, self.seed, papers], ensure_ascii=True)
        identity = hashlib.sha256(content.encode()).hexdigest()
        return PanelRecord(self.folder, {self.kind.name: identity}, ())

    def begin(self, questions: ModelQuestions[ReviewRound]) -> list[Answer[list[ReviewRound]]]:
        """Ask all reviewers about all abstracts."""
        return Panel(questions, self.kind).begin(self._manuscripts)

    def progress(self, done: int) -> str:
        """How many abstracts have been reviewed by everybody."""
        each = self.kind.reviewers + int(self.kind.meta is not None)
        count = f"{done // each:,} of {len(self._manuscripts):,}"
        return f"{count} abstracts reviewed ({self.kind.name})"

    def write(self, replies: Sequence[ReviewRound]) -> None:
        """Write the tables of the panel."""
        write_reviews(self.folder, self.kind, replies, self.about)

    @cached_property
    def _manuscripts(self) -> list[ReviewedPaper]:
        made: list[ReviewedPaper] = []
        for before, run in self.runs.items():
            papers = run.table("papers")[["paper", "title", "abstract", "topic"]].fillna("")
            rows = papers.itertuples(index=False, name=None)
            made += [ReviewedPaper(f"{before}{paper}", *fields) for paper, *fields in rows]
        return made


class PanelRecord(QuestionRecord):
    """The record of a panel, which may have reviewed in several kinds, one after another.

    ``asked`` holds the identity of the review by name of its kind.
    """

    file: ClassVar[str] = RECORD

    @property
    def done(self) -> bool:
        """Has this very model reviewed these very abstracts already?"""
        held: dict[str, Any] = self.read("kinds").get("kinds", {})
        return self.asked.items() <= held.items()

    def begin(self) -> None:
        """Make the folder; what it holds of other kinds stays."""
        self.make_folder(self.folder.parent.parent)

    def finish(self, spent: dict[str, Any]) -> None:
        """Add this review to those that have ended."""
        self.write({"kinds": {**self.read("kinds").get("kinds", {}), **self.asked}, **spent})


def _runs_of(path: Path) -> tuple[dict[str, Run], Path]:
    """The finished runs of a folder, and the scenario that they have in common."""
    if not (path / LOCK).is_file():
        return {"": Run.open(path)}, check_file(path / "scenario.yaml")
    folders = [folder_of(path, one.index) for one in done_runs(path)]
    return {f"{folder.name}/": Run.open(folder) for folder in folders}, path / BASE
