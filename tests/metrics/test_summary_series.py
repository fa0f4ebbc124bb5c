"""Series over simulated time and papers per person, of the run written by hand."""

import json

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from tests.hand_run import full
from virsci_society.metrics.networks.structure import MONTH, structure
from virsci_society.metrics.summary import (
    MOST_PERIODS,
    giant_shares,
    papers_per_person,
    period_of,
    summary_series,
)
from virsci_society.society.results.run import Run
from virsci_society.society.results.tables import TABLES


def test_papers_and_teams_are_those_of_each_week(run):
    """One paper on day 50; teams at work on days 2 to 40, 10 to the end and 20 to 30."""
    found = summary_series(run)
    assert found["period"] == 7.0
    assert len(found["papers"]) == len(found["teams_open"]) == 15
    assert [week for week, papers in enumerate(found["papers"]) if papers] == [7]
    assert found["teams_open"][0] == pytest.approx(5 / 7, abs=1e-3)
    assert found["teams_open"][3] == pytest.approx(3.0)
    assert found["teams_open"][-1] == pytest.approx(1.0)
    last = 100 - 14 * 7
    days = 7 * sum(found["teams_open"][:-1]) + last * found["teams_open"][-1]
    assert days == pytest.approx(38 + 90 + 10, abs=0.01)


def test_days_of_waiting_meetings_add_up(run):
    meetings = run.table("meetings")
    waited = (meetings["held"].fillna(run.days) - meetings["due"]).clip(lower=0).sum()
    found = summary_series(run)
    days = 7 * sum(found["meetings_waiting"][:-1]) + 2 * found["meetings_waiting"][-1]
    assert waited > 0
    assert days == pytest.approx(waited, abs=0.01)


def test_the_giant_component_is_that_of_the_measure_of_structure(run):
    table = structure(run)
    rows = table[table["network"] == "all"]
    told = giant_shares(run.table("ties"), rows["date"].to_numpy(dtype=np.float64))
    assert told == pytest.approx([round(value, 4) for value in rows["giant_share"]])


def test_the_giant_component_equals_networkx():
    rng = np.random.default_rng(5)
    ends = rng.integers(0, 60, (70, 2))
    ties = pd.DataFrame(
        {
            "source": [f"S{end}" for end in ends[:, 0]],
            "target": [f"S{end}" for end in ends[:, 1]],
            "date": np.arange(70.0),
        }
    )
    dates = np.array([-1.0, 0.0, 20.0, 69.0])
    expected = [None]
    for date in dates[1:]:
        graph = nx.Graph(ends[: int(date) + 1].tolist())
        expected.append(round(max(map(len, nx.connected_components(graph))) / len(graph), 4))
    assert giant_shares(ties, dates) == expected


@pytest.mark.parametrize(
    "days", [0.0, 0.5, 30.0, 31.0, 182.0, 183.0, 365.0, 1825.0, 1830.0, 36500.0]
)
def test_there_are_at_most_60_periods(days):
    run = Run.from_rows(full({}), {"seed": 0, "days": days}, {})
    found = summary_series(run)
    assert 1 <= len(found["papers"]) <= MOST_PERIODS
    assert period_of(days) in (1.0, 7.0) or round(period_of(days) / MONTH, 9).is_integer()
    assert period_of(365.0) == MONTH


def test_of_a_stopped_run_only_what_its_tables_hold_is_told(run):
    manifest = {**run.manifest, "partial": "a budget"}
    part = Run({name: run.table(name) for name in TABLES}, manifest, {})
    assert part.partial
    found = summary_series(part)
    assert found["teams_open"] is None
    assert found["meetings_waiting"] is None
    assert sum(found["papers"]) == 1


def test_papers_per_person_count_everybody(run):
    assert papers_per_person(run) == {"0": 3, "1": 4}
    rows = [(f"p{n}", "S1", 0) for n in range(25)] + [(f"p{n}", "S2", 1) for n in range(11)]
    many = Run.from_rows(full({"authorships": rows}), {"seed": 0, "days": 1.0}, {})
    told = papers_per_person(many)
    assert list(told) == ["0", *map(str, range(1, 10)), "10 to 19", "20 to 39"]
    assert (told["10 to 19"], told["20 to 39"], sum(told.values())) == (1, 1, 2)


def test_series_are_json_without_nan(run):
    json.dumps(summary_series(run), allow_nan=False)
