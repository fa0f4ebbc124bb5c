"""Surveys of the scientists of a society, who are interviewed at a date.

Read ``survey`` (the keys of a form), ``knowledge`` (what a scientist knows at the date), ``forms``
(what it fills in), then ``interviewer`` (the questions are asked) and ``answers`` (their table).
``offline_rules`` stand in for a model.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from metrics.interviews.answers import answer_table as answer_table
    from metrics.interviews.interviewer import Interviewer as Interviewer
    from metrics.interviews.interviewer import Respondent as Respondent
    from metrics.interviews.knowledge import Knowledge as Knowledge
    from metrics.interviews.knowledge import knowledge_of as knowledge_of
    from metrics.interviews.survey import Survey as Survey

__all__ = [
    "Interviewer",
    "Knowledge",
    "Respondent",
    "Survey",
    "answer_table",
    "knowledge_of",
]
__getattr__ = lazy_exports(
    __name__,
    {
        "Interviewer": "metrics.interviews.interviewer",
        "Knowledge": "metrics.interviews.knowledge",
        "Respondent": "metrics.interviews.interviewer",
        "Survey": "metrics.interviews.survey",
        "answer_table": "metrics.interviews.answers",
        "knowledge_of": "metrics.interviews.knowledge",
    },
)
