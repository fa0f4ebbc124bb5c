"""A study under a stand-in for Slurm: array, signal, requeue and the job that gathers."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.scenarios.study.test_running import GATHERED, TINY, gathered, written
from virsci_society.scenarios.cli.app import app
from virsci_society.scenarios.study.command import _indices
from virsci_society.scenarios.study.execution.sbatch import array_script
from virsci_society.scenarios.study.folder import require_lock
from virsci_society.scenarios.study.reader import read_study

ROOT = Path(__file__).parents[3]
SBATCH = """\
#!{python}
import os, subprocess, sys
options = dict(one.lstrip("-").partition("=")[::2] for one in sys.argv[1:])
script, here = sys.stdin.read(), os.environ["SLURM_STAND_IN"]
print("sbatch", *sys.argv[1:], file=open(here + "/asked", "a"))
if dependency := options.get("dependency"):
    assert dependency == "afterok:41"
    if open(here + "/ended").read().split() != ["0"] * 2:
        sys.exit("DependencyNeverSatisfied")
for task in range(int(options.get("array", "0-0").split("-")[1]) + 1):
    job = str(100 + task)
    place = {{"SLURM_ARRAY_TASK_ID": str(task), "SLURM_JOB_ID": job}}
    while True:
        with open(here + "/slurm-" + job + ".out", "a") as output:
            start = dict(input=script, text=True, env=os.environ | place, stdout=output)
            code = subprocess.run(["sh"], **start).returncode
        requeued = os.path.exists(here + "/requeued-" + job)
        if not requeued:
            break
        os.rename(here + "/requeued-" + job, here + "/was-requeued-" + job)
    if "array" in options:
        print(code, file=open(here + "/ended", "a"))
if "array" in options:
    print("41;cluster")
"""
SCONTROL = """\
#!/bin/sh
test "$1" = requeue && touch "$SLURM_STAND_IN/requeued-$2"
"""
SOCIETY = """\
#!{python}
# The command; once, at the end of the first run of task 1, its time is nearly over: as Slurm does
# with --signal=B:, the shell of the task alone is sent TERM.
import os, signal, sys, time
sys.path.insert(0, {root!r})
from virsci_society.scenarios.cli.app import main
from virsci_society.scenarios.runs.signals import SignalWatch
from virsci_society.scenarios.study import command

def limited(folder, total, at_once, line_by_line=command._line_by_line):
    line, seen = line_by_line(folder, total, at_once), []
    mark = os.environ["SLURM_STAND_IN"] + "/mark"
    record = SignalWatch.record_signal
    SignalWatch.record_signal = lambda self, *n: (seen.append(n), record(self, *n))[1]
    def told(status):
        line(status)
        if os.environ.get("SLURM_ARRAY_TASK_ID") == "1" and not os.path.exists(mark):
            open(mark, "w").close()
            os.kill(os.getppid(), signal.SIGTERM)
            end = time.monotonic() + 60
            while not seen and time.monotonic() < end:
                time.sleep(0.01)
    return told

command._line_by_line = limited
if __name__ == "__main__":
    sys.argv[0] = "society"
    main()
"""


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    """A folder with what the stand-in was asked, on whose path are the stand-ins."""
    folder = tmp_path / "slurm"
    folder.mkdir()
    for name, text in (("sbatch", SBATCH), ("scontrol", SCONTROL), ("society", SOCIETY)):
        path = folder / name
        path.write_text(text.format(python=sys.executable, root=str(ROOT)))
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("SLURM_STAND_IN", str(folder))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    return folder


@pytest.mark.slow
def test_the_script_does_what_the_command_does_though_a_task_runs_out_of_time(slurm, tmp_path):
    file = written(tmp_path, TINY.replace("replicates: 2", "replicates: 1"))
    study = tmp_path / "by slurm"
    asked = ["study", "sbatch", str(file), "--set", "pack=true", "--out", str(study)]
    printed = CliRunner().invoke(app, asked)
    assert printed.exit_code == 0, printed.output
    command = ["sh", "-s", "--", "--partition=short"]
    done = subprocess.run(command, input=printed.stdout, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    first, second = (slurm / "asked").read_text().splitlines()
    for option in ("--array=0-1", "--signal=B:TERM@120", "--requeue", "--partition=short"):
        assert option in first.split()
    assert {"--dependency=afterok:41", "--partition=short"} <= set(second.split())
    assert sorted(path.name for path in slurm.glob("was-requeued-*")) == ["was-requeued-101"]
    plain = tmp_path / "plain"
    told = CliRunner().invoke(app, ["study", "run", str(file), "--out", str(plain), "--jobs", "1"])
    assert told.exit_code == 0, told.output
    assert (study / "report.html").is_file()
    assert not list((study / "runs").iterdir()), "all are in packs, and the tables are the same"
    design = read_study(file)
    for name in GATHERED:
        assert (study / name).read_bytes() == (plain / name).read_bytes(), name
    assert gathered(design, study) == gathered(design, plain)


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


def test_a_thousand_tasks_at_most_and_no_word_is_read_by_the_shell():
    script = array_script(["a b.yaml", "--set=x=$(rm)"], "n;n", 10_000, time="1:00:00")
    assert "--array=0-999 " in script
    assert script.count("'a b.yaml' '--set=x=$(rm)'") == 3
    assert "--job-name='n;n' " in script
