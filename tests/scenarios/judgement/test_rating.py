"""``society rate``: from runs to a blinded sheet, and from filled sheets to tables."""

import csv
import json
import shutil

import pandas as pd
import pyarrow.parquet as pq
import pytest

from tests.command_line import society
from tests.older_folders import unlist
from virsci_society.society.results.run import Run


@pytest.fixture
def study(small_run, here):
    """Two runs of a study, each with its arm beside it."""
    for number, arm in enumerate(("lone arm", "crowd arm")):
        shutil.copytree(small_run, here / f"000{number}")
        (here / f"000{number}.status.json").write_text(json.dumps({"arm": arm, "state": "done"}))
    return here


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


def test_the_sheet_names_no_arm_no_run_no_team_and_nobody(study):
    done = society("rate", "export", "0000", "0001", "--out", "sheet.csv")
    assert done.exit_code == 0, done.output
    told = (study / "sheet.csv").read_text(encoding="utf-8-sig")
    run = Run.open("0000")
    names = [*run.table("scientists")["scientist"], *run.table("teams")["team"]]
    hidden = [*names, "lone arm", "crowd arm", "0000", "0001", run.digest]
    assert not [name for name in hidden if name in told]
    assert told.count("\n") == 2 * len(run.table("papers")) + 1
    key = json.loads((study / "sheet.key.json").read_text())
    assert {one["arm"] for one in key["items"].values()} == {"lone arm", "crowd arm"}
    # A rater who knows that rules speak is not blind; the key knows.
    speaker = run.manifest["backend"]["about"]
    assert speaker not in told
    assert {one["speaker"] for one in key["items"].values()} == {speaker}


def test_a_sheet_is_never_written_over(study):
    assert society("rate", "export", "0000", "--out", "sheet.csv").exit_code == 0
    done = society("rate", "export", "0000", "--out", "sheet.csv")
    assert done.exit_code == 2
    assert "is there already" in done.output


@pytest.mark.slow
def test_ratings_come_back_with_agreement_and_correlations(study):
    society("review", "0000", "--kind", "novelty")
    society("rate", "export", "0000", "0001", "--out", "sheet.csv", "--seed", "3")

    def fill(place):
        return {"novelty": place + 1, "feasibility": 5, "effectiveness": 10 - place}

    sheets = [filled(study / "sheet.csv", rater, fill) for rater in ("ann", "bob")]
    done = society("rate", "import", *sheets, "--key", "sheet.key.json")
    speaker = Run.open("0000").manifest["backend"]["about"]
    for path in (study / "sheet-results").glob("*.parquet"):
        assert pq.read_schema(path).metadata == {b"speaker": speaker.encode()}
    metadata = json.loads((study / "sheet-results" / "csv-metadata.json").read_text())
    assert metadata["dc:creator"] == speaker
    assert done.exit_code == 0, done.output
    ratings = pd.read_parquet(study / "sheet-results" / "ratings.parquet")
    papers = len(Run.open("0000").table("papers"))
    assert len(ratings) == 2 * 2 * papers * 3
    assert set(ratings["arm"]) == {"lone arm", "crowd arm"}
    agreed = pd.read_parquet(study / "sheet-results" / "agreement.parquet")
    assert agreed.query("dimension == 'novelty'")["alpha"].tolist() == [1.0, 1.0]
    found = pd.read_parquet(study / "sheet-results" / "correlations.parquet")
    against = found.query("measure == 'ON'").set_index("rating")
    assert against.loc["people: novelty", "n"] == 2 * papers
    # One rises by one where the other falls by one.
    sums = against.loc[["people: novelty", "people: effectiveness"], "pearson"]
    assert sums.sum() == pytest.approx(0.0, abs=1e-12)
    assert (study / "sheet-results" / "ratings.csv").is_file()


def test_pairs_come_back_as_preferences(study):
    society(
        "rate",
        "export",
        "0000",
        "0001",
        "--out",
        "pairs.csv",
        "--pairs",
        "--swapped",
        "--across-topics",
    )
    key = json.loads((study / "pairs.key.json").read_text())
    better = {
        item: next(side for side in "AB" if sides[side]["arm"] == "crowd arm")
        for item, sides in key["items"].items()
    }
    order = list(better.values())
    sheet = filled(study / "pairs.csv", "ann", lambda place: {"preferred": order[place]})
    done = society("rate", "import", sheet, "--key", "pairs.key.json", "--out", "found")
    assert done.exit_code == 0, done.output
    row = pd.read_parquet(study / "found" / "preferences.parquet").iloc[0]
    assert (row["arm"], row["preferred"], row["n"]) == ("crowd arm", 1.0, len(order))
    strengths = pd.read_parquet(study / "found" / "strengths.parquet").set_index("arm")
    assert strengths.loc["crowd arm", "wins"] == len(order)
    # Each pair stands on both sides, so that its place cannot have decided.
    assert "the first of two was preferred in 0.5 of the decided answers" in done.output
    assert "effect on the logit 0 [" in done.output
    refused = society("rate", "export", "0000", "--out", "more.csv", "--swapped")
    assert refused.exit_code == 2
    assert "give --pairs too" in refused.output
    both = society("rate", "export", "0000", "--out", "m.csv", "--pairs", "--kind", "proposal")
    assert (both.exit_code, "for ratings" in both.output) == (2, True)
    rubric = society("rate", "export", "0000", "--out", "rubric.csv", "--kind", "proposal")
    assert rubric.exit_code == 0
    assert "- Strategic Vision: " in (study / "rubric.scales.txt").read_text()


def test_faults_of_a_sheet_are_told_by_file_and_line(study):
    society("rate", "export", "0000", "--out", "sheet.csv")
    bad = {"novelty": 0, "feasibility": 5, "effectiveness": 5}
    sheet = filled(study / "sheet.csv", "eve", lambda place: bad)
    done = society("rate", "import", sheet, "--key", "sheet.key.json")
    assert done.exit_code == 2
    assert f"{sheet}:2: novelty of R001: got '0', expected a number from 1 to 10" in done.output


def test_a_run_that_is_another_one_by_now_is_refused(study):
    society("rate", "export", "0000", "--out", "sheet.csv")
    five = {"novelty": 5, "feasibility": 5, "effectiveness": 5}
    sheet = filled(study / "sheet.csv", "eve", lambda place: five)
    unlist(study / "0000")
    (study / "0000" / "digest").write_text("0" * 64)
    done = society("rate", "import", sheet, "--key", "sheet.key.json")
    assert done.exit_code == 2
    assert "is not the run that the sheet was made of" in done.output
