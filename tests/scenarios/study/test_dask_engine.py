"""Cluster: what is refused, and how tasks come back (deaths are in the promises)."""

import os
import sys
from functools import partial
from pathlib import Path

import pytest

from virsci_society.agents.errors import InputError, Stopped
from virsci_society.scenarios.study.dask_engine import (
    run_on_cluster,
    run_on_worker,
    study_fingerprint,
)


@pytest.fixture
def study(tmp_path):
    """A folder whose files say what is to be run."""
    for name in ("study.yaml", "base.yaml", "lock.json"):
        (tmp_path / name).write_text(name)
    return tmp_path


def test_without_the_extra_it_is_said_what_to_install(monkeypatch, study):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"need dask.*pip install -e '.*\[cluster\]'"):
        run_on_cluster(study, [0], local_cluster=2)


@pytest.mark.parametrize("name", ["study.yaml", "base.yaml", "lock.json"])
def test_a_worker_that_sees_another_study_refuses(study, name):
    seal = study_fingerprint(study)
    (study / name).write_text("another")
    assert study_fingerprint(study) != seal
    told = run_on_worker(str(study), seal, False, False, 0)
    assert "sees another study" in told["refused"]
    assert not (study / "runs").exists()


def test_a_worker_of_another_release_refuses(study, monkeypatch):
    from virsci_society.scenarios.study import dask_engine

    seal = study_fingerprint(study)
    monkeypatch.setattr(dask_engine.metadata, "version", lambda name: "0.0.1")
    assert "another release" in run_on_worker(str(study), seal, False, False, 0)["refused"]


def test_a_worker_that_cannot_see_the_folder_refuses(tmp_path):
    told = run_on_worker(str(tmp_path / "elsewhere"), "", False, False, 0)
    assert "cannot see this folder" in told["refused"]


def test_ascheduler_at_that_does_not_answer_is_a_stop():
    pytest.importorskip("distributed")
    from virsci_society.scenarios.study.dask_engine import connected

    with (
        pytest.raises(Stopped, match="no scheduler has answered"),
        connected("tcp://127.0.0.1:9", 1),
    ):
        pass


def test_a_local_cluster_listens_on_loopback_only():
    psutil = pytest.importorskip("psutil")
    pytest.importorskip("distributed")
    from virsci_society.scenarios.study.dask_engine import scheduler_at

    def listening():
        here = psutil.Process()
        return {
            (one.laddr.ip, one.laddr.port)
            for process in (here, *here.children(recursive=True))
            for one in process.net_connections(kind="inet")
            if one.status == psutil.CONN_LISTEN
        }

    before = listening()
    with scheduler_at(None, 1):
        opened = listening() - before
        assert len(opened) >= 3
        assert {ip for ip, _ in opened} == {"127.0.0.1"}


def work(folder, index):
    """Somebody else's at first, if odd; 3 is bad input, 4 kills its worker once."""
    tried = Path(folder) / str(index)
    with tried.open("a") as file:
        file.write("x")
    first = len(tried.read_text()) == 1
    if index == 3:
        raise InputError("three: is not wanted")
    if index == 4 and first:
        os._exit(1)
    return {"index": index, "state": "running" if first and index % 2 else "done"}


@pytest.mark.slow
def test_tasks_are_given_out_until_every_run_has_ended(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    from virsci_society.scenarios.study import dask_engine
    from virsci_society.scenarios.study.dask_engine import give_out, scheduler_at

    monkeypatch.setattr(dask_engine, "PAUSE", 0.0)
    ends, doing = [], partial(work, str(tmp_path))

    def ended(told):
        ends.append((told["index"], told["state"]))
        return told["state"] == "done"

    with scheduler_at(None, 1) as address:
        give_out(doing, [1], ended, address)
        assert ends == [(1, "running"), (1, "done")]
        ends.clear()
        give_out(doing, [0, 2, 4], ended, address)
        assert sorted(ends) == [(0, "done"), (2, "done"), (4, "done")]
        with pytest.raises(InputError, match="three: is not wanted"):
            give_out(doing, [0, 3], ended, address)


def test_one_engine_is_chosen(study):
    pytest.importorskip("distributed")
    from virsci_society.scenarios.study.dask_engine import scheduler_at

    for scheduler, local_cluster, told in (
        (None, None, "give either"),
        ("tcp://127.0.0.1:1", 2, "give either"),
    ):
        with pytest.raises(InputError, match=told), scheduler_at(scheduler, local_cluster):
            pass
