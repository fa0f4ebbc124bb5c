"""Windows of years, and the log of simulations: what is kept, cut off and refused."""

import math

import pytest

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.calibration.windows import Job, SimulationLog, Window

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


def test_windows_are_written_as_years():
    assert Window.parse("2008-2009") == Window(2008, 2009) == Window.parse(Window(2008, 2009))
    assert Window.parse(2008).name == "2008"
    assert Window(2008, 2009).earlier(2).name == "2004-2005"
    for wrong in ("2009-2008", "soon", True, 0):
        with pytest.raises(ValueError, match=r"run backwards|expected years"):
            Window.parse(wrong)
