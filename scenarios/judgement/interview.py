"""Interviews of scientists of a finished run at a date, in a fork that changes nothing.

The run is gone through again from its journal until the date. Then chosen scientists are asked,
through a journal in a folder of its own; the folder of the run stays as it is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from virsci_society.agents.errors import InputError, Stopped
from virsci_society.agents.files.file_hashes import check_file
from virsci_society.agents.gateway.gateway import Gateway
from virsci_society.agents.spelling import did_you_mean
from virsci_society.scenarios.config.document import Document, Origin
from virsci_society.scenarios.config.reader import Reader
from virsci_society.scenarios.config.schema import Scenario
from virsci_society.scenarios.config.yaml_io import read_yaml
from virsci_society.scenarios.judgement.interviews.interviewer import (
    STREAM,
    Interviewer,
    Respondent,
    draw_arm,
)
from virsci_society.scenarios.judgement.interviews.knowledge import knowledge_of
from virsci_society.scenarios.judgement.interviews.survey import Survey
from virsci_society.scenarios.judgement.question_folder import (
    QuestionRecord,
    ask_in_folder,
    load_speaker,
)
from virsci_society.scenarios.runs.execute import replayed_until, require_finished
from virsci_society.scenarios.runs.progress import Progress
from virsci_society.scenarios.runs.run_folder import DIGEST, SCENARIO
from virsci_society.society.interventions import Rank, rank_scientists
from virsci_society.society.kernel.durations import parse_days, write_days
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.results.run import Run
from virsci_society.society.results.table_files import write_csv

if TYPE_CHECKING:
    from virsci_society.scenarios.judgement.interviews.interviewer import SurveyReply
    from virsci_society.society.kernel.calls import Call
    from virsci_society.society.teams.world import World

RANKS: tuple[Rank, ...] = ("degree", "papers", "citations", "random")
ANSWERS = "answers"
"""Name of the table, without its suffix."""


@dataclass(frozen=True)
class Interview:
    """A survey that is put to scientists of a run.

    Attributes:
        parent: folder of the run.
        day: date of the interviews, in simulated days from day 0.
        survey: the form.
        scenario: the run's own, with the backend that answers.
        seed: of arms, of a random choice of scientists, and of the words.
        respondents: who is asked.
        folder: for journal and answers.
    """

    parent: Path
    day: float
    survey: Survey
    scenario: Scenario
    seed: int
    respondents: tuple[Respondent, ...]
    folder: Path

    @classmethod
    def of(
        cls,
        parent: Path,
        form: Path,
        at: str | None = None,
        who: str = "all",
        settings: Sequence[str] = (),
        *,
        seed: int | None = None,
        out: Path | None = None,
        trust: bool = False,
        progress: Progress | None = None,
    ) -> Interview:
        """Read the arguments of the command, and go through the run until the date.

        Args:
            parent: folder of a finished run.
            form: file of the survey.
            at: date, as durations are written; None: the end of the run.
            who: ``degree:10``, ``papers:10``, ``citations:10``, ``random:10``, ``all``, or names
                with commas between them.
            settings: ``backend.key=value``: who answers; the run's own backend by default.
            seed: see the class; None: the run's.
            out: folder for the answers, outside the run's; by default one beside it.
            trust: let dotted paths in the scenario be imported.
            progress: is given every phase.

        Raises:
            InputError: a wrong form, no finished run, a date beyond its end, or unknown scientists.
            Diverged: code or prompts have changed, so that the past would be another one.
        """
        survey = read_survey(form)
        try:
            day = Run.open(parent).days if at is None else parse_days(at)
        except ValueError as error:
            raise InputError(f"--at: {error}") from error
        require_finished(parent, day, "an interview")
        beside = parent if parent.name.strip(".") else parent.resolve()
        folder = out or beside.with_name(f"{beside.name}-{form.stem}-{write_days(day)}")
        if folder.resolve().is_relative_to(parent.resolve()):
            raise InputError(f"{folder}: is inside the run, which stays as it is; give --out NEW")
        scenario = load_speaker(parent / SCENARIO, settings, "an interview", trust=trust)
        chosen_seed = scenario.seed if seed is None else seed
        with replayed_until(parent, day, progress, trust=trust) as society:
            names = choose_scientists(society.world, who, chosen_seed)
            respondents = tuple(
                Respondent(knowledge_of(society.world, one), draw_arm(survey, one, chosen_seed))
                for one in names
            )
        return cls(parent, day, survey, scenario, chosen_seed, respondents, folder)

    @property
    def about(self) -> str:
        """A sentence about who answers."""
        return str(self.scenario.backend.backend.about)

    @property
    def questions(self) -> int:
        """Questions that are put: one call for each, where every reply can be read."""
        return len(self.respondents) * len(self.survey.questions)

    @property
    def done(self) -> bool:
        """Have these scientists answered this very form, at this date, by this model?"""
        return self._record.done

    def asked_by(self, gateway: Gateway) -> Interviewer:
        """The interviewer who asks through a gateway."""
        return Interviewer(gateway, self.survey, self.seed, self.day)

    def rehearse(self, gateway: Gateway) -> list[Call]:
        """Ask through another gateway, whose words are not kept; the rows of its calls."""
        with self.asked_by(gateway) as one:
            return [call for reply in one.interview(self.respondents) for call in reply.calls]

    def execute(self, announce: Callable[[str], None] = lambda line: None) -> list[SurveyReply]:
        """Ask what has not been answered yet, and write the table of answers.

        Args:
            announce: is given a line of progress now and then.

        Returns:
            Every answer, those of earlier sessions too.

        Raises:
            Stopped: backend, budget, disk or a signal ended it early; the same call goes on.
            Diverged: the folder's journal knows a call that would now be made differently.
            InputError: the folder holds something else, or cannot be written to.
        """
        from virsci_society.scenarios.judgement.interviews.answers import answer_table

        self._record.begin()

        def count(done: int) -> None:
            announce(f"{done:,} of {self.questions:,} questions answered")

        replies: list[SurveyReply]
        replies, ledger = ask_in_folder(
            self.folder,
            self.scenario,
            self.asked_by,
            lambda one: one.interview(self.respondents, count),
            "of an interview: --out NEW",
        )
        try:
            table = answer_table(replies, self.about)
            write_csv(self.folder, {ANSWERS: table}, self.about)
        except OSError as error:
            raise Stopped(f"{self.folder}: cannot be written to: {error.strerror}") from error
        self._record.finish(self.scenario, ledger)
        return replies

    @cached_property
    def _record(self) -> QuestionRecord:
        digest = check_file(self.parent / DIGEST).read_text(encoding="utf-8").strip()
        asked: dict[str, Any] = {
            "run": digest,
            "day": self.day,
            "form": self.survey.model_dump(mode="json"),
            "seed": self.seed,
            "backend": _hash(self.scenario.identity().get("backend", {})),
        }
        return QuestionRecord(self.folder, asked, [one.name for one in self.respondents])


def read_survey(path: Path) -> Survey:
    """Read and check the file of a survey.

    Raises:
        InputError: all faults at once, each with its place.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file; give the form of a survey with --form FILE")
    sheet = read_yaml(path)
    folder = path.parent.resolve()
    marks = {key: Origin(mark, folder) for key, mark in sheet.marks.items()}
    reader = Reader(Document(dict(sheet.data), marks), trust=False)
    survey = reader.read_part(Survey, dict(sheet.data), ())
    reader.diagnostics.raise_faults()
    if survey is None:
        raise InputError(f"{path}: is not the form of a survey")
    return survey


def choose_scientists(world: World, who: str, seed: int) -> list[str]:
    """Masked names of the scientists who are asked.

    Args:
        world: of a society that stands at the date.
        who: as the command takes it.
        seed: of a random choice.

    Raises:
        InputError: another word, more scientists than there are, or nobody of that name.
    """
    names, departed = world.population.names, world.population.departed_names()
    kind, colon, count = who.strip().partition(":")
    if who.strip() == "all":
        kind, colon, count = "degree", ":", str(len(names) - len(departed))
    if not colon:
        return _named(world, [one.strip() for one in who.split(",")])
    rank = next((one for one in RANKS if one == kind), None)
    if rank is None or not count.isdecimal() or not int(count):
        hint = did_you_mean(kind, RANKS)
        raise InputError(
            f"--who {who}: write {', '.join(f'{one}:N' for one in RANKS)}, all, or names with "
            f"commas between them{hint}"
        )
    ranking = rank_scientists(world, rank, Streams(seed, STREAM).stream("who"))
    if int(count) > len(ranking):
        raise InputError(f"--who {who}: on day {world.day:g} the society has {len(ranking)}")
    return [names[row] for row in ranking[: int(count)]]


def _named(world: World, wanted: Sequence[str]) -> list[str]:
    known = world.population.rows
    for name in wanted:
        if name not in known:
            near = did_you_mean(name, list(world.population.names)[:10_000])
            raise InputError(
                f"--who: nobody is called {name!r} on day {world.day:g}; write degree:10, all, or "
                f"names with commas between them{near}"
            )
        if world.population.has_departed(name):
            raise InputError(f"--who: {name} has left the society before day {world.day:g}")
    return list(dict.fromkeys(wanted))


def _hash(data: Any) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
