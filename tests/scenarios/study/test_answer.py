"""The answer of a study in one sentence, and its plan beside what was done."""

import html
import re

import numpy as np
import pandas as pd
import pytest

from tests.scenarios.study.study_folder import told_of, write_study
from virsci_society.metrics.report.templates import MISSING
from virsci_society.scenarios.study.figures import measure_figures
from virsci_society.scenarios.study.page import _matched_rows, answer, plan_table, render_study
from virsci_society.scenarios.study.study import Study, compute_comparisons

ARMS = {"small": {"a.x": 1}, "large": {"a.x": 2}}
PAIR = {"test": "paired", "of": "ON", "arms": ["small", "large"]}


def study_of(folder, replicates=6, plans=(PAIR,), gain=1.0, **more):
    noise = np.random.default_rng(0).normal(0, 0.1, replicates)
    values = {("small", "ON"): noise + 1, ("large", "ON"): noise[::-1] + 1 + gain}
    told = told_of(ARMS, ["ON"], replicates, comparisons=list(plans), **more)
    return Study.open(write_study(folder, told, values))


def told(study):
    return " ".join(answer(study, compute_comparisons(study)))


def test_a_difference_is_told_with_its_interval_and_corrected_p(tmp_path):
    assert told(study_of(tmp_path / "s")) == (
        "In “large”, the overall novelty was 1.00 higher than in “small” (95\u202f% interval "
        "0.953 to 1.05 higher; p < 0.001: significant)."
    )
    assert told(study_of(tmp_path / "t", gain=-1.0)) == (
        "In “large”, the overall novelty was 1 lower than in “small” (95\u202f% interval 0.953 to "
        "1.05 lower; p < 0.001: significant)."
    )
    assert told(study_of(tmp_path / "v", gain=0.0)).endswith(": not significant).")
    values = {("small", "ON"): [1.0, 2.0, 3.0], ("large", "ON"): [3.0, 2.0, 1.0]}
    described = told_of(ARMS, ["ON"], 3, comparisons=[PAIR])
    same = told(Study.open(write_study(tmp_path / "u", described, values)))
    assert same.startswith("In “large”, the overall novelty was the same as in “small” (95\u202f% ")


@pytest.mark.parametrize(
    ("gain", "said"),
    [
        (0.5, "; MiniLM has 0.500 and agrees."),
        (-0.5, "; MiniLM has −0.500: the embeddings do not agree."),
        (0.0, ": the embeddings do not agree."),
    ],
)
def test_a_conclusion_that_another_embedding_does_not_share_is_marked(tmp_path, gain, said):
    noise = np.random.default_rng(0).normal(0, 0.1, 6)
    values = {("small", "ON"): noise + 1, ("large", "ON"): noise[::-1] + 2}
    other = "ON by MiniLM"
    values |= {("small", other): noise + 1, ("large", other): noise[::-1] + 1 + gain}
    described = told_of(ARMS, ["ON", other], 6, comparisons=[PAIR])
    assert told(Study.open(write_study(tmp_path / "s", described, values))).endswith(said)


def test_arms_and_measures_are_told_by_their_labels_and_shares_in_points(tmp_path):
    """The sentence of the library's study of removals, with an interval that crosses zero."""
    arms = {"nobody leaves": {"a.x": 1}, "ten leave": {"a.x": 2}, "all leave": {"a.x": 3}}
    share, own = "giant_component_active", "brokers.betweenness.mean"
    values = {(arm, share): [0.4, 0.5, 0.6, 0.5, 0.4] for arm in arms}
    values["ten leave", share] = [0.3, 0.4, 0.4, 0.5, 0.5]
    values |= {(arm, own): [1.0, 2.0, 3.0, 4.0, 5.0] for arm in arms}
    labels = {
        "nobody leaves": "when nobody left",
        "ten leave": "when ten random people left",
        own: "mean betweenness",
    }
    plans = [{"test": "paired", "of": name, "arms": list(arms)} for name in (share, own)]
    described = told_of(arms, [share, own], 5, comparisons=plans, labels=labels)
    study = Study.open(write_study(tmp_path / "s", described, values))
    text = told(study)
    assert text.startswith(
        "When ten random people left, the share of active authors in the largest component was 6 "
        "points lower than when nobody left (95\u202f% interval 20 lower to 8.2 higher; p = 1 "
        "adjusted for 4 tests: not significant). The share of active authors in the largest "
        "component was the same in “all leave” as when nobody left in every pair: not exercised."
    )
    page, tables, _ = render_study(study)
    assert page.count("<td>not exercised</td>") == 3
    assert tables["differences"]["low"].isna().sum() == 3
    assert "<h3>Share of active authors in the largest component, % <code>" in page
    assert re.search(">share of active authors in the larges[^<]*, %</text>", page)
    by_arm = page[page.index('<section id="measures">') :]
    assert "<td>48</td><td>42.0</td><td>48</td>" in by_arm  # arm beside arm
    assert "<td>48</td><td>37.6&nbsp;to&nbsp;58.4</td>" in by_arm
    assert tables["measures"]["mean"].tolist()[:2] == pytest.approx([0.48, 0.42])
    assert "<h3>Mean betweenness <code>brokers.betweenness.mean</code></h3>" in page


def test_what_is_no_outcome_is_folded_behind_the_outcomes(tmp_path):
    noise = np.random.default_rng(1).normal(0, 1, 6)
    values = {(arm, name): noise * (1 + (arm == "large")) for arm in ARMS for name in ("CD", "ON")}
    described = told_of(ARMS, ["CD", "ON"], 6, comparisons=[PAIR])
    page = render_study(Study.open(write_study(tmp_path / "s", described, values)))[0]
    by_arm = page[page.index('<section id="measures">') :]
    folded = by_arm.index("Other measures: contemporary dissimilarity")
    assert by_arm.index("<h3>Overall novelty <code>ON</code>") < folded
    assert folded < by_arm.index("<h3>Contemporary dissimilarity")


def test_differences_are_drawn_pair_by_pair_with_a_line_at_zero(tmp_path):
    """Six pairs: a dot each, the mean, its interval, zero; without common seeds no pairs."""
    study = study_of(tmp_path / "s")
    page, _, pictures = render_study(study)
    drawn = pictures["ON-differences"]
    assert drawn.count("<circle") == 6 + 1
    assert drawn.count('stroke-width="1.6"') == 1
    assert drawn.count("stroke-dasharray") == 1
    assert "difference from small" in drawn
    apart = study_of(tmp_path / "t", paired=False)
    welch = render_study(apart)[2]["ON-differences"]
    assert welch.count("<circle") == 1
    assert drawn in page


def test_the_answer_is_the_first_comparison_that_has_an_estimate(tmp_path):
    """Of a study whose first outcome, a score of reviews, is not there yet."""
    waiting = {**PAIR, "of": "review.virsci.overall"}
    text = told(study_of(tmp_path / "s", plans=[waiting, PAIR]))
    assert text.startswith("In “large”, the overall novelty was ")
    assert "1 further comparison below, 1 of them without an estimate." in text
    assert "sketch" not in text
    alone = told(study_of(tmp_path / "t", plans=[waiting]))
    assert "in “large” cannot be compared with that in “small” (no reviews yet" in alone
    assert "sketch" not in alone


def test_an_arm_without_a_target_has_no_deviation_from_it():
    """Beside arms that were matched may stand others, as they are given."""
    off = pd.Series([None, -0.02], dtype=object)
    table = pd.DataFrame({"key": [None, "protocol.turns"], "planned_off": off, "spent_off": off})
    given, matched = _matched_rows(table)
    assert (given["key"], given["spent_off"]) == ("as given", MISSING)
    assert (matched["key"], matched["spent_off"]) == ("protocol.turns", "\u22122\u202f%")


def test_an_interval_without_zero_beside_a_verdict_of_chance_is_reconciled(tmp_path):
    """Four comparisons planned: p is below 0.05 for the first alone, and above after Holm."""
    values = {("small", name): [0.0] * 8 for name in ("ON", "HD", "CD", "CI")}
    for name in ("HD", "CD", "CI"):
        values["large", name] = [1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 0.1, -0.1]
    values["large", "ON"] = [0.6, 1.9, -0.4, 1.2, 2.4, 0.3, -0.2, 1.0]
    plans = [{**PAIR, "of": name} for name in ("ON", "HD", "CD", "CI")]
    described = told_of(ARMS, ["ON", "HD", "CD", "CI"], 8, comparisons=plans)
    study = Study.open(write_study(tmp_path / "s", described, values))
    first = compute_comparisons(study)[0]
    assert first.result.difference.low > 0
    assert first.p < 0.05 < first.holm
    assert told(study).startswith(
        "In “large”, the overall novelty was 0.850 higher than in “small” (95\u202f% interval, "
        "unadjusted, 0.0333 to 1.67 higher; p = 0.174 adjusted for 4 tests: not significant)."
    )


def test_the_page_of_a_study_names_the_functions_that_made_its_intervals(tmp_path):
    """Paired arms and arms with seeds of their own, whose difference is another test's."""
    for shared, name in ((True, "Student's t"), (False, "Welch's t")):
        study = study_of(tmp_path / str(shared), paired=shared)
        [result] = compute_comparisons(study)
        assert result.result.difference.method == name
        page = html.unescape(render_study(study)[0])
        assert f"{'paired by seed ' if shared else ''}({name});" in page
        assert '<th scope="col">Student\'s t, 95 %</th>' in page
        assert '<th scope="col">BCa bootstrap, 95 %</th>' in page


def test_arms_that_never_differ_are_not_compared_and_a_measure_without_values_has_no_table(
    tmp_path,
):
    values = {(arm, "papers"): [0.0] * 5 for arm in ARMS}
    values |= {(arm, "ON"): [np.nan] * 5 for arm in ARMS}
    plans = [{**PAIR, "of": "papers"}]
    about = {"title": "Sizes", "about": "Sizes."}
    described = told_of(ARMS, ["papers", "ON"], 5, comparisons=plans, **about)
    study = Study.open(write_study(tmp_path / "s", described, values))
    text = told(study)
    assert text.startswith(
        "The number of papers was the same in “large” as in “small”, pair by pair."
    )
    page = render_study(study)[0]
    assert "Not available in any run." in page
    assert page.count('<th scope="col">BCa bootstrap, 95 %</th>') == 1
    assert '<p class="lede">Sizes.' not in page


def test_the_first_plan_answers_and_the_others_are_counted(tmp_path):
    trend = {"test": "rank_correlation", "of": "ON", "over": "a.x"}
    study = study_of(tmp_path / "s", plans=(trend, PAIR))
    text = told(study)
    assert text.startswith("The overall novelty rose with x (Spearman’s rho 1.00, ")
    assert "1 further comparison below." in text
    assert "Rank correlations" in render_study(study)[0]


def test_the_plan_stands_beside_what_was_done(tmp_path):
    added = {**PAIR, "exploratory": True}
    study = study_of(tmp_path / "s", plans=(PAIR, added), deviations=["fewer turns"])
    table = plan_table(study, compute_comparisons(study)).set_index("item")
    rows = table.loc["paired of ON (small, large)"]
    assert rows["planned"].tolist() == ["before the first run", "added after the lock"]
    assert rows["done"].tolist() == ["1 test, 1 estimated"] * 2
    assert table.loc["deviation", "done"] == "fewer turns"


@pytest.mark.parametrize(("replicates", "bars"), [(4, 0), (5, 2)])
def test_no_interval_is_drawn_below_five_replicates(tmp_path, replicates, bars):
    (figure,) = measure_figures(study_of(tmp_path / "s", replicates), "ON")
    assert figure.count('stroke-width="1.8"') == bars
    assert figure.count("<circle") == 2 * replicates + 2
