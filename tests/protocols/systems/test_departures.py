"""What the programs of the systems do and a simpler course would not: early ends, own queries,
shares of criteria, drawn papers, and pages without literature."""

import pytest

from tests.protocols.systems.conftest import make
from virsci_society.agents.offline.question_context import Asked
from virsci_society.protocols.engines.forms import PaperReview
from virsci_society.protocols.engines.offline_rules import join_reviews


def forms(lived, name):
    return [one for one in lived.asked if one[1].form.__name__ == name]


def pages(lived, name):
    return [request.messages[1].content for _, request, _ in forms(lived, name)]


def test_a_first_idea_of_the_tree_is_worked_out_until_it_is_called_done(live):
    def done(call, request):
        return {"Done": True} if request.form.__name__ == "SearchedIdea" else None

    assert len(forms(live(make("ai_scientist_v2", rounds=3), done), "SearchedIdea")) == 2
    held = live(make("ai_scientist_v2", rounds=3, early_end="off"), done)
    assert len(forms(held, "SearchedIdea")) == 6


@pytest.mark.parametrize("name", ["ai_scientist", "debate"])
def test_without_literature_no_page_of_an_idea_shows_a_paper(live, name):
    for literature in ("on", "off"):
        lived = live(make(name, literature=literature))
        shown = ["> [P" in page for form in ("Idea", "RefinedIdea") for page in pages(lived, form)]
        assert shown
        assert set(shown) == {literature == "on"}


def test_the_chosen_paper_has_its_own_idea(live):
    def script(call, request):
        form = request.form.__name__
        if form == "PaperReview":
            return {"Score": 7 if call.seat >= 2 else 3}
        return {"Title": f"zqown{call.seat} title"} if form == "Idea" else None

    lived = live(make("cycle_researcher", neighbour_query="idea"), script)
    (note,) = lived.events("notes")
    assert note["review_score"] == 7
    (paper,) = lived.rows("papers")
    assert "zqown3" in paper["neighbour_query"]


def test_reviewers_of_a_step_share_its_criteria(live):
    lived = live(make("research_agent", rounds=1, reviewers=2))
    (first, second) = (
        request.slots["criteria"] for _, request, _ in forms(lived, "StepReview")[:2]
    )
    assert len(first) == 3
    assert len(second) == 2
    assert not set(first) & set(second)


@pytest.mark.parametrize(("score", "decision"), [(10.0, "accept"), (1.0, "reject")])
def test_a_chair_by_rules_decides_by_the_mean_score(score, decision):
    review = PaperReview(strengths="s", weaknesses="w", score=score)
    assert join_reviews(Asked({"reviews": (review, review)}, None))["Decision"] == decision
