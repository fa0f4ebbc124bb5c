"""Who is there: hand-worked."""

import pandas as pd

from virsci_society.metrics.population import presence
from virsci_society.society.results.run import Run

PEOPLE = [(f"S{n}", "graphs", 1, 0, 2000, None, None) for n in range(3)]
CAREERS = [
    ("S3", 20.0, "arrived", "Here"),
    ("S1", 30.0, "retired", None),
    ("S4", 30.0, "arrived", None),
    ("S3", 50.0, "inactive", None),
    ("S2", 90.0, "removed", None),
]


def run_of(careers, people=PEOPLE, **manifest):
    late = [
        (who, "graphs", 0, 0, None, date, place)
        for who, date, change, place in careers
        if change == "arrived"
    ]
    rows = {"scientists": [*people, *late], "careers": careers}
    return Run.from_rows(rows, {"seed": 0, "days": 100.0, **manifest}, {})


def test_everybody_who_has_come_and_not_left_is_there():
    table = presence(run_of(CAREERS), every=30.0)
    assert table["date"].tolist() == [0.0, 30.0, 60.0, 90.0, 100.0]
    assert table["present"].tolist() == [3, 4, 3, 2, 2]
    assert table["arrived"].tolist() == [0, 2, 2, 2, 2]
    assert table["retired"].tolist() == [0, 1, 1, 1, 1]
    assert table["inactive"].tolist() == [0, 0, 1, 1, 1]
    assert table["removed"].tolist() == [0, 0, 0, 1, 1]


def test_a_large_society_says_how_many_there_were():
    manifest = {"ecosystem": {"counts": {"scientists": 50_000}}}
    table = presence(run_of(CAREERS, people=PEOPLE[:1], **manifest), every=50.0)
    assert table["present"].tolist() == [50_000, 50_000, 49_999]


def test_where_nobody_comes_or_goes_there_is_nothing_to_tell():
    table, full = presence(run_of([])), presence(run_of(CAREERS))
    assert table.empty
    pd.testing.assert_series_equal(table.dtypes, full.dtypes)
