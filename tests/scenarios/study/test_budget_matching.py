"""Matched budgets: what is chosen, what is locked, what is reported and what is refused."""

import json
import math

import pandas as pd
import pytest

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.runs.build import build_society
from virsci_society.scenarios.study import plan as planning
from virsci_society.scenarios.study.design import read_study
from virsci_society.scenarios.study.lock import make_lock, open_folder, read_lock
from virsci_society.scenarios.study.plan import match_budgets, nearest_value
from virsci_society.society.results.run import Run

TINY = """\
# Do teams of two and of three find the same at the same number of calls? A study for tests.
study: Tiny
base: virsci/paper
set:
  until: 60d
  population.ecosystem: {scientists: 12, papers: 60}
  metrics: [cost]
arms:
  three: {protocol.team_size: 3, protocol.turns: 2}
  two: {protocol.team_size: 2}
match:
  to: three
  adapt:
    two: {protocol.turns: [1, 6]}
replicates: 1
measures: [papers]
"""


def written(folder, text=TINY):
    path = folder / "tiny.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def matched(tmp_path_factory):
    """The tiny study, matched."""
    return match_budgets(read_study(written(tmp_path_factory.mktemp("matched"))))


@pytest.mark.parametrize(
    ("target", "value"),
    [(0, 1), (10, 1), (14, 1), (15, 1), (16, 2), (99, 10), (105, 10), (5_000, 100)],
)
def test_the_nearest_value_is_found_and_the_smaller_of_two(target, value):
    asked = []
    rising = nearest_value(lambda one: asked.append(one) or 10.0 * one, 1, 100, target)
    assert rising == value
    assert len(asked) == len(set(asked)) <= 2 + math.ceil(math.log2(99))
    falling = nearest_value(lambda one: 10.0 * (101 - one), 1, 100, target)
    assert abs(10 * (101 - falling) - target) == abs(10 * value - target)


def test_a_value_where_the_spending_crosses_the_target_is_found_if_it_rises_and_falls():
    spent = {1: 5, 2: 30, 3: 20, 4: 12, 5: 18, 6: 40}
    assert abs(spent[nearest_value(spent.__getitem__, 1, 6, 19)] - 19) <= 1


def test_values_are_chosen_by_forecasts_and_nothing_else_changes(matched):
    three, two = matched.matching
    assert (three.arm, three.key, three.value) == ("three", None, None)
    assert three.planned == three.target == two.target > 0
    assert (two.key, matched.arms[1].settings["protocol.turns"]) == ("protocol.turns", two.value)
    assert matched.scenarios[1].protocol.turns == two.value
    assert 1 < two.value < 6
    assert abs(two.planned / three.planned - 1) <= 0.1
    assert matched.arms[0].settings == {"protocol.team_size": 3, "protocol.turns": 2}
    assert match_budgets(matched) is matched


def test_a_lock_holds_the_values_which_are_taken_from_it_without_a_rehearsal(
    matched, tmp_path, monkeypatch
):
    lock = open_folder(matched, tmp_path / "study")
    assert lock.data["match"]["arms"][0]["target"] == matched.matching[0].target
    assert lock.arms[1]["set"]["protocol.turns"] == matched.matching[1].value
    monkeypatch.setattr(planning, "plan", pytest.fail)
    again = match_budgets(
        read_study(tmp_path / "study"), read_lock(tmp_path / "study").data["match"]
    )
    assert again.matching == matched.matching
    assert open_folder(again, tmp_path / "study").data == lock.data
    with pytest.raises(ValueError, match="match_budgets"):
        make_lock(read_study(matched.path), "run")


def test_another_target_is_another_study(matched, tmp_path):
    lock = open_folder(matched, tmp_path / "study")
    other = read_study(written(tmp_path, TINY.replace("to: three", "to: 40")))
    with pytest.raises(InputError, match=r"locked for another study:\n  match\.asked\.to: .*40"):
        open_folder(match_budgets(other, lock.data["match"]), tmp_path / "study")
    plain = read_study(written(tmp_path, TINY[: TINY.index("match:")] + "measures: [papers]\n"))
    assert "match" not in make_lock(plain, "run").data


@pytest.mark.slow
def test_plan_run_and_page_tell_what_was_planned_and_what_was_spent(nursery, tmp_path):
    path, study = written(tmp_path), tmp_path / "study"
    plan = nursery.society("study", "plan", path)
    assert "calls a run" in plan.stdout
    assert "protocol.turns" in plan.stdout
    ran = nursery.society("study", "run", path, "--out", study, "--jobs", "1")
    assert ran.returncode == 0, ran.stderr
    table = pd.read_parquet(study / "matched.parquet").set_index("arm")
    locked = read_lock(study).data["match"]
    assert table["planned"].tolist() == [one["planned"] for one in locked["arms"]]
    # The rule-based scientists say the same in the rehearsal and in the run.
    assert table["spent"].tolist() == table["planned"].tolist()
    assert table["n"].tolist() == [1, 1]
    assert (
        table.loc["two", "spent_off"] == table.loc["two", "spent"] / table.loc["two", "target"] - 1
    )
    assert json.loads((study / "study.json").read_text())["match"]["by"] == "calls"
    page = (study / "report.html").read_text(encoding="utf-8")
    assert '<section id="matched">' in page
    assert "the forecast of three" in page
    assert (study / "report" / "matched.csv").is_file()
    assert (study / "report" / "matched.tex").is_file()


REFUSED = {
    "unknown arm": (
        ("two: {protocol.turns: [1, 6]}", "tow: {protocol.turns: [1, 6]}"),
        r"tiny\.yaml:14:5: match\.adapt\.tow: 'tow' is not an arm.*did you mean 'two'",
    ),
    "unknown target": (
        ("to: three", "to: thre"),
        r"tiny\.yaml:\d+:3: match\.to: 'thre' is not an arm",
    ),
    "unknown measure": (
        ("to: three", "to: three\n  by: hours"),
        r"13:3: match\.by: got 'hours', expected 'calls' or",
    ),
    "key of the arm": (
        ("two: {protocol.turns: [1, 6]}", "two: {protocol.team_size: [2, 6]}"),
        r"tiny\.yaml:14:11: match\.adapt\.two\.protocol\.team_size: the arm sets it itself",
    ),
    "unknown key": (
        ("protocol.turns: [1, 6]", "protocol.tunrs: [1, 6]"),
        r"tiny\.yaml:14:11: protocol.tunrs: unknown key.*did you mean 'turns'",
    ),
    "beyond a key's bounds": (
        ("[1, 6]", "[0, 6]"),
        r"tiny\.yaml:14:11: protocol.turns: got 0, expected at least 1",
    ),
    "wrong order": (("[1, 6]", "[6, 1]"), r"adapt has protocol\.turns from 6 to 1"),
    "two keys": (
        ("{protocol.turns: [1, 6]}", "{protocol.turns: [1, 6], protocol.rounds: [1, 2]}"),
        r"adapt names 2 keys of two",
    ),
    "the target itself": (("    two: {", "    three: {"), r"adapt names three, which is the arm"),
    "no whole number": (("[1, 6]", "[1, 6.5]"), r"14:.*whole number"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_matched_is_refused_with_its_line(case, tmp_path):
    (old, new), message = REFUSED[case]
    assert old in TINY
    with pytest.raises(InputError, match=message):
        read_study(written(tmp_path, TINY.replace(old, new)))


def test_an_arm_that_stays_too_far_off_is_refused_with_what_to_change(tmp_path):
    design = read_study(written(tmp_path, TINY.replace("[1, 6]", "[1, 2]")))
    with pytest.raises(
        InputError,
        match=r"tiny\.yaml:14:5: .*protocol\.turns = 2 comes nearest.*widen the range above 2",
    ):
        match_budgets(design)
    assert match_budgets(read_study(design.path, ["match.within=0.9"])).matching[1].value == 2


def test_money_is_matched_only_where_something_costs_any(tmp_path):
    free = read_study(written(tmp_path, TINY.replace("to: three", "to: three\n  by: money")))
    with pytest.raises(InputError, match=r"match\.to: one run of three spends no US dollars"):
        match_budgets(free)


WRITING = """\
# Do more turns of writing help? Their calls stand behind the text, not behind the idea.
study: Writing
base: virsci/paper
set:
  until: 60d
  population.ecosystem: {scientists: 12, papers: 60}
  protocol: {team_size: 2, turns: {topic: 1, ideas: 1, assessment: 1}, neighbour_query: idea}
arms:
  more: {protocol.turns.abstract: 4}
  matched: {protocol.references.sentences: 2}
match: {to: more, adapt: {matched: {protocol.turns.abstract: [1, 6]}}}
replicates: 1
measures: [ON, CI]
comparisons: [{test: paired, of: ON, arms: [more, matched]}]
"""


@pytest.mark.slow
def test_an_arm_whose_calls_cannot_change_what_is_compared_is_refused(tmp_path):
    changed = r"protocol\.turns\.abstract from 1 to 6 changes no text "
    refusal = rf"tiny\.yaml:\d+:.*match\.adapt\.matched: {changed}"
    with pytest.raises(
        InputError, match=refusal + r"of which ON is .*novelty\.evaluated: abstract"
    ):
        match_budgets(read_study(written(tmp_path, WRITING)))
    abstracts = WRITING.replace("set:\n", "set:\n  novelty.evaluated: abstract\n", 1)
    assert match_budgets(read_study(written(tmp_path, abstracts))).matching[1].value == 4
    # CI is of the neighbours, which the idea finds whatever becomes of the text.
    of_ci = abstracts.replace("of: ON", "of: CI")
    with pytest.raises(InputError, match="of which CI is "):
        match_budgets(read_study(written(tmp_path, of_ci)))
    found = of_ci.replace(", neighbour_query: idea}", "}")
    assert match_budgets(read_study(written(tmp_path, found))).matching[1].value == 4


CANDIDATES = """\
# Does best-of-N change with N? A study for tests.
study: Candidates
base: virsci/paper
set:
  until: 60d
  population.ecosystem: {scientists: 12, papers: 60}
arms:
  cycle: {protocol: {use: cycle_researcher, profile: matched, reviewers: 3}}
  team: {}
match:
  to: [8, 12, 52, 100]
  adapt: {cycle: {protocol.candidates: [1, 30]}}
replicates: 5
measures: [ON]
comparisons: [{test: paired, of: ON, arms: [cycle, team]}]
"""


@pytest.mark.slow
def test_what_is_measured_of_cycle_researcher_differs_at_8_12_52_and_100_calls(tmp_path):
    design = match_budgets(read_study(written(tmp_path, CANDIDATES)))
    spent = [one.planned for one in design.matching if one.target is not None]
    assert spent == [8, 13, 53, 98]
    told = {}
    for arm, scenario in zip(design.arms, design.scenarios, strict=True):
        for seed in design.seeds(arm.name) if arm.of else ():
            society = build_society(scenario.set("seed", seed))
            society.run_to_end()
            run = Run.from_rows(society.log.rows, {"seed": seed, "days": 60.0}, {})
            told.setdefault(arm.name, []).append(run.table("papers")["abstract"].dropna().tolist())
    assert all(len(texts) == 5 and all(texts) for texts in told.values())
    assert len({str(texts) for texts in told.values()}) == len(told) == 4


STUDY = """\
# Does company help, whoever writes? A study for tests.
study: Company
base: virsci/paper
set:
  until: 60d
  population.ecosystem: {scientists: 12, papers: 60}
  metrics: [cost]
arms:
  alone: {protocol.team_size: 2}
  team: {protocol.team_size: 3}
  plain: {protocol.team_size: 4, protocol.turns: 1}
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
