"""Representation: shares of groups among those who take part, by hand."""

import pytest

from virsci_society.metrics.claims import GROUP_LEVEL, representation
from virsci_society.metrics.inference.intervals import wilson_interval


@pytest.fixture
def invited(make_run, rows):
    """Four scientists, of whom three work on a and one on b; b alone is invited."""
    rows["scientists"] = [
        ("A", "a", 1, 0, 2000, None),
        ("B", "a", 1, 0, 2005, None),
        ("C", "a", 1, 0, 2010, None),
        ("D", "b", 1, 0, None, None),
    ]
    rows["invitations"] = [
        ("A/1", "A", "D", 1.0, 2.0, "accepted", 0, 0, 0.5, False),
        ("A/1", "A", "D", 3.0, 4.0, "declined", 0, 0, 0.5, False),
        ("A/1", "A", "B", 3.0, 4.0, "declined", 0, 0, 0.5, False),
    ]
    for name in ("consultations", "authorships", "citations", "papers"):
        rows[name] = []
    return make_run(rows, {})


def test_shares_by_hand(invited):
    table = representation(invited).set_index(["group", "value", "stage"])
    row = table.loc[("topic", "b", "invited")]
    assert (row["count"], row["of"]) == (2, 3)
    assert row["share"] == pytest.approx(2 / 3)
    assert row["population_share"] == 0.25
    assert row["ratio"] == pytest.approx(8 / 3)
    # Wilson (1927) for 2 of 3 at 95 %.
    assert (row["low"], row["high"]) == pytest.approx((0.20766, 0.93851), abs=1e-4)
    assert table.loc[("topic", "b", "accepted"), "share"] == 1
    assert table.loc[("topic", "a", "accepted"), "count"] == 0


def test_classes_are_thirds_of_the_first_papers_and_the_unknown_are_left_out(invited):
    table = representation(invited)
    seniority = table[(table["group"] == "seniority") & (table["stage"] == "invited")]
    assert list(seniority["value"]) == ["early-career", "mid-career", "senior"]
    assert list(seniority["count"]) == [0, 1, 0]
    assert set(seniority["of"]) == {1}
    assert "consulted" not in set(table["stage"])


@pytest.mark.parametrize("total", [1, 2, 7, 40, 997])
def test_the_interval_is_that_of_scipy_to_the_last_bit(total):
    from scipy.stats import binomtest

    for count in {0, 1, total // 3, total - 1, total}:
        found = binomtest(count, total).proportion_ci(GROUP_LEVEL, method="wilson")
        band = wilson_interval(count, total, GROUP_LEVEL)
        assert (band.low, band.high) == (found.low, found.high)
