"""The commands that show scenarios and runs: list, new, runs, open, show and transcript."""

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.command_line import society
from virsci_society.agents.files.file_hashes import update_hashes
from virsci_society.agents.invented_names import with_invented_names
from virsci_society.metrics.network_layout import layout_of, run_communities
from virsci_society.metrics.registry import MEASURES, METRICS
from virsci_society.metrics.report.page import _written_measures
from virsci_society.metrics.summary import summarise_run
from virsci_society.metrics.summary_file import SUMMARY, read_summary
from virsci_society.scenarios.cli.app import TEMPLATE
from virsci_society.scenarios.config.registry import TABLES
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.runs.run_state import list_runs
from virsci_society.society.results.run import Run
from virsci_society.society.results.table_files import write_metrics


def plain(summary):
    """A summary as JSON gives it back."""
    return json.loads(json.dumps(summary))


def test_a_new_scenario_is_one_that_check_accepts(here):
    done = society("new", "mine")
    assert done.exit_code == 0, done.output
    assert done.output.splitlines()[1].strip() == "society check mine.yaml"
    assert load_scenario(here / "mine.yaml").name == "mine"
    header = (here / "mine.yaml").read_text().splitlines()[0]
    assert header == "# yaml-language-server: $schema=scenario.schema.json"
    assert json.loads((here / "scenario.schema.json").read_text())["properties"]["seed"]
    assert society("check", "mine.yaml").output == "mine is valid (seed 1)\n"
    again = society("new", "mine.yaml")
    assert again.exit_code == 2
    assert "mine.yaml: exists already" in again.stderr


def test_a_new_scenario_may_extend_another(here):
    assert society("new", "sub/mine", "--from", "virsci/single").exit_code == 0
    assert load_scenario("sub/mine.yaml").to_data()["protocol"]["team_size"] == 1
    assert society("new", "other", "--from", "sub/mine.yaml").exit_code == 0
    assert load_scenario("other.yaml").name == "other"
    wrong = society("new", "third", "--from", "nothing")
    assert wrong.exit_code == 2
    assert not Path("third.yaml").exists()


@pytest.mark.parametrize("name", ["1", "yes", "a: b", "# x", "null", "with space"])
def test_a_new_scenario_may_have_any_name(here, name):
    assert society("new", name).exit_code == 0
    assert load_scenario(here / f"{name}.yaml").name == name


def test_what_the_template_offers_in_comments_is_accepted(here):
    """``or`` in a comment names another value of that key, ``{...}`` included."""
    text = TEMPLATE.read_text(encoding="utf-8")
    for other in (
        ("team_size: 4", "team_size: {use: stated, weights: {3: 0.5, 4: 0.5}}"),
        ("inviting: at_once", "inviting: one_by_one"),
        ("attention: on", "attention: unlimited"),
        (
            "  use: offline",
            "  use: litellm\n  model: ollama_chat/llama3.1\n  budget: {tokens: 3000000}\n #",
        ),
    ):
        words = [part.strip(" #").partition(": ")[2] for part in other[1].split("\n")]
        assert all(word in text for word in words), other
        (here / "s.yaml").write_text(text.replace(*other))
        load_scenario(here / "s.yaml")


def test_list_says_what_a_scenario_contains():
    shown = society("list", "virsci/single").output
    assert "extends: virsci/paper" in shown
    assert "#   population from synthetic, 150 scientists" in shown


@pytest.mark.parametrize("kind", TABLES)
def test_list_names_every_part_of_a_kind(kind):
    shown = society("list", kind).output
    assert "\\n" not in shown, "an end of line was escaped"
    lines = [line for line in shown.splitlines() if not line.startswith(" ")]
    assert [line.split()[0].rstrip(":") for line in lines] == list(TABLES[kind])
    assert all(len(line.split()) > 3 for line in lines)


@pytest.mark.parametrize(("kind", "table"), [("metrics", METRICS), ("measures", MEASURES)])
def test_list_has_every_metric_and_measure_by_family_with_its_definition(kind, table):
    lines = society("list", kind).output.splitlines()
    assert "family cost" in lines
    for name in table:
        assert any(line.split()[:1] == [name] and len(line.split()) > 3 for line in lines), name
    assert (kind == "measures") == any("[co-authors]" in line for line in lines)


def test_list_says_what_a_name_is_and_shows_the_keys_of_a_section():
    assert "a component of kind selection" in society("list", "topics").output
    assert "a component of kind protocols" in society("list", "cycle_researcher").output
    assert "modularity is a measure" in society("list", "modularity").output
    assert "pieces is a metric" in society("list", "pieces").output
    shown = society("list", "keys", "protocol.selection").output
    assert "\nprotocol.selection.nearest = " in shown
    assert "\nbackend" not in shown
    assert not {"`", "#"} & set(shown)
    wrong = society("list", "keys", "protocol.selectoin")
    assert wrong.exit_code == 2
    assert "did you mean 'protocol.selection'?" in wrong.stderr


def test_show_prints_the_written_summary_which_is_that_of_the_tables(small_run):
    told = json.loads(society("show", small_run, "--json").output)
    run = Run.open(small_run)
    assert told == read_summary(small_run) == plain(summarise_run(run))
    run.tables()
    run.folder = None
    assert read_summary(small_run, "network") == plain(layout_of(run_communities(run)))


def test_show_prints_one_table_or_measure(small_run, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    run = Run.open(small_run)
    shown = society("show", small_run, "--table", "papers").output
    assert f"papers: {len(run.table('papers'))} rows" in shown
    assert not set("│┃━") & set(shown), "a pipe gets plain text"
    assert all(paper in shown for paper in run.table("papers")["paper"])
    weekly = json.loads(society("show", small_run, "--table", "weekly", "--json").output)
    assert len(weekly) == len(run.metric("weekly"))
    wrong = society("show", small_run, "--table", "paper")
    assert wrong.exit_code == 2
    assert "no metric is called 'paper'" in wrong.stderr


def change_table(folder, patch):
    cost = Run.open(folder).metric("inference_cost")
    write_metrics(folder, {"inference_cost": cost.assign(topic=cost["topic"] + 1)})


def add_unlisted_table(folder, patch):
    tables = folder / "tables"
    shutil.copy(tables / "papers.parquet", tables / "metrics" / "unlisted.parquet")


def change_manifest(folder, patch):
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps(manifest | {"seed": 99}))
    update_hashes(folder, [folder / "manifest.json"])


def change_code(folder, patch):
    patch.setattr("virsci_society.metrics.summary_file.source_digest", lambda: "other")


@pytest.mark.parametrize("change", [change_table, add_unlisted_table, change_manifest, change_code])
def test_a_stale_summary_is_computed_again(small_run, tmp_path, monkeypatch, change):
    folder = tmp_path / "run"
    shutil.copytree(small_run, folder)
    assert _written_measures(Run.open(folder))
    change(folder, monkeypatch)
    assert read_summary(folder) is read_summary(folder, "network") is None
    assert not _written_measures(Run.open(folder)), "the page"
    told = json.loads(society("show", folder, "--json").output)
    assert told == plain(summarise_run(Run.open(folder)))
    assert (told == read_summary(small_run)) == (change is add_unlisted_table)


def test_a_damaged_summary_is_an_error(small_run, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(small_run, folder)
    text = (folder / SUMMARY).read_text()
    (folder / SUMMARY).write_text(text[: len(text) // 2])
    for command in (("show", folder), ("export", "page", folder)):
        done = society(*command)
        assert done.exit_code == 2
        assert "summary.json: was changed or damaged" in done.stderr


@pytest.mark.parametrize("summary", [{}, {"teams": []}, {"teams": {"dissolved": {"a": "b"}}}])
def test_show_refuses_a_summary_that_is_none(small_run, tmp_path, summary):
    """A folder of a stranger whose hashes fit."""
    folder = tmp_path / "run"
    shutil.copytree(small_run, folder)
    data = json.loads((folder / SUMMARY).read_text()) | {"summary": summary}
    (folder / SUMMARY).write_text(json.dumps(data))
    update_hashes(folder, [folder / SUMMARY])
    shown = society("show", folder)
    assert shown.exit_code == 2
    assert "summary.json: not a run summary" in shown.stderr


def test_show_is_ten_lines_with_a_sentence(small_run):
    lines = society("show", small_run).output.splitlines()
    assert len(lines) == 10
    run = Run.open(small_run)
    papers = len(run.table("papers"))
    assert lines[1].startswith(
        "  what happened       in 182 days, 12 scientists founded 2 teams of "
    )
    assert f"published {papers} paper" in lines[1]
    assert lines[-1].split() == ["digest", run.digest]


@pytest.fixture
def folders(small_run, here):
    """A folder of runs: finished, stopped, begun, damaged, linked, and something else."""
    runs = here / "runs"
    for name in ("done", "studies/s/runs/0001"):
        (runs / name / "tables").mkdir(parents=True)
        shutil.copy(small_run / "manifest.json", runs / name)
    for name in ("stopped", "begun", "damaged"):
        (runs / name).mkdir()
        (runs / name / "journal.sqlite").write_bytes(b"")
    part = runs / "stopped" / "partial"
    part.mkdir()
    held = json.loads((small_run / "manifest.json").read_text())
    ledger = {"attempts": 3, "prompt_tokens": 10, "completion_tokens": 5, "usd": 0.25}
    (part / "manifest.json").write_text(json.dumps(held | {"days": 1961.4, "ledger": ledger}))
    (runs / "damaged" / "manifest.json").write_text("[" * 100_000)
    (runs / "linked").symlink_to(small_run)
    (runs / "else").mkdir()
    return runs


def test_runs_are_listed_with_state_date_and_cost(folders):
    found = {Path(one.folder).relative_to(folders).as_posix(): one for one in list_runs(folders)}
    assert {name: one.state for name, one in found.items()} == {
        "begun": "killed",
        "damaged": "damaged",
        "done": "finished",
        "stopped": "stopped",
        "studies/s/runs/0001": "finished",
    }
    stopped = found["stopped"]
    assert (stopped.days, stopped.calls, stopped.tokens, stopped.usd) == (1961.4, 3, 15, 0.25)
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:", one.date) for one in found.values())
    shown = society("list", "runs").output
    assert "stopped" in shown
    assert "0.25" in shown
    assert " 1,961 " in shown
    assert len(json.loads(society("list", "runs", folders, "--json").output)) == 5


def as_study(folder, small_run, done):
    """A study of three runs, so many of which have finished, and one that was killed."""
    for index in range(done):
        (folder / f"runs/000{index}" / "tables").mkdir(parents=True)
        shutil.copy(small_run / "manifest.json", folder / f"runs/000{index}")
    if done < 3:
        (folder / "runs/0002").mkdir(parents=True)
        (folder / "runs/0002" / "journal.sqlite").write_bytes(b"")
    (folder / "lock.json").write_text('{"arms": [{"name": "one"}], "replicates": 3}')
    return folder


def test_a_study_is_one_line_among_runs(folders, small_run):
    study = as_study(folders / "sizes", small_run, 2)
    found = {Path(one.folder).name: one for one in list_runs(folders)}
    assert found["sizes"].state == "study: 2 of 3 runs finished"
    assert not any(Path(one.folder).is_relative_to(study / "runs") for one in found.values())
    assert society("list", "runs").output.count("sizes") == 1


def test_what_a_folder_without_results_holds_is_told_with_the_command_that_goes_on(here, small_run):
    study = as_study(here / "runs" / "studies" / "sizes", small_run, 2)
    told = (
        f"{study}: a study, 2 of 3 runs finished; 'society study report {study}' writes its page; "
        f"'society study run {study}' resumes it; one of its runs is {study}/runs/0000\n"
    )
    for command in (("show",), ("explore",), ("show", "--open"), ("transcript",)):
        first = f"reading {study}\n" if command == ("explore",) else ""
        assert society(*command, study).stderr == first + told, command
    (study / "report.html").write_text("")
    assert "show --open" in society("show", study).stderr
    whole = as_study(here / "runs" / "studies" / "whole", small_run, 3)
    assert "study run" not in society("show", whole).stderr
    both = here / "runs" / "studies"
    assert (
        f"{both}: contains 2 studies; give one, such as {study} (" in society("show", both).stderr
    )
    (here / "runs" / "one").mkdir()
    shutil.copy(small_run / "manifest.json", here / "runs" / "one")
    held = society("show", here / "runs").stderr
    assert "contains 1 run and 2 studies; give one, such as " in held
    assert f"{here / 'runs'} ('society list runs" not in held


def test_open_shows_the_page_in_the_browser(small_run, here, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: bool(opened.append(address)) or True)
    done = society("show", small_run, "--open")
    assert done.exit_code == 0, done.output
    assert opened == [(small_run / "report.html").resolve().as_uri()]
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    assert "no browser here; open file:///" in society("show", small_run, "--open").output
    assert "no such folder" in society("show", here / "no", "--open").stderr
    assert "so this is not a run folder" in society("show", here, "--open").stderr
    bare = shutil.copytree(small_run, here / "bare")
    (bare / "report.html").unlink()
    assert f"'society export page {bare}' writes it" in society("show", bare, "--open").stderr
    (here / "report.html").symlink_to("/etc/hostname")
    assert society("show", here, "--open").exit_code == 2


def test_a_transcript_lists_the_teams(small_run):
    lines = society("transcript", small_run).output.splitlines()
    teams = list(Run.open(small_run).table("teams")["team"])
    assert [line.split()[0] for line in lines[1:]] == list(map(with_invented_names, teams))
    assert all(len(line) <= 80 for line in lines)


def test_a_transcript_holds_every_word_of_a_team(small_run):
    run = Run.open(small_run)
    calls = run.table("calls")
    team = calls["team"].iloc[0]
    text = society("transcript", small_run, team).output
    assert society("transcript", small_run, with_invented_names(team)).output == text
    assert all(len(line) <= 80 for line in text.splitlines())
    spoken = " ".join(text.split())
    of_team = calls[calls["team"] == team]
    for reply in of_team["reply"]:
        for value in json.loads(reply).values():
            if isinstance(value, str):
                assert with_invented_names(" ".join(value.split())) in spoken
    heads = re.findall(r"^day [\d.]+: ", text, re.MULTILINE)
    assert len(heads) == len(of_team)
    assert "== novelty, turn 1 ==" in text
    assert "voted" in text
    assert "(to the team)" in text


def test_a_transcript_of_one_stage(small_run):
    calls = Run.open(small_run).table("calls")
    votes = calls[calls["stage"] == "novelty"]
    team = votes["team"].iloc[0]
    text = society("transcript", small_run, team, "--stage", "novelty").output
    assert len(re.findall(r"^day ", text, re.MULTILINE)) == len(votes[votes["team"] == team])
    assert "== topic" not in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nobody/1"], "no team 'nobody/1' in this run"),
        (["--all", "--stage", "novelti"], "did you mean 'novelty'?"),
    ],
)
def test_what_a_transcript_does_not_hold_is_told(small_run, arguments, message):
    wrong = society("transcript", small_run, *arguments)
    assert wrong.exit_code == 2
    assert message in wrong.stderr


@pytest.mark.parametrize(
    "command",
    [
        *("show", "transcript", "replay", "doctor", "facts --draws 3", "explore --out x.html"),
        *("export archive --out a.zip", "export prompts --out p.md", "review --sheet s.csv"),
    ],
)
def test_a_run_in_the_folder_runs_is_found_by_its_name(here, small_run, command):
    shutil.copytree(small_run, here / "runs" / "mine")
    words = command.split()
    at = 2 if words[0] == "export" else 1
    done = society(*words[:at], "mine", *words[at:])
    assert done.exit_code == 0, done.output
