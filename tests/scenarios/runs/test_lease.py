"""Leases: one owner at a time, the dead make room, and an old owner finds out."""

import os
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from virsci_society.agents.errors import Stopped
from virsci_society.scenarios.runs.lease import (
    LeaseHeld,
    LeaseLost,
    has_ended,
    hold_lease,
    process_identity,
    stop_all,
)

QUICK = {"beat": 0.05, "missed": 4}


def files(folder):
    return sorted(os.listdir(folder.with_name(f"{folder.name}.lease")))


def forget_touches(folder, seconds):
    """Let the latest lease look as if it had not been touched for so long, by the file system."""
    place = folder.with_name(f"{folder.name}.lease")
    latest = place / files(folder)[-1]
    now = time.time()
    os.utime(latest, (now - seconds, now - seconds))


def test_a_second_owner_is_told_who_has_it(tmp_path):
    run = tmp_path / "runs" / "0003"
    with (
        hold_lease(run, "worker 7 of lab"),
        pytest.raises(LeaseHeld, match="0003: worker 7 of lab is working on it"),
        hold_lease(run, "another"),
    ):
        raise AssertionError("two owners")
    assert not run.exists()


def test_numbers_grow_over_owners_and_the_old_files_go(tmp_path):
    run = tmp_path / "0000"
    fences = []
    for _ in range(3):
        with hold_lease(run, "one") as lease:
            fences.append(lease.fence)
            lease.check()
    assert fences == [1, 2, 3]
    assert files(run) == ["3"]


def test_a_lease_that_was_given_back_does_not_hold_and_cannot_be_checked(tmp_path):
    run = tmp_path / "0000"
    with hold_lease(run, "one") as lease:
        pass
    with pytest.raises(LeaseLost, match="released"):
        lease.check()
    with hold_lease(run, "two", beat=3600):
        pass


@pytest.mark.parametrize("hours", [1, pytest.param(-1, marks=pytest.mark.slow)])
def test_a_clock_that_jumps_takes_no_lease_from_a_living_owner(tmp_path, hours):
    run = tmp_path / "0000"
    with hold_lease(run, "alive", **QUICK) as lease:
        for _ in range(5):
            # To the file system the last touch now lies an hour ago, or an hour ahead.
            forget_touches(run, 3600 * hours)
            with pytest.raises(LeaseHeld), hold_lease(run, "eager", beat=0.5, missed=4):
                pass
        lease.check()


def test_an_owner_that_died_before_the_clock_was_put_back_makes_room(tmp_path):
    run = tmp_path / "0000"
    with hold_lease(run, "dead, on a machine elsewhere", beat=3600):
        forget_touches(run, -3600)
        with hold_lease(run, "next", **QUICK) as lease:
            assert lease.fence == 2


def test_one_that_is_not_touched_is_taken_over_and_its_owner_finds_out(tmp_path):
    run = tmp_path / "0000"
    heard = []
    with hold_lease(run, "asleep", beat=3600) as old, old.interrupting(heard.append):
        forget_touches(run, 60)
        with hold_lease(run, "awake", **QUICK) as new:
            assert new.fence == old.fence + 1
            with pytest.raises(LeaseLost, match="taken over its lease 1"):
                old.check()
            new.check()
        (reason,) = heard
        assert isinstance(reason, LeaseLost)
    with hold_lease(run, "third") as third:
        assert third.fence == 3


def test_an_owner_whose_clock_is_wrong_is_judged_by_the_file_system(tmp_path, monkeypatch):
    run = tmp_path / "0000"
    with hold_lease(run, "alive", beat=3600):
        for skew in (-1e6, 1e6):
            monkeypatch.setattr(time, "time", lambda skew=skew: 1.8e9 + skew)
            with pytest.raises(LeaseHeld), hold_lease(run, "skewed"):
                pass


def test_the_heartbeat_finds_out_by_itself(tmp_path):
    run = tmp_path / "0000"
    heard = threading.Event()
    with hold_lease(run, "asleep", beat=2.0, missed=1) as old:
        forget_touches(run, 60)
        with (
            hold_lease(run, "awake", beat=0.2, missed=1),
            old.interrupting(lambda reason: heard.set()),
        ):
            assert heard.wait(120)


def test_of_many_who_come_at_once_one_gets_it(tmp_path):
    run = tmp_path / "0000"
    start, winners, held = threading.Barrier(16), [], []
    leave = threading.Event()

    def come(number):
        start.wait()
        try:
            with hold_lease(run, str(number)) as lease:
                winners.append(lease.fence)
                leave.wait(120)
        except LeaseHeld:
            held.append(number)

    for turn in range(1, 6):
        threads = [threading.Thread(target=come, args=(number,)) for number in range(16)]
        leave.clear()
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + 120
        while len(winners) + len(held) < 16 * turn and time.monotonic() < deadline:
            time.sleep(0.005)
        assert len(winners) == turn
        leave.set()
        for thread in threads:
            thread.join()
    assert winners == sorted(set(winners))


OWNER = """
import sys, time
from pathlib import Path
from virsci_society.scenarios.runs.lease import hold_lease
with hold_lease(Path(sys.argv[1]), "to be killed", beat=3600):
    print("has it", flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(
    not process_identity(), reason="no /proc: the dead are known by their silence alone"
)
def test_a_killed_process_of_this_machine_makes_room_at_once(tmp_path):
    run = tmp_path / "0000"
    root = Path(__file__).parents[4]
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, str(run)], cwd=root, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout.readline() == "has it\n"
        with pytest.raises(LeaseHeld, match="to be killed"), hold_lease(run, "too early"):
            pass
        owner.kill()
        deadline = time.monotonic() + 120
        while not has_ended((run.with_name("0000.lease") / "1").read_text().splitlines()[1]):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        with hold_lease(run, "next") as lease:
            assert lease.fence == 2


@pytest.mark.skipif(not process_identity(), reason="no /proc")
def test_of_other_machines_and_containers_nothing_is_claimed():
    boot, container, pid, since = process_identity().split()
    assert not has_ended(" ".join((boot, container, pid, since)))
    assert has_ended(" ".join((boot, container, pid, "1")))
    assert has_ended(" ".join((boot, container, "4194305", since)))
    assert not has_ended(" ".join(("another-boot", container, "4194305", since)))
    assert not has_ended(" ".join((boot, "pid:[1]", "4194305", since)))
    for damaged in ("", "x", f"{boot} {container} pid 1", f"{boot} {container}"):
        assert not has_ended(damaged)


@pytest.mark.slow
def test_a_lease_that_its_maker_did_not_fill_counts_by_its_age(tmp_path):
    run = tmp_path / "0000"
    place = tmp_path / "0000.lease"
    place.mkdir()
    (place / "4").touch()
    with pytest.raises(LeaseHeld, match="another process"), hold_lease(run, "eager"):
        pass
    forget_touches(run, 60)
    with hold_lease(run, "patient") as lease:
        assert lease.fence == 5


def test_a_number_that_was_used_up_meanwhile_is_no_lease(tmp_path, monkeypatch):
    from virsci_society.scenarios.runs import lease

    run = tmp_path / "0000"
    with hold_lease(run, "first"):
        pass
    judge = lease._refuse_living

    def slowly(path, beat, patience):
        judge(path, beat, patience)
        monkeypatch.setattr(lease, "_refuse_living", judge)
        with hold_lease(run, "second"):
            pass
        stack.enter_context(hold_lease(run, "third"))

    monkeypatch.setattr(lease, "_refuse_living", slowly)
    with ExitStack() as stack, pytest.raises(LeaseHeld), hold_lease(run, "slow"):
        pass
    assert files(run) == ["3"]


def test_all_runs_of_one_study_are_stopped_and_no_others(tmp_path):
    heard = []
    ours, theirs = tmp_path / "a" / "runs" / "0000", tmp_path / "b" / "runs" / "0000"
    with (
        hold_lease(ours, "one") as one,
        hold_lease(theirs, "two") as two,
        one.interrupting(lambda reason: heard.append("ours")),
        two.interrupting(lambda reason: heard.append("theirs")),
    ):
        assert stop_all(Stopped("enough"), tmp_path / "a") == 1
        assert heard == ["ours"]
        assert stop_all(Stopped("enough")) == 2
        assert heard == ["ours", "theirs"]
        with one.interrupting(lambda reason: heard.append(str(reason))):
            assert heard[-1] == "enough"
    assert stop_all(Stopped("nobody is left"), tmp_path) == 0


def test_a_lease_that_cannot_be_written_is_a_stop(tmp_path):
    (tmp_path / "file").touch()
    with (
        pytest.raises(Stopped, match="the lease cannot be written"),
        hold_lease(tmp_path / "file" / "0", "x"),
    ):
        pass
