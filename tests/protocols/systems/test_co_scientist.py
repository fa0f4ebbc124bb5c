"""The tournament of the AI co-scientist: who wins, who is dropped, and what its pages show.

The table of pages is that of ``test_pages``, written after the prompts of the original's appendix.
"""

import json

import pytest

from tests.protocols.systems.conftest import make
from tests.protocols.systems.test_pages import check, plant
from virsci_society.protocols.engines.search import START, rank

HYPOTHESES = "Hypothesis A: Idea | Hypothesis B: Idea"
REVIEWS = "The review of hypothesis A: DeepReview | The review of hypothesis B: DeepReview"
LEARNT = "What recurs in reviews and comparisons so far: Lessons"
ROWS = f"""
    Idea 0 | $TOPIC | Your notes on the literature: ReadingNotes | $OF_USE
      | @ Stage: generation of hypotheses. | + Start from the notes
      | ! experts with different views | ! What recurs
    Idea 1 | $TOPIC | Your notes on the literature: ReadingNotes | $OF_USE
      | @ Stage: generation of hypotheses. | + three experts with different views | + 5 at most
      | ! Start from the notes
    DeepReview 0 | $TOPIC | The hypothesis: Idea | $NEAR
      | @ Stage: review of hypotheses, round 1 of 2. | + assumptions | + new in it
      | + step by step | ! earlier reviews
    PairChoice 0 | $TOPIC | {HYPOTHESES} | {REVIEWS} | @ Stage: tournament, round 1 of 3.
      | + Say which one is better | + "Better": "A" or "B" | ! panel | ! "Debate": | ! Score
      | ! Rate
    PairChoice 2 | $TOPIC | {HYPOTHESES} | {REVIEWS} | @ Stage: tournament, round 2 of 3.
      | + panel of experts | + 5 at most | + "Debate":
    Lessons 0 | $TOPIC | Review 1: DeepReview | Review 2: DeepReview | Review 3: DeepReview
      | Review 4: DeepReview | Comparison 1: Idea x2 | Why A was better: PairChoice why x6
      | Comparison 2: Idea x2 | Comparison 3: Idea x2 | Comparison 4: Idea x2
      | Comparison 5: Idea x2 | Comparison 6: Idea x2 | @ Stage: meta-review.
      | + Do not judge single hypotheses
    Idea 4 | $TOPIC | The hypothesis: Idea | Its review: DeepReview | {LEARNT} | $NEAR
      | @ Stage: evolution of hypotheses, round 2 of 2. | + weak or missing | + replaces none
      | + Heed what
    Idea 5 | $TOPIC | Hypothesis 1: Idea | Its review: DeepReview x3 | Hypothesis 2: Idea
      | Hypothesis 3: Idea | {LEARNT} | Published papers near to them: abstracts
      | @ Stage: evolution of hypotheses, round 2 of 2. | + join what is best
    DeepReview 4 | $TOPIC | The hypothesis: Idea | $NEAR | {LEARNT}
      | @ Stage: review of hypotheses, round 2 of 2. | + recur in earlier reviews
    PairChoice -1 | $TOPIC | {HYPOTHESES} | {REVIEWS} | {LEARNT}
      | @ Stage: tournament, round 3 of 3.
"""


def forms(lived, name):
    return [one for one in lived.asked if one[1].form.__name__ == name]


def pages(lived, name):
    return [request.messages[1].content for _, request, _ in forms(lived, name)]


def distinct(call, request):
    """Marks on all texts; hypotheses are told apart by titles of papers, and who is first wins."""
    changed = plant(call, request)
    if request.form.__name__ == "PairChoice":
        changed["Better"] = "A"
    if request.form.__name__ == "Idea":
        papers = request.slots["references"]
        changed["Title"] += f" and {papers[(3 * call.visit + call.seat) % len(papers)].title}"
    return changed


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


def test_pages_hold_what_the_original_shows(live):
    check(live(make("co_scientist"), distinct), ROWS)


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
