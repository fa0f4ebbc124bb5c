"""Reviews of the abstracts of a run or a study by a panel of reviewers, who are a model.

A panel lives in a folder of its own, ``reviews/NAME`` of the run, with its own journal. The run's
tables and its digest stay as they are. A study has panels of its own, each for the abstracts of all
its runs, so that they share slots and one budget. A panel leaves two tables: every review, and the
averages of each abstract.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, ClassVar

import pandas as pd

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.file_hashes import check_file
from virsci_society.agents.profile import Profile
from virsci_society.agents.replies.form import Form
from virsci_society.agents.spelling import did_you_mean
from virsci_society.scenarios.judgement.model_questions import (
    ModelQuestions,
    QuestionJob,
    QuestionRecord,
    call_cells,
    load_speaker,
    speaker_slug,
)
from virsci_society.scenarios.judgement.rating_files import read_lines
from virsci_society.scenarios.judgement.review_kinds import (
    KINDS,
    RUBRIC,
    SCORES,
    ReviewKind,
    ReviewQuestion,
)
from virsci_society.scenarios.study.folder import BASE, LOCK, done_runs
from virsci_society.scenarios.study.status import folder_of
from virsci_society.society.kernel.answer import Answer, Call, settled
from virsci_society.society.results.run import Run
from virsci_society.society.results.table_files import read_parquet, write_parquet

FOLDER = "reviews"
"""Of a run folder, or a study's: one folder per panel in it."""
RECORD = "panel.json"
REVIEWS_FILE = "reviews.parquet"
SPEAKING = "quickstart"
"""The scenario whose backend reviews texts that are of no run: rules, unless settings say more."""
CHAIR = 0
"""The reviewer's number in ids and tables that stands for the meta-review."""
REVIEWS = {
    **dict.fromkeys(("paper", "kind"), "string"),
    **dict.fromkeys(("reviewer", "round"), "Int64"),
    **dict.fromkeys(SCORES, "Float64"),
    **dict.fromkeys(("reply", "rung", "verdict", "model"), "string"),
    **dict.fromkeys(("calls", "prompt_tokens", "completion_tokens"), "Int64"),
}
"""One row per review, reflection and meta-review (reviewer 0): its scores, the form as JSON, how it
was read or why not, and what it took with its re-asks."""
AVERAGES = {
    **dict.fromkeys(("paper", "kind", "dimension"), "string"),
    "score": "Float64",
    "reviews": "Int64",
    "spread": "Float64",
    "from": "string",
}
"""One row per abstract, kind and dimension: its score, how many reviewers gave one, their standard
deviation, and whether the score is their ``mean`` or that of the ``meta-review``."""


@dataclass(frozen=True, slots=True)
class ReviewRound:
    """One round of one reviewer.

    Attributes:
        paper: id of the manuscript.
        reviewer: from 1; 0 is the chair.
        round: 0 is the first review.
        review: the form, or None where the reply could not be read.
        calls: rows of the call and its re-asks.
    """

    paper: str
    reviewer: int
    round: int
    review: Form | None
    calls: tuple[Call, ...]


def review_table(kind: ReviewKind, opinions: Sequence[ReviewRound]) -> pd.DataFrame:
    """Every opinion as a row of ``REVIEWS``; scores that the kind does not ask for are missing."""
    rows = []
    for one in opinions:
        row: dict[str, Any] = {"paper": one.paper, "kind": kind.name}
        row |= {"reviewer": one.reviewer, "round": one.round}
        row |= {name: getattr(one.review, name, None) for name in kind.scores}
        row |= {"reply": None if one.review is None else one.review.as_json()}
        rows.append({**row, **call_cells(one.calls)})
    return _typed(rows, REVIEWS)


def average_table(kind: ReviewKind, opinions: Sequence[ReviewRound]) -> pd.DataFrame:
    """The scores of each abstract as rows of ``AVERAGES``.

    The mean over the reviewers, of each the last review that could be read; where the kind has a
    meta-review, its scores. Nothing readable gives a missing score.
    """
    by_paper: dict[str, dict[int, list[ReviewRound]]] = {}
    for one in opinions:
        by_paper.setdefault(one.paper, {}).setdefault(one.reviewer, []).append(one)
    rows = []
    for paper, by_reviewer in by_paper.items():
        chair = last_readable(by_reviewer.pop(CHAIR, []))
        given = [
            review for review in map(last_readable, by_reviewer.values()) if review is not None
        ]
        for name in kind.scores:
            scores = [float(getattr(review, name)) for review in given]
            score = fmean(scores) if scores else None
            if kind.meta is not None:
                # The chair has the last word; where it said nothing readable there is no score.
                score = None if chair is None else float(getattr(chair, name))
            row = {"paper": paper, "kind": kind.name, "dimension": name, "score": score}
            row |= {"reviews": len(scores), "spread": stdev(scores) if len(scores) > 1 else None}
            rows.append({**row, "from": "mean" if kind.meta is None else "meta-review"})
    return _typed(rows, AVERAGES)


def write_reviews(
    panel: Path, kind: ReviewKind, opinions: Sequence[ReviewRound], speaker: str = ""
) -> None:
    """Write ``reviews.parquet`` and ``averages.parquet`` of a panel; rows of other kinds stay."""
    made = {"reviews": review_table(kind, opinions), "averages": average_table(kind, opinions)}
    for name, table in made.items():
        path = panel / f"{name}.parquet"
        held = _read(path, REVIEWS if name == "reviews" else AVERAGES)
        whole = pd.concat([held[held["kind"] != kind.name], table], ignore_index=True)
        order = whole["kind"].map(list(KINDS).index).sort_values(kind="stable").index
        write_parquet(path, whole.loc[order].reset_index(drop=True), speaker=speaker)


def read_averages(run: Path) -> pd.DataFrame:
    """The averages of all panels of a run, with a column ``panel`` first.

    Given the folder of a study, those of its own panels, whose papers begin with the run's folder:
    ``0007/``. Given a run of that study, its part of them beside those of panels of its own.

    Raises:
        InputError: a table is damaged, or of another kind.
    """
    tables = []
    for panel in panel_folders(run):
        table = _read(panel / "averages.parquet", AVERAGES)
        table.insert(0, "panel", pd.Series([panel.name] * len(table), dtype="string"))
        tables.append(table)
    if run.parent.name == "runs" and panel_folders(run.parent.parent):
        whole, before = read_averages(run.parent.parent), f"{run.name}/"
        mine = whole[whole["paper"].str.startswith(before)]
        tables.append(mine.assign(paper=mine["paper"].str.removeprefix(before)))
    if not tables:
        return _typed([], {"panel": "string", **AVERAGES})
    return pd.concat(tables, ignore_index=True)


def panel_folders(run: Path) -> list[Path]:
    """The folders of the panels that have reviewed a run or a study, by name."""
    return sorted(path.parent for path in (run / FOLDER).glob("*/averages.parquet"))


def reviewer_description(panel: Path) -> str:
    """Description of the model that has reviewed, from the panel's record; empty where it has none.

    Raises:
        InputError: the record is damaged.
    """
    path = panel / RECORD
    if not path.is_file():
        return ""
    try:
        return str(json.loads(path.read_text(encoding="utf-8"))["backend"]["about"])
    except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read ({error}); remove it") from error


def last_readable(opinions: Sequence[ReviewRound]) -> Form | None:
    """The last review that could be read; None if there is none."""
    return next((one.review for one in reversed(opinions) if one.review is not None), None)


def _read(path: Path, columns: dict[str, str]) -> pd.DataFrame:
    if not path.exists():
        return _typed([], columns)
    table = read_parquet(path)
    if list(table.columns) != list(columns):
        raise InputError(f"{path}: not a table of reviews as this release writes it; remove it")
    return table.astype(columns)


def _typed(rows: Sequence[dict[str, Any]], columns: dict[str, str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(columns), dtype="object").astype(columns)


@dataclass(frozen=True, slots=True)
class ReviewedPaper:
    """What a reviewer sees of a paper, and the id by which it is known."""

    id: str
    title: str
    abstract: str
    topic: str = ""


@dataclass(frozen=True)
class ReviewPanel:
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
        texts: further ones that are of no run.
    """

    runs: Mapping[str, Run]
    kind: ReviewKind
    texts: Sequence[ReviewedPaper] = ()
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
            path: the folder of a run, or of a study, of which the runs that are done are taken; or
                a file of texts (``texts_in``).
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
        runs, written, texts = _reviewed(path)
        scenario = load_speaker(written, settings, "a review", trust=trust)
        name = panel or speaker_slug(scenario)
        if not re.fullmatch(r"\w[\w.-]*", name):
            raise InputError(f"--panel {name}: letters, digits, dots, dashes and _ only")
        folder = path.with_suffix("") / FOLDER / name if texts else path / FOLDER / name
        return cls(scenario, scenario.seed, folder, 0.0, runs, KINDS[kind], texts)

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
        return ReviewPanel(questions, self.kind).begin(self._manuscripts)

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
        made: list[ReviewedPaper] = list(self.texts)
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


def _reviewed(path: Path) -> tuple[dict[str, Run], Path | str, list[ReviewedPaper]]:
    """The runs or the texts of a path, and the scenario whose backend reviews by default."""
    if not path.is_file():
        return *_runs_of(path), []
    return {}, SPEAKING, texts_in(path)


def texts_in(path: Path) -> list[ReviewedPaper]:
    """The texts of a file of ratings, or of JSON lines with ``item`` and ``text`` alone.

    Raises:
        InputError: unreadable, or an item has no text.
    """
    texts: dict[str, ReviewedPaper] = {}
    for row in read_lines(path, ("item",)):
        item, text = row["item"], row.get("text")
        if isinstance(text, str) and item not in texts:
            title, topic = str(row.get("title") or ""), str(row.get("topic") or "")
            texts[item] = ReviewedPaper(item, title, text, topic)
        elif item not in texts:
            raise InputError(f"{path}: {item} has no 'text' in its first line")
    return list(texts.values())


def _runs_of(path: Path) -> tuple[dict[str, Run], Path]:
    """The finished runs of a folder, and the scenario that they have in common."""
    if not (path / LOCK).is_file():
        return {"": Run.open(path)}, check_file(path / "scenario.yaml")
    folders = [folder_of(path, one.index) for one in done_runs(path)]
    return {f"{folder.name}/": Run.open(folder) for folder in folders}, path / BASE
