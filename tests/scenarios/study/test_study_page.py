import re
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest

from tests.browser import CHROMIUM, Browser
from tests.scenarios.study.study_folder import told_of, write_study
from virsci_society.agents.errors import InputError
from virsci_society.metrics.inference.comparisons import paired
from virsci_society.metrics.inference.correlations import pearson, spearman
from virsci_society.metrics.inference.intervals import t_interval
from virsci_society.scenarios.study import figures
from virsci_society.scenarios.study import page as study_page
from virsci_society.scenarios.study.lock import RunResult, write_result
from virsci_society.scenarios.study.page import write_study_page
from virsci_society.scenarios.study.study import Study, compute_comparisons

SIZES = (2, 4, 8)
KEY = "protocol.team_size"
REVIEWS = ["run", "panel", "kind", "dimension", "score", "papers"]
ARMS = {f"team_size={n}": {KEY: n} for n in SIZES}
PLANNED = [
    {"test": "paired", "of": "ON"},
    {"test": "inverted_u", "of": "ON", "over": KEY},
    {"test": "rank_correlation", "of": "calls", "over": KEY},
]


def values_of(replicates=6, seed=0):
    """ON rises and falls; calls are skewed."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(0, 0.5, replicates)
    found = {}
    for name, given in ARMS.items():
        top = 2 - 0.3 * abs(given[KEY] - 4)
        found[name, "ON"] = (top + shared + rng.normal(0, 0.1, replicates)).tolist()
        found[name, "calls"] = rng.lognormal(given[KEY], 1.5, replicates).tolist()
    return found


def make(folder, replicates=6, states=None, values=None, **more):
    told = told_of(ARMS, ["ON", "calls"], replicates, **{"comparisons": PLANNED, **more})
    given = values_of(replicates) if values is None else values
    return write_study(folder, told, given, states)


def runs_of(study, arm):
    return study.results.loc[study.results["arm"] == arm, "run"].unique().tolist()


def page_of(folder):
    return write_study_page(folder).read_text(encoding="utf-8")


def reviewed(folder, rows):
    """The study with these rows of reviews: run, panel, kind, dimension, score, papers."""
    pd.DataFrame(rows, columns=REVIEWS).to_parquet(folder / "reviews.parquet")
    return folder


def words(page):
    """The page without its tags, spaces as such."""
    text = re.sub(r"<style>.*?</style>|<[^>]+>", "", page, flags=re.DOTALL)
    return " ".join(text.replace("\u202f", "").replace("&nbsp;", " ").split())


def test_the_page_shows_what_was_computed(tmp_path):
    folder = make(tmp_path / "study")
    text = words(page_of(folder))
    values = values_of()
    first = paired(values["team_size=2", "ON"], values["team_size=4", "ON"])
    assert f"{first.difference.value:.3g}" in text
    assert f"{first.difference.low:.3g} to {first.difference.high:.3g}" in text
    written = pd.read_csv(folder / "report" / "differences.csv")
    assert written.loc[0, "difference"] == pytest.approx(first.difference.value)
    assert written.loc[0, "p"] == pytest.approx(first.p)
    assert "4 comparisons were planned" in text
    assert "rises, then falls" in text


def test_holm_goes_over_all_planned_comparisons_and_no_others(tmp_path):
    study = Study.open(make(tmp_path / "study"))
    found = compute_comparisons(study)
    assert [one.test for one in found] == ["paired t"] * 2 + ["two lines", "rank correlation"]
    smallest = min(found, key=lambda one: one.p)
    assert smallest.holm == pytest.approx(min(1, 4 * smallest.p))
    more = [*PLANNED, {"test": "paired", "of": "calls", "exploratory": True}]
    added = compute_comparisons(Study.open(make(tmp_path / "added", comparisons=more)))
    assert [one.holm for one in added[:4]] == [one.holm for one in found]
    assert all(np.isnan(one.holm) for one in added[4:])
    text = words(page_of(tmp_path / "added"))
    assert "2 were added after the lock and are exploratory" in text


def test_pairs_are_replicates_that_both_arms_have(tmp_path):
    """Runs 1 and 8 are lost: replicate 1 of the first arm, replicate 2 of the second."""
    study = Study.open(make(tmp_path / "study", states={1: "failed", 8: "quarantined"}))
    values, kept = values_of(), [0, 3, 4, 5]
    wanted = paired(
        [values["team_size=2", "ON"][r] for r in kept],
        [values["team_size=4", "ON"][r] for r in kept],
    )
    assert compute_comparisons(study)[0].result == wanted


def test_the_embedding_stands_beside_every_measure_of_novelty(tmp_path):
    folder = make(tmp_path / "study", embedding="LSA 256", backend_about="rules & no model")
    report = folder / "report"
    assert "overall novelty by LSA 256" in words(page_of(folder))
    assert r"{l}{Answers: rules \& no model.} \\" in (report / "measures.tex").read_text("utf-8")
    assert (pd.read_csv(report / "measures.csv")["answers"] == "rules & no model").all()
    for name in ("differences.tex", "ON.svg"):
        assert "LSA 256" in (report / name).read_text(encoding="utf-8")
    for name in ("differences", "measures", "arms_side_by_side"):
        table = pd.read_csv(report / f"{name}.csv", keep_default_na=False)
        assert "ON" in set(table["measure"]), name
        wanted = ["LSA 256" if one == "ON" else "" for one in table["measure"]]
        assert table["embedding"].tolist() == wanted, name
        assert table.columns.get_loc("embedding") == table.columns.get_loc("measure") + 1, name


def test_few_replicates_are_a_sketch_power_is_printed_and_skew_is_warned_of(tmp_path):
    assert "At least one arm has only 4 replicates" in words(page_of(make(tmp_path / "few", 4)))
    many = words(page_of(make(tmp_path / "many", 20)))
    assert "illustration" not in many
    assert "effect with 20 pairs of runs: d_z = 0.66 (standard deviations of" in many
    assert "number of calls: in about" in many
    assert "overall novelty: in about" not in many


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")
def test_on_paper_no_fold_is_empty_and_the_page_says_so(tmp_path):
    shown = "[...document.querySelectorAll('details, .print')].filter((one) => one.clientHeight)"
    with Browser() as browser:
        browser.open(write_study_page(make(tmp_path / "study", 5)))
        browser.send("Emulation.setEmulatedMedia", media="print")
        (left_out,) = browser.value(f"{shown}.map((one) => one.textContent)")
        assert left_out.startswith("Not printed")


def test_what_went_wrong_is_on_the_page(tmp_path):
    folder = make(
        tmp_path / "study",
        states={1: "failed", 8: "quarantined"},
        deviations=["measure <i>ON</i> was added"],
        leak={"training_cutoff": "2023-12", "boundary": 2015},
    )
    write_result(folder, RunResult(8, "4", 2, 102, "quarantined", "died & died again"))
    page = page_of(folder)
    text = words(page)
    assert "16 done, 1 failed, 1 quarantined" in text
    assert "died &amp; died again" in text
    assert "measure &lt;i&gt;ON&lt;/i&gt; was added" in page
    assert "training cutoff2023-12" in text
    assert "Rule-based scientists, not a language model" in text
    assert "2 planned values are missing" in text


def test_the_answer_and_the_power_count_the_pairs_that_have_a_value(tmp_path):
    values = values_of()
    assert "of 6 pairs" not in words(page_of(make(tmp_path / "whole", values=values)))
    values["team_size=4", "ON"][2] = None
    text = words(page_of(make(tmp_path / "less", values=values)))
    assert "(5 of 6 pairs; 95% interval" in text
    assert "Smallest detectable effect with 5 pairs of runs" in text


def test_the_page_is_self_contained_and_the_same_every_time(tmp_path):
    folder = make(tmp_path / "study")
    page = page_of(folder)
    first = {path.name: path.read_bytes() for path in (folder / "report").iterdir()}
    (folder / "report" / "stale.csv").write_text("old")
    assert page_of(folder) == page
    assert {path.name: path.read_bytes() for path in (folder / "report").iterdir()} == first
    assert "<script" not in page
    assert not re.search(r'(src|href)="(?!#)', page)
    assert not re.search(r"#0[1-9]0[1-9]0[1-9]", page)
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    drawn = sorted((folder / "report").glob("*.svg"))
    assert [path.name for path in drawn] == ["ON-differences.svg", "ON.svg", "calls.svg"]
    for path in drawn:
        assert ET.parse(path).getroot().tag == "{http://www.w3.org/2000/svg}svg"
        assert "var(--" not in path.read_text(encoding="utf-8")
    names = {name.removesuffix(".csv") for name in first if name.endswith(".csv")}
    assert names == {name.removesuffix(".tex") for name in first if name.endswith(".tex")}
    assert names == {
        *("measures", "differences", "inverted_u", "rank_correlations"),
        *("too_narrow", "plan", "arms_side_by_side"),
    }


@pytest.mark.parametrize(("rows", "columns", "key"), [(2, 6, "b.y"), (6, 2, "a.x"), (5, 6, None)])
def test_a_figure_of_a_grid_has_the_key_that_leaves_the_fewest_lines(tmp_path, rows, columns, key):
    arms = {f"{x},{y}": {"a.x": x, "b.y": y} for x in range(rows) for y in range(columns)}
    values = {(arm, "ON"): [1.0, 2.0, 4.0] for arm in arms}
    study = Study.open(write_study(tmp_path / "study", told_of(arms, ["ON"], 3), values))
    (drawn,) = figures.measure_figures(study, "ON")
    assert ("ON in each arm" if key is None else f"ON against {key}") in drawn
    if key is not None:
        found, series = figures.series_of(study)
        assert (found, len(series)) == (key, 2)


def test_names_are_escaped_in_every_format(tmp_path):
    name = "=50% of <b>&_{$\\"
    arms = {name: {"protocol.profile": "x"}, "paper": {"protocol.profile": "paper"}}
    told = told_of(arms, ["ON"], 3, comparisons=[{"test": "paired", "of": "ON"}])
    values = {(arm, "ON"): [1.0, 2.0 + len(arm), 4.0] for arm in arms}
    folder = write_study(tmp_path / "study", told, values)
    page = page_of(folder)
    assert "<b>" not in page
    assert "=50% of &lt;b&gt;&amp;_{$\\" in page
    latex = (folder / "report" / "differences.tex").read_text(encoding="utf-8")
    assert r"=50\% of <b>\&\_\{\$\textbackslash " in latex
    assert r"\toprule" in latex
    cell = (folder / "report" / "differences.csv").read_text(encoding="utf-8")
    assert "'=50%" in cell


@pytest.mark.slow
def test_a_sampled_design_is_judged_by_its_points(tmp_path):
    """Thirty points of three replicates: the measure follows one key, and not the other."""
    rng = np.random.default_rng(0)
    points = {
        f"point={n:02d}": {"a.x": float(x), "b.y": float(y)}
        for n, (x, y) in enumerate(rng.random((30, 2)))
    }
    told = told_of(
        points,
        ["ON"],
        3,
        design="latin_hypercube",
        comparisons=[{"test": "rank_correlation", "of": "ON", "over": "a.x"}],
    )
    values = {
        (arm, "ON"): (given["a.x"] + rng.normal(0, 0.1, 3)).tolist()
        for arm, given in points.items()
    }
    study = Study.open(write_study(tmp_path / "study", told, values))
    assert compute_comparisons(study)[0].result.n == 30
    found = study_page.sensitivity(study).set_index("key")
    assert found.loc["a.x", "rho"] > 0.9
    assert abs(found.loc["b.y", "rho"]) < 0.4
    text = words(page_of(tmp_path / "study"))
    assert "All 30 points" in text


EVERY_TEST = [
    *PLANNED,
    {"test": "correlation", "of": "ON", "against": "calls"},
    {"test": "paired", "of": "review.proposal.overall"},
]
NO_VERDICT = re.compile(r"\bp\b|signific|holm|verdict|\brises\b|did not clearly|by chance", re.I)


def test_before_every_run_is_done_nothing_gives_a_p_value_or_a_verdict(tmp_path):
    """Five of six replicates of each arm: one run of each waits, as when a page is looked at."""
    states = dict.fromkeys((5, 11, 17), "waiting")
    folder = make(tmp_path / "study", states=states, comparisons=EVERY_TEST)
    scores = [(run, "one", "proposal", "overall", 3.0 + run % 4, 1) for run in range(17)]
    page = page_of(reviewed(folder, scores))
    assert "<title>Interim: 5 of 6 replicates. Team size and novelty</title>" in page
    assert "<h1>Interim: 5 of 6 replicates</h1>" in page
    text = words(page)
    assert not NO_VERDICT.findall(text)
    assert "(95% interval" in text
    assert "with Pearson’s r" in text or "Pearson" in text
    for file in (folder / "report").iterdir():
        drawn = re.sub(r"<style>.*?</style>|<(?!text|title)[^>]+>", "", file.read_text("utf-8"))
        assert not NO_VERDICT.findall(re.sub(r"<[^>]+>", " ", drawn)), file.name
    for name in ("differences", "inverted_u", "rank_correlations", "correlations"):
        table = pd.read_csv(folder / "report" / f"{name}.csv")
        assert not {"p", "p_1", "p_2", "holm"} & {*table}, name
        assert len(table)
    insisted = words(write_study_page(folder, interim_p=True).read_text(encoding="utf-8"))
    assert "Interim: 5 of 6 replicates" in insisted
    assert "significant" in insisted
    assert "p" in pd.read_csv(folder / "report" / "differences.csv")
    complete = make(tmp_path / "complete", comparisons=EVERY_TEST)
    assert "<h1>Team size and novelty</h1>" in page_of(complete)
    assert "significant" in words(page_of(complete))


@pytest.mark.parametrize("spoil", ["nothing done", "one arm done", "no comparison"])
def test_a_half_finished_study_has_a_page(tmp_path, spoil):
    runs = range(18) if spoil == "nothing done" else range(6, 18)
    states = {} if spoil == "no comparison" else dict.fromkeys(runs, "waiting")
    more = {"comparisons": []} if spoil == "no comparison" else {}
    text = words(page_of(make(tmp_path / "study", states=states, **more)))
    if spoil == "no comparison":
        assert "No comparison was planned. Smallest detectable effect with 6 pairs" in text
    else:
        assert "At least one arm has no finished run" in text


def test_what_is_no_study_folder_is_said(tmp_path):
    with pytest.raises(InputError, match=r"runs\.parquet: missing; run the study"):
        Study.open(tmp_path)
    folder = make(tmp_path / "study")
    (folder / "study.json").write_text('{"arms": [], "measures": 3, "replicates": 1}')
    with pytest.raises(InputError, match=r"study\.json: measures"):
        write_study_page(folder)


GRID = {
    f"turns={t},team_size={n}": {"protocol.turns": t, KEY: n} for t in (1, 5) for n in (2, 4, 8)
}


def test_comparisons_of_a_grid_say_among_which_arms_and_what_differs(tmp_path):
    some = [arm for arm in GRID if arm.startswith("turns=5")]
    plans = [
        {"test": "inverted_u", "of": "ON", "over": KEY, "arms": some},
        {"test": "rank_correlation", "of": "ON", "over": KEY},
        {"test": "paired", "of": "ON", "arms": [*some[:2], "turns=1,team_size=2"]},
    ]
    told = told_of(GRID, ["ON"], 3, comparisons=plans)
    rng = np.random.default_rng(2)
    folder = write_study(tmp_path / "s", told, {(a, "ON"): rng.normal(0, 1, 3) for a in GRID})
    page = page_of(folder)
    shapes = pd.read_csv(folder / "report" / "inverted_u.csv")
    assert shapes["among"].tolist() == ["turns=5"]
    ranks = pd.read_csv(folder / "report" / "rank_correlations.csv", keep_default_na=False)
    assert ranks["among"].tolist() == [""]
    pairs = pd.read_csv(folder / "report" / "differences.csv")
    assert pairs["first"].tolist() == ["turns=5,team_size=2"] * 2
    rows = re.findall(r"<tr><th scope=\"row\".*?</tr>", page, flags=re.DOTALL)
    told_pairs = [words(re.sub("</t[dh]>", " | ", row)) for row in rows]
    assert any(row.startswith("team_size=4, turns=5 | team_size=2 |") for row in told_pairs)
    assert any(row.startswith("turns=1, team_size=2 | turns=5 |") for row in told_pairs)


def test_measures_are_correlated_over_runs_with_both_coefficients(tmp_path):
    plans = [
        {"test": "correlation", "of": "ON", "against": "calls", "arms": list(ARMS)[:2]},
        {"test": "correlation", "of": "ON", "against": "review.novelty.novelty"},
    ]
    folder = make(tmp_path / "study", states={0: "failed"}, comparisons=plans)
    rows = [(run, "one", "novelty", "novelty", float(run), 1) for run in range(1, 18)]
    rows += [(run, "two", "virsci", "overall", 1.0, 1) for run in range(18)]
    found = compute_comparisons(Study.open(reviewed(folder, rows)))
    values = values_of()
    first, second = (
        [value for arm in list(ARMS)[:2] for value in values[arm, name]][1:]
        for name in ("ON", "calls")
    )
    assert [one.result for one in found[:2]] == [pearson(first, second), spearman(first, second)]
    every = [value for arm in ARMS for value in values[arm, "ON"]][1:]
    assert found[2].of == ("review.novelty.novelty by one",)
    assert found[2].result == pearson(every, list(range(1, 18)))
    assert np.isfinite([one.holm for one in found]).all()
    page = page_of(folder)
    assert "4 comparisons were planned" in words(page)
    assert "A correlation counts as two tests, Pearson’s r and Spearman’s rho" in words(page)
    assert "Correlations between measures" in page
    assert '<section id="reviews">' in page


def test_a_score_of_reviews_is_an_outcome_and_stands_first(tmp_path):
    two = list(ARMS)[:2]
    plans = [
        {"test": "paired", "of": "ON", "arms": two},
        {"test": "paired", "of": "review.proposal.overall", "arms": two},
        {"test": "inverted_u", "of": "review.proposal.overall", "over": "protocol.team_size"},
    ]
    folder = make(tmp_path / "study", comparisons=plans)
    waiting = compute_comparisons(Study.open(folder))
    assert [one.result.note[:14] for one in waiting[1:]] == ["no reviews yet"] * 2
    page = page_of(folder)
    assert "no reviews yet; &#39;society review STUDY --kind proposal&#39; asks for them" in page
    score = {run: 4.0 + run % 5 + (run // 6) / 2 for run in range(18)}
    rows = [
        (run, panel, "proposal", "overall", value + extra, 1)
        for panel, extra in (("one", 0.0), ("two", 1.0))
        for run, value in score.items()
    ]
    study = Study.open(reviewed(folder, rows))
    found = compute_comparisons(study)
    assert [one.measure for one in found[1:]] == [
        f"review.proposal.overall by {panel}" for panel in ("one", "two", "one", "two")
    ]
    before, after = ([score[run] for run in runs_of(study, arm)] for arm in two)
    assert found[1].result == paired(before, after)
    assert np.isfinite(found[1].holm)
    by_arm = study_page.reviews_by_arm(study).set_index(["panel", "arm"])
    band = t_interval(np.array(before), extent=(1.0, 10.0))
    assert by_arm.loc[("one", two[0]), ["mean", "low", "high"]].tolist() == pytest.approx(
        [band.value, band.low, band.high]
    )
    gain = by_arm.loc[("one", two[1])]
    assert gain["gain"] == pytest.approx(np.mean(after) - np.mean(before))
    assert gain["p"] == found[1].result.p
    assert by_arm.loc[("one", two[0]), "gain":].isna().all()
    page = page_of(folder)
    assert f"In short. With {two[1]}, the score overall of proposal reviews by one " in words(page)
    assert page.index('<section id="reviews">') < page.index('<section id="comparisons">')


FACTORS = {f"p={p},q={q}": {"x.p": p, "x.q": q} for q in (0.0, 0.8) for p in (0.1, 0.5, 0.9)}


def test_a_rank_correlation_of_a_grid_is_taken_within_seeds_and_settings(tmp_path):
    """Zero by construction at q = 0; at q = 0.8 it rises with p, and seeds lie far apart."""
    rng, measure = np.random.default_rng(0), "giant_component_authors"
    lifts = rng.uniform(0, 0.5, 6)
    values = {
        (name, measure): (
            [0.0] * 6
            if given["x.q"] == 0
            else (0.4 * given["x.p"] + lifts + rng.normal(0, 0.01, 6)).tolist()
        )
        for name, given in FACTORS.items()
    }
    plans = [{"test": "rank_correlation", "of": measure, "over": "x.p"}]
    told = told_of(FACTORS, [measure], 6, comparisons=plans, design="grid")
    folder = write_study(tmp_path / "grid", told, values)
    (one,) = compute_comparisons(Study.open(folder))
    assert one.result.r > 0.9
    assert one.result.n == 18
    assert one.p < 0.01
    assert "left out: 6 of 12 blocks" in one.result.note
    assert "no variance between the runs of p=0.1,q=0.0 (0), p=0.5,q=0.0 (0)" in one.result.note
    text = words(page_of(folder))
    assert "left out: 6 of 12 blocks" in text
    assert pd.read_csv(folder / "report" / "rank_correlations.csv")["note"].str.len()[0] > 20


def test_intervals_of_a_measure_end_where_it_does(tmp_path):
    values = {(arm, "giant_component_authors"): [0.0, 0.0, 0.3] for arm in ARMS}
    values |= {(arm, "other.x.mean"): [0.0, 0.0, 0.3] for arm in ARMS}
    told = told_of(ARMS, ["giant_component_authors", "other.x.mean"], 3)
    study = Study.open(write_study(tmp_path / "study", told, values))
    assert (study_page.measure_by_arm(study, "giant_component_authors")["low"] == 0).all()
    assert (study_page.measure_by_arm(study, "other.x.mean")["low"] < 0).all()
    assert study.label("other.x.mean") == "mean x (other)"


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
    study = Study.open(reviewed(folder, rows))
    assert [study.reference(arm) for arm in study.arms] == [None, "alone (16)", None, "alone (40)"]
    page = write_study_page(folder).read_text(encoding="utf-8")
    assert "The gain is the difference from alone at the same budget" in page
    gains = pd.read_csv(folder / "report" / "reviews_by_arm.csv", comment="#").set_index("arm")
    assert gains["gain"].round(6).dropna().to_dict() == {"team (16)": 1.0, "team (40)": 1.0}
