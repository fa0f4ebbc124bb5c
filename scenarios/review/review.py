"""Reviews of the abstracts of a run or a study by a model, outside the society.

A panel has a journal of its own in ``reviews/NAME``, so that no call is paid twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pandas as pd

from virsci_society.agents.errors import Diverged, InputError, Stopped, Verdict, disk_errors_as
from virsci_society.agents.files.atomic_files import make_folder, refuse_links, write_atomically
from virsci_society.agents.files.file_hashes import check_file
from virsci_society.agents.files.json_files import read_json_object
from virsci_society.agents.gateway.gateway import Gateway
from virsci_society.agents.profile import Profile
from virsci_society.agents.replies.form import Form
from virsci_society.scenarios.config.schema import Scenario, load_scenario
from virsci_society.scenarios.review.review_kinds import KINDS, RUBRIC, SCORES, Question, ReviewKind
from virsci_society.scenarios.runs.build import build_gateway
from virsci_society.scenarios.runs.run_folder import SCENARIO, backend_summary
from virsci_society.scenarios.runs.run_journal import ledger_of, open_journal
from virsci_society.scenarios.runs.run_state import PANEL
from virsci_society.scenarios.runs.signals import interruptible
from virsci_society.scenarios.study.lock import BASE, LOCK, done_runs, folder_of
from virsci_society.society.kernel.answer import Answer, Call, PendingCall, ask_model, settled
from virsci_society.society.kernel.dispatcher import Dispatcher
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.results.run import Run
from virsci_society.society.results.table_files import read_parquet, write_parquet

FOLDER = "reviews"
"""In a run folder, or a study's: one folder per panel in it."""
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
was parsed or why not, and calls and tokens with re-asks."""
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
class ReviewedPaper:
    """What a reviewer sees of a paper, and the id by which it is known."""

    id: str
    title: str
    abstract: str
    topic: str = ""


@dataclass(frozen=True, slots=True)
class Opinion:
    """One review, reflection (``round`` from 1) or meta-review; None if it cannot be parsed."""

    paper: str
    reviewer: int
    round: int
    review: Form | None
    calls: tuple[Call, ...]


def last_readable(opinions: Sequence[Opinion]) -> Form | None:
    """The last review that could be parsed; None if there is none."""
    return next((one.review for one in reversed(opinions) if one.review is not None), None)


def ask_panel(
    gateway: Gateway,
    kind: ReviewKind,
    papers: Sequence[ReviewedPaper],
    seed: int,
    announce: Callable[[int], None] = lambda done: None,
) -> list[Opinion]:
    """Ask all reviewers about all papers at once; call ids are paper/kind/reviewer/round.

    The opinions are in the order of papers and reviewers, the chair last.
    """
    dispatcher = Dispatcher(gateway, lambda: 0.0, lambda: None, lambda: 1)

    async def ask(
        paper: ReviewedPaper, reviewer: int, number: int, question: Question, **more: Any
    ) -> Opinion:
        prompt, form = question
        who = "Chair" if reviewer == CHAIR else f"Reviewer{reviewer}"
        id_ = f"{paper.id}/{kind.name}/{reviewer}/{number}"
        place = (paper.id, kind.name, 1, number, reviewer, "review", who)
        call = Call(id_, *place, asked=0.0, due=0.0, sequence=0, needs="", form=form.__name__)
        slots = {"title": paper.title, "abstract": paper.abstract, "topic": paper.topic}
        slots |= {"rubric": RUBRIC, **more}
        key = Streams(seed, "review").key("words", id_)
        pending = PendingCall(
            call, Profile(who), "reviewer", prompt, form, slots, key, calls=[call]
        )
        try:
            review = await ask_model(pending, gateway)
        except Verdict:
            # A missing review, never a default.
            review = None
        return Opinion(paper.id, reviewer, number, review, tuple(pending.calls))

    async def review_by(paper: ReviewedPaper, reviewer: int) -> list[Opinion]:
        """The review and its reflections, each on the last review that could be parsed."""
        opinions = [await ask(paper, reviewer, 0, kind.first)]
        for number in range(1, kind.reflections + 1):
            previous = last_readable(opinions)
            if previous is None or kind.reflection is None:
                break
            more = {"previous": previous, "round": number, "rounds": kind.reflections}
            opinions.append(await ask(paper, reviewer, number, kind.reflection, **more))
        return opinions

    async def conclude(
        paper: ReviewedPaper, meta: Question, answers: Sequence[Answer[list[Opinion]]]
    ) -> list[Opinion]:
        given = [last_readable(await settled(answer)) for answer in answers]
        reviews = tuple(review for review in given if review is not None)
        # A meta-review of no reviews would be invented.
        return [await ask(paper, CHAIR, 0, meta, reviews=reviews)] if reviews else []

    def submit(paper: ReviewedPaper, reviewer: int, work: Any) -> Answer[list[Opinion]]:
        read = partial(dispatcher.read, note=lambda: None)
        answer: Answer[list[Opinion]] = Answer(f"{paper.id}/{reviewer}", 0.0, (), False, read)
        return dispatcher.submit(answer, work)

    opinions: list[Opinion] = []
    dispatcher.on_clock(True)
    try:
        with interruptible(dispatcher.interrupt):
            by_paper: list[list[Answer[list[Opinion]]]] = []
            for paper in papers:
                reviewers = range(1, kind.reviewers + 1)
                answers = [submit(paper, one, review_by(paper, one)) for one in reviewers]
                if kind.meta is not None:
                    answers.append(submit(paper, CHAIR, conclude(paper, kind.meta, tuple(answers))))
                by_paper.append(answers)
            for done, answers in enumerate(by_paper, start=1):
                for answer in answers:
                    opinions += answer.read()
                announce(done)
    except Stopped as stop:
        # The exception only signals the problem; the Fault has the remedy.
        raise dispatcher.fault or stop from None
    finally:
        dispatcher.on_clock(False)
        dispatcher.close()
    return opinions


@dataclass(frozen=True)
class PanelReview:
    """One kind of review of the abstracts of some runs by one panel."""

    scenario: Scenario
    folder: Path
    runs: Mapping[str, Run]
    """Finished, by what the ids of their papers begin with: in a study ``0007/``, else nothing."""
    kind: ReviewKind

    @classmethod
    def of(
        cls,
        path: Path,
        kind: ReviewKind,
        settings: Sequence[str] = (),
        panel: str | None = None,
        *,
        trust: bool = False,
    ) -> PanelReview:
        """The review of a run or of the finished runs of a study, by its own backend as set."""
        for setting in settings:
            if not setting.startswith("backend"):
                raise InputError(f"--set {setting}: only keys of backend can be set for a review")
        if (path / LOCK).is_file():
            folders = [folder_of(path, one.index) for one in done_runs(path)]
            runs, base = {f"{one.name}/": Run.open(one) for one in folders}, path / BASE
        else:
            runs, base = {"": Run.open(path)}, check_file(path / SCENARIO)
        scenario = load_scenario(base, settings=settings, trust=trust)
        only = scenario.backend.model_copy(update={"backend": scenario.backend.backend.paid})
        scenario = scenario.model_copy(update={"backend": only})
        speaker = backend_summary(scenario)
        slug = re.sub(r"[^\w.-]+", "-", str(speaker["model"] or speaker["use"])).strip("-.")
        name = panel or slug or "panel"
        if not re.fullmatch(r"\w[\w.-]*", name):
            raise InputError(f"--panel {name}: letters, digits, dots, dashes and _ only")
        return cls(scenario, path / FOLDER / name, runs, kind)

    @property
    def about(self) -> str:
        """The reviewer, as every output names it."""
        return str(self.scenario.backend.backend.about)

    @cached_property
    def papers(self) -> list[ReviewedPaper]:
        """The abstracts, in the order of runs and papers."""
        papers = []
        for prefix, run in self.runs.items():
            table = run.table("papers")[["paper", "title", "abstract", "topic"]].fillna("")
            for paper, *texts in table.itertuples(index=False, name=None):
                papers.append(ReviewedPaper(f"{prefix}{paper}", *texts))
        return papers

    def execute(self, announce: Callable[[str], None] = lambda line: None) -> None:
        """Ask what has not been answered yet, and write the tables; ``announce`` gets lines."""
        refuse_links(self.folder.parent.parent)
        make_folder(self.folder)
        # Before the first call, so that an unfinished panel is not taken for a run.
        if not (self.folder / PANEL).exists():
            write_atomically(self.folder / PANEL, "{}\n")

        def count(done: int) -> None:
            announce(f"{done:,} of {len(self.papers):,} abstracts reviewed ({self.kind.name})")

        with open_journal(self.folder) as journal:
            gateway = build_gateway(self.scenario, journal)
            try:
                opinions = ask_panel(gateway, self.kind, self.papers, self.scenario.seed, count)
            except Diverged as error:
                raise Diverged(f"{error} (of a review: --panel NEW)") from error
            journal.flush()
            spent = {"backend": backend_summary(self.scenario), "ledger": ledger_of(journal)}
        with disk_errors_as(Stopped, f"{self.folder}: cannot be written to"):
            write_reviews(self.folder, self.kind, opinions, self.about)
            write_atomically(self.folder / PANEL, json.dumps(spent, indent=2) + "\n")


def reviewer_description(panel: Path) -> str:
    """The sentence about the model that has reviewed; empty if the panel has no record."""
    record = read_json_object(check_file(panel / PANEL)) if (panel / PANEL).exists() else {}
    backend = record.get("backend")
    return str(backend.get("about", "")) if isinstance(backend, dict) else ""


def review_table(kind: ReviewKind, opinions: Sequence[Opinion]) -> pd.DataFrame:
    """Every opinion as a row of ``REVIEWS``; scores that the kind does not ask for are missing."""
    rows = []
    for one in opinions:
        row: dict[str, Any] = {"paper": one.paper, "kind": kind.name}
        row |= {"reviewer": one.reviewer, "round": one.round}
        row |= {name: getattr(one.review, name, None) for name in kind.scores}
        row |= {"reply": None if one.review is None else one.review.as_json()}
        row |= {"rung": one.calls[0].rung, "verdict": one.calls[0].verdict}
        row |= {"model": one.calls[-1].model, "calls": len(one.calls)}
        for tokens in ("prompt_tokens", "completion_tokens"):
            row[tokens] = sum(getattr(call, tokens) for call in one.calls)
        rows.append(row)
    return _typed(rows, REVIEWS)


def average_table(kind: ReviewKind, opinions: Sequence[Opinion]) -> pd.DataFrame:
    """The scores of each abstract: means of the last readable reviews, or the meta-review's."""
    by_paper: dict[str, dict[int, list[Opinion]]] = {}
    for one in opinions:
        by_paper.setdefault(one.paper, {}).setdefault(one.reviewer, []).append(one)
    rows = []
    for paper, by_reviewer in by_paper.items():
        chair = last_readable(by_reviewer.pop(CHAIR, []))
        reviews = [one for one in map(last_readable, by_reviewer.values()) if one is not None]
        for name in kind.scores:
            scores = [float(getattr(review, name)) for review in reviews]
            score = fmean(scores) if scores else None
            if kind.meta is not None:
                score = None if chair is None else float(getattr(chair, name))
            row = {"paper": paper, "kind": kind.name, "dimension": name, "score": score}
            row |= {"reviews": len(scores), "spread": stdev(scores) if len(scores) > 1 else None}
            rows.append({**row, "from": "mean" if kind.meta is None else "meta-review"})
    return _typed(rows, AVERAGES)


def write_reviews(
    panel: Path, kind: ReviewKind, opinions: Sequence[Opinion], speaker: str = ""
) -> None:
    """Write ``reviews.parquet`` and ``averages.parquet`` of a panel; rows of other kinds stay."""
    order = list(KINDS).index
    for name, columns, table in (
        ("reviews", REVIEWS, review_table(kind, opinions)),
        ("averages", AVERAGES, average_table(kind, opinions)),
    ):
        path = panel / f"{name}.parquet"
        held = _read(path, columns)
        both = pd.concat([held[held["kind"] != kind.name], table], ignore_index=True)
        rows = both["kind"].map(order).sort_values(kind="stable").index
        write_parquet(path, both.loc[rows].reset_index(drop=True), speaker=speaker)


def panel_folders(run: Path) -> list[Path]:
    """The folders of the panels that have reviewed a run or a study, by name."""
    return sorted(path.parent for path in (run / FOLDER).glob("*/averages.parquet"))


def read_averages(run: Path) -> pd.DataFrame:
    """The averages of all panels of a run or study, with a column ``panel`` first.

    In a study ids of papers begin with ``0007/``; a run of it has its part of the study's panels.
    """
    tables = [
        _read(panel / "averages.parquet", AVERAGES).assign(panel=panel.name)
        for panel in panel_folders(run)
    ]
    if run.parent.name == "runs" and panel_folders(run.parent.parent):
        of_study, prefix = read_averages(run.parent.parent), f"{run.name}/"
        own = of_study[of_study["paper"].str.startswith(prefix)]
        tables.append(own.assign(paper=own["paper"].str.removeprefix(prefix)))
    columns = {"panel": "string", **AVERAGES}
    if not tables:
        return _typed([], columns)
    return pd.concat(tables, ignore_index=True)[list(columns)].astype(columns)


def _read(path: Path, columns: dict[str, str]) -> pd.DataFrame:
    if not path.exists():
        return _typed([], columns)
    table = read_parquet(path)
    if list(table.columns) != list(columns):
        raise InputError(f"{path}: not a table of reviews; remove it")
    return table.astype(columns)


def _typed(rows: Sequence[dict[str, Any]], columns: dict[str, str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(columns), dtype="object").astype(columns)
