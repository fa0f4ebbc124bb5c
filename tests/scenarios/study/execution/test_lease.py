"""Leases: one owner at a time, the dead make room, and an old owner finds out."""

import os
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from agents.errors import Stopped
from scenarios.study.leases import Held, Lost, leased, stop_all
from scenarios.study.whereabouts import is_gone, whereabouts

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
        leased(run, "worker 7 of lab"),
        pytest.raises(Held, match="0003: worker 7 of lab works on it"),
        leased(run, "another"),
    ):
        raise AssertionError("two owners")
    assert not run.exists()


def test_numbers_grow_over_owners_and_the_old_files_go(tmp_path):
    run = tmp_path / "0000"
    fences = []
    for _ in range(3):
        with leased(run, "one") as lease:
            fences.append(lease.fence)
            lease.check()
    assert fences == [1, 2, 3]
    assert files(run) == ["3"]


def test_a_lease_that_was_given_back_does_not_hold_and_cannot_be_checked(tmp_path):
    run = tmp_path / "0000"
    with leased(run, "one") as lease:
        pass
    with pytest.raises(Lost, match="given back"):
        lease.check()
    with leased(run, "two", beat=3600):
        pass


def test_one_that_is_touched_outlives_its_expiry(tmp_path):
    run = tmp_path / "0000"
    with leased(run, "slow but alive", **QUICK):
        until = time.monotonic() + 3 * 0.05 * 4
        while time.monotonic() < until:
            with pytest.raises(Held), leased(run, "eager", **QUICK):
                pass
            time.sleep(0.05)


def test_one_that_is_not_touched_is_taken_over_and_its_owner_finds_out(tmp_path):
    run = tmp_path / "0000"
    heard = []
    with leased(run, "asleep", beat=3600) as old, old.interrupting(heard.append):
        forget_touches(run, 60)
        with leased(run, "awake", **QUICK) as new:
            assert new.fence == old.fence + 1
            with pytest.raises(Lost, match="taken over its lease 1"):
                old.check()
            new.check()
        (reason,) = heard
        assert isinstance(reason, Lost)
    with leased(run, "third") as third:
        assert third.fence == 3


def test_an_owner_whose_clock_is_wrong_is_judged_by_the_file_system(tmp_path, monkeypatch):
    run = tmp_path / "0000"
    with leased(run, "alive", beat=3600):
        for skew in (-1e6, 1e6):
            monkeypatch.setattr(time, "time", lambda skew=skew: 1.8e9 + skew)
            with pytest.raises(Held), leased(run, "skewed"):
                pass


def test_the_heartbeat_finds_out_by_itself(tmp_path):
    run = tmp_path / "0000"
    heard = threading.Event()
    with leased(run, "asleep", beat=0.2, missed=1) as old:
        forget_touches(run, 60)
        with (
            leased(run, "awake", beat=0.2, missed=1),
            old.interrupting(lambda reason: heard.set()),
        ):
            assert heard.wait(5)


def test_of_many_who_come_at_once_one_gets_it(tmp_path):
    run = tmp_path / "0000"
    start, winners, held = threading.Barrier(16), [], []
    leave = threading.Event()

    def come(number):
        start.wait()
        try:
            with leased(run, str(number)) as lease:
                winners.append(lease.fence)
                leave.wait(10)
        except Held:
            held.append(number)

    for turn in range(1, 6):
        threads = [threading.Thread(target=come, args=(number,)) for number in range(16)]
        leave.clear()
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + 10
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
from scenarios.study.leases import leased
with leased(Path(sys.argv[1]), "to be killed", beat=3600):
    print("has it", flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(not whereabouts(), reason="no /proc: the dead are known by their silence alone")
def test_a_killed_process_of_this_machine_makes_room_at_once(tmp_path):
    run = tmp_path / "0000"
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, str(run)], cwd=root, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout.readline() == "has it\n"
        with pytest.raises(Held, match="to be killed"), leased(run, "too early"):
            pass
        owner.kill()
        deadline = time.monotonic() + 10
        while not is_gone((run.with_name("0000.lease") / "1").read_text().splitlines()[1]):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        with leased(run, "next") as lease:
            assert lease.fence == 2


@pytest.mark.skipif(not whereabouts(), reason="no /proc")
def test_of_other_machines_and_containers_nothing_is_claimed():
    boot, container, pid, since = whereabouts().split()
    assert not is_gone(" ".join((boot, container, pid, since)))
    assert is_gone(" ".join((boot, container, pid, "1")))
    assert is_gone(" ".join((boot, container, "4194305", since)))
    assert not is_gone(" ".join(("another-boot", container, "4194305", since)))
    assert not is_gone(" ".join((boot, "pid:[1]", "4194305", since)))
    for damaged in ("", "x", f"{boot} {container} pid 1", f"{boot} {container}"):
        assert not is_gone(damaged)


def test_a_lease_that_its_maker_did_not_fill_counts_by_its_age(tmp_path):
    run = tmp_path / "0000"
    place = tmp_path / "0000.lease"
    place.mkdir()
    (place / "4").touch()
    with pytest.raises(Held, match="another process"), leased(run, "eager"):
        pass
    forget_touches(run, 60)
    with leased(run, "patient") as lease:
        assert lease.fence == 5


def test_a_number_that_was_used_up_meanwhile_is_no_lease(tmp_path, monkeypatch):
    from scenarios.study import leases

    run = tmp_path / "0000"
    with leased(run, "first"):
        pass
    judge = leases._refuse_living

    def slowly(path, patience):
        judge(path, patience)
        monkeypatch.setattr(leases, "_refuse_living", judge)
        with leased(run, "second"):
            pass
        stack.enter_context(leased(run, "third"))

    monkeypatch.setattr(leases, "_refuse_living", slowly)
    with ExitStack() as stack, pytest.raises(Held), leased(run, "slow"):
        pass
    assert files(run) == ["3"]


def test_all_runs_of_one_study_are_stopped_and_no_others(tmp_path):
    heard = []
    ours, theirs = tmp_path / "a" / "runs" / "0000", tmp_path / "b" / "runs" / "0000"
    with (
        leased(ours, "one") as one,
        leased(theirs, "two") as two,
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
        pytest.raises(Stopped, match="no lease can be written"),
        leased(tmp_path / "file" / "0", "x"),
    ):
        pass
