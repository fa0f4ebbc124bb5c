"""The questions that a card can ask: by which form and page, and the slots that pages may use."""

from __future__ import annotations

from typing import NamedTuple

from virsci_society.agents.prompts.prompt import DEFINITION
from virsci_society.agents.replies.form import Form
from virsci_society.protocols.ideas import Idea
from virsci_society.protocols.parts import forms


class Question(NamedTuple):
    """A kind of question: the form of its reply, its usual page, and the kind of act."""

    form: type[Form]
    page: str
    act: str = "utter"


QUESTIONS = {
    "queries": Question(forms.SearchQueries, "queries"),
    "notes": Question(forms.ReadingNotes, "reading"),
    "contribution": Question(forms.Contribution, "meeting"),
    "idea": Question(Idea, "idea"),
    "better_idea": Question(forms.RefinedIdea, "refinement"),
    "joint_idea": Question(forms.MergedIdea, "aggregation"),
    "worked_out_idea": Question(forms.SearchedIdea, "ideation"),
    "seeds": Question(forms.Seeds, "seeds"),
    "objection": Question(forms.HypothesisReview, "criticism", "critique"),
    "verdict": Question(forms.NoveltyVerdict, "novelty", "vote"),
    "review": Question(forms.PaperReview, "paper_review", "review"),
    "decision": Question(forms.ChairReview, "meta_review", "review"),
    "step": Question(forms.PlanStep, "step"),
    "step_review": Question(forms.StepReview, "step_review", "review"),
}
"""By the words that a card has for them."""

GIVEN_SLOTS = DEFINITION.slots | {
    *("topic", "team", "sentences", "part", "position", "agenda", "roles", "keys", "way"),
    *("archive", "summaries", "notes", "said", "references", "feedback", "others", "previous"),
    *("idea", "text", "cited", "criteria", "reviews", "earlier", "found", "count", "step"),
    *("entities", "ends", "final", "searching"),
}
"""The slots that are given to every page of a card; what a question does not show is empty."""
