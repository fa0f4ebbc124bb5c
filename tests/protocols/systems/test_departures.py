"""What the programs of the systems do and a simpler course would not: early ends, own queries,
shares of criteria, drawn papers, and pages without literature."""

import pytest

from tests.protocols.systems.conftest import make
from virsci_society.agents.offline.asked import Asked
from virsci_society.protocols.engines.forms import NoveltyVerdict, PaperReview, SearchedIdea
from virsci_society.protocols.engines.offline_rules import join_reviews
from virsci_society.protocols.systems.ai_researcher import AIResearcher, draw_papers
from virsci_society.protocols.systems.ai_scientist import next_query
from virsci_society.protocols.systems.ai_scientist_v2 import next_search


def forms(lived, name):
    return [one for one in lived.asked if one[1].form.__name__ == name]


def pages(lived, name):
    return [request.messages[1].content for _, request, _ in forms(lived, name)]


def searched(query):
    text = {"idea": "words", "title": "A title", "query_words": query}
    return SearchedIdea(**text, clarity=5, feasibility=5, novelty=5)


def test_a_first_idea_of_the_tree_is_worked_out_until_it_is_called_done(live):
    def done(call, request):
        return {"Done": True} if request.form.__name__ == "SearchedIdea" else None

    assert len(forms(live(make("ai_scientist_v2", rounds=3), done), "SearchedIdea")) == 2
    held = live(make("ai_scientist_v2", rounds=3, early_end="off"), done)
    assert len(forms(held, "SearchedIdea")) == 6


def test_the_next_search_is_the_models_own_and_else_the_idea():
    assert next_search(searched("  tide tables ")) == "tide tables"
    assert "A title" in next_search(searched(" "))
    verdict = {"reason": "r", "decision": "search again"}
    own = NoveltyVerdict(**verdict, query="tide tables")
    idea = type("Standing", (), {"query": "the idea itself"})()
    assert next_query(own, idea) == "tide tables"
    assert next_query(NoveltyVerdict(**verdict, query=" "), idea) == "the idea itself"


@pytest.mark.parametrize("name", ["ai_scientist", "debate"])
def test_without_literature_no_page_of_an_idea_shows_a_paper(live, name):
    for literature in ("on", "off"):
        lived = live(make(name, literature=literature))
        shown = ["> [P" in page for form in ("Idea", "RefinedIdea") for page in pages(lived, form)]
        assert shown
        assert set(shown) == {literature == "on"}


def test_the_chosen_paper_has_its_own_idea_and_the_score_of_its_last_version(live):
    def script(call, request):
        form = request.form.__name__
        if form == "PaperReview":
            # The second of two papers is best; its revision is better still.
            return {"Score": 8 if call.turn > 1 else 7 if call.seat >= 2 else 3}
        return {"Title": f"zqown{call.seat} title"} if form == "Idea" else None

    lived = live(make("cycle_researcher", cycles=1, accept_from=7.5, found_by="idea"), script)
    (note,) = lived.events("notes")
    assert note["review_score"] == 8
    assert len(forms(lived, "Rewrite")) == 1
    (paper,) = lived.rows("papers")
    assert "zqown3" in paper["found_by"]
    # A mean that equals the bound is enough.
    assert not forms(live(make("cycle_researcher", cycles=1, accept_from=7.0), script), "Rewrite")


def test_reviewers_of_a_step_share_its_criteria(live):
    lived = live(make("research_agent", rounds=1, reviewers=2))
    (first, second) = (
        request.slots["criteria"] for _, request, _ in forms(lived, "StepReview")[:2]
    )
    assert len(first) == 3
    assert len(second) == 2
    assert not set(first) & set(second)


def test_papers_for_seeds_are_drawn_and_every_second_page_has_some():
    papers = tuple("abcdef")
    assert draw_papers(2, (4, 9, 0, 1), papers) == ("e", "a")
    grounded = [AIResearcher(grounded=0.25).is_grounded(place) for place in range(8)]
    assert sum(grounded) == 2
    assert sum(AIResearcher(grounded=1.0).is_grounded(place) for place in range(8)) == 8


@pytest.mark.parametrize(("score", "decision"), [(10.0, "accept"), (1.0, "reject")])
def test_a_chair_by_rules_decides_by_the_mean_score(score, decision):
    review = PaperReview(strengths="s", weaknesses="w", score=score)
    assert join_reviews(Asked({"reviews": (review, review)}, None))["Decision"] == decision
