"""The table of answers that a survey leaves."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from virsci_society.agents.offline.text import count_words
from virsci_society.scenarios.judgement.interviews.forms import ScaleAnswer, SurveyAnswer
from virsci_society.scenarios.judgement.interviews.interviewer import SurveyReply
from virsci_society.scenarios.judgement.interviews.survey import Survey, SurveyQuestion
from virsci_society.society.results.csv_cells import safe_cell

ANSWERS = {
    **dict.fromkeys(("scientist", "arm", "question", "kind", "answer"), "string"),
    "number": "Int64",
    "words": "Int64",
    **dict.fromkeys(("reason", "rung", "verdict", "who_spoke", "model"), "string"),
    **dict.fromkeys(("calls", "prompt_tokens", "completion_tokens"), "Int64"),
}
"""One row per scientist and question: the version of the vignette, the answer as text, its number
on a scale, its words, the stated reason, how it was read or why not, who spoke, and what it took
with its re-asks."""


def answer_table(replies: Sequence[SurveyReply], speaker: str) -> pd.DataFrame:
    """The answers as rows of ``ANSWERS``; an unreadable answer is missing.

    Args:
        replies: in the order of the table.
        speaker: who spoke, as every output says it.
    """
    rows = [_row(reply, speaker) for reply in replies]
    table = pd.DataFrame(rows, columns=list(ANSWERS))
    return table.astype(ANSWERS)


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
    first, last, kind = reply.calls[0], reply.calls[-1], reply.question.answer
    form = reply.form
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
        "rung": first.rung,
        "verdict": first.verdict,
        "who_spoke": speaker,
        "model": last.model,
        "calls": len(reply.calls),
        "prompt_tokens": sum(call.prompt_tokens for call in reply.calls),
        "completion_tokens": sum(call.completion_tokens for call in reply.calls),
    }
