"""Team assembly by hand: who is an incumbent when, and which links are repeats."""

import pandas as pd
import pytest

from virsci_society.metrics.impact import AuthorshipTable, authorships_of
from virsci_society.metrics.networks.team_patterns import assembly, assembly_table


def works(papers, veterans=(), pairs=()):
    """Papers as (date, authors)."""
    rows = [
        (f"P{n}", who, float(date)) for n, (date, authors) in enumerate(papers) for who in authors
    ]
    table = pd.DataFrame(rows, columns=["paper", "scientist", "date"])
    return AuthorshipTable(table, frozenset(veterans), frozenset(pairs))


def test_p_and_q_by_hand():
    """b and c are newcomers at 1, incumbents at 2; a has written before, with nobody here."""
    found = works([(1, "abc"), (2, "abd"), (3, "ad")], veterans="a")
    row = assembly_table(found, [10.0]).iloc[0]
    assert row["authorships"] == 8
    assert row["incumbents"] == 1 + 2 + 2
    assert row["p"] == pytest.approx(5 / 8)
    # First: ab, ac mixed, bc both new. Second: ab again, ad and bd mixed. Third: ad again.
    kinds = ["newcomer_newcomer", "newcomer_incumbent", "incumbent_incumbent", "repeats"]
    assert row[kinds].tolist() == [1, 4, 2, 2]
    assert row["q"] == 1.0
    assert row["repeat_rate"] == pytest.approx(2 / 7)


def test_ties_from_before_make_repeats():
    found = works([(1, "ab")], veterans="ab", pairs=[("a", "b")])
    assert assembly_table(found, [1.0]).iloc[0][["p", "q"]].tolist() == [1.0, 1.0]
    strangers = works([(1, "ab")], veterans="ab")
    assert assembly_table(strangers, [1.0]).iloc[0][["p", "q"]].tolist() == [1.0, 0.0]


def test_papers_of_one_day_know_nothing_of_each_other():
    row = assembly_table(works([(1, "ab"), (1, "ab")]), [1.0]).iloc[0]
    assert row[["incumbents", "repeats"]].tolist() == [0, 0]
    assert pd.isna(row["q"])


def test_dates_hold_what_came_since_the_row_before():
    table = assembly_table(works([(1, "ab"), (5, "ab"), (9, "c")]), [0.0, 4.0, 8.0, 12.0])
    assert table["papers"].tolist() == [0, 1, 1, 1]
    assert table["p"].tolist()[1:] == [0.0, 1.0, 0.0]


def test_the_hand_made_run(run, empty_run):
    """S4 had no paper; S1 and S2 had one together; the paper of four is of day 50."""
    row = assembly(run).set_index("papers").loc[1]
    assert row["p"] == 0.75
    assert row["q"] == pytest.approx(1 / 3)
    assert row["repeat_rate"] == pytest.approx(1 / 6)
    assert authorships_of(run).prior_pairs == {("S1", "S2"), ("S1", "S5"), ("S5", "S6")}
    assert assembly(empty_run)["p"].isna().all()
