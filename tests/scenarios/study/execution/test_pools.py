"""A pool whose workers die: a run is judged only by deaths in its own work."""

import json
from multiprocessing import Pipe
from types import SimpleNamespace

import pytest

from virsci_society.agents.errors import Stopped
from virsci_society.scenarios.study.execution import pools
from virsci_society.scenarios.study.execution.pools import USELESS, ProcessPool
from virsci_society.scenarios.study.status import Status, folder_of, record_begin


class Round:
    """Takes the results of one run, and goes on for ever."""

    is_over = False

    def __init__(self, study):
        self.study, self.results = study, []

    def record_result(self, status):
        self.results.append(status)


@pytest.fixture
def pool(tmp_path, monkeypatch):
    """Make a pool of one run; its workers die at what they are given, the last one does it."""

    def make(deaths, *, begun):
        given = []

        class Mortal:
            """A worker that dies of every run, until so many of them have."""

            def __init__(self, study, together, options):
                self.pipe, self._theirs = Pipe()
                self.together, self.busy = together, []
                self.process = SimpleNamespace(exitcode=-9)

            def give(self, index):
                self.busy.append(index)
                given.append(index)
                if len(given) > deaths:
                    done = Status(index, "one", 0, 1, state="done")
                    self._theirs.send_bytes(json.dumps({"status": done.to_data()}).encode())
                    return
                if begun:
                    record_begin(folder_of(tmp_path, index), "a process")
                self._theirs.close()

            def stop(self):
                pass

            def end(self):
                self.pipe.close()

        monkeypatch.setattr(pools, "_Worker", Mortal)
        made = ProcessPool(Round(tmp_path), 1, 1, {})
        made.ordinary.append(0)
        return made, given

    return make


def test_workers_that_die_before_any_run_begins_stop_the_study_and_fail_no_run(pool, tmp_path):
    made, given = pool(1_000, begun=False)
    with pytest.raises(Stopped, match=r"before a run began in them.*the same command resumes it"):
        made.work()
    assert len(given) == USELESS
    assert made._round.results == []
    assert not list(tmp_path.rglob("*.status.json"))


@pytest.mark.parametrize(("deaths", "begun"), [(USELESS - 1, False), (USELESS + 3, True)])
def test_a_run_whose_worker_lives_at_last_is_done(pool, deaths, begun):
    made, given = pool(deaths, begun=begun)
    made.work()
    assert [one.state for one in made._round.results] == ["done"]
    assert len(given) == deaths + 1
