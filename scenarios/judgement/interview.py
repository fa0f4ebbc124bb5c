"""Interviews of scientists of a finished run at a date, in a fork that changes nothing.

The run is gone through again from its journal until the date. Then chosen scientists are asked,
through a journal in a folder of its own; the folder of the run stays as it is. What each is told
about itself is what the society counts on that date: papers and ties that are dated strictly before
it, and no words of a team that nobody has read yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.file_hashes import check_file
from virsci_society.agents.offline.text import count_words
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.prompt import Prompt
from virsci_society.agents.replies.form import Form
from virsci_society.agents.spelling import did_you_mean
from virsci_society.scenarios.config.document import single_document
from virsci_society.scenarios.config.reader import Reader
from virsci_society.scenarios.judgement.model_questions import (
    ModelQuestions,
    QuestionJob,
    QuestionRecord,
    call_cells,
    hash_of,
    load_speaker,
)
from virsci_society.scenarios.judgement.survey import (
    FORMS,
    ScaleAnswer,
    Survey,
    SurveyAnswer,
    SurveyQuestion,
)
from virsci_society.scenarios.runs.execute import replayed_until, require_finished
from virsci_society.scenarios.runs.progress import Progress
from virsci_society.scenarios.runs.run_folder import DIGEST, SCENARIO
from virsci_society.society.interventions import Rank, rank_scientists
from virsci_society.society.kernel.answer import Answer, Call
from virsci_society.society.kernel.durations import parse_days, write_days
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.results.run import Run
from virsci_society.society.results.table_files import safe_cell, write_csv

if TYPE_CHECKING:
    from virsci_society.society.literature.papers import Paper
    from virsci_society.society.teams.team import Team
    from virsci_society.society.teams.world import World


QUESTION = Prompt(Path(__file__).with_name("prompts") / "question.txt")
STREAM = "interview"
RANKS: tuple[Rank, ...] = ("degree", "papers", "citations", "random")
ANSWERS = "answers"
"""Name of the table, without its suffix."""


ANSWER_COLUMNS = {
    **dict.fromkeys(("scientist", "arm", "question", "kind", "answer"), "string"),
    "number": "Int64",
    "words": "Int64",
    **dict.fromkeys(("reason", "rung", "verdict", "who_spoke", "model"), "string"),
    **dict.fromkeys(("calls", "prompt_tokens", "completion_tokens"), "Int64"),
}
"""One row per scientist and question: the version of the vignette, the answer as text, its number
on a scale, its words, the stated reason, how it was read or why not, who spoke, and what it took
with its re-asks."""


@dataclass(frozen=True, slots=True)
class Respondent:
    """A scientist who is interviewed.

    Attributes:
        knowledge: what it knows at the date of the interview.
        arm: version of the vignette that it is shown; empty: the survey has none.
    """

    knowledge: Knowledge
    arm: str = ""

    @property
    def name(self) -> str:
        """The masked name."""
        return self.knowledge.profile.id


@dataclass(frozen=True, slots=True)
class SurveyReply:
    """One question put to one respondent, and the answer.

    Attributes:
        respondent: who was asked.
        question: what was asked.
        form: the answer; None where it could not be read.
        calls: rows of the call and its re-asks.
    """

    respondent: Respondent
    question: SurveyQuestion
    form: Form | None
    calls: tuple[Call, ...]


@dataclass(frozen=True)
class Interview(QuestionJob[SurveyReply]):
    """A survey that is put to scientists of a run.

    Questions are put one by one, so that no answer hangs on the answer before it. The seed is also
    that of the arms and of a random choice of scientists. Call ids are interview / scientist /
    question.

    Attributes:
        parent: folder of the run.
        survey: the form.
        respondents: who is asked.
    """

    parent: Path
    survey: Survey
    respondents: tuple[Respondent, ...]
    stream = STREAM
    advice = "of an interview: --out NEW"

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
        return cls(scenario, chosen_seed, folder, day, parent, survey, respondents)

    @cached_property
    def record(self) -> QuestionRecord:
        """Run, date, form, seed and model, and who is asked."""
        digest = check_file(self.parent / DIGEST).read_text(encoding="utf-8").strip()
        asked: dict[str, Any] = {
            "run": digest,
            "day": self.day,
            "form": self.survey.model_dump(mode="json"),
            "seed": self.seed,
            "backend": hash_of(self.scenario.identity().get("backend", {})),
        }
        return QuestionRecord(self.folder, asked, [one.name for one in self.respondents])

    def begin(self, questions: ModelQuestions[SurveyReply]) -> list[Answer[list[SurveyReply]]]:
        """Put every question to every respondent."""
        return [
            questions.submit(f"{who.name}/{question.id}", self._ask(questions, who, question))
            for who in self.respondents
            for question in self.survey.questions
        ]

    def progress(self, done: int) -> str:
        """How many questions have been answered."""
        questions = len(self.respondents) * len(self.survey.questions)
        return f"{done:,} of {questions:,} questions answered"

    def write(self, replies: Sequence[SurveyReply]) -> None:
        """Write the table of answers."""
        write_csv(self.folder, {ANSWERS: answer_table(replies, self.about)}, self.about)

    async def _ask(
        self, questions: ModelQuestions[SurveyReply], who: Respondent, question: SurveyQuestion
    ) -> list[SurveyReply]:
        vignette = self.survey.vignette
        slots = {
            "title": self.survey.title,
            "knowledge": who.knowledge,
            "vignette": vignette.shown(who.arm) if vignette is not None else "",
            "question": question.text,
            "instruction": question.answer.instruction(),
            "answer_kind": question.answer,
        }
        words, calls = await questions.ask(
            f"{STREAM}/{who.name}/{question.id}",
            ("", STREAM, 1, 0, 0, "answer", who.name),
            who.knowledge.profile,
            "",
            QUESTION,
            FORMS[question.answer.name],
            slots,
            who.knowledge.year,
        )
        return [SurveyReply(who, question, words, calls)]


def read_survey(path: Path) -> Survey:
    """Read and check the file of a survey.

    Raises:
        InputError: all faults at once, each with its place.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file; give the form of a survey with --form FILE")
    document = single_document(path)
    reader = Reader(document, trust=False)
    survey = reader.read_part(Survey, document.data, ())
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


def draw_arm(survey: Survey, who: str, seed: int) -> str:
    """The version of the vignette for one respondent, whoever else is asked.

    Returns:
        The name of an arm; empty where the survey has no vignette.
    """
    if survey.vignette is None:
        return ""
    names = list(survey.vignette.arms)
    # By name: whoever else is asked changes nobody's arm.
    return names[int(Streams(seed, STREAM).stream("arm", who).integers(len(names)))]


def answer_table(replies: Sequence[SurveyReply], speaker: str) -> pd.DataFrame:
    """The answers as rows of ``ANSWER_COLUMNS``; an unreadable answer is missing.

    Args:
        replies: in the order of the table.
        speaker: who spoke, as every output says it.
    """
    rows = [_row(reply, speaker) for reply in replies]
    return pd.DataFrame(rows, columns=list(ANSWER_COLUMNS)).astype(ANSWER_COLUMNS)


def summary_rows(survey: Survey, table: pd.DataFrame) -> list[tuple[str, str, str, int, str]]:
    """Counts and means of the answers, by question and version of the vignette.

    Args:
        survey: the form.
        table: ``answers.csv`` as it is read back, with empty cells for what is missing.

    Returns:
        Rows of question, arm, what was answered, number of answers, and their mean with its
        standard deviation (a scale), share (an option) or mean length (a text).
    """
    rows = []
    arms = list(survey.vignette.arms) if survey.vignette is not None else [""]
    for question in survey.questions:
        for arm in arms:
            part = table[(table["question"] == question.id) & (table["arm"] == arm)]
            if len(part):
                rows += [(question.id, arm, *row) for row in _summary(question, part)]
    return rows


def _summary(question: SurveyQuestion, part: pd.DataFrame) -> list[tuple[str, int, str]]:
    answered = part[part["answer"].astype(str) != ""]
    kind, missing = question.answer.name, len(part) - len(answered)
    rows = []
    if kind == "choice":
        counts = answered["answer"].value_counts()
        for option in question.answer.options or ():
            count = int(counts.get(safe_cell(option), 0))
            rows.append((option, count, f"{count / max(1, len(answered)):.0%}"))
    elif len(answered):
        numbers = answered["number" if kind == "scale" else "words"].astype(float)
        spread = f", sd {numbers.std():.2f}" if kind == "scale" and len(numbers) > 1 else ""
        unit = "" if kind == "scale" else " words"
        rows.append((kind, len(answered), f"mean {numbers.mean():.2f}{unit}{spread}"))
    if missing:
        rows.append(("unreadable", missing, ""))
    return rows


def _row(reply: SurveyReply, speaker: str) -> dict[str, object]:
    kind, form = reply.question.answer, reply.form
    answer = form.value(kind) if isinstance(form, SurveyAnswer) else None
    return {
        "scientist": reply.respondent.name,
        "arm": reply.respondent.arm or None,
        "question": reply.question.id,
        "kind": kind.name,
        "answer": answer,
        "number": form.answer if isinstance(form, ScaleAnswer) else None,
        "words": count_words(answer) if answer is not None and kind.name == "text" else None,
        "reason": (form.stated_reason or None) if form is not None else None,
        "who_spoke": speaker,
        **call_cells(reply.calls),
    }


PAPERS = 12
"""Most papers that are told, the newest first."""
COAUTHORS = 10
"""Most co-authors that are told, those with most joint papers first."""
MEMORIES = 8
"""Most lines about teams that have ended, the newest first."""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is told to a scientist about itself, as lines of text.

    Attributes:
        profile: as of the date.
        year: calendar year of the date.
        papers: the newest papers, each with its year and co-authors.
        older: number of papers that are not told.
        coauthors: names with numbers of joint papers.
        teams: the teams it works in now.
        memory: how earlier teams ended, and what others asked.
    """

    profile: Profile
    year: int
    papers: tuple[str, ...] = ()
    older: int = 0
    coauthors: tuple[str, ...] = ()
    teams: tuple[str, ...] = ()
    memory: tuple[str, ...] = ()


def knowledge_of(world: World, who: str) -> Knowledge:
    """The knowledge of a scientist as of now.

    Args:
        world: of a society that stands at the date.
        who: masked name.
    """
    row = world.population.rows[who]
    papers = _papers_of(world, who)
    remembered = world.population.scientist(row).memory
    newest = sorted(remembered, key=lambda one: -one.date)[:MEMORIES]
    teams = [team for _, team in sorted(world.teams.items()) if who in team.members]
    return Knowledge(
        profile=world.population.profile(row, world.day),
        year=world.year,
        papers=tuple(_paper_line(paper, who) for paper in papers[:PAPERS]),
        older=max(0, len(papers) - PAPERS),
        coauthors=_coauthors(world, row),
        teams=tuple(_team_line(team, who) for team in teams),
        memory=tuple(one.line for one in newest),
    )


def _papers_of(world: World, who: str) -> list[Paper]:
    """All papers of a scientist before now, the newest first; those of one day by id."""
    past = world.ecosystem.past
    papers = [past[int(row)] for row in past.written_by(who)]
    papers += [p for p in world.literature.published if p.date < world.day and who in p.authors]
    return sorted(papers, key=lambda paper: (-paper.date, paper.id))


def _paper_line(paper: Paper, who: str) -> str:
    others = [author for author in paper.authors if author != who]
    return f"{paper.title} ({paper.year}{', with ' + ', '.join(others) if others else ''})"


def _coauthors(world: World, row: int) -> tuple[str, ...]:
    rows, counts = world.network.coauthors(row, world.day)
    # Ties by row, so that the list does not depend on the order of the network.
    ranked = sorted(zip((-counts).tolist(), rows.tolist(), strict=True))[:COAUTHORS]
    names = world.population.names
    return tuple(
        f"{names[other]} ({-count} joint paper{'s' * (count != -1)})" for count, other in ranked
    )


def _team_line(team: Team, who: str) -> str:
    others = [member for member in team.members if member != who]
    company = f"with {', '.join(others)}" if others else "alone so far"
    role = "you lead it" if who == team.leader else f"{team.leader} leads it"
    stage = f", now at the stage {team.stage}" if team.stage else ""
    return f"since day {team.founded:.0f} {company}; {role}{stage}"
