"""The rule of verdict, the nulls, and the tables that facts are measured on."""

import math

import numpy as np
import pytest

from tests.hand_run import make_run, rows  # noqa: F401 - a fixture
from tests.metrics.facts.corpora import corpus, generator, literature, society
from virsci_society.metrics.facts.fact import Chance, Fact, decide, judge_facts
from virsci_society.metrics.facts.nulls import NULLS
from virsci_society.metrics.facts.structure import Transitivity
from virsci_society.metrics.facts.tables import run_tables
from virsci_society.metrics.inference.intervals import Interval
from virsci_society.metrics.registry import FACTS
from virsci_society.scenarios.config.reader import import_class


class Stated(Fact):
    """A fact between 1 and 2."""

    source, population = "nobody", "nobody"
    published, low, high = 1.5, 1.0, 2.0
    null, least_years = "rewired authors", 3

    def measure(self, tables):
        """Nothing."""
        return math.nan


@pytest.mark.parametrize(
    ("interval", "chance", "verdict", "why"),
    [
        ((1.5, 1.2, 1.8), (0.2, 0.1), "reproduced", ""),
        ((1.5, 1.2, 1.8), (2.8, 0.1), "reproduced", ""),
        ((1.5, 1.2, 1.8), (1.5, 0.05), "too short to tell", "the interval reaches chance"),
        ((1.5, 1.4, 1.6), (1.5, 0.05), "not", "as by chance"),
        ((1.5, 1.4, 1.6), (1.5, 0.2), "too short to tell", "chance spans the range"),
        ((0.5, 0.2, 0.8), (0.0, 0.01), "not", "below the range"),
        ((2.5, 2.2, 2.8), (0.0, 0.01), "not", "above the range"),
        ((1.1, 0.8, 1.4), (0.0, 0.01), "too short to tell", "the interval leaves the range"),
        ((0.9, 0.7, 1.1), (0.9, 0.05), "not", "as by chance"),
        ((1.5, 1.2, 1.8), (math.nan, math.nan), "too short to tell", "chance is not defined"),
    ],
)
def test_the_rule_of_verdict(interval, chance, verdict, why):
    assert decide(Stated(), Interval(*interval, 5), Chance(*chance)) == (verdict, why)


def test_runs_that_are_too_short_or_undefined_are_told():
    made = corpus(society(generator(1), years=2), 2)
    (found,) = judge_facts({"stated": Stated()}, [made], draws=3)
    assert (found.verdict, found.why) == ("too short to tell", "2 years; needs 3")
    longer = corpus(society(generator(1), years=3), 3)
    (found,) = judge_facts({"stated": Stated()}, [longer, longer], draws=3)
    assert (found.verdict, found.why) == ("not measurable", "not defined in 2 of 2")


def test_a_fact_without_its_tables_is_not_measurable():
    class Cited(Stated):
        """A fact of references."""

        needs = ("references", "reviews")

    made = corpus(society(generator(1), years=4), 4)
    (found,) = judge_facts({"cited": Cited()}, [made], draws=3)
    assert (found.verdict, found.why) == ("not measurable", "no table references, reviews")


@pytest.mark.parametrize("name", NULLS)
def test_a_null_keeps_what_it_says(name):
    made = literature(generator(2), years=4)
    drawn = NULLS[name](made, generator(3))
    assert np.array_equal(drawn.year, made.year)
    assert len(drawn.works.authors) == len(made.works.authors)
    pairs = set(zip(drawn.paper_of_seat.tolist(), drawn.works.authors.tolist(), strict=True))
    assert len(pairs) == len(drawn.works.authors)
    again = NULLS[name](made, generator(3))
    assert np.array_equal(drawn.works.authors, again.works.authors)
    sizes = np.sort(drawn.works.sizes), np.sort(made.works.sizes)
    assert np.array_equal(*sizes) == (name != "random sizes")
    same = np.array_equal(drawn.written, made.written)
    assert same == (name not in ("random authors", "strangers"))
    counts = [np.bincount(one.references[:, 1], minlength=len(made.works)) for one in (drawn, made)]
    assert len(drawn.references) == len(made.references)
    if name == "shuffled dates":
        assert np.array_equal(np.sort(counts[0]), np.sort(counts[1]))
    elif name == "exchanged places":
        # Within a year: the citations of its papers are the same, in another order.
        assert not np.array_equal(*counts)
        ends = [np.lexsort((one, made.year)) for one in counts]
        assert np.array_equal(counts[0][ends[0]], counts[1][ends[1]])
    elif name == "random citations":
        totals = [np.bincount(made.year, one) for one in counts]
        assert np.array_equal(*totals)
        assert not np.array_equal(*counts)
    elif name not in ("strangers", "rising citations"):
        assert np.array_equal(*counts)
    before, after = (list(one.further["panels"]["decision"]) for one in (made, drawn))
    assert (before != after) == (name == "exchanged panels")
    assert sorted(before) == sorted(after)


def test_shuffled_dates_move_whole_papers():
    papers = [(n // 4, [f"a{n}", f"b{n}"], [f"p{n - 1:05}"] if n else []) for n in range(12)]
    made = corpus(papers, 3)
    drawn = NULLS["shuffled dates"](made, generator(5))
    assert {tuple(sorted(one)) for one in drawn.works.teams} == set(made.works.teams)
    # The reference goes from who wrote n to who wrote n - 1, wherever they lie now.
    cites = {
        (drawn.works.teams[citing], drawn.works.teams[cited])
        for citing, cited in drawn.references.tolist()
    }
    assert cites == {
        (made.works.teams[citing], made.works.teams[cited])
        for citing, cited in made.references.tolist()
    }


def test_the_tables_of_a_run(make_run):  # noqa: F811
    made = run_tables(make_run())
    assert made.years == 1
    assert made.works.sizes.tolist() == [4]
    # S1, S2 and S3 had papers before day 0, S4 had none.
    assert made.wrote_before.tolist() == [True, True, True, False]
    assert len(made.references)
    assert not made.lacks(["references", "calls", "invitations"])
    assert made.lacks(["nothing"]) == ["nothing"]


def test_draws_and_verdicts_are_the_same_again():
    made = corpus(society(generator(4), years=5), 5)
    one, other = (judge_facts({"c": Transitivity()}, [made, made], draws=3) for _ in range(2))
    assert one == other


@pytest.mark.parametrize("name", FACTS)
def test_every_fact_states_its_card(name):
    fact = import_class(FACTS[name])()
    card = dict(fact.card())
    assert fact.low <= fact.published <= fact.high
    assert fact.least_years >= 1
    assert all(card.values())
    assert "NaN" not in card["measured"]
    # Nothing but the year and the pages of a source is a number.
    assert any(mark.isdigit() for mark in card["source"])
