import numpy as np
import pytest

from virsci_society.agents.arrays import gini
from virsci_society.metrics.impact import gini_citations, h_index, productivity, top_tenth_papers


def test_gini_by_hand():
    assert gini([1, 1, 1]) == 0
    assert gini([0, 0, 0, 1]) == 0.75  # 1 - 1 / n
    assert gini([1, 2, 3]) == pytest.approx(2 / 9)
    assert np.isnan(gini([]))
    assert np.isnan(gini([0, 0]))


def test_gini_is_half_the_mean_difference():
    values = np.random.default_rng(0).exponential(size=200)
    apart = np.abs(values[:, None] - values[None, :]).mean()
    assert gini(values) == pytest.approx(apart / (2 * values.mean()))


def test_h_index_by_hand():
    assert h_index([10, 8, 5, 4, 3]) == 4
    assert h_index([25, 8, 5, 3, 3]) == 3
    assert h_index([0, 0]) == 0
    assert h_index([]) == 0
    assert h_index([1]) == 1


@pytest.fixture
def busy(rows, make_run):
    """A second paper of S1 and S7, which cites the first."""
    rows["papers"].append(("X", "X", "t", "a", 60.0, None, ""))
    rows["authorships"] += [("X", "S7", 0), ("X", "S1", 1)]
    rows["citations"].append(("X", "S1/1", 60.0, True))
    return make_run(rows)


def test_productivity_by_hand(busy):
    table = productivity(busy).set_index("scientist")
    assert table.loc["S1"].tolist() == [2, 1, 10, 50.0]
    assert table.loc["S7"].tolist() == [1, 1, 1, 60.0]
    assert table.loc["S2", ["papers", "led"]].tolist() == [1, 0]


def test_inequality_by_hand(busy):
    assert top_tenth_papers(busy) == pytest.approx(2 / 6)
    assert gini_citations(busy) == pytest.approx(gini([1, 0]))
