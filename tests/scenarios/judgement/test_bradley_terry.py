"""Strengths from pairs: by hand, known strengths recovered, and what cannot be estimated."""

import numpy as np
import pandas as pd
import pytest

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.judgement.agreement import fit_pairs, pair_agreement


def answers(*rows):
    """Answers of one rater: arm that stands first, arm that stands second, preferred (or None)."""
    table = []
    for number, (first, second, preferred) in enumerate(rows):
        other = second if preferred == first else first
        tie = preferred is None
        table.append((f"P{number}", "ann", preferred or first, other, tie, first, second))
    names = ["item", "rater", "preferred", "other", "tie", "first", "second"]
    found = pd.DataFrame(table, columns=names)
    return found.assign(pair=found["item"])


def drawn(strengths, first, count, seed=0):
    """Answers drawn from the model."""
    rng = np.random.default_rng(seed)
    names = list(strengths)
    rows = []
    for _ in range(count):
        a, b = rng.choice(len(names), 2, replace=False)
        real = strengths[names[a]] - strengths[names[b]] + first
        won = rng.random() < 1 / (1 + np.exp(-real))
        rows.append((names[a], names[b], names[a] if won else names[b]))
    return answers(*rows)


def test_three_wins_of_four_by_hand():
    """With the added half wins the two logits solve 4 s(2x) - 3 + s(x) - 1/2 = 0 by symmetry."""
    rows = [("x", "y", "x"), ("y", "x", "x"), ("x", "y", "x"), ("y", "x", "y")]
    fit = fit_pairs(answers(*rows, *[(b, a, p) for a, b, p in rows]))
    by_arm = fit.arms.set_index("arm")
    real = by_arm.loc["x", "strength"]
    assert by_arm.loc["y", "strength"] == pytest.approx(-real)
    sigmoid = lambda value: 1 / (1 + np.exp(-value))  # noqa: E731
    assert 8 * sigmoid(2 * real) - 6 + sigmoid(real) - 0.5 == pytest.approx(0, abs=1e-5)
    assert list(by_arm["wins"]) == [6, 2]
    assert fit.first == pytest.approx(0, abs=1e-6)


def test_known_strengths_and_position_are_recovered():
    truth = {"a": 1.0, "b": 0.0, "c": -1.0}
    fit = fit_pairs(drawn(truth, 0.5, 3000))
    assert list(fit.arms["arm"]) == ["a", "b", "c"]
    for row in fit.arms.to_dict("records"):
        assert row["low"] < truth[row["arm"]] < row["high"]
        assert row["high"] - row["low"] < 0.4
    assert 0.3 < fit.first_low < fit.first < fit.first_high < 0.7
    assert fit.arms["strength"].sum() == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say():
    truth = {"a": 0.5, "b": -0.5}
    held = 0
    for seed in range(200):
        row = fit_pairs(drawn(truth, 0.0, 80, seed)).arms.set_index("arm").loc["a"]
        held += row["low"] < 0.5 < row["high"]
    assert 180 <= held <= 199


def test_one_that_always_wins_has_a_finite_strength_and_ties_count_half():
    row = fit_pairs(answers(*[("x", "y", "x")] * 5, *[("y", "x", "x")] * 5)).arms.iloc[0]
    assert (row["arm"], row["wins"]) == ("x", 10)
    assert 1 < row["strength"] < 10
    tied = fit_pairs(answers(("x", "y", None), ("y", "x", None)))
    assert tied.arms["strength"].abs().max() < 1e-6
    assert list(tied.arms["wins"]) == [1, 1]
    assert np.isnan(tied.first_share)


def test_what_nothing_connects_has_no_scale():
    with pytest.raises(InputError, match=r"u; v \| x; y|x; y \| u; v"):
        fit_pairs(answers(("x", "y", "x"), ("u", "v", "v")))
    with pytest.raises(InputError, match="no pair"):
        fit_pairs(answers())


def test_agreement_on_pairs_answered_twice():
    table = pd.DataFrame(
        [
            *(("1", "ann", "p", 1.0), ("1", "bob", "p", 1.0), ("2", "ann", "q", 0.0)),
            *(("2", "bob", "q", 0.0), ("3", "ann", "r", 1.0), ("4", "ann", "r", 1.0)),
        ],
        columns=["item", "rater", "pair", "earlier"],
    )
    assert pair_agreement(table) == 1.0
    assert np.isnan(pair_agreement(table.head(1)))
    assert pair_agreement(table.assign(earlier=[1.0, 0.0] * 3)) < 0.1
