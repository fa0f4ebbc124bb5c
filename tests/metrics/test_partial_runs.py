"""Run folders that are partial, and what is shown of them."""

import json
import os

import pytest

from tests.command_line import society
from tests.hand_run import hand_rows
from tests.metrics.html_page import Page, assert_inert
from virsci_society.metrics.registry import METRICS
from virsci_society.metrics.report.page import render_page
from virsci_society.metrics.summary import summarise_run

WHY = "the budget is reached: 4.99 of 5 US dollars are spent"
STOPPED = {"partial": WHY, "days": 60.0, "until": 730.0}
AT_WORK = "S5/1"


def rows_of_a_part():
    """The hand-made rows as a stop leaves them: of a team at work, only what the clock wrote."""
    rows = hand_rows()
    for name in ("teams", "members", "consultations"):
        rows[name] = [row for row in rows[name] if row[0] != AT_WORK]
    rows["calls"] = [row for row in rows["calls"] if row[1] != AT_WORK]
    assert any(row[0] == AT_WORK for row in rows["meetings"] + rows["homework"])
    return rows


@pytest.fixture
def part_rows():
    """These rows, free to be changed by a test."""
    return rows_of_a_part()


@pytest.fixture(scope="module")
def shared(make_run):
    """A run that was stopped on day 60, which no test may change."""
    return make_run(rows_of_a_part(), STOPPED)


@pytest.fixture
def part(part_rows, make_run):
    """A run that was stopped on day 60."""
    return make_run(part_rows, STOPPED)


def text(run):
    html = render_page(run)
    assert_inert(html)
    return Page(html).text()


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", METRICS)
def test_every_measure_can_be_taken_of_a_part(name, shared, measured):
    assert METRICS[name](shared).dtypes.to_dict() == measured[name].dtypes.to_dict()


def test_the_page_says_at_its_top_what_it_is(part):
    told = text(part)
    top = told.index(f"Part of a run. The run was stopped: {WHY}.")
    assert top < told.index("All decisions and texts come from")
    assert "7 scientists founded 2 teams that had ended" in told
    for words in (
        *("up to day 60 of 730", "Teams that were still at work", "There is no digest"),
        "2 teams had ended by day 60: 1 had published and 1 had dissolved.",
        *("teams that had ended", "digest none: the run is incomplete"),
        "It is measured at the end of the run",
    ):
        assert words in told, words
    assert "were founded" not in told


def test_teams_at_work_are_not_drawn_from_those_that_have_ended(part, run):
    drawn = "Number of teams at work over simulated time"
    assert drawn in render_page(run)
    assert drawn not in render_page(part)
    assert "Teams still at work are not drawn" in text(part)


def test_a_part_of_nothing_has_a_page(make_run):
    told = text(make_run({}, {**STOPPED, "days": 0.0}))
    assert "up to day 0 of 730" in told
    assert "0 teams had ended" in told


def test_what_a_part_cannot_know_is_none(part, run):
    teams = summarise_run(part)["teams"]
    assert (teams["founded"], teams["published"]) == (2, 1)
    assert teams["running"] is teams["finished"] is None
    assert (summarise_run(part)["partial"], summarise_run(part)["until"]) == (WHY, 730.0)
    assert summarise_run(part)["digest"] is None
    assert summarise_run(run)["partial"] is None
    json.dumps(summarise_run(part), allow_nan=False)


@pytest.mark.slow
def test_an_unfinished_run_is_shown_and_drawn_by_its_part(put, part_rows):
    folder = put("run/partial", part_rows, STOPPED)
    shown = society("show", folder.parent, "--json")
    assert f"not finished; its world up to day 60 (stopped: {WHY})" in shown.stderr
    assert json.loads(shown.stdout)["partial"] == WHY
    assert society("export", "page", folder.parent).exit_code == 0
    assert "Part of a run." in (folder / "report.html").read_text()
    assert not (folder.parent / "report.html").exists()


def test_a_finished_run_is_shown_whatever_part_lies_in_it(put, rows, part_rows):
    folder = put("run", rows)
    put("run/partial", part_rows, STOPPED)
    done = society("show", folder, "--json")
    assert done.stderr == ""
    assert json.loads(done.stdout)["partial"] is None


def test_an_unfinished_run_without_a_part_is_an_input_error(tmp_path, put, rows):
    (tmp_path / "run").mkdir()
    for command in (("show",), ("export", "page")):
        done = society(*command, tmp_path / "run")
        assert (done.exit_code, done.stdout) == (2, "")
        assert "manifest.json: missing, so this is not a run folder" in done.stderr
    elsewhere = put("elsewhere", rows)
    os.symlink(elsewhere, tmp_path / "run" / "partial")
    assert society("export", "page", tmp_path / "run").exit_code == 2
    assert not (elsewhere / "report.html").exists()


def test_a_reason_cannot_command_the_terminal(put, part_rows):
    folder = put("run/partial", part_rows, {**STOPPED, "partial": "a\x1b[2Jb\nc"})
    assert r"(stopped: a\x1b[2Jb c)" in society("show", folder).stderr
