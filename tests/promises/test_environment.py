"""R1, R3 and R12 in a hostile place: a clock that jumps, a file system whose locks do nothing."""

import pytest

from tests.promises.conftest import digest_of, ledger_of, reset
from virsci_society.agents.journal.journal import Journal

JUMPING = """
import time
real, calls = time.time, [0]
def jumping():
    calls[0] += 1
    return real() + (0.0, 3600.0, -3600.0)[calls[0] // 5 % 3]
time.time = jumping
"""
"""The clock of the machine jumps an hour forward, two back, one forward, again and again."""
NO_LOCKS = """
import fcntl
fcntl.flock = lambda file, how: None
"""
"""Every lock on a file is granted, as on some network file systems; SQLite has locks of its own."""
TOLD = "locks do nothing on this file system; let one process at a time work on a folder"


def test_a_clock_that_jumps_changes_nothing(nursery, server, scenario, tmp_path, honest, promise):
    """Waits, deadlines, breakers and patience are measured by a clock that nobody sets."""
    reset(server, rates={"rate_limited": 0.2, "unavailable": 0.1}, streak=2, retry_after=0.02)
    path, run, log = scenario(), tmp_path / "run", tmp_path / "log"
    arguments = ("run", path, "--out", run)
    code, _ = nursery.run(log, *arguments, before=JUMPING, site="after commit", nth=20)
    assert code == -9
    code, seconds = nursery.run(log, *arguments, before=JUMPING)
    assert code == 0, log.read_text(encoding="utf-8")
    assert digest_of(run) == honest
    assert seconds < 600
    ledger = ledger_of(run)
    # At the kill up to eight attempts were on their way.
    assert 0 <= ledger["attempts"] - server.counts()["requests"] <= 8
    promise("R3", "runs under a clock that jumps by an hour", 2)


@pytest.mark.parametrize("apart", [0.0, 0.3])
def test_two_writers_that_no_lock_keeps_apart_are_noticed(
    nursery, server, scenario, tmp_path, honest, promise, apart
):
    """A commit after that of another process is refused: one of both stops, nothing is mixed."""
    import time

    reset(server, latency=0.1)
    path, run = scenario(), tmp_path / "run"
    logs = [tmp_path / f"log{number}" for number in range(2)]
    pids = []
    for log in logs:
        pids.append(nursery.start(log, "run", path, "--out", run, before=NO_LOCKS))
        time.sleep(apart)
    codes = [nursery.wait(pid)[0] for pid in pids]
    told = [log.read_text(encoding="utf-8") for log in logs]
    assert not any("Traceback" in one for one in told), told
    # 2: both made the tables of the journal in the same moment, and one was told that they exist.
    assert sorted(codes) == [0, 5] or (not apart and sorted(codes) == [0, 2]), told
    if 5 in codes:
        assert TOLD in " ".join(told[codes.index(5)].split())
    code, _ = nursery.run(tmp_path / "again", "run", path, "--out", run)
    assert code == 0, (tmp_path / "again").read_text(encoding="utf-8")
    assert digest_of(run) == honest
    with Journal(run / "journal.sqlite", frozen=True) as journal:
        assert journal.rows_verified > 0
    promise("R12", "writers that no lock kept apart", 2)
