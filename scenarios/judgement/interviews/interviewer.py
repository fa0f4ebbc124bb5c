"""The interviewer, who puts every question of a survey to every respondent.

Call ids are interview / scientist / question. Questions are put one by one, so that no answer
hangs on the answer before it, and all at once. A call whose reply is in the gateway's journal is
not made again. An unreadable answer is missing, never a default.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from virsci_society.agents.errors import Stopped
from virsci_society.agents.gateway.gateway import Gateway
from virsci_society.agents.prompts.prompt import Prompt
from virsci_society.agents.replies.form import Form
from virsci_society.scenarios.judgement.interviews.forms import FORMS
from virsci_society.scenarios.judgement.interviews.knowledge import Knowledge
from virsci_society.scenarios.judgement.interviews.survey import Survey, SurveyQuestion
from virsci_society.scenarios.judgement.model_questions import ModelQuestions
from virsci_society.society.kernel.answer import Answer
from virsci_society.society.kernel.calls import Call
from virsci_society.society.kernel.streams import Streams

QUESTION = Prompt(Path(__file__).with_name("prompts") / "question.txt")
STREAM = "interview"


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


def draw_arm(survey: Survey, who: str, seed: int) -> str:
    """The version of the vignette for one respondent, whoever else is asked.

    Args:
        survey: the form.
        who: masked name.
        seed: of the interviews.

    Returns:
        The name of an arm; empty where the survey has no vignette.
    """
    if survey.vignette is None:
        return ""
    names = list(survey.vignette.arms)
    return names[int(Streams(seed, STREAM).stream("arm", who).integers(len(names)))]


class Interviewer:
    """Asks the questions of one survey.

    Args:
        gateway: the gateway to the model, with the journal of the interviews.
        survey: the form.
        seed: root of the calls' seeds.
        day: simulated date, in days.
    """

    def __init__(self, gateway: Gateway, survey: Survey, seed: int, day: float) -> None:
        self._survey, self._day = survey, day
        self._questions = ModelQuestions(gateway, Streams(seed, STREAM), day)

    def __enter__(self) -> Self:
        self._questions.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._questions.__exit__()

    def interrupt(self, reason: Stopped) -> None:
        """Stop soon, from a signal handler; what has been answered is kept."""
        self._questions.interrupt(reason)

    def interview(
        self, respondents: Sequence[Respondent], told: Callable[[int], None] = lambda done: None
    ) -> list[SurveyReply]:
        """Every answer, in the order of respondents and questions.

        Args:
            respondents: who is asked.
            told: is called after each answer with the number of answers so far.

        Raises:
            Stopped: backend, budget, disk or a signal ended it early.
            Diverged: the journal knows a call that would now be made differently.
        """

        def begin() -> list[Answer[SurveyReply]]:
            return [
                self._questions.submit(f"{who.name}/{question.id}", self._ask(who, question))
                for who in respondents
                for question in self._survey.questions
            ]

        return self._questions.read_all(begin, told)

    async def _ask(self, who: Respondent, question: SurveyQuestion) -> SurveyReply:
        form, day = FORMS[question.answer.name], self._day
        id_ = f"{STREAM}/{who.name}/{question.id}"
        place = ("", STREAM, 1, 0, 0, "answer", who.name)
        call = Call(id_, *place, asked=day, due=day, sequence=0, form=form.__name__)
        vignette = self._survey.vignette
        slots = {
            "title": self._survey.title,
            "knowledge": who.knowledge,
            "vignette": vignette.shown(who.arm) if vignette is not None else "",
            "question": question.text,
            "instruction": question.answer.instruction(),
            "answer_kind": question.answer,
        }
        words, calls = await self._questions.ask(
            call, who.knowledge.profile, "", QUESTION, form, slots, who.knowledge.year
        )
        return SurveyReply(who, question, words, calls)
