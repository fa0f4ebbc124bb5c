"""The tournament of the AI co-scientist: who wins, who is dropped, and what its pages show."""

import json

import pytest

from tests.protocols.systems.conftest import make
from virsci_society.protocols.engines.search import START, rank


def forms(lived, name):
    return [one for one in lived.asked if one[1].form.__name__ == name]


def pages(lived, name):
    return [request.messages[1].content for _, request, _ in forms(lived, name)]


def named(winner=None, ties=False):
    """Hypotheses are named after the visit and seat of their making; one of them wins always."""

    def script(call, request):
        if request.form.__name__ == "Idea":
            return {"Title": f"zqmade{call.visit}s{call.seat} graphs"}
        if request.form.__name__ != "PairChoice":
            return None
        first, second = (request.slots[name].idea.title for name in ("first", "second"))
        if winner in (first, second):
            return {"Better": "A" if first == winner else "B"}
        # Of all others the one that was made first.
        return {"Better": "" if ties else "A" if first < second else "B"}

    return script


def paper_of(lived):
    (draft,) = forms(lived, "Draft")
    return draft[1].slots["idea"].idea.title


def notes(lived):
    (note,) = lived.events("notes")
    return note


@pytest.mark.parametrize("winner", ["zqmade1s0 graphs", "zqmade1s3 graphs", "zqmade2s1 graphs"])
def test_a_planted_best_hypothesis_becomes_the_paper(live, winner):
    """Also one that was made last: it has won as many matches of the last round as it could."""
    lived = live(make("co_scientist", matches=5), named(winner))
    assert paper_of(lived) == winner


def test_a_hypothesis_that_loses_replaces_none(live):
    """Evolved ones lose every match, and the best of the first round stays what it was."""
    lived = live(make("co_scientist", hypotheses=4, rounds=3), named("zqmade1s2 graphs"))
    assert paper_of(lived) == "zqmade1s2 graphs"
    ratings = notes(lived)["elo_ratings"]
    assert len(ratings) == 4 + 2 + 2
    assert rank(ratings)[0] == 2
    assert max(ratings[4:]) < START


def test_near_duplicates_are_neither_reviewed_nor_compared(live):
    def same(call, request):
        if request.form.__name__ == "Idea" and (call.visit, call.seat) in {(1, 2), (2, 0)}:
            return {"Title": "Folding", "Idea": "Protein folding by graphs.", "Experiment": "None."}
        return None

    lived = live(make("co_scientist"), same)
    assert notes(lived)["duplicates_removed"] == 1
    assert len(forms(lived, "DeepReview")) == 5
    assert len(notes(lived)["elo_ratings"]) == 5


def test_lessons_of_a_meta_review_stand_on_all_later_pages_and_on_no_earlier_one(live):
    def script(call, request):
        if request.form.__name__ == "Lessons":
            return {"Patterns": f"zqlesson{call.visit} recurs"}
        return None

    lived = live(make("co_scientist", rounds=3), script)
    learnt = 0
    for _, request, reply in lived.asked:
        page = request.messages[1].content
        if request.form.__name__ == "Lessons":
            learnt = json.loads(reply.text)["Patterns"]
        elif request.form.__name__ in ("Idea", "DeepReview", "PairChoice"):
            told = [line for line in page.split("\n") if "zqlesson" in line]
            assert told == ([f"> {learnt}"] if learnt else []), request.id
    assert learnt


def test_unreadable_reviews_and_lessons_leave_no_empty_heading(live):
    def silent(call, request):
        blank = {"DeepReview": ("Assumptions", "Novelty", "Weakness", "Advice")}
        blank["Lessons"] = ("Patterns", "Advice")
        return dict.fromkeys(blank.get(request.form.__name__, ()), "")

    lived = live(make("co_scientist"), silent)
    text = "\n".join(pages(lived, "PairChoice") + pages(lived, "Idea") + pages(lived, "Lessons"))
    assert "review of hypothesis" not in text
    assert "Its review" not in text
    assert "What recurs" not in text


def test_a_debate_is_held_only_between_two_that_have_won(live):
    lived = live(make("co_scientist", matches=3), named("zqmade1s1 graphs"))
    turns = [request.slots["turns"] for _, request, _ in forms(lived, "PairChoice")]
    assert turns[:2] == [1, 1]
    assert set(turns) == {1, 5}
    single = live(make("co_scientist", debate_turns=1))
    assert not any("panel" in page for page in pages(single, "PairChoice"))
