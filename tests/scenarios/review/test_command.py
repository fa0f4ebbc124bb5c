"""``society review``: a panel beside a run, never paid twice; sheets out and ratings in."""

import csv
import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from tests.command_line import society
from virsci_society.agents.errors import BudgetReached
from virsci_society.agents.files.file_hashes import hash_json
from virsci_society.scenarios.config.document import IDENTITY
from virsci_society.scenarios.review.review import PanelReview, read_averages
from virsci_society.scenarios.review.review_kinds import KINDS
from virsci_society.scenarios.runs.run_state import list_runs
from virsci_society.society.results.run import Run


@pytest.fixture
def held(small_run, here):
    """A copy of a finished run."""
    return shutil.copytree(small_run, here / "held")


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


def test_a_review_leaves_the_run_as_it_was_and_the_second_time_says_the_same(held):
    before = content(held)
    done = society("review", held, "--kind", "novelty")
    assert done.exit_code == 0, done.output
    assert "answers: rule-based scientists, not a language model" in done.output
    assert content(held) == before
    table = read_averages(held)
    assert table["panel"].unique().tolist() == ["offline"]
    assert len(table) == papers_of(held)
    files = {path: path.read_bytes() for path in (held / "reviews").rglob("*.parquet")}
    assert society("review", held, "--kind", "novelty").exit_code == 0
    assert files == {path: path.read_bytes() for path in files}


def test_a_live_panel_says_what_the_offline_one_says(held, live, server):
    PanelReview.of(held, KINDS["proposal"], live, "live").execute()
    counts = server.counts(full=True)
    assert counts["requests"] == 13 * papers_of(held)
    assert f"{_first(held)}/proposal/0/0" in counts["by_call"]
    PanelReview.of(held, KINDS["proposal"]).execute()
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
    short = PanelReview.of(held, KINDS["proposal"], [*live, "backend.budget.calls=9"], "live")
    with pytest.raises(BudgetReached, match="9 of 9 calls"):
        short.execute()
    assert json.loads((short.folder / "panel.json").read_text()) == {}
    assert list_runs(short.folder.parent) == []  # a panel is not a run
    whole = PanelReview.of(held, KINDS["proposal"], live, "live")
    whole.execute()
    answered = [call["answers"] for call in server.counts(full=True)["by_call"].values()]
    assert answered == [1] * 13 * papers_of(held)
    ledger = json.loads((whole.folder / "panel.json").read_text())["ledger"]
    assert ledger["outcomes"]["answered"] == 13 * papers_of(held)


def test_another_model_is_another_panel_and_other_settings_are_refused(held, live):
    first = PanelReview.of(held, KINDS["virsci"], live)
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
        (["--set", "until=3d"], "only keys of backend can be set"),
        (["--panel", "../x"], "letters, digits, dots"),
        (["--set", "backend.modle=x"], "modle"),
        (["--pairs"], "--pairs has no effect without --sheet or --key"),
        (["--sheet", "s.csv", "--panel", "x"], "--panel has no effect with --sheet"),
        (["--sheet", "s.csv", "--key", "k.json"], "give one of them"),
        (["another"], "one run or one study at a time"),
    ],
)
def test_bad_input_is_said_in_a_line(held, arguments, said):
    done = society("review", held, *arguments)
    assert done.exit_code == 2
    assert said in done.output


def test_a_run_of_a_hybrid_is_reviewed_by_its_model_alone(held, live):
    hybrid = [one.replace("backend.", "backend.live.") for one in live if "retry" not in one]
    made = PanelReview.of(
        held, KINDS["virsci"], ["backend.use=hybrid", "backend.live_share=0.5", *hybrid]
    )
    assert made.folder.name == "test"
    assert made.scenario.backend.backend.model == "test"


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
    assert (again.exit_code, server.counts()["requests"]) == (0, 12)
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
    about = PanelReview.of(here / "it", KINDS["novelty"], live).about
    assert f"The panel model: {about}." in page
    assert "nothing to do" in society("study", "run", "it.yaml", "--out", "it").output
    assert society("review", "it", "--sheet", "all.csv").exit_code == 0
    key = json.loads((here / "all.key.json").read_text())
    assert {one["arm"] for one in key["items"].values()} == {"team_size=1", "team_size=4"}
    wrong = society("review", "it", "--arm", "team_size=5", "--sheet", "more.csv")
    assert wrong.exit_code == 2
    assert "did you mean 'team_size=4'" in wrong.output
    run = read_averages(here / "it/runs/0002")
    assert run["paper"].tolist() == [papers[2].removeprefix("0002/")]
    assert run["score"].tolist() == [scores.iloc[2]]


METHODS = ("pearson", "spearman")


def test_the_interview_recipe_of_the_documentation_runs(small_run, capsys):
    page = (Path(__file__).resolve().parents[3] / "docs/reviews.md").read_text("utf-8")
    recipe, *_ = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(recipe.replace("runs/quickstart-1", str(small_run)), {})
    assert capsys.readouterr().out.startswith("You are Scientist")


@pytest.fixture
def arms(small_run, here):
    """Two runs of a study, one for each arm of its lock."""
    lock = {"format": 1, "arms": [{"name": "lone arm"}, {"name": "crowd arm"}]}
    lock |= {"replicates": 1, "paired": True, "identity_number": IDENTITY}
    (here / "it").mkdir()
    (here / "it/lock.json").write_text(json.dumps(lock | {"hash": hash_json(lock), "by": "run"}))
    return [
        shutil.copytree(small_run, here / "it/runs" / number).relative_to(here)
        for number in ("0000", "0001")
    ]


def filled(sheet, rater, fill):
    """A copy of the sheet with its cells filled by a function of the row number."""
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for place, row in enumerate(rows):
        row |= fill(place)
    with (sheet.parent / f"{rater}.csv").open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return sheet.parent / f"{rater}.csv"


def test_the_sheet_names_no_arm_no_run_no_team_and_nobody(arms, here):
    done = society("review", *arms, "--sheet", "sheet.csv")
    assert done.exit_code == 0, done.output
    sheet = (here / "sheet.csv").read_text(encoding="utf-8-sig")
    run = Run.open(arms[0])
    names = [*run.table("scientists")["scientist"], *run.table("teams")["team"]]
    hidden = [*names, "lone arm", "crowd arm", "0000", "0001", run.digest]
    assert not [name for name in hidden if name in sheet]
    assert sheet.count("\n") == 2 * len(run.table("papers")) + 1
    key = json.loads((here / "sheet.key.json").read_text())
    assert {one["arm"] for one in key["items"].values()} == {"lone arm", "crowd arm"}
    # A rater who knows that rules speak is not blind; the key knows.
    speaker = run.manifest["backend"]["about"]
    assert speaker not in sheet
    assert {one["speaker"] for one in key["items"].values()} == {speaker}
    again = society("review", *arms, "--sheet", "sheet.csv")
    assert (again.exit_code, "exists already" in again.output) == (2, True)


def test_ratings_come_back_with_agreement_and_correlations(arms, here):
    society("review", arms[0], "--kind", "novelty")
    society("review", *arms, "--sheet", "sheet.csv", "--seed", "3")

    def fill(place):
        return {"novelty": place + 1, "feasibility": 5, "effectiveness": 10 - place}

    sheets = [filled(here / "sheet.csv", rater, fill) for rater in ("ann", "bob")]
    done = society("review", *sheets, "--key", "sheet.key.json")
    assert done.exit_code == 0, done.output
    speaker = Run.open(arms[0]).manifest["backend"]["about"]
    results = here / "sheet-results"
    for path in results.glob("*.parquet"):
        assert pq.read_schema(path).metadata == {b"speaker": speaker.encode()}
    metadata = json.loads((results / "csv-metadata.json").read_text())
    assert metadata["dc:creator"] == speaker
    ratings = pd.read_parquet(results / "ratings.parquet")
    papers = papers_of(arms[0])
    assert len(ratings) == 2 * 2 * papers * 3
    assert set(ratings["arm"]) == {"lone arm", "crowd arm"}
    agreed = pd.read_parquet(results / "agreement.parquet")
    assert agreed.query("dimension == 'novelty'")["alpha"].tolist() == [1.0]
    found = pd.read_parquet(results / "correlations.parquet")
    against = found.query("measure == 'ON'").set_index("rating")
    assert against.loc["people: novelty", "n"] == 2 * papers
    # One rises by one where the other falls by one.
    sums = against.loc[["people: novelty", "people: effectiveness"], "pearson"]
    assert sums.sum() == pytest.approx(0.0, abs=1e-12)
    assert (results / "ratings.csv").is_file()


def test_pairs_come_back_as_preferences(arms, here):
    assert society("review", *arms, "--sheet", "pairs.csv", "--pairs").exit_code == 0
    key = json.loads((here / "pairs.key.json").read_text())
    better = [
        next(side for side in "AB" if sides[side]["arm"] == "crowd arm")
        for sides in key["items"].values()
    ]
    sheet = filled(here / "pairs.csv", "ann", lambda place: {"preferred": better[place]})
    done = society("review", sheet, "--key", "pairs.key.json")
    assert done.exit_code == 0, done.output
    row = pd.read_parquet(here / "pairs-results" / "preferences.parquet").iloc[0]
    assert (row["arm"], row["preferred"], row["n"]) == ("crowd arm", 1.0, papers_of(arms[0]))


def test_proposals_are_rated_by_the_rubric_of_the_reviewers(arms, here):
    done = society("review", *arms, "--sheet", "rubric.csv", "--kind", "proposal")
    assert done.exit_code == 0, done.output
    assert "- Strategic Vision: " in (here / "rubric.scales.txt").read_text()
    assert ",strategic_vision," in (here / "rubric.csv").read_text().splitlines()[0]


def test_a_run_that_is_another_one_by_now_is_refused(arms, here):
    society("review", arms[0], "--sheet", "sheet.csv")
    five = {"novelty": 5, "feasibility": 5, "effectiveness": 5}
    sheet = filled(here / "sheet.csv", "eve", lambda place: five)
    key = (here / "sheet.key.json").read_text()
    (here / "sheet.key.json").write_text(key.replace(Run.open(arms[0]).digest, "0" * 64))
    done = society("review", sheet, "--key", "sheet.key.json")
    assert done.exit_code == 2
    assert "is not the run of the sheet" in done.output
