"""Who is asked what, in which order, and whose words stand on the page, one system after another.

The expected courses are written by hand from the settings in ``conftest.SMALL``.
"""

import re
from itertools import groupby
from operator import itemgetter

import pytest

from tests.protocols.systems.conftest import make
from virsci_society.protocols.given_topics import GivenTopic

COURSES = {
    "ai_scientist": "ideas Idea, RefinedIdea x2, Idea, RefinedIdea x2; novelty NoveltyVerdict x6; "
    "abstract Draft",
    "ai_scientist_v2": "ideas SearchedIdea x4, IdeaScore x2, RefinedIdea x2, IdeaScore x2; "
    "abstract Draft",
    "hypogen": "ideas SearchQueries, ReadingNotes, Idea, HypothesisReview, SearchQueries, "
    "ReadingNotes, Idea, HypothesisReview; abstract Draft",
    "research_town": "ideas ReadingNotes x3, Idea x3, MergedIdea; novelty PaperReview x2, "
    "ChairReview; abstract Draft",
    "ai_researcher": "ideas SearchQueries, Seeds x2; novelty PairChoice x4; abstract Proposal",
    "research_agent": "ideas " + ", ".join(["PlanStep, StepReview x2"] * 6) + "; abstract Draft",
    "cycle_researcher": "ideas SearchQueries, ReadingNotes, Idea x2; abstract Draft x2; "
    "review PaperReview x4",
    "idea2proposal": "ideas Contribution x6, Proposal",
    "virtual_lab": "ideas Contribution x8, MergedIdea x3, HypothesisReview, RefinedIdea; "
    "abstract Draft",
    "co_scientist": "ideas SearchQueries, ReadingNotes, Idea x4; novelty DeepReview x4, "
    "PairChoice x6, Lessons; ideas Idea x2; novelty DeepReview x2, PairChoice x6; abstract Draft",
    "debate": "ideas Idea x3, RefinedIdea x3; abstract Draft",
}


def undecided(call, request):
    """Nothing is finished, everybody accepts, and a verdict is a further search if it may be."""
    if request.form.__name__ == "Choice":
        return {"Selected Action": "Action 1"}
    if request.form.__name__ in ("RefinedIdea", "SearchedIdea"):
        return {"Done": False}
    if request.form.__name__ == "HypothesisReview":
        return {"Approve": False}
    if request.form.__name__ == "NoveltyVerdict" and not request.slots["final"]:
        return {"Decision": "search again", "Query": "zqwordqz graph"}
    return None


@pytest.mark.parametrize("name", COURSES)
def test_the_course_of_a_system(live, name):
    steps = [step.split(" ", 1) for step in live(make(name), undecided).order()]
    stages = groupby((step for step in steps if step[0] != "selection"), key=itemgetter(0))
    course = [f"{stage} {', '.join(form for _, form in asked)}" for stage, asked in stages]
    assert "; ".join(course) == COURSES[name]


def pages(lived, form):
    return [
        request.messages[1].content
        for _, request, _ in lived.asked
        if request.form.__name__ == form
    ]


def marked(form, field, start="zqplanted"):
    """A script that puts a word of its own into one field of every reply of a form."""

    def script(call, request):
        if request.form.__name__ == form:
            return {field: f"{start}{call.visit}t{call.turn}s{call.seat} of the thing"}
        return None

    return script


def planted(page, start="zqplanted"):
    return re.findall(rf"{start}\d+t\d+s\d+", page)


def test_ai_scientist_shows_the_archive_and_ends_reflection_when_done(live):
    def done_at_once(call, request):
        if request.form.__name__ == "RefinedIdea":
            return {"Done": True, "Title": f"zqplanted{call.visit}t{call.turn}s{call.seat} title"}
        return undecided(call, request)

    lived = live(make("ai_scientist"), done_at_once)
    assert lived.order()[:4] == ["ideas Idea", "ideas RefinedIdea"] * 2
    first, second = pages(lived, "Idea")
    assert not planted(first)
    assert planted(second) == ["zqplanted1t2s0"]


def test_ai_scientist_takes_the_best_of_the_novel_ideas(live):
    def only_the_second(call, request):
        if request.form.__name__ == "NoveltyVerdict":
            return {"Decision": "novel" if call.visit == 2 else "not novel"}
        if request.form.__name__ == "RefinedIdea":
            return {"Title": f"Idea number {call.visit}", "Clarity": 10 if call.visit == 1 else 2}
        return None

    lived = live(make("ai_scientist"), only_the_second)
    (draft,) = pages(lived, "Draft")
    assert "Idea number 2" in draft
    assert "Idea number 1" not in draft


def test_the_tree_expands_its_best_leaf(live):
    def second_is_best(call, request):
        if request.form.__name__ == "IdeaScore":
            return {"Score": 9 if (call.turn, call.seat) == (1, 1) else 3, "Reason": "zqwhyqz"}
        planted_title = marked("SearchedIdea", "Title")(call, request) or {}
        return planted_title | (undecided(call, request) or {})

    lived = live(make("ai_scientist_v2"), second_is_best)
    children = pages(lived, "RefinedIdea")
    assert len(children) == 2
    assert all(planted(page)[0] == "zqplanted2t2s0" for page in children)
    assert all("zqwhyqz" in page for page in children)


def test_the_roles_of_hypogen_go_round_until_the_critic_approves(live):
    def approving(call, request):
        if request.form.__name__ == "HypothesisReview" and request.slots["ends"]:
            return {"Approve": True}
        return undecided(call, request)

    lived = live(make("hypogen", team_size=4), undecided)
    who = {}
    for call, request, _ in lived.asked:
        if call.stage == "ideas":
            who.setdefault(request.form.__name__, set()).add(call.who)
    assert sorted(map(len, who.values())) == [1, 1, 1, 1]
    assert len(set.union(*who.values())) == 4
    first, last = pages(lived, "HypothesisReview")
    assert "Your part: critic." in first
    assert ["Approve" in page for page in (first, last)] == [True, False]
    assert len(pages(live(make("hypogen"), approving), "Idea")) == 1
    assert len(pages(live(make("hypogen", early_end="off"), approving), "Idea")) == 2


def test_reviewers_and_chair_of_research_town_are_outside_the_team(live):
    lived = live(make("research_town"))
    members = {row["scientist"] for row in lived.rows("members")}
    called = {form: set() for form in ("PaperReview", "ChairReview")}
    for call, request, _ in lived.asked:
        if request.form.__name__ in called:
            called[request.form.__name__].add(call.who)
    assert [len(people) for people in called.values()] == [2, 1]
    assert len(set.union(members, *called.values())) == 6
    (note,) = lived.events("notes")
    assert 1 <= note["review_score"] <= 10
    assert note["review_decision"] in ("accept", "reject")


def test_duplicates_are_removed_before_the_tournament(live):
    def same(call, request):
        if request.form.__name__ == "Seeds":
            seed = {"Title": "One thing", "Idea": "Always the same words on protein folding."}
            return {"Seeds": [seed]}
        return None

    lived = live(make("ai_researcher"), same)
    assert not pages(lived, "PairChoice")
    (note,) = lived.events("notes")
    assert note["duplicates_removed"] == 3


def test_steps_see_the_steps_before_and_the_best_version_is_handed_on(live):
    def first_is_best(call, request):
        if request.form.__name__ == "StepReview":
            score = 5 if call.turn == 1 else 2
            return {"Scores": dict.fromkeys(request.slots["criteria"], score)}
        return marked("PlanStep", "Title")(call, request)

    lived = live(make("research_agent"), first_is_best)
    steps = pages(lived, "PlanStep")
    kept = {visit: f"zqplanted{visit}t1s0" for visit in (1, 2)}
    shown = [list(dict.fromkeys(planted(page))) for page in steps[2::2]]
    assert shown == [[kept[1]], [kept[1], kept[2]]]
    assert ["The problem:" in page for page in steps] == [False] * 2 + [True] * 4
    assert ["The method:" in page for page in steps] == [False] * 4 + [True] * 2
    assert all("The core paper" in page for page in steps)


def test_a_leader_opens_each_round_and_the_others_hear_it(live):
    lived = live(
        make("idea2proposal", arrangement="leader_led"), marked("Contribution", "Response")
    )
    said = pages(lived, "Contribution")
    assert [len(planted(page)) for page in said] == [0, 1, 1, 3, 4, 4]
    assert ["You lead the discussion" in page for page in said] == [True, False, False] * 2


def test_a_solitary_scientist_reflects_on_its_own_words(live):
    lived = live(make("idea2proposal", arrangement="solitary"), marked("Contribution", "Response"))
    (member,) = lived.rows("members")
    assert {call.who for call, _, _ in lived.asked} == {member["scientist"]}
    assert "by yourself" in pages(lived, "Contribution")[1]
    assert planted(pages(lived, "Contribution")[1]) == ["zqplanted1t1s0"]


def test_fabricated_references_are_removed_and_counted(live):
    def fabricated(call, request):
        if request.form.__name__ == "Proposal":
            key = request.slots["references"][0].key
            plan = f"As shown [{key}], and elsewhere [P9999], it can be tested."
            return {"References": [key, "P8888"], "Experiment Plan": plan}
        return None

    lived = live(make("idea2proposal"), fabricated)
    (note,) = lived.events("notes")
    assert note["references_removed"] == 2
    (paper,) = lived.rows("papers")
    assert "P9999" not in paper["abstract"]
    assert "As shown [P" in paper["abstract"]
    assert len(lived.rows("citations")) == 1


def test_parallel_meetings_do_not_hear_each_other(live):
    lived = live(make("virtual_lab", team_size=3), marked("Contribution", "Response"))
    for call, request, _ in lived.asked:
        if request.form.__name__ == "Contribution":
            heard = planted(request.messages[1].content)
            first = call.seat // 3 * 3
            assert heard == [f"zqplanted1t1s{seat}" for seat in range(first, call.seat)]
    assert [len(planted(page)) for page in pages(lived, "MergedIdea")[:2]] == [3, 3]
    parts = {request.slots["part"] for _, request, _ in lived.asked if "part" in request.slots}
    assert {"principal investigator", "specialist", "critic"} <= parts


def test_a_free_topic_is_proposed_by_the_leader(live):
    lived = live(make("debate", topic=GivenTopic(start="tides of the moon")))
    (page,) = pages(lived, "Topic")
    assert "tides of the moon" in page
    (team,) = lived.rows("teams")
    assert team["topic"]


def test_pairs_are_judged_without_papers_and_nobody_has_a_past_where_profiles_are_off(live):
    lived = live(make("ai_researcher", profiles="off"))
    pages = [request.messages[1].content for _, request, _ in lived.asked]
    assert not any("Research interests:" in page for page in pages)
    pairs = [page for page in pages if "Idea B:" in page]
    assert pairs
    assert not any(re.search(r"\[P\d+\]", page) for page in pairs)
    assert all("the other a paper that it rejected" in page for page in pairs)


def test_specialists_of_the_published_virtual_lab_are_told_their_fields(live):
    lived = live(make("virtual_lab", profile="published", parallel=1, rounds=1, team_size=4))
    pages = [r.messages[1].content for _, r, _ in lived.asked if r.page == "meeting"]
    specialists = [page for page in pages if "You are a specialist" in page]
    assert len(specialists) == 2
    fields = {re.search(r"Research interests: ([^.]*)\.", page)[1] for page in specialists}
    assert len(fields) == 2, "their pages differ by what each works on"
