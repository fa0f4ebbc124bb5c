"""Interests follow what one writes: the rule by hand, and a society that goes by it."""

import math
import threading

import numpy as np
import pytest

from tests.society import tiny_society
from tests.society.tiny_society import Page, name, only
from virsci_society.society.population import population
from virsci_society.society.population.interest_drift import Writing
from virsci_society.society.teams.contracts import Manuscript

RNG = np.random.default_rng(0)
ALWAYS = Writing(memory=100.0, start=2.0, entering=1.0, most=3)


def names(weighed):
    return [name for name, _ in weighed]


def test_the_interests_somebody_comes_with_weigh_less_and_less():
    assert Writing(start=6.0).initial_weights(("a", "b", "c")) == (
        ("a", 6.0),
        ("b", 3.0),
        ("c", 2.0),
    )
    assert Writing().initial_weights(()) == ()


def test_a_paper_counts_one_for_each_of_its_keywords_and_what_is_older_fades():
    """a: 2/e; b: 1/e + 1; c enters with 1, and leads, as 1 > 2/e."""
    held = ALWAYS.initial_weights(("a", "b"))
    after = ALWAYS.after_paper(held, 100.0, ("b", "c"), RNG)
    assert names(after) == ["b", "c", "a"]
    assert dict(after) == pytest.approx({"b": 1 + 1 / math.e, "c": 1.0, "a": 2 / math.e})


def test_the_lightest_leaves_a_full_list_and_comes_back_as_if_new():
    held = ALWAYS.initial_weights(("a", "b", "c"))
    after = ALWAYS.after_paper(held, 0.0, ("d",), RNG)
    assert after == (("a", 2.0), ("b", 1.0), ("d", 1.0)), "of two alike, the one that was there"
    back = ALWAYS.after_paper(after, 0.0, ("c", "d"), RNG)
    assert back == (("a", 2.0), ("d", 2.0), ("b", 1.0))
    assert ALWAYS.after_paper((), 0.0, ("a", "a"), RNG) == (("a", 1.0),), "once a paper"
    assert names(ALWAYS.after_paper(held, 1e4, (), RNG)) == ["a", "b", "c"], "time alone"


@pytest.mark.parametrize("entering", [0.0, 0.3, 1.0])
def test_a_new_keyword_enters_with_its_probability(entering):
    rule, rng = Writing(entering=entering), np.random.default_rng(4)
    entered = sum(len(rule.after_paper((), 0.0, ("new",), rng)) for _ in range(2000))
    spread = 4 * (2000 * entering * (1 - entering)) ** 0.5
    assert entered == pytest.approx(2000 * entering, abs=spread)
    assert dict(rule.after_paper((("old", 1.0),), 0.0, ("old",), rng)) == {"old": 2.0}


def writes(text, *mates):

    def steps(team, lab):
        for mate in mates:
            lab.people.join(name(mate))
        page = yield from lab.stage(
            "abstract", lab.ask(team.leader, tiny_society.SAY, Page, heard=())
        )
        return Manuscript(page)

    return steps, lambda request: {"title": "On", "abstract": text}


def drifting(text="graphs and vision and speech", *mates, leaders=((0.0, 0),), **settings):
    """A society of one-day teams; a paper appears ten days later and holds its own words."""
    steps, script = writes(text, *mates)
    society = tiny_society.found(
        steps, *leaders, script=script, **({"drift": ALWAYS, "until": 60.0} | settings)
    )
    society.run_to_end()
    return society


def test_keywords_of_a_joint_paper_pass_from_author_to_author():
    """Scientist0 works on graphs, 1 on vision, 2 on speech; each of them takes up the others'."""
    society = drifting("graphs and vision and speech", 1, 2)
    (paper,) = only(society, "papers")
    assert paper["keywords"] == "graphs; vision; speech"
    rows = only(society, "interests")
    assert [row["scientist"] for row in rows] == ["Scientist0", "Scientist1", "Scientist2"]
    assert {row["date"] for row in rows} == {paper["published"]} == {11.0}
    assert {row["paper"] for row in rows} == {"Scientist0/1"}
    assert [row["topic"] for row in rows] == ["graphs", "vision", "speech"]
    assert [row["interests"] for row in rows] == [
        "graphs; vision; speech",
        "vision; graphs; speech",
        "speech; graphs; vision",
    ]
    assert rows[1]["entered"] == "graphs; speech"
    assert {row["dropped"] for row in rows} == {None}


def test_a_paper_that_changes_nobody_leaves_no_row():
    society = drifting("graphs alone")
    assert len(only(society, "papers")) == 1
    assert not only(society, "interests")


def test_without_drift_interests_stay_those_of_day_0():
    society = drifting("graphs and vision", 1, drift=None)
    assert not only(society, "interests")
    assert society.world.profile("Scientist0").interests == ("graphs",)
    assert society.knowledge.version() == len(society.population)


def test_interests_hold_from_the_moment_after_the_paper():
    society = drifting("graphs and vision", 1)
    told = society.population.profile
    assert told(0, 11.0).interests == ("graphs",)
    after = told(0, math.nextafter(11.0, 12.0))
    assert (after.interests, after.papers) == (("graphs", "vision"), 1)
    assert told(3, 60.0).interests == ("proteins",)


def test_a_profile_of_the_past_is_told_alike_on_another_thread_while_time_goes_on():
    """Asked for the same two dates again and again, whatever is published meanwhile."""
    steps, script = writes("graphs and vision and speech", 1)
    leaders = [(float(day), 0) for day in range(0, 300, 20)]
    society = tiny_society.found(
        steps, *leaders, script=script, drift=Writing(entering=1.0), until=400.0, most=30
    )
    society.advance(32.0)
    want = [society.population.profile(row, date) for row in (0, 1) for date in (11.0, 31.5)]
    found, done = [], threading.Event()

    def ask():
        while not done.is_set():
            told = [society.population.profile(r, d) for r in (0, 1) for d in (11.0, 31.5)]
            found.append(told)

    thread = threading.Thread(target=ask)
    thread.start()
    society.run_to_end()
    done.set()
    thread.join()
    assert len(only(society, "papers")) == len(leaders)
    assert len(found) > 2
    assert all(told == want for told in found)
    assert want[0].interests != want[1].interests


def test_the_knowledge_bank_is_searched_as_of_a_version():
    society = drifting("graphs and vision and speech", 1)
    bank = society.knowledge
    on_day, after = bank.visible(11.0), bank.visible(11.5)
    assert (on_day, after) == (10, 12)
    assert bank.profile("Scientist0", on_day).interests == ("graphs",)
    assert bank.profile("Scientist0", after).interests == ("graphs", "vision")
    assert bank.profile("Scientist0", after).papers == 1
    # Scientist8 works on graphs alone, so it is nearest once Scientist0 does no longer.
    assert [one.id for one in bank.search("graphs", 2, on_day)] == ["Scientist0", "Scientist8"]
    assert [one.id for one in bank.search("graphs", 1, after)] == ["Scientist8"]
    assert bank.similarity("Scientist0", "Scientist1", on_day) == 0.0
    assert bank.similarity("Scientist0", "Scientist1", after) == 1.0
    assert society.world.acquaintance("Scientist0", "Scientist1")["similarity"] == 1.0
    society_told = society.world.nearest_scientists(10, frozenset(), 60.0, "vision")
    assert {one.id for one in society_told} >= {"Scientist0", "Scientist1"}


def test_main_topics_change_and_are_counted_as_of_now():
    """Written on twice, vision outweighs the graphs that Scientist0 came with."""
    rule = Writing(memory=1e5, start=1.5, entering=1.0)
    pairs = ((0.0, 0), (1.0, 0))
    society = drifting("all on vision", 1, leaders=pairs, drift=rule)
    subjects = society.world.topic_numbers
    assert society.world.topic(0) == "vision"
    assert [row["topic"] for row in only(society, "interests")] == ["graphs", "vision"]
    assert subjects[0] == subjects[1]
    assert subjects[0] != subjects[8], "Scientist8 stays with graphs"
    assert len(subjects) == tiny_society.PEOPLE
    fresh = tiny_society.found(tiny_society.talk(), drift=rule)
    assert (
        fresh.world.topic_numbers[0] == fresh.world.topic_numbers[8] != fresh.world.topic_numbers[1]
    )


def test_two_papers_on_one_date_are_weighed_one_after_the_other():
    both = drifting("graphs and vision", 1, leaders=((0.0, 0), (0.0, 2)), drift=ALWAYS)
    date, weights = both.population.interests.latest(1)
    assert date == 11.0
    # Vision was in both papers, graphs in the first alone: at that date Scientist2 has none.
    assert dict(weights) == pytest.approx({"vision": 2 * math.exp(-0.11) + 2, "graphs": 1.0})


def test_in_a_large_society_it_is_the_same(monkeypatch):
    small = drifting("graphs and vision and speech", 1, 2)
    monkeypatch.setattr(population, "ALL_AGENTS_LIMIT", 4)
    large = drifting("graphs and vision and speech", 1, 2)
    assert large.population.large
    assert only(large, "interests") == only(small, "interests")
    assert large.world.topic_numbers.tolist() == small.world.topic_numbers.tolist()
    assert large.world.profile("Scientist1") == small.world.profile("Scientist1")
