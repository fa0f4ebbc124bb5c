"""Whole calibrations of small synthetic fields: bytes, stops, locks, and known truths."""

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from tests.scenarios.calibration.conftest import FILE, write_jsonl
from virsci_society.agents.errors import InputError
from virsci_society.scenarios.calibration.calibrate import calibrate
from virsci_society.scenarios.calibration.calibration_file import read_calibration
from virsci_society.scenarios.calibration.exits import exit_effects
from virsci_society.scenarios.cli.app import app
from virsci_society.scenarios.config.schema import load_scenario

TABLES = ("parameters.csv", "check.csv", "people.csv", "scores.csv")
FILES = ("calibrated.yaml", "posterior.parquet", *TABLES, "report.html")
# Two windows and the fewest simulations: for tests that compare bytes and look at no value.
BRIEF = FILE.replace("[2006, 2007, 2008]", "[2007, 2008]").replace(
    "points: 40, noise: 6", "points: 20, noise: 5"
)


def content(folder):
    return {name: (folder / name).read_bytes() for name in FILES}


@pytest.fixture(scope="module")
def finished(tmp_path_factory, field_papers):
    """One finished calibration: its folder and the folder of its inputs."""
    from tests.scenarios.calibration.conftest import BASE

    place = tmp_path_factory.mktemp("field")
    (place / "base.yaml").write_text(BASE, encoding="utf-8")
    (place / "field.yaml").write_text(FILE, encoding="utf-8")
    write_jsonl(place / "papers.jsonl", field_papers)
    outcome = calibrate(read_calibration(place / "field.yaml"), place / "out")
    return outcome, place


@pytest.fixture(scope="module")
def brief(finished, tmp_path_factory):
    """A calibration of the same papers with half of the simulations."""
    place = copied(finished, tmp_path_factory.mktemp("brief"))
    (place / "field.yaml").write_text(BRIEF, encoding="utf-8")
    return calibrate(read_calibration(place / "field.yaml"), place / "out"), place


def copied(finished, tmp_path):
    """The inputs of a finished calibration in another folder, which lies as deep."""
    for name in ("base.yaml", "field.yaml", "papers.jsonl"):
        (tmp_path / name).write_bytes((finished[1] / name).read_bytes())
    return tmp_path


@pytest.mark.slow
def test_every_file_is_written_and_read(finished):
    outcome, place = finished
    out = place / "out"
    scenario = load_scenario(out / "calibrated.yaml")
    assert scenario.protocol.newcomers.seat == pytest.approx(
        outcome.values["protocol.newcomers.seat"], rel=1e-3
    )
    assert scenario.founding.teams_per_year == pytest.approx(
        outcome.values["founding.teams_per_year"], rel=1e-3
    )
    # A key that can be neither counted nor fitted is left to the base.
    assert "max_teams" not in (out / "calibrated.yaml").read_text()
    assert scenario.founding.max_teams == 1000
    text = (out / "calibrated.yaml").read_text()
    assert "# counted, standard error" in text
    assert "# posterior, 90 %" in text or "# prior, not identified" in text
    draws = pd.read_parquet(out / "posterior.parquet")
    assert draws["weight"].sum() == pytest.approx(1)
    assert draws["protocol.selection.q"].between(0, 1).all()
    check = pd.read_csv(out / "check.csv")
    assert set(check["window"]) == {2009}
    for forecaster in ("simulated", "persistence", "trend", "counted"):
        assert check[f"off_{forecaster}"].notna().sum() == 14
    scores = pd.read_csv(out / "scores.csv").iloc[0]
    assert 0 < scores["score_simulated"] < 5
    assert scores["of"] == 11
    assert "protocol.selection.q" in set(pd.read_csv(out / "parameters.csv")["key"])
    page = (out / "report.html").read_text()
    told = "The held-out papers were opened once, after the fit."
    for words in (told, "Held-out years", "a synthetic field", "What it shows"):
        assert words in page


@pytest.mark.slow
def test_the_share_of_newcomers_is_recovered(finished):
    """The field was made with 0.45 of the further seats for newcomers."""
    rows = finished[0].parameters.set_index("key")
    row = rows.loc["protocol.newcomers.seat"]
    assert row["origin"] == "posterior"
    assert row["recovered"] > 0.3
    assert row["low"] - 0.05 < 0.45 < row["high"] + 0.05


@pytest.mark.slow
@pytest.mark.parametrize("kept", [0.02, 0.8, 0.97])
def test_a_calibration_that_was_killed_goes_on(finished, tmp_path, kept):
    place, whole = copied(finished, tmp_path), finished[1] / "out"
    out = place / "out"
    out.mkdir()
    log = (whole / "simulations.jsonl").read_bytes()
    (out / "lock.json").write_bytes((whole / "lock.json").read_bytes())
    # The kill came in the middle of a line.
    (out / "simulations.jsonl").write_bytes(log[: int(kept * len(log))])
    calibrate(read_calibration(place / "field.yaml"), out)
    assert content(out) == content(whole)
    assert (out / "simulations.jsonl").read_bytes() == log


@pytest.mark.slow
def test_the_number_of_workers_changes_nothing(brief, tmp_path):
    place = copied(brief, tmp_path)
    calibrate(read_calibration(place / "field.yaml"), place / "out", workers=2)
    assert content(place / "out") == content(brief[1] / "out")


@pytest.mark.slow
def test_papers_after_the_last_year_that_is_used_leave_no_trace(brief, tmp_path, field_papers):
    place = copied(brief, tmp_path)
    write_jsonl(place / "papers.jsonl", [paper for paper in field_papers if paper[0] < 2010])
    assert len((place / "papers.jsonl").read_text()) < len((brief[1] / "papers.jsonl").read_text())
    calibrate(read_calibration(place / "field.yaml"), place / "out")
    assert content(place / "out") == content(brief[1] / "out")
    assert (place / "out" / "lock.json").read_bytes() == (
        brief[1] / "out" / "lock.json"
    ).read_bytes()


@pytest.mark.slow
def test_held_out_papers_have_no_part_in_the_fit(brief, tmp_path, field_papers):
    place = copied(brief, tmp_path)
    swapped = [
        (year, name, team[:1] if year == 2009 else team) for year, name, team in field_papers
    ]
    write_jsonl(place / "papers.jsonl", swapped)
    calibrate(read_calibration(place / "field.yaml"), place / "out")
    found, known = content(place / "out"), content(brief[1] / "out")
    for name in ("calibrated.yaml", "posterior.parquet"):
        assert found[name] == known[name]
    assert found["check.csv"] != known["check.csv"]


@pytest.mark.slow
def test_another_calibration_is_refused_in_the_same_folder(finished, tmp_path):
    place = copied(finished, tmp_path)
    out = place / "out"
    out.mkdir()
    (out / "lock.json").write_bytes((finished[1] / "out" / "lock.json").read_bytes())
    (place / "field.yaml").write_text(FILE.replace("points: 40", "points: 41"))
    with pytest.raises(InputError, match=r"effort\.points: 40 -> 41"):
        calibrate(read_calibration(place / "field.yaml"), out)
    (place / "field.yaml").write_text(FILE)
    papers = (place / "papers.jsonl").read_text().splitlines()
    (place / "papers.jsonl").write_text("\n".join(papers[1:]))
    with pytest.raises(InputError, match="papers: "):
        calibrate(read_calibration(place / "field.yaml"), out)


def test_a_folder_with_other_files_is_refused(read, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="contains other files"):
        calibrate(read(), tmp_path / "full")


def test_held_out_papers_that_are_opened_for_two_fits_are_told(tmp_path):
    from virsci_society.scenarios.calibration.calibrate import open_held_out

    assert "opened once" in open_held_out(tmp_path, "a")
    assert "opened once" in open_held_out(tmp_path, "a")
    assert "opened 2 times" in open_held_out(tmp_path, "b")


def test_a_target_that_is_never_measured_in_a_window(read, place, tmp_path):
    """In a year in which everybody wrote alone there is no link."""
    rows = [json.loads(row) for row in (place / "papers.jsonl").read_text().splitlines()]
    for row in rows:
        if row["year"] == 2007:
            row["authors"] = row["authors"][:1]
    (place / "papers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(InputError, match=r"field.yaml:9:\d+: .*repeat_rate is never measured in"):
        calibrate(read(), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_the_command(finished, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place = copied(finished, tmp_path)
    out = place / "runs" / "calibrations" / "field"
    out.mkdir(parents=True)
    for name in ("lock.json", "simulations.jsonl"):
        (out / name).write_bytes((finished[1] / "out" / name).read_bytes())
    done = CliRunner().invoke(app, ["calibrate", "field.yaml"])
    assert done.exit_code == 0, done.output
    assert "2009: score" in done.output
    assert "; trend " in done.output
    assert "opened once" in done.output
    (place / "field.yaml").write_text(FILE.replace("held_out: 2009", "held_out: 2008"))
    wrong = CliRunner().invoke(app, ["calibrate", "field.yaml"])
    assert wrong.exit_code == 2
    assert "field.yaml:5:1: " in wrong.output


def test_exits_of_stars_are_simulated_beside_the_real_ones(
    place, written, field_papers, monkeypatch
):
    monkeypatch.chdir(place)
    early = Counter(one for year, _, team in field_papers if year <= 2003 for one in team)
    star = max(early, key=early.get)
    left = [
        (year, name, [one for one in team if year <= 2003 or one != star])
        for year, name, team in field_papers
    ]
    write_jsonl(place / "papers.jsonl", [paper for paper in left if paper[2]])
    done = CliRunner().invoke(app, ["calibrate", written().name, "--exits"])
    assert done.exit_code == 0, done.output
    for words in ("collaborators", "simulated, all stay", "difference in differences"):
        assert words in done.output
    assert not (place / "runs").exists()
    calibration = read_calibration(place / "field.yaml")
    table = exit_effects(calibration).set_index(["group", "side"])
    assert table.loc[("collaborators", "real"), "exits"] > 0
    past = calibration.corpus.before(2007).counted_from(calibration.corpus.day(2007))
    run, parts = calibration.simulator.simulate, ({}, past, 0.0, 1095.0, 1)
    written_by = run(*parts).authors
    busy = int(np.bincount(written_by[written_by < past.people]).argmax())
    assert busy not in run(*parts, (busy,)).authors
