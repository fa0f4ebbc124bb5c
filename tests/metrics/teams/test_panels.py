"""Two panels on each manuscript, worked by hand, and the decisions of the editor's own rule."""

import pytest

from tests.hand_run import full
from virsci_society.metrics.teams.peer_review import panel_agreement, panels
from virsci_society.protocols.peer_review.protocol import decide
from virsci_society.society.results.run import Run
from virsci_society.society.results.tables import TABLES

SAID = {
    "A/1": ["accept", "accept", "reject", "accept", "accept", "accept"],
    "B/1": ["accept", "accept", "reject", "reject", "reject", "accept"],
    "C/1": ["reject", "revise", "accept", None, None, None],
    "D/1": ["reject", "reject", "reject", "reject", "revise", "reject"],
}
"""Recommendations by seat; who recommended nothing was late."""
SCORE = {"accept": 8.0, "revise": 6.0, "reject": 3.0}


def run_of(said=SAID, decision="majority"):
    referees = [
        {"team": team, "submission": 1, "round": 1, "seat": seat, "scientist": f"{team}{seat}"}
        | {"recommendation": one, "score": SCORE.get(one), "invited": 1.0}
        for team, listed in said.items()
        for seat, one in enumerate(listed)
    ]
    # A second round and an undecided submission are no panels of the first round.
    referees += [referees[0] | {"round": 2}, referees[0] | {"team": "E/1"}]
    order = [column.name for column in TABLES["referees"]]
    rows = full({"submissions": [(team, 1, 1, 0.0, 9.0, "accept", 6, 5.0) for team in said]})
    rows["referees"] = [tuple(one.get(name) for name in order) for one in referees]
    scenario = {"publication": {"use": "peer_review", "decision": decision}}
    return Run.from_rows(rows, {"seed": 1, "days": 10.0}, scenario)


def test_two_panels_by_hand():
    table = panels(run_of()).set_index(["team", "panel"])
    assert table["decision"].dropna().to_dict() == {
        **{("A/1", "first"): "accept", ("A/1", "second"): "accept"},
        **{("B/1", "first"): "accept", ("B/1", "second"): "reject"},
        ("C/1", "first"): "revise",
        **{("D/1", "first"): "reject", ("D/1", "second"): "reject"},
    }
    assert table.at[("A/1", "first"), "reviewers"] == "A/10; A/11; A/12"
    assert table.at[("A/1", "first"), "score"] == pytest.approx(19 / 3)
    assert table.at[("C/1", "second"), "reviews"] == 0
    odd = panels(run_of({"A/1": ["accept", "reject", "accept"]}))
    assert odd["reviewers"].tolist() == ["A/10", "A/11"], "the last of three seats is left out"


def test_agreement_by_hand():
    (row,) = panel_agreement(run_of()).to_dict("records")
    # A by both, B by one, D by neither; of C one panel has no review.
    assert (row["manuscripts"], row["both"], row["one"], row["neither"]) == (3, 1, 1, 1)
    assert row["disagree"] == pytest.approx(1 / 3)
    assert row["accepted"] == 0.5
    assert row["changes"] == pytest.approx(1 / 3)
    # The first panel accepts 2 of 3, the second 1 of 3.
    assert row["by_chance"] == pytest.approx(2 / 3 * 2 / 3 + 1 / 3 * 1 / 3)
    empty = panel_agreement(Run.from_rows({}, {"seed": 1, "days": 10.0}, {}))
    assert empty["manuscripts"].tolist() == [0]
    assert empty["disagree"].isna().all()


@pytest.mark.parametrize("rule", ["majority", "all"])
def test_a_panel_decides_as_the_editor_would_on_its_reviews(rule):
    run = run_of(decision=rule)
    for row in panels(run).dropna(subset=["decision"]).to_dict("records"):
        half = SAID[row["team"]][:3] if row["panel"] == "first" else SAID[row["team"]][3:]
        assert row["decision"] == decide(rule, [one for one in half if one], False)
