"""Runs beside real papers, on communities written by hand and on an invented one."""

import numpy as np
import pandas as pd
import pytest

from virsci_society.metrics.validation.comparison import ROWS, Community, compare_with_real
from virsci_society.metrics.validation.dated_papers import (
    DatedPaper,
    half_distance,
    history_of,
    jensen_shannon,
    mix_distance,
    papers_between,
    papers_of,
    simulated_papers,
    topic_papers,
    vocabulary,
)
from virsci_society.metrics.validation.tolerances import TOLERANCES

YEAR = 365.0


@pytest.fixture(autouse=True)
def _fewer_resamples(monkeypatch):
    """A fifth of the resamples: no test here looks at more than the size of an error."""
    monkeypatch.setattr("virsci_society.metrics.validation.comparison.RESAMPLES", 20)
    monkeypatch.setattr("virsci_society.metrics.validation.comparison.FEW_RESAMPLES", 5)


def written(*papers):
    """Papers as (year, authors, keywords)."""
    return [
        DatedPaper(year * YEAR, tuple(authors), tuple(words.split()))
        for year, authors, words in papers
    ]


def community(past, later, scientists):
    return Community(past, later, frozenset(scientists), history_of(past))


@pytest.fixture
def real():
    past = written((-2, "ab", "x y"), (-1, "ab", "x"), (-1, "cd", "y"))
    later = written((0, "abz", "x"), (0, "yw", "y"), (0, "d", "new"), (1, "abw", "x"))
    return community(past, later, "abcd")


def rows_of(found, side="all", window=1):
    table = found.rows
    chosen = table[(table["side"] == side) & (table["window"] == window)]
    return chosen.set_index("measure")


def test_all_has_every_author_and_own_only_the_societys(real):
    found = compare_with_real([written((0, "ab", "x"), (0, "cd", "y"))], real, [1])
    everybody, own = rows_of(found), rows_of(found, "own")
    assert everybody.loc["authors", ["simulated", "observed"]].tolist() == [4, 6]
    assert own.loc["authors", ["simulated", "observed"]].tolist() == [4, 3]
    # Of abz, yw and d the society wrote ab and d: sizes are counted in its own authors.
    assert everybody.loc["authors_per_paper", "observed"] == 2
    assert own.loc["authors_per_paper", "observed"] == 1.5
    # Whole: abz and d have three authors and one; nobody of the society wrote yw.
    assert everybody.loc["authors_per_own_paper", ["simulated", "observed"]].tolist() == [2, 2]
    assert pd.isna(own.loc["authors_per_own_paper", "observed"])
    assert own.loc["single_authored", "observed"] == 0.5
    assert everybody.loc["newcomer_rate", "observed"] == pytest.approx(3 / 6)
    assert own.loc["newcomer_rate", "observed"] == 0
    assert own.loc["people_with_paper", ["simulated", "observed"]].tolist() == [1, 0.75]
    assert pd.isna(everybody.loc["people_with_paper", "observed"])
    assert own.loc["authors", "distance"] == pytest.approx(1 / 3)
    assert list(own.index) == list(ROWS)


def test_papers_of_a_run_by_people_from_outside_count_in_all_alone(real):
    run = written((0, "aN", "x"), (0, "MN", "y"))
    found = compare_with_real([run], real, [1])
    assert rows_of(found).loc["newcomer_rate", "simulated"] == pytest.approx(3 / 4)
    assert rows_of(found, "own").loc["papers", "simulated"] == 1


def test_before_is_the_same_length_of_time_measured_alike(real):
    found = compare_with_real([real.later], real, [1])
    before = rows_of(found)["before"]
    assert before["papers"] == 2
    # c and d had no paper before the year -1, a and b had one together.
    assert before["newcomer_rate"] == 0.5
    assert before["repeat_rate"] == 0.5
    assert rows_of(found).loc["newcomer_rate", "distance_before"] == pytest.approx(0)


def test_a_past_that_is_too_short_has_no_column_before(real):
    found = compare_with_real([real.later], real, [3])
    assert rows_of(found, window=3)["before"].isna().all()
    assert found.scores["score_before"].isna().all()


def test_mean_and_spread_over_runs(real):
    runs = [written((0, "ab", "x")), written((0, "ab", "x"), (0, "c", "y"))]
    row = rows_of(compare_with_real(runs, real, [1])).loc["authors"]
    assert row["simulated"] == 2.5
    assert row["simulated_sd"] == pytest.approx(np.std([2, 3], ddof=1))
    assert row["distance"] == pytest.approx((2.5 - 6) / 6)
    expected = (2.5 - 6) / np.sqrt(row["observed_error"] ** 2 + row["simulated_sd"] ** 2 / 2)
    assert row["z"] == pytest.approx(expected)
    assert not row["within"]
    one = rows_of(compare_with_real(runs[:1], real, [1])).loc["authors"]
    assert pd.isna(one["simulated_sd"])


def test_the_score_is_that_of_the_errors_shown(real):
    found = compare_with_real([written((0, "ab", "x"), (0, "cd", "y"))], real, [1])
    for _, total in found.scores.iterrows():
        rows = rows_of(found, total["side"])
        off = rows["in_tolerances"].dropna().astype(float)
        assert total["judged"] == len(off) <= len(TOLERANCES)
        assert total["score"] == pytest.approx(np.sqrt((off.abs().clip(upper=5) ** 2).mean()))
        assert total["within"] == rows["within"].fillna(False).sum()


def invented(rng, people=40, years=9):
    """A community of topics and teams, around year 0."""
    papers = []
    for year in range(-5, years - 5):
        for _ in range(40):
            team = rng.choice(people + 10 * (year + 6), rng.integers(1, 6), replace=False)
            words = rng.choice(30 + year, 3, replace=False)
            papers.append(
                DatedPaper(year * YEAR, tuple(f"A{n}" for n in team), tuple(f"k{n}" for n in words))
            )
    past = [one for one in papers if one.date < 0]
    later = [one for one in papers if one.date >= 0]
    return community(past, later, [f"A{n}" for n in range(people)])


@pytest.mark.slow
def test_the_oracle_is_at_no_distance_from_its_own():
    """The real later papers of the society's scientists, taken for a run."""
    real = invented(np.random.default_rng(1))
    for oracle in (real.later, papers_of(real.later, real.scientists)):
        found = compare_with_real([oracle], real, [1, 2, 4])
        own = found.rows[found.rows["side"] == "own"]
        assert (own["distance"].dropna() == 0).all()
        judged = own.dropna(subset=["tolerance"])
        assert len(judged) == 3 * 14
        assert judged["within"].all()
        scores = found.scores[found.scores["side"] == "own"]
        assert (scores["score"] == 0).all()
        assert (scores["within"] == 14).all()
        assert (scores["score_closed"] == 0).all()
    everybody = found.scores[found.scores["side"] == "all"]
    assert (everybody["score"] == everybody["score_closed"]).all()
    assert (everybody["score"] > 1).all()


def test_topics_are_compared_on_equal_numbers_of_papers():
    """Samples of one source lie as far apart as its halves, however many papers a side has."""
    rng = np.random.default_rng(0)

    def sample(count, name):
        return [
            DatedPaper(0.0, (f"{name}{n}",), tuple(f"k{one}" for one in rng.choice(50, 3)))
            for n in range(count)
        ]

    large, other = sample(600, "a"), sample(100, "b")
    known = vocabulary(large)
    one, two = topic_papers(large, known), topic_papers(other, known)
    halves = half_distance(one, 50)
    assert mix_distance(one, two, 50) == pytest.approx(halves, abs=0.03)
    assert mix_distance(one, two, 50) > 2 * jensen_shannon(
        np.ones(50), np.ones(50) + np.arange(50) / 100
    )
    assert mix_distance(one, one, 50) == 0
    assert np.isnan(mix_distance(one, two, 101))
    assert np.isnan(half_distance(two, 51))


def test_jensen_shannon_runs_from_nothing_to_one():
    assert jensen_shannon(np.array([2.0, 1]), np.array([4.0, 2])) == pytest.approx(0, abs=1e-7)
    assert jensen_shannon(np.array([1.0, 0]), np.array([0.0, 5])) == pytest.approx(1)


def test_the_papers_of_a_run(run):
    found = simulated_papers(run)
    assert [one.authors for one in found] == [("S1", "S2", "S3", "S4")]
    assert found[0].keywords == ("a", "b")


def test_the_keywords_of_a_run_are_told_apart_without_case(rows, make_run):
    rows["papers"].append(("S5/1", "S5/1", "Late", "Late.", 400.0, "vision", "c; C ; "))
    rows["authorships"] += [("S5/1", "S2", 1), ("S5/1", "S1", 0)]
    late = simulated_papers(make_run(rows, {"days": 500.0}))[-1]
    assert late == DatedPaper(400.0, ("S1", "S2"), ("c",))
    assert papers_between([late], 0, 1) == []
