"""Facts of panels, on tables with the effect and without it."""

from dataclasses import replace

import pandas as pd
import pytest

from tests.metrics.facts.corpora import corpus, generator
from virsci_society.metrics.facts.fact import judge_facts
from virsci_society.metrics.registry import FACTS
from virsci_society.scenarios.config.reader import import_class

MADE = corpus([(0, ("a", "b"))], 1)


def judged(further, *names):
    facts = {name: import_class(FACTS[name])() for name in names}
    found = judge_facts(facts, [replace(MADE, further=further)])
    return {one.name: (one.interval.value, one.verdict) for one in found}


def panels(pairs):
    rows = [
        (f"t{n}", 1, panel, "accept" if yes else "reject")
        for n, pair in enumerate(pairs)
        for panel, yes in zip(("first", "second"), pair, strict=True)
    ]
    return {"panels": pd.DataFrame(rows, columns=["team", "submission", "panel", "decision"])}


NAMES = ("panels_disagree", "panels_change")


def test_panels_that_disagree_as_those_of_neurips():
    """Of 800 manuscripts each panel accepts 200, of which 100 are the same."""
    pairs = [(True, True)] * 100 + [(True, False), (False, True)] * 100 + [(False, False)] * 500
    assert judged(panels(pairs), *NAMES) == {
        "panels_disagree": (0.25, "reproduced"),
        "panels_change": (0.5, "reproduced"),
    }


@pytest.mark.parametrize(("kind", "verdict"), [("alike", "too strong"), ("by chance", "absent")])
def test_panels_that_do_not(kind, verdict):
    rng = generator(3)
    first = rng.random(800) < 0.25
    second = first if kind == "alike" else rng.permutation(first)
    found = judged(panels(zip(first, second, strict=True)), *NAMES)
    assert {found[name][1] for name in NAMES} == {verdict}


def test_a_panel_without_a_decision_is_left_out():
    further = panels([(True, False)] * 3)
    further["panels"] = further["panels"].iloc[:-1]
    assert judged(further, "panels_disagree")["panels_disagree"][0] == 1.0
