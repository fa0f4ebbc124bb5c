"""Adapted arms at each of several budgets."""

import pandas as pd
import pytest

from tests.scenarios.study.study_folder import told_of, write_study
from virsci_society.scenarios.study.budget_matching import match_budgets
from virsci_society.scenarios.study.design import read_study
from virsci_society.scenarios.study.page import write_study_page
from virsci_society.scenarios.study.study import Study

STUDY = """\
# Does company help, whoever writes? A study for tests.
study: Company
base: virsci/paper
set:
  until: 60d
  population.ecosystem: {scientists: 12, papers: 60}
  metrics: [cost]
arms:
  list:
    - {name: alone, set: {protocol.team_size: 2}}
    - {name: team, set: {protocol.team_size: 3}}
    - {name: plain, set: {protocol.team_size: 4, protocol.turns: 1}}
replicates: 1
measures: [papers]
comparisons:
  - {test: paired, of: review.virsci.overall, arms: [alone, team]}
  - {test: paired, of: papers}
match:
  to: [16, 40]
  within: 0.4
  adapt: {alone: {protocol.turns: [1, 9]}, team: {protocol.turns: [1, 9]}}
"""


@pytest.mark.slow
def test_adapted_arms_are_matched_to_each_budget_and_others_are_run_once(write):
    design = match_budgets(read_study(write("s.yaml", STUDY)))
    small, large = "alone (16 calls)", "alone (40 calls)"
    names = [small, "team (16 calls)", large, "team (40 calls)", "plain"]
    assert [arm.name for arm in design.arms] == names
    chosen = {one.arm: one for one in design.matching}
    assert chosen[small].value < chosen[large].value
    assert [chosen[name].target for name in names] == [16, 16, 40, 40, None]
    for one in design.matching:
        assert one.target is None or abs(one.planned / one.target - 1) <= 0.4
    assert [one.arms for one in design.comparisons] == [
        (small, "team (16 calls)"),
        (large, "team (40 calls)"),
        (small, "team (16 calls)", "plain"),
        (large, "team (40 calls)", "plain"),
    ]


def test_gains_are_against_the_first_arm_at_the_same_budget(tmp_path):
    arms = [(name, budget) for budget in (16, 40) for name in ("alone", "team")]
    told = told_of({f"{name} ({budget})": {} for name, budget in arms}, ["ON"], 5)
    for one, (name, budget) in zip(told["arms"], arms, strict=True):
        one |= {"of": name, "budget": budget}
    steady = [1.0, 1.1, 0.9, 1.2, 0.8]
    folder = write_study(
        tmp_path / "s", told, {(one["name"], "ON"): steady for one in told["arms"]}
    )
    score = {"alone": 4.0, "team": 5.0}
    rows = [
        (place * 5 + r, "p", "proposal", "overall", score[name] + (budget == 40) * 3 + r % 2, 1)
        for place, (name, budget) in enumerate(arms)
        for r in range(5)
    ]
    columns = ["run", "panel", "kind", "dimension", "score", "papers"]
    pd.DataFrame(rows, columns=columns).to_parquet(folder / "reviews.parquet")
    study = Study.open(folder)
    assert [study.reference(arm) for arm in study.arms] == [None, "alone (16)", None, "alone (40)"]
    page = write_study_page(folder).read_text(encoding="utf-8")
    assert "its gain against alone at the same budget" in page
    gains = pd.read_csv(folder / "report" / "reviews_by_arm.csv", comment="#").set_index("arm")
    assert gains["gain"].round(6).dropna().to_dict() == {"team (16)": 1.0, "team (40)": 1.0}
