"""What a judge is worth: planted people and judges, and files that are refused."""

import json

import numpy as np
import pandas as pd
import pytest

from tests.command_line import society
from virsci_society.agents.errors import InputError
from virsci_society.scenarios.judgement.audit import (
    RatingSet,
    audit,
    ceiling,
    rating_set,
    reliability,
)
from virsci_society.scenarios.judgement.rating_files import read_ratings
from virsci_society.scenarios.judgement.review import read_averages

TEXTS, PEOPLE = 200, 5
LONGER = "prefers longer texts, where the others rate alike"


def planted(noise=1.0, seed=1, people=PEOPLE):
    """The truth of each text, and people who see it with noise of the same size as its own."""
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal(TEXTS)
    seen = truth[:, None] + noise * rng.standard_normal((TEXTS, people))
    return rng, truth, seen


def audited(people, judge, **features):
    held = RatingSet(people, np.asarray(judge).reshape(len(people), -1), features)
    found = audit(held, resamples=80)
    return found.set_index("question")


def test_a_held_out_person_has_the_value_of_a_person():
    _, _, seen = planted(people=PEOPLE + 1)
    found = audited(seen[:, 1:], seen[:, 0])
    gap = found.loc["judge less person"]
    assert gap["low"] < 0 < gap["high"]
    # One rating of reliability 1/2 beside the mean of four, whose reliability is 4/5, in ranks.
    expected = 6 / np.pi * np.arcsin(np.sqrt(0.5 * 0.8) / 2)
    for who in (
        "person: correlation with the mean of the others",
        "judge, in the place of each person",
    ):
        assert found.loc[who, "value"] == pytest.approx(expected, abs=0.1)


def test_who_knows_the_truth_is_worth_more_than_a_person_and_no_more_than_the_ceiling():
    _, truth, seen = planted()
    found = audited(seen, truth)
    assert found.loc["judge less person", "low"] > 0
    reached = found.loc["judge: correlation with the mean of all people", "value"]
    assert found.loc["most that this could be", "value"] == pytest.approx(np.sqrt(5 / 6), abs=0.04)
    assert reached == pytest.approx(np.sqrt(5 / 6), abs=0.05)


def test_dice_are_worth_nothing_and_agree_with_themselves_as_little():
    rng, _, seen = planted()
    found = audited(seen, rng.standard_normal((TEXTS, 3)))
    alone = found.loc["judge, in the place of each person"]
    assert alone["low"] < 0 < alone["high"]
    assert found.loc["judge less person", "high"] < 0
    assert found.loc["agreement of the judge with itself (alpha)", "high"] < 0.15
    assert found.loc["agreement of people (alpha)", "value"] == pytest.approx(0.5, abs=0.07)
    needed = found.loc["texts an arm at which the judge tells one point of people", "value"]
    assert needed > 300


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", ["words", "position", "own"])
def test_a_judge_who_is_led_is_found_and_people_are_not(name):
    rng, truth, seen = planted()
    led = {
        "words": rng.integers(50, 400, TEXTS).astype(float),
        "position": rng.permutation(TEXTS).astype(float),
        "own": rng.integers(0, 2, TEXTS).astype(float),
    }
    pull = (led[name] - led[name].mean()) / led[name].std()
    found = audited(seen, truth + 0.7 * pull, **led)
    for other in led:
        label = LONGER if other == "words" else LONGER.replace("longer texts", other)
        judge, person = (found.loc[f"{who}: {label}"] for who in ("judge", "person"))
        assert person["low"] < 0 < person["high"]
        assert (judge["low"] > 0.3) if other == name else (judge["low"] < 0 < judge["high"])


def test_reliability_of_a_mean_is_that_of_spearman_and_brown():
    _, _, seen = planted()
    assert reliability(seen) == pytest.approx(5 / 6, abs=0.05)
    halved = seen.copy()
    halved[: TEXTS // 2, 2:] = np.nan
    # Two ratings of half of the texts, five of the others: 2.86 in the harmonic mean.
    assert reliability(halved) == pytest.approx(2.857 / 3.857, abs=0.07)
    once = RatingSet(seen, seen[:, :1], {})
    assert ceiling(once) == pytest.approx(np.sqrt(reliability(seen)))


def test_one_point_is_told_by_as_many_texts_as_the_formula_of_two_means_says():
    rng, truth, seen = planted()
    found = audited(seen, truth + rng.standard_normal(TEXTS))
    # Variance 2 where a point of people is a point: 2 x 2 x (1.96 + 0.84)^2.
    needed = found.loc["texts an arm at which the judge tells one point of people", "value"]
    assert needed == pytest.approx(31.4, abs=7)


def lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def rated(tmp_path):
    """Forty texts, rated by three people and by rules that were called judge."""
    rng, _, seen = planted(people=4)
    rows = []
    for item in range(40):
        text = " ".join(["word"] * int(rng.integers(5, 50)))
        for rater in range(4):
            row = {"item": f"t{item}", "rater": f"r{rater}", "score": seen[item, rater]}
            rows.append(row | {"text": text, "dimension": "novelty"})
    return lines(tmp_path / "rated.jsonl", rows)


@pytest.mark.slow
def test_the_command_prints_what_a_rater_is_worth(rated):
    done = society("rate", "audit", rated, "--judge", "r3")
    assert done.exit_code == 0, done.output
    assert "40 texts, 3 people; the judge rated each once" in done.output
    assert "judge less person" in done.output
    assert "longer texts" in done.output


@pytest.mark.slow
def test_a_panel_reviews_the_texts_and_is_the_judge(rated):
    asked = society("review", rated, "--kind", "novelty", "--panel", "rules")
    assert asked.exit_code == 0, asked.output
    assert "society rate audit FILE --judge" in asked.output
    assert "no correlations" not in asked.output
    folder = rated.with_suffix("") / "reviews" / "rules"
    averages = read_averages(rated.with_suffix(""))
    assert sorted(averages["paper"]) == sorted(f"t{item}" for item in range(40))
    done = society("rate", "audit", rated, "--judge", folder)
    assert done.exit_code == 0, done.output
    assert "40 texts, 4 people; the judge rated each 3 times" in done.output
    again = society("review", rated, "--kind", "novelty", "--panel", "rules")
    assert "nothing to do" in again.output


def test_several_dimensions_are_told_and_chosen(tmp_path, rated):
    more = [json.loads(line) for line in rated.read_text().splitlines()]
    more += [row | {"dimension": "excitement"} for row in more]
    path = lines(tmp_path / "more.jsonl", more)
    with pytest.raises(InputError, match="has ratings of excitement, novelty; choose with"):
        read_ratings(path)
    assert len(read_ratings(path, "novelty")) == 160
    with pytest.raises(InputError, match="did you mean 'novelty'"):
        read_ratings(path, "noveltie")


ROW = {"item": "a", "rater": "r0", "score": 1}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "holds no rating"),
        ([{"item": "a", "rater": "x"}], "1: has no 'score'; each line has item, rater, score"),
        ([ROW | {"score": "good"}], "1: score is 'good', expected a number"),
        ([ROW | {"score": float("nan")}], "expected a number"),
        ([ROW, [1]], "2: is no JSON object"),
        (["item, rater and score"], "1: is no JSON object"),
        ([7], "1: is no JSON object"),
    ],
)
def test_a_file_that_holds_no_ratings_is_refused_with_its_line(tmp_path, rows, said):
    with pytest.raises(InputError, match=said):
        read_ratings(lines(tmp_path / "ratings.jsonl", rows))


def released(path, **columns):
    """Made-up reviews in the layout of those of Si et al.: 15 ideas, three reviews each."""
    ideas = [f"Math_{number}_AI" if number % 2 else f"Math_{number} _Human" for number in range(15)]
    data = {
        "idea_id": ideas * 3,
        "condition": [idea.rpartition("_")[2] for idea in ideas] * 3,
        "familiarity": ["3 (you have read about it)"] * 45,
        "novelty_score": [*range(1, 16), *range(2, 17), *range(15, 0, -1)],
        "novelty_rationale": ["it is"] * 45,
        "overall_score": [5] * 45,
        "confidence_score": [3] * 45,
    }
    path.write_text(json.dumps(data | columns), encoding="utf-8")
    return path


@pytest.mark.slow
def test_reviews_are_read_in_the_layout_in_which_those_of_si_et_al_were_released(tmp_path):
    path = released(tmp_path / "released.json")
    with pytest.raises(InputError, match="has ratings of novelty, overall; choose with"):
        read_ratings(path)
    table = read_ratings(path, "novelty")
    assert len(table) == 45
    first = table[table["item"] == "Math_0_Human"]
    assert first["rater"].tolist() == ["reviewer 1", "reviewer 2", "reviewer 3"]
    assert first["score"].tolist() == [1, 2, 15]
    assert table.groupby("item")["machine"].first().sum() == 7
    done = society("rate", "audit", path, "--judge", "reviewer 3", "--dimension", "novelty")
    assert done.exit_code == 0, done.output
    assert "15 texts, 2 people; the judge rated each once" in done.output
    assert "prefers machine" in done.output


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"novelty_score": [1]}, "novelty_score is no list of 45 entries, one a review"),
        ({"condition": None}, "condition is no list of 45 entries"),
        ({"overall_score": [5] * 44 + [None]}, "overall_score of review 45 is None, expected a"),
    ],
)
def test_released_reviews_that_lack_something_are_refused_with_its_place(tmp_path, columns, said):
    with pytest.raises(InputError, match=said):
        read_ratings(released(tmp_path / "released.json", **columns), "novelty")


def test_one_rater_no_such_judge_and_too_few_texts_are_refused():
    rows = [(f"t{item}", rater, float(item)) for item in range(12) for rater in ("a", "judge")]
    table = pd.DataFrame(rows, columns=["item", "rater", "score"])
    with pytest.raises(InputError, match="fewer than two people have rated"):
        rating_set(table, ["judge"])
    with pytest.raises(InputError, match="--judge nobody: rated nothing; there are a, judge"):
        rating_set(table, ["nobody"])
    few = pd.concat([table, table[table["item"] == "t1"].assign(rater="b")])
    with pytest.raises(InputError, match="1 texts have a score of the judge and of two people"):
        rating_set(few, ["judge"])
