"""The log of simulations: what is kept, cut off and refused."""

import math

import numpy as np
import pytest

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.calibration.design import Job
from virsci_society.scenarios.calibration.simulation import SimulationLog

JOBS = [Job("first", point, 0, 1, {}) for point in range(3)]


def fill(folder):
    log = SimulationLog(folder)
    list(log.append(JOBS, iter([[0.1 + 0.2, 1.0], [math.nan, 2.0], [math.inf, 3.0]])))
    return log.path


def test_what_was_written_is_found(tmp_path):
    fill(tmp_path)
    log = SimulationLog(tmp_path)
    assert len(log) == 3
    assert log.find(JOBS[0]) == [0.1 + 0.2, 1.0]
    assert math.isnan(log.find(JOBS[1])[0])
    assert log.find(JOBS[2])[0] == math.inf
    assert log.find(Job("second", 0, 0, 1, {})) is None
    # The same place of the design with other parameters is another simulation.
    assert log.find(Job("first", 0, 0, 1, {"protocol.selection.q": 0.5})) is None
    assert log.find(Job("first", 0, 0, 2, {})) is None


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_a_line_that_was_cut_short_is_dropped(tmp_path, cut):
    path = fill(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    log = SimulationLog(tmp_path)
    assert len(log) == 2
    list(log.append(JOBS[2:], iter([[math.inf, 3.0]])))
    assert path.read_bytes() == whole


def test_a_line_that_was_changed_is_refused(tmp_path):
    path = fill(tmp_path)
    path.write_text(path.read_text().replace("2.0", "2.5"))
    with pytest.raises(InputError, match=r"simulations.jsonl:2: "):
        SimulationLog(tmp_path)


def test_an_interval_holds_what_differs_between_windows():
    from virsci_society.scenarios.calibration.checking import _widened

    drawn = np.random.default_rng(2).normal(1.0, 0.3, 20_000)
    alone, both = _widened(drawn, 0.0), _widened(drawn, 0.4)
    assert alone == pytest.approx((1 - 1.645 * 0.3, 1 + 1.645 * 0.3), abs=0.02)
    # The variances of two independent normal errors add up: 0.3, 0.4, 0.5.
    assert both == pytest.approx((1 - 1.645 * 0.5, 1 + 1.645 * 0.5), abs=0.02)
    assert _widened(drawn, float("nan")) == alone
    assert _widened(np.array([0.1, 0.2, 0.3]), 5.0)[0] == 0.0
