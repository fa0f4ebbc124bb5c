"""The rule of verdict, the nulls, and the tables that facts are measured on."""

import math
from collections import Counter

import numpy as np
import pytest

from tests.hand_run import make_run, rows  # noqa: F401 - a fixture
from tests.metrics.facts.corpora import corpus, generator, literature, society
from virsci_society.metrics.facts.fact import Fact, decide, judge_facts
from virsci_society.metrics.facts.nulls import NULLS, SAMPLES
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
        ((1.5, 1.2, 1.8), 0.2, "reproduced", ""),
        ((1.5, 1.4, 1.6), 0.9, "reproduced", ""),
        ((1.5, 1.4, 1.6), 1.0, "inconclusive", "the interval reaches chance"),
        ((1.5, 1.4, 1.6), 1.2, "absent", "as by chance"),
        ((1.5, 1.4, 1.6), 1.4, "inconclusive", "chance alone spans the range"),
        ((0.5, 0.2, 0.8), 0.1, "absent", "short of the range"),
        ((0.5, 0.2, 0.8), 1.3, "opposite", "on the other side of chance"),
        ((2.5, 2.2, 2.8), 0.1, "too strong", "beyond the range"),
        ((1.1, 0.8, 1.4), 0.1, "inconclusive", "the interval leaves the range"),
        ((1.5, 1.2, 1.8), math.nan, "inconclusive", "chance or the interval is not defined"),
    ],
)
def test_the_rule_of_verdict(interval, chance, verdict, why):
    assert decide(Stated(), Interval(*interval, 5), chance) == (verdict, why)


@pytest.mark.parametrize(
    ("interval", "chance", "verdict"),
    [
        ((0.6, 0.5, 0.7), 1.0, "reproduced"),
        ((0.95, 0.92, 0.98), 1.0, "absent"),
        ((0.1, 0.0, 0.2), 1.0, "too strong"),
        ((1.3, 1.2, 1.4), 1.0, "opposite"),
        ((0.7, 0.69, 0.72), 0.8, "absent"),
    ],
)
def test_a_falling_fact_is_judged_by_its_distance_from_chance(interval, chance, verdict):
    class Falling(Stated):
        """A ratio of two groups, .35 to .88."""

        published, low, high, neutral = 0.6, 0.35, 0.88, 1.0

    assert decide(Falling(), Interval(*interval, 5), chance)[0] == verdict


def test_runs_that_are_too_short_or_undefined_are_told():
    made = corpus(society(generator(1), years=2), 2)
    (found,) = judge_facts({"stated": Stated()}, [made], draws=3)
    assert (found.verdict, found.why) == ("inconclusive", "covers 2 of the 3 years needed")
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
    assert same == (name not in ("random authors", "geometric papers", "strangers"))
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
    elif name != "strangers":
        assert np.array_equal(*counts)
    before, after = (list(one.further["panels"]["decision"]) for one in (made, drawn))
    assert (before != after) == (name == "exchanged panels")
    assert sorted(before) == sorted(after)


def test_geometric_papers():
    made = corpus([(n % 5, [f"a{n % 1000}"]) for n in range(3000)], 5)
    drawn = NULLS["geometric papers"](made, generator(3)).written
    assert (len(drawn[drawn > 0]), drawn.sum()) == (1000, 3000)
    assert np.bincount(drawn)[1:4] / 1000 == pytest.approx([1 / 3, 2 / 9, 4 / 27], abs=0.05)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_bootstrap_sample_keeps_years_and_draws_with_replacement(name):
    made = literature(generator(2), years=4)
    drawn = SAMPLES[name](made, generator(3))
    if name == "papers":
        assert np.array_equal(drawn.year, made.year)
        assert 0.55 < len(set(drawn.works.teams)) / len(set(made.works.teams)) < 0.75
        # A copy cites all copies of what the paper cites.
        copies = Counter(drawn.cited[: len(drawn.works)])
        cites = [(made.cited[a], made.cited[b]) for a, b in made.references.tolist()]
        assert len(drawn.references) == sum(copies[a] * copies[b] for a, b in cites)
    elif name == "authors":
        assert len(drawn.written) == (made.written > 0).sum()
        assert drawn.written.min() > 0
        assert set(drawn.written) <= set(made.written)
    else:
        panels = drawn.further["panels"]
        assert len(panels) == len(made.further["panels"])
        assert panels.groupby(["team", "submission"]).size().eq(2).all()


def test_the_interval_of_a_single_field_is_its_bootstrap_error():
    """The standard deviation over 60 fields beside the mean of six bootstrap errors."""
    name = "team_growth"
    fact = import_class(FACTS[name])()
    fields = [corpus(society(generator(seed), years=12), 12) for seed in range(60)]
    true = np.std([fact.measure(one) for one in fields], ddof=1)
    found = [judge_facts({name: fact}, [one], draws=20)[0].interval for one in fields[:6]]
    assert np.mean([one.high - one.value for one in found]) == pytest.approx(1.96 * true, rel=0.4)


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
