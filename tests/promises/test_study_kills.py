"""R1 and R12 for studies: workers, the scheduler and leases are lost; nothing is paid twice."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import ExitStack, nullcontext, suppress
from importlib import import_module
from pathlib import Path

import pytest

from tests.faultserver import Plan
from tests.promises.conftest import answers_in, attempts_in, digest_of, reset, write_teams
from tests.promises.dask_processes import Crowd
from tests.promises.test_stops import wait_for
from virsci_society.agents.journal.journal import Journal
from virsci_society.scenarios.study.lock import read_result

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ARMS = """\
study: {name}
base: {base}
arms: {arms}
replicates: {replicates}
measures: [papers]
"""
CLUSTER = ("distributed.cli.dask_scheduler", "distributed.cli.dask_worker")
SIZES = "{grid: {protocol.team_size: [2, 3]}}"
POISON = "{{well: {{}}, poison: {{protocol.use: '{}:Deadly'}}}}"


@pytest.fixture
def study(tmp_path, ecosystem, server, monkeypatch):
    """Make the folder of a study; ``study(name, arms, replicates, **keys_of_the_scenario)``."""
    from virsci_society.scenarios.study.design import read_study
    from virsci_society.scenarios.study.lock import open_folder

    monkeypatch.setenv("FAULTSERVER_KEY", "key-of-the-tests")
    reset(server)

    def make(name, arms=SIZES, replicates=2, trust=False, **changes):
        place = tmp_path / name
        place.mkdir()
        base = write_teams(place, ecosystem, server, **changes)
        told = ARMS.format(name=name, base=base, arms=arms, replicates=replicates)
        (place / "it.yaml").write_text(told, encoding="utf-8")
        folder = place / "study"
        open_folder(read_study(place / "it.yaml", trust=trust), folder)
        return folder

    return make


@pytest.fixture
def dask(monkeypatch):
    """The extra [cluster]; its workers, which are new processes, send slots to the test server."""
    config = pytest.importorskip("dask.config", reason="needs the extra [cluster]")
    distributed = pytest.importorskip("distributed", reason="needs the extra [cluster]")
    monkeypatch.setenv("DASK_DISTRIBUTED__WORKER__PRELOAD", '["tests.faultserver"]')
    with config.set({"distributed.worker.preload": ["tests.faultserver"]}):
        yield distributed


@pytest.fixture(scope="module")
def cluster(nursery):
    """Processes that have imported what a scheduler and a worker need."""
    pytest.importorskip("distributed", reason="needs the extra [cluster]")
    made = nursery.branch(*CLUSTER)
    yield made
    made.close()


class Killer:
    """Kills a worker, or the scheduler, each time that so many more calls were asked for."""

    def __init__(self, crowd, server, every, most, scheduler_at=0):
        self.kills = 0
        self._crowd, self._server, self._every = crowd, server, every
        self._most, self._scheduler_at = most, scheduler_at
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()

    def _work(self):
        due = self._every
        while not self._end.wait(0.05):
            asked = self._server.counts()["requests"]
            if asked >= due and self.kills < self._most:
                self.kills += 1
                if self.kills == self._scheduler_at:
                    self._crowd.kill_scheduler()
                else:
                    self._crowd.kill_worker()
                due = asked + self._every
            self._crowd.restart()


def no_committed_call_was_paid_twice(folder, runs, server):
    """By each run's ledger, and by the server's count of all runs together; gives the repeats.

    Call ids do not tell runs apart, so the server's count for one id is that of all runs.
    """
    made, in_doubt, answered = Counter(), Counter(), Counter()
    for index in range(runs):
        ended = set()
        for attempt in attempts_in(folder / "runs" / f"{index:04d}"):
            assert attempt.call not in ended, f"{attempt.call} was asked again in run {index}"
            made[attempt.call] += 1
            if attempt.outcome == "in doubt":
                in_doubt[attempt.call] += 1
            elif attempt.outcome == "answered":
                answered[attempt.call] += 1
                ended.add(attempt.call)
    counts = server.counts(full=True)["by_call"]
    for call, count in counts.items():
        assert count["attempts"] <= made[call], f"{call}: a request that no ledger knows"
        assert count["attempts"] >= made[call] - in_doubt[call]
        assert count["answers"] <= answered[call] + in_doubt[call]
    assert set(answered) == set(counts)
    return sum(counts[call]["attempts"] - answered[call] for call in counts)


def survives(cluster, study, server, tmp_path, *, replicates, workers, **kills):
    """Do a study while its workers are killed; gives how many calls were made twice."""
    from virsci_society.scenarios.study.dask_engine import run_on_cluster

    folder, runs, told = study("killed", replicates=replicates), 2 * replicates, []
    server.plan(Plan(latency=0.1))
    with Crowd(cluster, tmp_path, workers) as crowd, Killer(crowd, server, **kills) as killer:
        ends = run_on_cluster(folder, range(runs), scheduler=crowd.address, on_result=told.append)
    assert [end.state for end in ends] == ["done"] * runs, ends
    assert sorted(end.index for end in told) == list(range(runs))
    assert killer.kills == kills["most"]
    return no_committed_call_was_paid_twice(folder, runs, server)


@pytest.mark.slow
def test_a_study_outlives_its_workers_and_its_scheduler(cluster, study, server, tmp_path, promise):
    kills = {"every": 20, "most": 2, "scheduler_at": 2}
    repeated = survives(cluster, study, server, tmp_path, replicates=1, workers=2, **kills)
    promise("R1", "workers and schedulers of studies that were killed", 2)
    promise("R1", "committed calls paid twice", 0)
    promise("R1", "calls under way at a kill that were repeated and listed", repeated)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_study_outlives_many_kills(cluster, study, server, tmp_path, promise):
    kills = {"every": 60, "most": 12, "scheduler_at": 5}
    repeated = survives(cluster, study, server, tmp_path, replicates=12, workers=3, **kills)
    promise("R1", "workers and schedulers of studies that were killed", 12)
    promise("R1", "calls under way at a kill that were repeated and listed", repeated)


OF_ITS_OWN = ("journal", "manifest", "report")
"""Files of a run that tell of real time, or of its process."""


def bytes_of(folder, index):
    """What a run has found out, file by file, byte by byte."""
    run = folder / "runs" / f"{index:04d}"
    files = [path for path in run.rglob("*") if path.is_file()]
    kept = {
        path.relative_to(run).as_posix(): path.read_bytes()
        for path in files
        if not path.name.startswith(OF_ITS_OWN)
    }
    return kept | {"measures": read_result(folder, index).measures}


def has_quarantined(study, poison, **engine):
    """A study with one poison run is done on a cluster, and its other run here as well."""
    from virsci_society.scenarios.study.dask_engine import run_on_cluster
    from virsci_society.scenarios.study.lock import exit_code
    from virsci_society.scenarios.study.run_study import run_locally

    arms = POISON.format(poison)
    folder = study("poison", arms, replicates=1, trust=True)
    ends = run_on_cluster(folder, range(2), trust=True, **engine)
    assert [end.state for end in ends] == ["done", "quarantined"], ends
    assert [end.deaths for end in ends] == [0, 3]
    assert exit_code(ends) == 3
    assert read_result(folder, 1) == ends[1]
    assert "its process died 3 times" in ends[1].reason
    here = study("here", arms, replicates=1, trust=True)
    run_locally(here, [0], trust=True)
    assert len(bytes_of(here, 0)) > 25
    assert bytes_of(folder, 0) == bytes_of(here, 0)


@pytest.mark.slow
def test_a_poison_run_is_quarantined_and_a_cluster_is_like_this_process(
    cluster, study, server, tmp_path
):
    with Crowd(cluster, tmp_path, 1) as crowd, Killer(crowd, server, every=1, most=0):
        has_quarantined(study, "tests.promises.killing_protocol", scheduler=crowd.address)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_a_local_cluster_replaces_workers_that_a_poison_run_kills(
    dask, study, monkeypatch, workers
):
    monkeypatch.chdir(HERE)
    monkeypatch.syspath_prepend(HERE)
    # The cluster must not give a worker up that is lost when it looks, which is soon here.
    with import_module("dask").config.set({"distributed.deploy.lost-worker-timeout": "100ms"}):
        has_quarantined(study, "killing_protocol", local_cluster=workers)


@pytest.mark.parametrize("begun", [False, True])
def test_only_deaths_in_a_runs_own_work_count_against_it(study, monkeypatch, promise, begun):
    """A worker that is killed while it still imports its libraries dies of no run's fault."""
    from virsci_society.scenarios.study import run_one

    def killed(scenario, folder, progress, **_):
        if begun:
            progress.begin("preparing the ecosystem")
        os.kill(os.getpid(), signal.SIGKILL)

    folder = study("short-lived")
    monkeypatch.setattr(run_one, "run_scenario", killed)
    monkeypatch.setattr(run_one, "hold_lease", lambda *_: nullcontext(Held()))
    for _ in range(3):
        child = os.fork()
        if not child:
            run_one.run_one(folder, 0)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    if begun:
        end = run_one.run_one(folder, 0)
        assert (end.state, end.deaths) == ("quarantined", 3)
    else:
        assert read_result(folder, 0) is None
    promise("R1", "workers killed before their run had begun", 3 * (not begun))


class Held:
    """A lease that nobody else wants."""

    def check(self):
        """It is held."""


@pytest.mark.slow
def test_ctrl_c_stops_a_local_cluster_and_is_no_death(dask, study, server, promise):
    folder = study("interrupted")
    server.plan(Plan(latency=0.3))
    command = [
        sys.executable,
        "-c",
        # Whoever starts the tests in the background has SIGINT ignored, and so have their children.
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "import tests.faultserver; from virsci_society.scenarios.cli.app import main; main()",
        "study",
        "run",
    ]
    command += [str(folder), "--local-cluster", "2"]
    how = {"cwd": ROOT, "text": True, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, start_new_session=True, **how) as running:
        deadline = time.monotonic() + 120
        while server.counts()["requests"] < 12 and time.monotonic() < deadline:
            time.sleep(0.05)
        os.killpg(running.pid, signal.SIGINT)
        told, _ = running.communicate(timeout=300)
    assert running.returncode == 5, told
    assert "Traceback" not in told, told
    assert "the same command resumes it" in told
    for index in (0, 2):  # the first replicate of both arms
        assert read_result(folder, index).state == "stopped"
        assert read_result(folder, index).deaths == 0
    server.plan(Plan())
    again = subprocess.run(command, check=False, timeout=500, **how)
    assert again.returncode == 0, again.stdout
    no_committed_call_was_paid_twice(folder, 4, server)
    promise("R14", "signals to a study on a cluster after which it stopped and went on", 1)


@pytest.mark.slow
def test_a_run_that_has_lost_its_lease_pays_for_nothing_more(
    server, scenario, tmp_path, monkeypatch, promise
):
    from virsci_society.scenarios.config.schema import load_scenario
    from virsci_society.scenarios.runs.execute import run_scenario
    from virsci_society.scenarios.runs.lease import LeaseHeld, LeaseLost, hold_lease

    monkeypatch.setenv("FAULTSERVER_KEY", "key-of-the-tests")
    chosen, ended = load_scenario(scenario(**{"backend.in_flight": 4})), []
    reset(server, latency=0.1)
    one, other = tmp_path / "runs" / "0000", tmp_path / "runs" / "0001"

    def slow_owner():
        with hold_lease(one, "slow", beat=3600) as lease:
            try:
                run_scenario(chosen, one, lease=lease)
            except LeaseLost as lost:
                ended.append(str(lost))
                wait_for(lambda: not server.counts()["under_way"])
                ended.append(server.counts()["requests"])

    owner = threading.Thread(target=slow_owner)
    owner.start()
    wait_for(lambda: server.counts()["requests"] > 12)
    with ExitStack() as held:
        lease = None

        def taken_over():
            # Each effect of the owner touches its lease: in that moment nobody can take it over.
            nonlocal lease
            with suppress(LeaseHeld):
                impatient = hold_lease(one, "of no patience", beat=0.01, missed=0)
                lease = held.enter_context(impatient)
            return lease is not None

        wait_for(taken_over)
        assert lease.fence == 2
        owner.join(120)
        assert not owner.is_alive()
        told, asked = ended
        assert "another process has taken over its lease 1" in told
        time.sleep(0.2)
        assert server.counts()["requests"] == asked
        assert not (one / "digest").exists()
        server.plan(Plan())
        run_scenario(chosen, one, lease=lease)
    calls = server.counts(full=True)["by_call"]
    with Journal(one / "journal.sqlite", frozen=True) as journal:
        in_doubt = set(journal.in_doubt())
    again = {id_ for id_, call in calls.items() if call["attempts"] > 1}
    assert again <= in_doubt
    assert len(in_doubt) <= 4
    assert set(calls) == answers_in(one)
    with hold_lease(other, "whole") as lease:
        run_scenario(chosen, other, lease=lease)
    assert digest_of(one) == digest_of(other)
    promise("R12", "runs whose lease was taken over under way", 1)
