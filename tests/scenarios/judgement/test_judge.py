"""A model that judges pairs: orders, agreement of both orders, and which replies count."""

import numpy as np
import pytest
from pydantic import ValidationError

from virsci_society.agents.offline.backend import answer_by_rule
from virsci_society.scenarios.judgement.judge import (
    PAIR,
    TEXTS,
    Judgement,
    PairJudgement,
    agreed,
    judgement_table,
    orders_of,
)
from virsci_society.scenarios.judgement.sheet_entries import SheetEntry
from virsci_society.scenarios.judgement.sheets import pair_sheet
from virsci_society.society.kernel.answer import Call


def entries(count=3):
    return [
        SheetEntry("run", "digest", arm, f"{arm}{n}", f"Title {arm}{n}", f"Abstract {arm}{n}")
        for arm in ("one", "two")
        for n in range(count)
    ]


def judged(item, swapped, better):
    form = None if better is None else PairJudgement(better=better)
    call = Call(
        f"judge/{item}", item, "judge", 1, 0, 0, "judge", "Judge", 0, 0, 0, (), "PairJudgement"
    )
    return Judgement(item, swapped, form, (call,))


@pytest.mark.parametrize("swapped", [False, True])
def test_every_pair_is_judged_in_both_orders_and_no_more(swapped):
    rows, _ = pair_sheet(entries(), 1, swapped=swapped)
    shown = []
    for row, other in orders_of(rows):
        sides = [(row["title_a"]), (row["title_b"])]
        shown.append(tuple(reversed(sides) if other else sides))
    assert len(shown) == len(set(shown)) == 6
    assert {(b, a) for a, b in shown} == set(shown)
    # On a swapped sheet every order stands there already.
    assert any(other for _, other in orders_of(rows)) is not swapped


@pytest.mark.parametrize(
    ("as_it_stands", "exchanged", "side"),
    [
        ("A", "B", "A"),
        ("B", "A", "B"),
        ("A", "A", "tie"),
        ("tie", "B", "tie"),
        ("tie", "tie", "tie"),
        ("A", None, ""),
    ],
)
def test_a_preference_that_changes_with_the_order_is_a_tie(as_it_stands, exchanged, side):
    both = [judged("P1", False, as_it_stands), judged("P1", True, exchanged)]
    assert agreed(both) == {"P1": side}
    assert agreed([judged("P2", False, "B")]) == {"P2": "B"}


def test_the_table_says_who_judged_and_what_was_shown():
    table = judgement_table([judged("P1", True, "A"), judged("P1", False, None)], "the rules")
    assert table["order"].tolist() == ["BA", "AB"]
    assert table["said"].tolist()[0] == "A"
    assert table["preferred"].tolist()[0] == "B"
    assert table["preferred"].isna().tolist() == [False, True]
    assert set(table["who_judged"]) == {"the rules"}


def test_words_for_a_side_are_read_and_others_refused():
    said = [PairJudgement(better=word).better for word in ("Paper A.", "b", " TIE ")]
    assert said == ["A", "B", "tie"]
    with pytest.raises(ValidationError):
        PairJudgement(better="both")


def test_the_rule_is_that_of_the_reviews():
    rich = "Because flows vary, therefore we model tides, which drift. However, thus, then. " * 20
    slots = dict(zip(TEXTS, ("x", rich, "y", "Short."), strict=True))
    turned = dict(zip(TEXTS, ("y", "Short.", "x", rich), strict=True))
    said = {
        name: [
            answer_by_rule(PairJudgement, shown, np.random.default_rng(seed)).better
            for seed in range(20)
        ]
        for name, shown in (("rich first", slots), ("rich second", turned))
    }
    # Noise makes some of them tie.
    assert said["rich first"].count("A") > said["rich first"].count("B") + 8
    assert said["rich second"].count("B") > said["rich second"].count("A") + 8


@pytest.mark.parametrize("topic", ["", "bees"])
def test_a_judge_is_shown_the_topic_where_the_sheet_has_one(topic):
    shown = {"topic": topic, "title_a": "T", "abstract_a": "X", "title_b": "U", "abstract_b": "Y"}
    page = PAIR.render(shown | {"answer_form": "{}"})
    said = " They were written on this topic: bees." if topic else ""
    assert f"no difference that matters.{said}\n\nPaper A:\n" in page
