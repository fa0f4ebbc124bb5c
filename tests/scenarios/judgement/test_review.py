"""The command ``society review``: a panel beside a run, through a real server, never paid twice."""

import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from tests.command_line import society
from virsci_society.agents.errors import BudgetReached, InputError
from virsci_society.scenarios.judgement.review import ReviewJob, read_averages


@pytest.fixture
def held(small_run, here):
    """A copy of a finished run."""
    return shutil.copytree(small_run, here / "held")


@pytest.fixture(scope="module")
def server():
    """A fault server that answers as the offline scientist would."""
    from tests.faultserver import FaultServer, Plan

    with FaultServer(Plan()) as made:
        yield made


@pytest.fixture
def live(server, monkeypatch):
    """Settings that let the server review."""
    from tests.faultserver import Plan

    monkeypatch.setenv("FAULTSERVER_KEY", "key-of-the-tests")
    server.plan(Plan())
    server.reset()
    return [
        "backend.use=openai",
        "backend.model=test",
        "backend.key=FAULTSERVER_KEY",
        f"backend.api_base={server.url}",
        "backend.retry={first: 0.01, longest: 0.05}",
    ]


def content(folder):
    """Every file of a run but its reviews."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "reviews" not in path.parts
    }


def papers_of(folder):
    return len(pd.read_parquet(folder / "tables" / "papers.parquet"))


def test_a_review_leaves_the_run_as_it_was_and_the_second_time_does_nothing(held):
    before = content(held)
    done = society("review", held, "--kind", "novelty")
    assert done.exit_code == 0, done.output
    assert "who reviewed: rule-based scientists, not a language model" in done.output
    assert content(held) == before
    table = read_averages(held)
    assert table["panel"].unique().tolist() == ["offline"]
    assert len(table) == papers_of(held)
    files = {path: path.stat().st_mtime_ns for path in (held / "reviews").rglob("*.parquet")}
    again = society("review", held, "--kind", "novelty")
    assert "holds this review already" in again.output
    assert files == {path: path.stat().st_mtime_ns for path in files}


def test_a_live_panel_says_what_the_offline_one_says(held, live, server):
    ReviewJob.of(held, "proposal", live, "live").execute()
    counts = server.counts(full=True)
    assert counts["requests"] == 13 * papers_of(held)
    assert f"{_first(held)}/proposal/0/0" in counts["by_call"]
    ReviewJob.of(held, "proposal").execute()
    live_table, own = (
        read_averages(held).query("panel == @name").drop(columns="panel").reset_index(drop=True)
        for name in ("live", "offline")
    )
    pd.testing.assert_frame_equal(live_table, own)


def _first(folder):
    return pd.read_parquet(folder / "tables" / "papers.parquet")["paper"].iloc[0]


def test_faults_and_a_stop_by_the_budget_pay_nothing_twice(held, live, server):
    from tests.faultserver import Plan

    server.plan(Plan(seed=3, rates={"unavailable": 0.2, "rate_limited": 0.1}))
    short = ReviewJob.of(held, "proposal", [*live, "backend.budget.calls=9"], "live")
    with pytest.raises(BudgetReached, match="9 of 9 calls"):
        short.execute()
    assert not (short.folder / "panel.json").exists()
    assert not short.done
    whole = ReviewJob.of(held, "proposal", live, "live")
    whole.execute()
    assert whole.done
    answered = [call["answers"] for call in server.counts(full=True)["by_call"].values()]
    assert answered == [1] * 13 * papers_of(held)
    ledger = json.loads((whole.folder / "panel.json").read_text())["ledger"]
    assert ledger["outcomes"]["answered"] == 13 * papers_of(held)


def test_another_model_is_another_panel_and_other_settings_are_refused(held, live):
    first = ReviewJob.of(held, "virsci", live)
    first.execute()
    assert first.folder.name == "test"
    done = society("review", held, *_set([*live, "backend.temperature=0.1"]))
    assert done.exit_code == 6
    assert "--panel NEW" in done.output
    other = society("review", held, *_set([*live, "backend.temperature=0.1"]), "--panel", "cool")
    assert other.exit_code == 0, other.output
    assert set(read_averages(held)["panel"]) == {"test", "cool"}


def _set(settings):
    return [part for setting in settings for part in ("--set", setting)]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--kind", "novlty"], "did you mean 'novelty'"),
        (["--set", "until=3d"], "takes keys of backend only"),
        (["--panel", "../x"], "letters, digits, dots"),
        (["--set", "backend.modle=x"], "modle"),
    ],
)
def test_bad_input_is_said_in_a_line(held, arguments, said):
    done = society("review", held, *arguments)
    assert done.exit_code == 2
    assert said in done.output


def test_a_run_of_a_hybrid_is_reviewed_by_its_model_alone(held, live):
    hybrid = [one.replace("backend.", "backend.live.") for one in live if "retry" not in one]
    made = ReviewJob.of(held, "virsci", ["backend.use=hybrid", "backend.live_share=0.5", *hybrid])
    assert made.folder.name == "test"
    assert made.scenario.backend.backend.model == "test"


def test_a_folder_that_is_no_run_is_refused(here):
    with pytest.raises(InputError, match="no such folder"):
        ReviewJob.of(here / "nothing", "virsci")


STUDY = """\
# Do reviewers see what ON measures? A study for tests.
study: Reviewed
base: virsci/paper
set:
  protocol: {topic: {leaving: off}, turns: 2}
  population.ecosystem: {scientists: 12, papers: 60}
  metrics: [novelty]
arms: {grid: {protocol.team_size: [1, 4]}}
replicates: 2
measures: [ON, HD]
comparisons:
  - {test: correlation, of: ON, against: review.novelty.novelty}
  - {test: correlation, of: ON, against: HD}
  - {test: paired, of: review.novelty.novelty}
"""


@pytest.mark.slow
def test_a_study_is_reviewed_as_one_and_its_page_correlates(nursery, here, live, server):
    (here / "it.yaml").write_text(STUDY)
    done = nursery.society("study", "run", "it.yaml", "--out", "it", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    place = r"it\.yaml:14:20: comparisons\.2\.of: review\.novelty\.novelty: no reviews yet; "
    assert re.search(place + r"'society review it --kind novelty ", done.stderr)
    refused = society("study", "report", "it.yaml", "--out", "it")
    assert refused.exit_code == 2
    assert re.search(place, refused.output)
    before = pd.read_csv(here / "it/report/correlations.csv")
    assert before["n"].tolist() == [0, 0, 4, 4]
    done = society("review", "it", "--kind", "novelty", *_set(live), "--panel", "model")
    assert done.exit_code == 0, done.output
    papers = [f"000{run}/{_first(here / f'it/runs/000{run}')}" for run in range(4)]
    assert server.counts()["requests"] == 12
    assert set(server.counts(full=True)["by_call"]) == {
        f"{paper}/novelty/{reviewer}/0" for paper in papers for reviewer in (1, 2, 3)
    }
    again = society("review", "it", "--kind", "novelty", *_set(live), "--panel", "model")
    assert "nothing to do" in again.output
    assert server.counts()["requests"] == 12
    done = society("study", "run", "it.yaml", "--out", "it")
    assert "nothing to do" not in done.output
    assert "no reviews yet" not in done.output
    assert society("study", "report", "it.yaml", "--out", "it").exit_code == 0
    gains = pd.read_csv(here / "it/report/differences.csv")
    assert gains["measure"].tolist() == ["review.novelty.novelty by model"]
    after = pd.read_csv(here / "it/report/correlations.csv")
    scores = read_averages(here / "it").set_index("paper")["score"].astype(float)
    assert scores.index.tolist() == papers
    results = pd.read_parquet(here / "it/results.parquet").query("measure == 'ON'")["value"]
    assert after["against"].tolist() == ["review.novelty.novelty by model"] * 2 + ["HD"] * 2
    assert after["test"].tolist() == ["Pearson", "Spearman"] * 2
    assert after["n"].tolist() == [4] * 4
    assert scores.nunique() > 1
    expected = [results.corr(pd.Series(scores.to_numpy(), results.index), m) for m in METHODS]
    assert after["r"][:2].tolist() == pytest.approx(expected)
    page = (here / "it/report.html").read_text()
    assert f"The panel model: {ReviewJob.of(here / 'it', 'novelty', live).about}." in page
    assert "nothing to do" in society("study", "run", "it.yaml", "--out", "it").output
    exported = ("rate", "export", "it", "--pairs", "--swapped", "--across-topics")
    assert society(*exported, "--out", "pairs.csv").exit_code == 0
    key = json.loads((here / "pairs.key.json").read_text())
    assert len(key["items"]) == 4  # two arms, two replicates, both orders
    wrong = society(*exported, "--arm", "team_size=5", "--out", "more.csv")
    assert wrong.exit_code == 2
    assert "did you mean 'team_size=4'" in wrong.output
    tiers = society("rate", "export", "it", "--tiers", "review.novelty.novlty", "--out", "t.csv")
    assert (tiers.exit_code, "did you mean 'review.novelty.novelty'" in tiers.output) == (2, True)
    run = read_averages(here / "it/runs/0002")
    assert run["paper"].tolist() == [papers[2].removeprefix("0002/")]
    assert run["score"].tolist() == [scores.iloc[2]]


METHODS = ("pearson", "spearman")


def test_the_interview_recipe_of_the_documentation_runs(small_run, capsys):
    page = (Path(__file__).resolve().parents[3] / "docs/reviews.md").read_text("utf-8")
    (recipe,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(recipe.replace("runs/quickstart-1", str(small_run)), {})
    assert capsys.readouterr().out.startswith("You are Scientist")
