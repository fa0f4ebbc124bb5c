"""The main measures by protocol: worked by hand on two teams of one protocol and one of another."""

import pandas as pd
import pytest

from virsci_society.metrics.teams.teams import by_protocol


def test_each_protocol_by_hand(rows, make_run):
    """S1/1 has published, S5/1 works, S6/1 was dissolved; the last is of another protocol."""
    rows["teams"][2] = (*rows["teams"][2][:2], "silent", *rows["teams"][2][3:])
    rows["citations"] += [("S1/1", "S1/1", 50.0, True)]
    table = by_protocol(make_run(rows)).set_index("protocol")
    assert list(table.index) == ["silent", "virsci"]
    assert table["teams"].tolist() == [1, 2]
    assert table["ended"].tolist() == [1, 1]
    assert table["papers"].tolist() == [0, 1]
    assert table["with_paper"].tolist() == [0.0, 1.0]
    assert table["size"].tolist() == [1.0, 3.0]
    assert table.at["virsci", "days_to_paper"] == 48.0
    assert table.at["virsci", "cited"] == 1.0
    assert pd.isna(table.at["silent", "cited"])
    assert pd.isna(table.at["silent", "inference_cost"])


def test_novelty_is_that_of_the_papers_of_the_protocol(run):
    table = by_protocol(run).set_index("protocol")
    assert table.at["virsci", "HD"] == pytest.approx(run.metric("novelty")["HD"].mean())
