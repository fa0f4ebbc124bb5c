"""Children that die: a run is judged only by deaths in its own work, and a batch by no other."""

import json
import os
from multiprocessing import Pipe
from types import SimpleNamespace

import pytest
from threadpoolctl import threadpool_info

from virsci_society.agents.errors import Stopped
from virsci_society.scenarios.study import run_study as engine
from virsci_society.scenarios.study.lock import RunResult, read_result, write_result
from virsci_society.scenarios.study.run_one import THREADS, single_threaded_numerics
from virsci_society.scenarios.study.run_study import MAX_LOST_WORKERS, run_in_children


@pytest.fixture
def children(tmp_path, monkeypatch):
    """Do runs in children that die of every batch, until so many have; gives results, batches."""

    def do(deaths, *, begun=(), runs=(0,), jobs=1):
        batches = []

        class Mortal(engine._Child):
            def __init__(self, study, batch, together, options):
                self.left = {index: engine._begun(study, index) for index in batch}
                self.pipe, theirs = Pipe()
                self.process = SimpleNamespace(exitcode=-9, join=lambda: None)
                batches.append(batch)
                if len(batches) > deaths:
                    for index in batch:
                        done = RunResult(index, "one", 0, 1, "done").to_data()
                        theirs.send_bytes(json.dumps(done).encode())
                for index in {*batch} & {*begun} if len(batches) <= deaths else ():
                    before = read_result(study, index)
                    died_at = () if before is None else (*before.died_at, 0)
                    running = RunResult(index, "one", 0, 1, "running", died_at=died_at)
                    write_result(study, running)
                theirs.close()

        monkeypatch.setattr(engine, "_Child", Mortal)
        found = run_in_children(tmp_path, runs, [], jobs, 1, lambda: None, {})
        return found, batches

    return do


def test_children_that_die_before_any_run_begins_stop_the_study_and_fail_no_run(children, tmp_path):
    found, batches = children(1_000)
    with pytest.raises(Stopped, match=r"before they started a run.*repeat the command to resume"):
        list(found)
    assert len(batches) == MAX_LOST_WORKERS
    assert not list(tmp_path.rglob("*.result.json"))


@pytest.mark.parametrize(
    ("deaths", "begun"), [(MAX_LOST_WORKERS - 1, ()), (MAX_LOST_WORKERS + 3, (0,))]
)
def test_a_run_whose_child_lives_at_last_is_done(children, deaths, begun):
    found, batches = children(deaths, begun=begun)
    assert [one.state for one in found] == ["done"]
    assert len(batches) == deaths + 1


def test_of_a_lost_batch_those_under_way_are_tried_alone_and_the_rest_together(children, tmp_path):
    found, batches = children(1, begun=(1,), runs=range(4))
    assert sorted(one.index for one in found) == [0, 1, 2, 3]
    assert batches == [[0, 1, 2, 3], [1], [0, 2, 3]]
    assert "SIGKILL, often a lack of memory" in read_result(tmp_path, 1).reason


def test_batches_grow_smaller_so_that_no_child_is_waited_for_at_the_end(children):
    found, batches = children(0, runs=range(16), jobs=2)
    assert sorted(one.index for one in found) == list(range(16))
    assert [len(batch) for batch in batches] == [4, 3, 3, 2, 1, 1, 1, 1]


def test_a_failed_batch_restores_the_limits_of_threads(monkeypatch):
    limits = [one["num_threads"] for one in threadpool_info()]
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    batch = single_threaded_numerics()
    batch.__enter__()
    assert {os.environ[name] for name in THREADS} == {"1"}
    assert all(one["num_threads"] == 1 for one in threadpool_info())
    del os.environ["MKL_NUM_THREADS"]  # as a run may do
    assert not batch.__exit__(Stopped, Stopped("the study was stopped"), None)
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "MKL_NUM_THREADS" not in os.environ
    assert [one["num_threads"] for one in threadpool_info()] == limits
