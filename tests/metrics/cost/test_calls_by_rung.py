import pandas as pd
import pytest

from virsci_society.metrics.cost import RUNGS, VERDICTS, calls_by_rung
from virsci_society.metrics.summary import summarise_run


@pytest.fixture
def asked(add_call):
    """One question with the rung on which its reply was read."""

    def build(number, rung, verdict=None, form="Remark", act="utter"):
        row = list(add_call("S1/1", "topic", 1, 1, number, act, "S1", 3.0, tail=f"/{number}"))
        row[10], row[11] = form, rung == "default"
        return (*row, rung, verdict)

    return build


@pytest.fixture
def ladder(asked):
    """Ten questions of two forms, three re-asks and two trimmed askings."""
    return [
        asked(0, "strict"),
        asked(1, "strict", "overflow"),
        asked(2, "found"),
        asked(3, "re-asked"),
        asked(4, "default", "unreadable"),
        asked(5, "default", "refused"),
        asked(6, "default", "filtered"),
        asked(7, None, "overflow", form="Ballot"),
        asked(8, "unread", "unreadable", form="Ballot"),
        asked(9, "repaired", form="Ballot"),
        *[asked(10 + number, "unread", act="re-ask") for number in range(3)],
        *[asked(20 + number, None, "overflow", act="trim") for number in range(2)],
    ]


def counts(table, form):
    return table[table["form"] == form].set_index("rung")["calls"].to_dict()


def test_every_rung_of_every_form_is_counted(ladder, make_run):
    table = calls_by_rung(make_run({"calls": ladder}))
    assert table["form"].tolist() == ["Ballot"] * 6 + ["Remark"] * 6
    assert table["rung"].tolist() == list(RUNGS) * 2
    remarks = {"strict": 2, "found": 1, "repaired": 0, "re-asked": 1, "default": 3, "unread": 0}
    assert counts(table, "Remark") == remarks
    ballots = {"strict": 0, "found": 0, "repaired": 1, "re-asked": 0, "default": 0, "unread": 2}
    assert counts(table, "Ballot") == ballots


def test_re_asks_and_trimmed_askings_are_the_way_and_no_question(ladder, make_run):
    assert calls_by_rung(make_run({"calls": ladder}))["calls"].sum() == 10


def test_shares_are_of_the_questions_of_the_form(ladder, make_run):
    table = calls_by_rung(make_run({"calls": ladder})).set_index(["form", "rung"])
    assert table.loc[("Remark", "default"), "share"] == pytest.approx(3 / 7)
    assert table.loc[("Ballot", "unread"), "share"] == pytest.approx(2 / 3)
    assert table.groupby("form")["share"].sum().tolist() == pytest.approx([1, 1])


def test_verdicts_are_counted_where_they_fell(ladder, make_run):
    table = calls_by_rung(make_run({"calls": ladder})).set_index(["form", "rung"])
    told = {place: table.loc[place, list(VERDICTS)].tolist() for place in table.index}
    assert told["Remark", "default"] == [1, 1, 1, 0]
    assert told["Remark", "strict"] == [0, 0, 0, 1]  # too long at first, read when trimmed
    assert told["Ballot", "unread"] == [1, 0, 0, 1]
    assert table[list(VERDICTS)].sum().sum() == 6


def test_what_is_not_known_is_missing_and_no_zero(ladder, asked, make_run):
    unsent = asked(30, None, form="Ballot")
    table = calls_by_rung(make_run({"calls": [*ladder, unsent]}))
    last = table[table["form"] == "Ballot"].iloc[-1]
    assert last["rung"] is pd.NA
    assert last["calls"] == 1
    assert last["share"] == pytest.approx(1 / 4)
    assert last[list(VERDICTS)].isna().all()


def test_the_summary_adds_the_forms_up(ladder, asked, make_run):
    reading = summarise_run(make_run({"calls": [*ladder, asked(30, None)]}))["reading"]
    assert reading["asked"] == 10
    rungs = {"strict": 2, "found": 1, "repaired": 1, "re-asked": 1, "default": 3, "unread": 2}
    assert reading["rungs"] == rungs
    assert reading["verdicts"] == {"unreadable": 2, "refused": 1, "filtered": 1, "overflow": 2}
    assert reading["defaulted"] == pytest.approx(0.3)
    assert reading["by_form"]["Ballot"]["unread"] == 2
