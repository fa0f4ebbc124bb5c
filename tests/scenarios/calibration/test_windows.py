"""Windows of years, and the log of simulations: what is kept, cut off and refused."""

import math

import pytest

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.calibration import windows
from virsci_society.scenarios.calibration.windows import LOG, Job, Simulations

JOBS = [Job("first", point, 0, 1, {}) for point in range(3)]
FOUND = [[0.1 + 0.2, 1.0], [math.nan, 2.0], [math.inf, 3.0]]


@pytest.fixture
def measure(tmp_path, monkeypatch):
    """Jobs are measured without a simulation; a function that does so and tells how many were."""
    monkeypatch.setattr(windows, "run_job", lambda _, __, job: FOUND[job.point])

    def measured(*jobs):
        told = []
        values = Simulations(tmp_path, None).measured(jobs, (), told.append)
        return values, told

    return measured


def test_what_was_written_is_not_simulated_again(measure):
    assert measure(*JOBS)[1] == ["first: 3 simulations"]
    (one, other, last), told = measure(*JOBS)
    assert told == []
    assert (one, last) == (FOUND[0], FOUND[2])
    assert math.isnan(other[0])
    # The same place of the design with other parameters is another simulation.
    for job in (
        Job("second", 0, 0, 1, {}),
        Job("first", 0, 0, 1, {"a": 0.5}),
        Job("first", 0, 0, 2, {}),
    ):
        assert measure(job)[1] == [f"{job.stage}: 1 simulations"]


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_a_line_that_was_cut_short_is_dropped(measure, tmp_path, cut):
    measure(*JOBS)
    path = tmp_path / LOG
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    assert measure(*JOBS)[1] == ["first: 1 simulations"]
    assert path.read_bytes() == whole


def test_a_line_that_was_changed_is_refused(measure, tmp_path):
    measure(*JOBS)
    path = tmp_path / LOG
    path.write_text(path.read_text().replace("2.0", "2.5"))
    with pytest.raises(InputError, match=r"simulations.jsonl:2: "):
        measure(*JOBS)
