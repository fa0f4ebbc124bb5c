import numpy as np
import pytest
from scipy import sparse

from virsci_society.metrics.impact import count_later_papers, disruption


@pytest.fixture
def society(make_run):
    """F cites the past papers P and Q; A, B, C, D, E come after it, G before."""

    def build(cites, days=None):
        dates = {"G": 5.0, "F": 10.0, "A": 20.0, "B": 30.0, "C": 400.0, "D": 500.0, "E": 10.0}
        papers = [(name, name, "t", "", day, None, "") for name, day in dates.items()]
        rows = [(one, of, dates[one], of in dates) for one, of in cites]
        return make_run({"papers": papers, "citations": rows}, {"days": days or 600.0})

    return build


def test_the_cd_index_by_hand(society):
    """A and B cite F alone, C cites F and P, D cites Q alone: (2 - 1) / (2 + 1 + 1)."""
    cites = [("F", "P"), ("F", "Q"), ("A", "F"), ("B", "F"), ("C", "F"), ("C", "P"), ("D", "Q")]
    row = disruption(society(cites)).set_index("paper").loc["F"]
    assert row[["only_it", "both", "only_its_references"]].tolist() == [2, 1, 1]
    assert row["CD"] == 0.25


def test_papers_before_it_and_of_its_day_do_not_count(society):
    cites = [("F", "P"), ("G", "P"), ("E", "P"), ("A", "F")]
    row = disruption(society(cites)).set_index("paper").loc["F"]
    assert row[["only_it", "both", "only_its_references"]].tolist() == [1, 0, 0]


def test_without_references_or_readers_there_is_no_index(society):
    table = disruption(society([("F", "P"), ("B", "A")])).set_index("paper")
    assert table["CD"].isna().all()
    assert table.loc["A", "only_it"] == 1


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("window", [np.inf, 40.0])
def test_it_is_that_of_a_plain_loop(seed, window, monkeypatch):
    monkeypatch.setattr("virsci_society.metrics.impact.PAPERS_PER_BLOCK", 7)
    rng = np.random.default_rng(seed)
    dates = np.round(rng.random(40) * 100)
    cites = rng.random((40, 60)) < 0.08
    cites[:, :40] &= dates[:, None] > dates[None, :]
    found = count_later_papers(sparse.csr_array(cites.astype(float)), dates, window)
    for f in range(40):
        kinds = [0, 0, 0]
        for g in range(40):
            if 0 < dates[g] - dates[f] <= window:
                it, its = cites[g, f], (cites[g] & cites[f]).any()
                for place, holds in enumerate((it and not its, it and its, its and not it)):
                    kinds[place] += holds
        assert found[f].tolist() == kinds
