"""What the page tells of the way to the words: how they were read, asked for and paid."""

import pytest

from tests.metrics.html_page import Page, assert_inert
from virsci_society.agents.errors import InputError
from virsci_society.agents.journal.records import price_words
from virsci_society.metrics.cost import OUTCOMES, read_ledger
from virsci_society.metrics.report.page import render_page
from virsci_society.metrics.summary import summarise_run

LEDGER = {
    "attempts": 12,
    "outcomes": {"rate": 3, "answered": 7, "in doubt": 2},
    "prompt_tokens": 41000,
    "completion_tokens": 5200,
    "cached_tokens": 30000,
    "estimated": 1,
    "usd": 1.237,
    "in_doubt": ["S1/1/topic/1/1/0/utter/S1", "S1/1/topic/1/1/1/utter/S2"],
    "in_doubt_tokens": 900,
    "in_doubt_usd": 0.02,
    "sessions": [
        {"session": 1, "release": "0.1.0"},
        {"session": 2, "release": "0.1.0", "changed": ["until: 365 -> 730"]},
        {"session": 3, "release": "0.1.0", "changed": []},
        {"session": 4, "release": "0.2.0", "changed": []},
    ],
    "parted": "S9/1/topic/1/1/0/utter/S9",
}


def text(run):
    html = render_page(run)
    assert_inert(html)
    return Page(html).text()


def with_rungs(rows, rungs):
    """The hand-made rows, the first questions read on these rungs and the others as strict."""
    told = [*rungs, *[("strict", None)] * (len(rows["calls"]) - len(rungs))]
    rows["calls"] = [
        (*row[:11], rung == "default", *row[12:18], rung, verdict)
        for row, (rung, verdict) in zip(rows["calls"], told, strict=True)
    ]
    return rows


@pytest.mark.slow
def test_replies_of_rules_that_were_all_strict_have_no_section(rows, make_run):
    told = text(make_run(with_rungs(rows, [])))
    assert "Parsing of replies" not in told
    assert "Parsing of replies" in text(make_run(with_rungs(rows, [("found", None)])))


def test_every_rung_and_verdict_stands_on_the_page(rows, make_run):
    rungs = [("found", None), ("repaired", None), ("default", "refused"), ("unread", "filtered")]
    told = text(make_run(with_rungs(rows, rungs)))
    assert "Remark 97 93 1 1 1 1 1.0 %" in told
    assert "Verdicts: 1 refused, 1 filtered." in told


def test_defaults_and_their_table_are_named(rows, make_run):
    told = text(make_run(with_rungs(rows, [("default", "refused")])))
    assert "In 1 of 97 calls the form’s default replaced the reply" in told
    assert "outcomes_without_defaults" in told


def test_what_was_asked_and_paid(make_run):
    told = text(make_run(manifest={"ledger": LEDGER}))
    assert "12 attempts gave 7 answers in 4 sessions, using 41 000" in told
    assert "(30 000 from the provider's cache) and 5 200 reply tokens: $1.24." in told
    assert "answered 7 words came rate 3 rate limit in doubt 2" in told
    assert "at most 900 tokens, $0.0200, not counted above. The first: S1/1/topic/1/1/0/u" in told


def test_a_price_that_is_not_known_is_no_zero():
    assert price_words(0.0, False) == "no price known"
    assert price_words(0.0, True) == "nothing, the server runs on this machine"
    assert [price_words(0.0123, True), price_words(4321.5, False)] == ["$0.0123", "$4,321.50"]


def test_every_way_an_attempt_can_end_has_a_meaning():
    from virsci_society.agents.errors import RULES
    from virsci_society.agents.journal.records import ANSWERED, IN_DOUBT

    assert set(OUTCOMES) == {ANSWERED, "refused", "filtered", "overflow", *RULES, IN_DOUBT}


@pytest.mark.parametrize(
    ("told", "where"),
    [
        ([], "ledger"),
        ({"attempts": "<b>"}, "ledger.attempts"),
        ({"usd": float("nan")}, "ledger.usd"),
        ({"outcomes": {"rate": -1}}, "ledger.outcomes.rate"),
        ({"sessions": [{"changed": 5}]}, "ledger.sessions.0.changed"),
    ],
)
def test_a_ledger_that_is_none_is_an_input_error(told, where, make_run):
    with pytest.raises(InputError, match=f"manifest, {where}:"):
        read_ledger(make_run(manifest={"ledger": told}))


def test_the_summary_holds_the_ledger_or_none(make_run):
    ledger = summarise_run(make_run(manifest={"ledger": {**LEDGER, "later": 1}}))["ledger"]
    assert (ledger["attempts"], ledger["outcomes"]["rate"], ledger["usd"]) == (12, 3, 1.237)
    assert ledger["sessions"][1]["changed"] == ["until: 365 -> 730"]
    assert "later" not in ledger
    assert summarise_run(make_run())["ledger"] is None
