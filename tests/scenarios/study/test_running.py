"""Running a study: what is missing is done, whoever does it; bytes never differ."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.faultserver.process import FaultServer
from virsci_society.agents.errors import InputError
from virsci_society.scenarios.cli.app import app
from virsci_society.scenarios.study.command import _indices
from virsci_society.scenarios.study.design import read_study
from virsci_society.scenarios.study.lock import (
    RunResult,
    exit_code,
    open_folder,
    read_results,
    require_lock,
    unfinished_runs,
)
from virsci_society.scenarios.study.run_one import run_one
from virsci_society.scenarios.study.run_study import run_anywhere, run_locally, run_study
from virsci_society.scenarios.study.study import Study
from virsci_society.scenarios.study.tables import gather

ROOT = Path(__file__).parents[3]
COMMAND = (
    "import sys; from virsci_society.scenarios.cli.app import main; sys.argv[0] = 'society'; main()"
)
TINY = """\
# Does size matter? A study for tests.
study: Tiny
base: virsci/paper
set:
  until: 60d
  protocol.turns: 1
  population.ecosystem: {scientists: 12, papers: 60}
  metrics: [cost]
arms: {two: {protocol.team_size: 2}, BIG: {}}
replicates: 2
measures: [papers, calls]
comparisons: [{test: paired, of: papers}]
"""
UNBUILDABLE = TINY.replace("BIG: {}", "many: {protocol.team_size: 13}")
GATHERED = ("study.json", "runs.parquet", "results.parquet")


def written(folder, text):
    path = folder / "tiny.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def opened(folder, text=TINY, *settings):
    """A study folder that nothing has been run in."""
    folder.mkdir(parents=True, exist_ok=True)
    design = read_study(written(folder, text), settings)
    study = folder / "study"
    open_folder(design, study)
    return design, study


def gathered(design, study):
    """Hashes of everything that gathering writes, and the digests of the runs."""
    lock = require_lock(study)
    found = read_results(study, lock)
    gather(design, study, lock, found)
    files = [study / name for name in GATHERED]
    hashes = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    return hashes | {"digests": [one.digest for one in found]}


def new_process(*arguments, cwd, env=None):
    """The command in an interpreter of its own."""
    return subprocess.run(
        [sys.executable, "-c", COMMAND, *map(str, arguments)],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | (env or {}),
        capture_output=True,
        text=True,
        timeout=500,
    )


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The tiny study, done run after run in this process."""
    design, study = opened(tmp_path_factory.mktemp("alone"))
    ends = run_locally(study, range(4))
    assert [one.state for one in ends] == ["done"] * 4
    return design, study, gathered(design, study)


@pytest.mark.slow
def test_all_arms_of_one_replicate_come_before_the_next_replicate(tmp_path):
    """So a seed's ecosystem is made once, and a study that is stopped has whole pairs."""
    design, study = opened(tmp_path)
    order = []
    noted = {"on_result": lambda result: order.append(result.index)}
    run_anywhere(design, study, range(design.runs), jobs=1, **noted)
    assert order == [0, 2, 1, 3]


def test_every_run_has_its_folder_and_its_result(alone):
    design, study, _ = alone
    ends = read_results(study, require_lock(study))
    assert [(one.arm, one.replicate) for one in ends] == [
        ("two", 0),
        ("two", 1),
        ("BIG", 0),
        ("BIG", 1),
    ]
    assert [one.seed for one in ends] == design.seeds("two") * 2
    assert all((study / f"runs/{i:04d}/manifest.json").is_file() for i in range(4))
    assert all(set(one.measures) == {"papers", "calls"} for one in ends)
    manifest = json.loads((study / "runs/0002/manifest.json").read_text())
    assert manifest["seed"] == design.seeds("BIG")[0]
    assert manifest["name"] == "virsci/paper, BIG"
    assert manifest["digest"] == ends[2].digest
    assert exit_code(ends) == 0


def test_tables_are_sorted_by_run_and_know_the_varied_keys(alone):
    import pandas as pd

    _, study, _ = alone
    runs = pd.read_parquet(study / "runs.parquet")
    assert runs["run"].tolist() == [0, 1, 2, 3]
    assert runs["protocol.team_size"].isna().tolist() == [False, False, True, True]
    results = pd.read_parquet(study / "results.parquet")
    assert results[["run", "measure"]].to_numpy().tolist() == [
        [run, name] for run in range(4) for name in ("papers", "calls")
    ]
    calls = [
        pd.read_parquet(study / f"runs/{run:04d}/tables/metrics/calls_by_act.parquet")["calls"]
        for run in range(4)
    ]
    assert [one.sum() for one in calls] == results.query("measure == 'calls'")["value"].tolist()


def test_a_report_of_a_study_under_way_is_an_interim_page_and_names_what_resumes_it(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    own = tmp_path / "study.yaml"
    own.write_text(TINY, encoding="utf-8")

    def society(*arguments):
        return CliRunner().invoke(app, ["study", *arguments])

    for index in (0, 2):
        assert society("run", "study.yaml", f"--index={index}").exit_code == 0
    folder = Path("runs/studies/study")
    told = society("report", "study")
    assert told.exit_code == 0, told.output
    assert f"of 4 runs, 2 waiting; 'society study run {folder}' resumes it" in told.stdout
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "<h1>Interim: 1 of 2 replicates</h1>" in page
    assert "(no test" not in page
    assert society("report", "study", "--interim-p").exit_code == 0
    assert "Interim: 1 of 2" in (folder / "report.html").read_text(encoding="utf-8")
    shutil.rmtree(folder / "runs")
    told = society("report", "study")
    assert (told.exit_code, "4 waiting" in told.stdout) == (0, True), told.output
    assert "report.html was kept, but its runs no longer exist" in told.stderr
    assert "Interim: 1 of 2" in (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_new_study_runs_as_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    assert runner.invoke(app, ["study", "new", "mine"]).exit_code == 0
    assert runner.invoke(app, ["study", "new", "mine"]).exit_code == 2
    assert "NAME" not in (text := Path("mine.yaml").read_text(encoding="utf-8"))
    assert text.count("\n#") > 8
    checked = runner.invoke(app, ["check", "mine.yaml"])
    assert checked.exit_code == 0, checked.output
    ran = runner.invoke(app, ["study", "run", "mine.yaml", "--index=0/1", "--set=replicates=1"])
    assert ran.exit_code == 0, ran.output
    page = runner.invoke(app, ["study", "report", "mine"])
    assert page.exit_code == 0, page.output
    study = Study.open("runs/studies/mine")
    table = study.compare()
    assert table[["measure", "of", "n"]].to_numpy().tolist() == [["papers", "pairs to fours", 1]]
    assert (study.results["value"] > 0).all()
    told = runner.invoke(app, ["run", "quickstart", "--replicates", "10"])
    assert (told.exit_code, "study new NAME --base SCENARIO" in told.output) == (2, True)


@pytest.mark.slow
def test_a_study_from_python_is_the_same_as_one_from_its_file(alone, tmp_path):
    design, _, hashes = alone
    arms = {"two": {"protocol.team_size": 2}, "BIG": {}}
    told = {"arms": arms, "replicates": 2, "measures": ["papers", "calls"]}
    told |= {"comparisons": [{"test": "paired", "of": "papers"}]}
    study = run_study(design.base, **told, out=tmp_path / "study")
    assert (
        gathered(read_study(study.folder), study.folder)["results.parquet"]
        == (hashes["results.parquet"])
    )
    assert study.results["value"].notna().all()
    assert {"p", "holm", "low", "high"} <= {*study.compare()}
    lock = (study.folder / "lock.json").stat().st_mtime_ns
    again = run_study(design.base, **told, out=tmp_path / "study")
    assert again.results.equals(study.results)
    assert (study.folder / "lock.json").stat().st_mtime_ns == lock
    with pytest.raises(InputError, match=r"arms.big.protocol.team_sz: unknown key|team_sz"):
        run_study("quickstart", {"big": {"protocol.team_sz": 2}}, measures=["papers"])


@pytest.mark.slow
def test_crossed_topics_are_those_of_the_replicates(tmp_path):
    import pandas as pd

    crossed = TINY.replace(", BIG: {}", "") + "crossed: {protocol.topic.given: [tides, soils]}\n"
    design, study = opened(tmp_path, crossed.replace("replicates: 2", "replicates: 3"))
    assert [one.state for one in run_locally(study, range(3))] == ["done"] * 3
    topics = [
        pd.read_parquet(study / f"runs/000{index}/tables/teams.parquet")["topic"].iloc[0]
        for index in range(3)
    ]
    assert topics == ["tides", "soils", "tides"]
    gathered(design, study)
    told = pd.read_parquet(study / "runs.parquet")["protocol.topic.given"]
    assert told.tolist() == topics
    with pytest.raises(InputError, match=r"crossed.*\[.*tides.*soils.*\] -> "):
        opened(tmp_path, crossed.replace("tides", "ice"))


def one_by_one(study):
    return [run_one(study, index) for index in (3, 1, 0, 2)]


def together(study):
    return run_locally(study, range(4), together=4)


def on_a_cluster(study):
    pytest.importorskip("distributed")
    from virsci_society.scenarios.study.dask_engine import run_on_cluster

    return run_on_cluster(study, range(4), local_cluster=2)


@pytest.mark.slow
@pytest.mark.parametrize("run", [one_by_one, together, on_a_cluster])
def test_whoever_does_the_runs_the_study_is_the_same_byte_for_byte(alone, tmp_path, run):
    design, study = opened(tmp_path)
    assert [one.state for one in run(study)] == ["done"] * 4
    assert gathered(design, study) == alone[2]


def test_a_study_folder_is_a_study_and_says_the_same(alone):
    _, study, hashes = alone
    again = read_study(study)
    open_folder(again, study)
    assert again.path.parent == study
    assert again.file.base == "base.yaml"
    assert gathered(again, study)["results.parquet"] == hashes["results.parquet"]


def test_only_what_is_missing_is_done(tmp_path):
    _, study = opened(tmp_path)
    first = run_one(study, 1)
    before = (study / "runs/0001/manifest.json").stat().st_mtime_ns
    lock = require_lock(study)
    todo = unfinished_runs(read_results(study, lock))
    assert todo == [0, 2, 3]
    told = []
    run_locally(study, todo, on_result=told.append)
    assert sorted(one.index for one in told) == [0, 2, 3]
    assert run_one(study, 1) == first
    assert (study / "runs/0001/manifest.json").stat().st_mtime_ns == before
    assert unfinished_runs(read_results(study, lock)) == []


def test_one_failing_arm_does_not_end_a_study(tmp_path):
    _, study = opened(tmp_path, UNBUILDABLE)
    ends = run_locally(study, range(4))
    assert [one.state for one in ends] == ["done", "done", "failed", "failed"]
    assert "a team of 13 is impossible with 12 scientists" in ends[2].reason
    assert exit_code(ends) == 3
    assert ends[2].code == 2


POISON = """\
import os, signal
from virsci_society.protocols.virsci.protocol import VirSci

class Poison(VirSci):
    def run(self, team, lab):
        os.kill(os.getpid(), signal.SIGKILL)
        yield
"""


def test_a_run_that_kills_its_process_ends_in_quarantine_and_no_other_does(nursery, tmp_path):
    (tmp_path / "poison_for_tests.py").write_text(POISON)
    poisoned = "bad: {protocol.use: 'poison_for_tests:Poison'}"
    listed = TINY.replace("{two:", f"{{{poisoned}, two:").replace(", BIG: {}", "")
    written(tmp_path, listed)
    command = ("study", "run", "tiny.yaml", "--trust", "--set", "replicates=1", "--jobs", "1")
    done = nursery.society(*command, cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    study = Path("runs/studies/tiny")
    ends = read_results(tmp_path / study, require_lock(tmp_path / study))
    assert [one.state for one in ends] == ["quarantined", "done"]
    assert ends[0].deaths == 3
    line = (
        "run 0000 (bad, replicate 0) quarantined: its process died 3 times (its process ended "
        "before the run did: SIGKILL, often a lack of memory); --again starts it anyway"
    )
    assert line in done.stderr.splitlines()
    assert (
        "of 2 runs, 1 quarantined; the same command with --again starts quarantined runs"
        in done.stderr
    )
    assert "its process died 3 times" in (tmp_path / study / "report.html").read_text()
    again = nursery.society(*command, cwd=tmp_path)
    assert again.returncode == 3
    assert "nothing to do" in again.stdout
    assert line in again.stderr.splitlines()


FAULTY = """\
from virsci_society.agents.errors import InputError
from virsci_society.protocols.virsci.protocol import VirSci

class Faulty(VirSci):
    def run(self, team, lab):
        raise InputError("a fault on day one")
        yield
"""


@pytest.mark.slow
def test_the_command_does_the_rest_where_a_replicate_fails_and_stops_with_fail_fast(
    nursery, tmp_path
):
    (tmp_path / "faulty_for_tests.py").write_text(FAULTY)
    arms = (
        "first: {protocol.use: 'faulty_for_tests:Faulty'}, two: {protocol.team_size: 2}, "
        "three: {protocol.team_size: 3}"
    )
    written(tmp_path, TINY.replace("two: {protocol.team_size: 2}, BIG: {}", arms))
    command = ("study", "run", "tiny.yaml", "--jobs", "1", "--trust")
    fast = nursery.society(*command, "--out", "fast", "--fail-fast", cwd=tmp_path)
    assert fast.returncode == 5, fast.stderr
    assert "run 0000 (first, replicate 0) failed: " in fast.stderr
    assert "of 6 runs, 1 failed, 5 waiting; the same command resumes it and retries" in fast.stderr
    whole = nursery.society(*command, cwd=tmp_path)
    assert whole.returncode == 3, whole.stderr
    assert whole.stdout.count(" done") == 4
    for number in (0, 1):
        assert f"run 000{number} (first, replicate {number}) failed: " in whole.stderr
    assert whole.stderr.count("a fault on day one") == 2
    assert "of 6 runs, 2 failed; the same command retries failed runs" in whole.stderr


@pytest.mark.parametrize("command", ["run", "lock"])
def test_what_cannot_run_is_refused_before_anything_is_written(nursery, tmp_path, command):
    written(tmp_path, UNBUILDABLE)
    done = nursery.society("study", command, "tiny.yaml", "--out", "study", cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "tiny.yaml: arm many: protocol.team_size: a team of 13 is impossible" in done.stderr
    assert not (tmp_path / "study").exists()


def test_a_missing_key_is_told_before_the_first_run(nursery, tmp_path):
    live_ = "set:\n  backend: {use: openai, model: none, key: NO_SUCH_KEY_FOR_TESTS}\n"
    written(tmp_path, TINY.replace("set:\n", live_, 1).replace("BIG: {}", "base: {}"))
    done = nursery.society("study", "run", "tiny.yaml", "--out", "study", "--trust", cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "the environment variable NO_SUCH_KEY_FOR_TESTS is not set" in done.stderr
    assert not (tmp_path / "study").exists()


def test_a_changed_study_is_refused_with_the_difference_named(tmp_path):
    _, study = opened(tmp_path)
    path = written(tmp_path, TINY)

    def refused(*settings, text=TINY):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError) as caught:
            open_folder(read_study(path, settings), study)
        return str(caught.value)

    assert "base.protocol.turns: 1 -> 2" in refused("protocol.turns=2")
    assert 'base.until: "60d" -> "61d"' in refused("until=61d")
    assert "seed: 1 -> 9" in refused("seed=9")
    nested = refused("protocol.discussion.speaking_order=random")
    assert 'base.protocol.discussion: default -> {"speaking_order": "random"}' in nested
    assert "replicates: 2 -> 3" in refused("replicates=3")
    assert "paired: true -> false" in refused("paired=false")
    changed = TINY.replace("protocol.team_size: 2", "protocol.team_size: 3")
    assert "arm two: protocol.team_size: 2 -> 3" in refused(text=changed)
    renamed = refused(text=TINY.replace("BIG", "huge"))
    assert "arm BIG: left out" in renamed
    assert "arm huge: new" in renamed


def test_how_it_is_run_may_change_and_new_measures_are_told(tmp_path):
    design, study = opened(tmp_path)
    path = written(tmp_path, TINY)
    lock = open_folder(read_study(path, ["backend.in_flight=3"]), study)
    assert lock.deviations(design.file.measures, design.comparisons) == []
    later = read_study(path, ["measures=[calls, teams]", "comparisons=[]"])
    assert open_folder(later, study) == lock
    assert lock.deviations(later.file.measures, later.comparisons) == [
        "measure added after the lock, so exploratory: teams",
        "planned measure left out: papers",
        "planned comparison left out: paired of papers",
    ]


def test_a_measure_asked_for_later_is_measured_from_the_folders(alone, tmp_path):
    import pandas as pd

    _, study, _ = alone
    later = read_study(study, ["measures=[papers, teams]"])
    gathered(later, study)
    table = pd.read_parquet(study / "results.parquet").query("measure == 'teams'")
    assert table["value"].tolist() == [1.0] * 4


def test_a_lock_that_was_changed_is_noticed(tmp_path):
    _, study = opened(tmp_path)
    lock = study / "lock.json"
    lock.write_text(lock.read_text().replace('"replicates": 2', '"replicates": 1'))
    with pytest.raises(InputError, match="changed after it was written"):
        require_lock(study)


@pytest.mark.parametrize("name", ["thesis.txt", "study.yaml", "base.yaml"])
def test_a_folder_of_something_else_is_left_alone(tmp_path, name):
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / name).write_text("mine")
    with pytest.raises(InputError, match="contains other files"):
        opened(tmp_path)
    assert (tmp_path / "study" / name).read_text() == "mine"


@pytest.mark.slow
@pytest.mark.parametrize("spawn", [False, True])
def test_the_command_runs_in_processes_and_reports_and_then_does_nothing(
    alone, nursery, tmp_path, spawn
):
    """Two processes give the same as one, byte for byte; the command again does nothing."""
    path = written(tmp_path, TINY)
    command = ("study", "run", "tiny.yaml")
    done = nursery.society(*command, "--jobs", "2", cwd=tmp_path, spawn=spawn)
    assert done.returncode == 0, done.stderr
    study = tmp_path / "runs/studies/tiny"
    assert (study / "report.html").is_file()
    files = {p: p.stat().st_mtime_ns for p in study.rglob("*") if p.is_file()}
    again = new_process(*command, cwd=tmp_path, env={"PYTHONPROFILEIMPORTTIME": "1"})
    assert again.returncode == 0, again.stderr
    assert "nothing to do" in again.stdout
    imported = again.stderr
    assert "virsci_society.scenarios.study.tables" in imported
    assert not [name for name in ("mesa", "scipy") if f"| {name}\n" in imported]
    assert files == {p: p.stat().st_mtime_ns for p in study.rglob("*") if p.is_file()}
    by_folder = nursery.society("study", "run", "runs/studies/tiny", cwd=tmp_path)
    assert "nothing to do" in by_folder.stdout
    told = json.loads(
        nursery.society("study", "status", "tiny.yaml", "--json", cwd=tmp_path).stdout
    )
    assert [one["state"] for one in told] == ["done"] * 4
    refused = nursery.society("study", "run", "tiny.yaml", "--set", "seed=2", cwd=tmp_path)
    assert refused.returncode == 2
    assert "seed: 1 -> 2" in refused.stderr
    assert gathered(read_study(path), study) == alone[2]


LIVE = """\
backend.use: openai
  backend.model: test
  backend.in_flight: 3
  backend.api_base: URL
"""


def live(url):
    text = TINY.replace("BIG: {}", "BIG: {protocol.team_size: 3}")
    return text.replace("  metrics:", f"  {LIVE.replace('URL', url)}  metrics:")


@pytest.mark.slow
def test_societies_that_share_their_slots_say_what_each_says_alone(tmp_path):
    with FaultServer() as server:
        text = live(server.url)
        one, apart = opened(tmp_path / "apart", text, "replicates=1")
        run_locally(apart, range(2))
        other, together = opened(tmp_path / "together", text, "replicates=1")
        ends = run_locally(together, range(2), together=2)
    assert [end.state for end in ends] == ["done"] * 2, ends
    assert sum(end.calls for end in ends) > 0
    assert gathered(other, together) == gathered(one, apart)


@pytest.mark.slow
def test_a_budget_of_the_study_is_never_overspent_and_can_be_raised(tmp_path):
    with FaultServer() as server:
        text = live(server.url) + "budget: {calls: 20}\n"
        _, study = opened(tmp_path, text, "replicates=1")
        ends = run_locally(study, range(2), together=2)
        assert sum(end.calls for end in ends) <= 20
        short = [end for end in ends if end.state == "stopped"]
        assert short
        assert all("the budget is reached" in end.reason for end in short)
        assert exit_code(ends) == 4
        raised = read_study(tmp_path / "tiny.yaml", ["replicates=1", "budget.calls=200"])
        open_folder(raised, study)
        todo = unfinished_runs(read_results(study, require_lock(study)))
        assert [end.state for end in run_locally(study, todo)] == ["done"] * len(todo)


@pytest.mark.slow
def test_ctrl_c_stops_a_study_which_the_same_command_ends(nursery, tmp_path):
    from tests.faultserver.plan import Plan

    with FaultServer(Plan(latency=0.1)) as server:
        written(tmp_path, live(server.url))
        command = ("study", "run", "tiny.yaml", "--jobs", "1", "--together", "2")
        command += ("--set", "replicates=1")
        running = nursery.start(tmp_path / "log", *command, cwd=tmp_path)
        until = time.monotonic() + 120
        while server.counts()["requests"] < 3 and time.monotonic() < until:
            time.sleep(0.05)
        os.kill(running, signal.SIGINT)
        code, _ = nursery.wait(running)
        told = (tmp_path / "log").read_text(encoding="utf-8")
        assert code == 5, told
        assert "the same command resumes it" in told
        assert server.counts()["requests"] >= 3
        server.plan(Plan())
        done = nursery.society(*command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_study_of_another_identity_is_refused(tmp_path):
    from virsci_society.scenarios.runs.run_folder import hash_json
    from virsci_society.scenarios.study.lock import LOCK

    design, study = opened(tmp_path)
    data = json.loads((study / LOCK).read_text())
    assert data["identity_number"] == 2
    data["identity_number"] = 1
    own = {key: value for key, value in data.items() if key not in ("hash", "by")}
    (study / LOCK).write_text(json.dumps({**own, "hash": hash_json(own), "by": "run"}))
    with pytest.raises(InputError, match="under identity 1, and this program has identity 2"):
        open_folder(design, study)
    told = CliRunner().invoke(app, ["study", "report", str(study)])
    assert (told.exit_code, "under identity 1" in told.output) == (2, True)


def test_a_run_that_ends_is_told_with_the_share_and_the_time_left(tmp_path, capsys, monkeypatch):
    from virsci_society.scenarios.study.command import _line_by_line

    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    line = _line_by_line(tmp_path, 6, 2)
    # Two at a time; the last is begun again, so that no further run has ended.
    for clock[0], index in ((60.0, 0), (90.0, 2), (90.0, 3), (120.0, 4), (120.0, 4)):
        line(RunResult(index, "two", 0, 1, "done"))
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "1 of 6 (17%; 0:01:00 elapsed): run 0000 (two, replicate 0) done"
    assert told[3].startswith("4 of 6 (67%; 0:02:00 elapsed, about 0:01:00 left): run 0004 (two")
    assert told[4] == told[3]


@pytest.mark.slow
def test_the_plan_of_a_study_of_rules_tells_its_time_and_no_table_of_zeros(tmp_path, capsys):
    from virsci_society.scenarios.runs.progress import Progress
    from virsci_society.scenarios.study.command import print_forecast
    from virsci_society.scenarios.study.plan import study_forecast

    wordless = TINY.replace("base: virsci/paper", "base: community/assembly").replace(
        "  protocol.turns: 1\n  population.ecosystem: {scientists: 12, papers: 60}\n", ""
    )
    wordless = wordless.replace("two: {protocol.team_size: 2}", "two: {}")
    found = study_forecast(read_study(written(tmp_path, wordless)), Progress())
    assert len(found.rehearsed) == 2
    print_forecast(found)
    told = capsys.readouterr().out
    assert told.startswith("Tiny: 2 arms x 2 replicates = 4 runs\nwall time: at least ")
    assert f"on this machine, {min(os.cpu_count(), 4)} runs at a time (--jobs)" in told
    assert "0.0000" not in told
    assert "tokens" not in told


@pytest.mark.parametrize("index", ["x", "-1", "1/0", "1/", "1/x", "4", "4/2"])
def test_an_index_that_names_no_run_is_told(tmp_path, index):
    file = written(tmp_path, TINY)
    arguments = ["study", "run", str(file), "--out", str(tmp_path / "s"), f"--index={index}"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2
    assert ("no run 4" if index.startswith("4") else "--index") in done.output
    lock = require_lock(tmp_path / "s")
    assert [_indices(f"{one}/3", lock) for one in range(3)] == [[0, 3], [1], [2]]
    assert _indices("2", lock) == [2]
