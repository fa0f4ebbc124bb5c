"""Blocks: every arm in each setting of ``each``, and adapted arms at each of several budgets."""

import pandas as pd
import pytest

from tests.scenarios.study.study_folder import told_of, write_study
from virsci_society.agents.errors import InputError
from virsci_society.scenarios.study.budget_matching import match_budgets, read_matching
from virsci_society.scenarios.study.reader import read_study
from virsci_society.scenarios.study.results.page import write_study_page
from virsci_society.scenarios.study.results.study import Study

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
    - {name: team, set: {protocol.team_size: 3, protocol.turns: 2}}
    - {name: plain, set: {protocol.team_size: 4, protocol.turns: 1}}
each: {backend.model: [openai/a, openai/b]}
replicates: 1
measures: [papers]
comparisons:
  - {test: paired, of: review.virsci.overall, arms: [alone, team]}
  - {test: paired, of: papers}
"""
BUDGETS = """\
match:
  to: [16, 40]
  within: 0.4
  adapt: {alone: {protocol.turns: [1, 9]}, team: {protocol.rate: [1, 2]}}
"""
RULES = STUDY.replace("each: {backend.model: [openai/a, openai/b]}\n", "").replace(
    ", protocol.turns: 2}", "}"
) + BUDGETS.replace("protocol.rate: [1, 2]", "protocol.turns: [1, 9]")
MODEL = ["backend.use=litellm"]


def test_every_arm_is_run_compared_and_told_of_with_each_value(write):
    design = read_study(write("s.yaml", STUDY), MODEL)
    names = [arm.name for arm in design.arms]
    assert names == [
        f"{arm} (model=openai/{m})" for m in "ab" for arm in ("alone", "team", "plain")
    ]
    models = [one.backend.backend.model for one in design.scenarios]
    assert models == ["openai/a"] * 3 + ["openai/b"] * 3
    assert design.seeds(names[0]) == design.seeds(names[3])
    assert [one.arms for one in design.comparisons] == [
        tuple(names[:2]),
        tuple(names[3:5]),
        tuple(names[:3]),
        tuple(names[3:]),
    ]
    assert "openai/a" in design.base.backend.backend.about


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("openai/b]", "openai/a]", "two arms are called 'alone (model=openai/a)'"),
        ("[openai/a, openai/b]", "[openai/a]", "s.yaml:13:8: each.backend.model: "),
        (
            "backend.model: [",
            "backend.mode: [",
            "s.yaml:13:23: backend.mode: unknown key; did you mean 'model'?",
        ),
        ("backend.model: [openai/a, openai/b]", "protocol.team_size: [2, 3]", "sets it itself"),
        (
            "backend.model: [openai/a, openai/b]",
            "seed: [2, 3]",
            "s.yaml:13:15: seed: the study decides it",
        ),
        ("arms: [alone, team]", "arms: [alnoe, team]", "did you mean 'alone'"),
    ],
)
def test_what_makes_no_blocks_is_refused_with_its_line(write, old, new, told):
    assert old in STUDY
    with pytest.raises(InputError) as caught:
        read_study(write("s.yaml", STUDY.replace(old, new)), MODEL)
    assert any(told in line for line in str(caught.value).splitlines()), str(caught.value)


@pytest.mark.slow
def test_adapted_arms_are_matched_to_each_budget_and_others_are_run_once(write):
    design = match_budgets(read_study(write("s.yaml", RULES)))
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


def test_a_lock_of_one_target_is_read_as_that_of_every_arm():
    old = {"target": 9.0, "arms": [{"arm": "a", "key": None, "value": None, "planned": 8.0}]}
    assert [one.target for one in read_matching(old)] == [9.0]


def test_gains_are_against_the_first_arm_of_the_same_block(tmp_path):
    arms = [(name, model) for model in "ab" for name in ("alone", "team")]
    told = told_of({f"{name} ({model})": {"m": model} for name, model in arms}, ["ON"], 5)
    for one, (name, model) in zip(told["arms"], arms, strict=True):
        one |= {"of": name, "block": {"m": model}}
    steady = [1.0, 1.1, 0.9, 1.2, 0.8]
    folder = write_study(
        tmp_path / "s", told, {(one["name"], "ON"): steady for one in told["arms"]}
    )
    score = {"alone": 4.0, "team": 5.0}
    rows = [
        (place * 5 + r, "p", "proposal", "overall", score[name] + (model == "b") * 3 + r % 2, 1)
        for place, (name, model) in enumerate(arms)
        for r in range(5)
    ]
    columns = ["run", "panel", "kind", "dimension", "score", "papers"]
    pd.DataFrame(rows, columns=columns).to_parquet(folder / "reviews.parquet")
    study = Study.open(folder)
    assert [study.reference(arm) for arm in study.arms] == [None, "alone (a)", None, "alone (b)"]
    page = write_study_page(folder).read_text(encoding="utf-8")
    assert "its gain against alone of the same block" in page
    gains = pd.read_csv(folder / "report" / "reviews_by_arm.csv", comment="#").set_index("arm")
    assert gains["gain"].round(6).dropna().to_dict() == {"team (a)": 1.0, "team (b)": 1.0}
