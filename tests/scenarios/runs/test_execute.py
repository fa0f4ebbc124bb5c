"""A scenario becomes a run folder, which alone runs the same again."""

import hashlib
import json
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.scenarios.runs.asked import digest
from virsci_society import load_scenario, run_scenario
from virsci_society.agents.errors import InputError, Stopped
from virsci_society.agents.files.file_hashes import source_digest
from virsci_society.metrics.report.overview import head_count
from virsci_society.metrics.summary import summarise_run
from virsci_society.scenarios.runs.execute import default_folder, is_finished, prepare
from virsci_society.scenarios.runs.progress import Progress
from virsci_society.society.population import population
from virsci_society.society.results.run import Run
from virsci_society.society.results.run_log import PARTICIPANT_COLUMNS
from virsci_society.society.results.tables import TABLES


def manifest(folder):
    found = json.loads((folder / "manifest.json").read_text())
    return found


@pytest.mark.parametrize(
    "name",
    [
        *("manifest.json", "scenario.yaml", "events.jsonl", "vectors.npz", "network.graphml"),
        *("report.html", "summary.json", "digest"),
        *(f"tables/{table}.parquet" for table in TABLES),
        "tables/metrics/novelty.parquet",
        "tables/metrics/inference_cost.parquet",
    ],
)
def test_every_file_is_there(small_run, name):
    assert (small_run / name).stat().st_size > 0


def test_the_manifest_says_what_was_run_from_what_by_what(small_run):
    told = manifest(small_run)
    assert (told["name"], told["seed"], told["days"], told["until"]) == ("small", 3, 182.0, 182.0)
    assert told["boundary"] == 2024
    assert told["backend"] == {
        "use": "offline",
        "model": None,
        "about": "rule-based scientists, not a language model",
        "cutoff": None,
    }
    assert told["digest"] == (small_run / "digest").read_text().strip()
    assert told["ecosystem"]["counts"]["scientists"] == 12
    assert len(told["ecosystem"]["manifest"]) == 64
    assert told["versions"]["simpy"]
    assert told["sources"] == source_digest()
    assert set(told["prompts"]) >= {"topic_turn.txt", "ballot.txt"}
    assert told["scenario"]["founding"] == {
        "use": "once",
        "max_teams": 3,
        "leaders": None,
        "count": 2,
        "every": "1w",
    }


@pytest.mark.slow
def test_a_large_run_lists_who_took_part_with_their_earlier_ties(
    small, small_run, here, monkeypatch
):
    monkeypatch.setattr(population, "ALL_AGENTS_LIMIT", 5)
    large = Run.open(run_scenario(small, here / "large", page=False))
    everybody = Run.open(small_run)
    took_part = set(large.table("members")["scientist"])
    assert took_part == set(everybody.table("members")["scientist"])
    took_part |= {
        who for table, name in PARTICIPANT_COLUMNS.items() for who in large.table(table)[name]
    }
    assert set(large.table("scientists")["scientist"]) == took_part
    assert len(took_part) < len(everybody.table("scientists")) == 12
    before = large.table("ties").query("date < 0")
    assert len(before) > 0
    assert (before["source"].isin(took_part) | before["target"].isin(took_part)).all()
    assert head_count(large) == head_count(everybody) == "12 invented scientists from 2 fields"
    assert summarise_run(large)["scientists"] == 12


def test_vectors_are_those_of_the_published_papers(small_run):
    vectors = Run.open(small_run).vectors
    assert vectors is not None
    assert list(vectors.ids) == sorted(vectors.ids)
    assert vectors.values.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors.values, axis=1), 1, atol=1e-4)


@pytest.mark.usefixtures("no_results")
def test_the_resolved_scenario_alone_runs_the_same(small_run, here):
    again = run_scenario(load_scenario(small_run / "scenario.yaml"), here / "again")
    assert digest(again) == digest(small_run)
    assert (again / "scenario.yaml").read_bytes() == (small_run / "scenario.yaml").read_bytes()
    assert manifest(again)["identity"] == manifest(small_run)["identity"]


@pytest.mark.usefixtures("no_results")
def test_how_it_is_run_does_not_change_the_digest(small, small_run, here):
    changed = small.set("backend.in_flight", 1).set("backend.latency", 0.0005).set("step", "1d")
    assert digest(run_scenario(changed, here / "run")) == digest(small_run)


def test_the_digest_is_of_tables_network_and_events(small_run):
    from virsci_society.society.results.digest import digest_content, digest_tables

    run = Run.open(small_run)
    tables = {name: run.in_arrow(name) for name in TABLES}
    told = digest_tables(digest_content(tables)).encode()
    # Who spoke stands on lines of its own, which the digest leaves out.
    for name, others in (("network.graphml", 2), ("events.jsonl", 1)):
        lines = (small_run / name).read_bytes().splitlines(keepends=True)
        kept = [line for line in lines if b"speaker" not in line]
        assert len(lines) - len(kept) == others
        told += b"".join(kept).replace(b"papers_in_run", b"papers")  # its name in older releases
    assert hashlib.sha256(told).hexdigest() == digest(small_run).strip()


class Never(Progress):
    def begin(self, phase):
        raise AssertionError(phase)


def test_a_finished_run_is_left_alone(small, small_run):
    before = {path: path.stat().st_mtime_ns for path in small_run.rglob("*")}
    assert is_finished(small, small_run)
    assert run_scenario(small.set("backend.in_flight", 2), small_run, Never()) == small_run
    assert before == {path: path.stat().st_mtime_ns for path in small_run.rglob("*")}


@pytest.mark.parametrize("name", ["thesis.tex", "scenario.yaml"])
def test_a_folder_with_other_files_is_never_written_to(small, here, name):
    (here / name).write_text("years of work")
    with pytest.raises(InputError, match="contains other files; give another folder with --out"):
        run_scenario(small, here, Never())
    assert (here / name).read_text() == "years of work"


@pytest.mark.slow
@pytest.mark.parametrize(
    "left",
    [
        "journal.sqlite.unfinished/journal.sqlite",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("journal.sqlite.lock", ".writable-0")
        ),
    ],
)
def test_a_folder_that_a_kill_left_before_its_journal_is_gone_on_with(small, small_run, here, left):
    path = here / "run" / left
    path.parent.mkdir(parents=True)
    path.touch()
    assert digest(run_scenario(small, here / "run")) == digest(small_run)
    other = here / "other" / left
    other.parent.mkdir(parents=True)
    other.touch()
    (here / "other" / "notes.txt").touch()
    with pytest.raises(InputError, match="contains other files; give another folder with --out"):
        run_scenario(small, here / "other")


def test_a_broken_manifest_is_told(small, write):
    for text in ("{", "[]", "[" * 100_000):
        path = write("run/manifest.json", text)
        with pytest.raises(InputError, match=r"manifest\.json: "):
            is_finished(small, path.parent)


def test_a_folder_that_cannot_be_written_is_told_before_the_simulation(small, here):
    (here / "file").write_text("")
    with pytest.raises(InputError, match=r"run: cannot be written to \(Not a directory\)"):
        prepare(small, here / "file" / "run")
    with pytest.raises(InputError, match="cannot be written to"):
        run_scenario(small, "/proc/run", Only("preparing"))


class Only(Progress):
    """Lets no phase begin: the check has to come first."""

    def __init__(self, forbidden):
        self.forbidden = forbidden

    def begin(self, phase):
        assert not phase.startswith(self.forbidden)


@pytest.mark.parametrize("bytes_", [0, 5000, 30_000])
def test_a_disk_that_is_full_from_the_first_write_on_is_a_stop(small, here, bytes_):
    _, most = limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_, most))
    try:
        with pytest.raises(Stopped, match=r"make room for (it|the run)"):
            run_scenario(small, here / "run")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not is_finished(small, here / "run")


@pytest.mark.slow
@pytest.mark.parametrize("kilobytes", [8, 56, 120])  # 56: no room for SQLite's shared memory
def test_a_run_on_a_full_disk_exits_5_and_goes_on_when_there_is_room(tmp_path, kilobytes):
    disk, run = tmp_path / "disk", f"{sys.executable} -m virsci_society run quickstart --out disk/r"
    disk.mkdir()
    script = (
        f"mount -t tmpfs -o size={kilobytes}k none disk || exit 77; {run}; echo first $?; "
        f"mount -o remount,size=50m disk; {run}; echo second $?"
    )
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script], cwd=tmp_path, capture_output=True, text=True
    )
    if done.returncode in (1, 77) and "first" not in done.stdout:
        pytest.skip("this user cannot mount a disk of their own")
    assert "first 5" in done.stdout, done.stderr
    assert "make room for it" in done.stderr
    assert "second 0" in done.stdout, done.stderr


@pytest.mark.parametrize(
    ("name", "folder"),
    [("virsci/paper", "virsci-paper-3"), ("../../etc", "etc-3"), (None, "scenario-3")],
)
def test_the_default_folder_is_named_after_scenario_and_seed(small, name, folder):
    assert default_folder(small.set("name", name)) == Path("runs") / folder
