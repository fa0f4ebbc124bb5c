"""Leases, by which a run folder has one owner at a time, whichever machines share it.

Its number only grows (a fencing token); ages are read from the file system's clock alone.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4
from weakref import WeakSet

from virsci_society.agents.errors import InputError, Stopped, disk_errors_as
from virsci_society.agents.files.atomic_files import (
    make_folder,
    open_new,
    remove_file,
    require_plain,
)

BEAT = 5.0
"""Seconds between two touches."""
MISSED = 6
"""Missed touches after which a lease has expired."""
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_CONTAINER = Path("/proc/self/ns/pid")


def process_identity() -> str:
    """Boot, container, number and start of this process, in four words; empty without ``/proc``."""
    try:
        _, since = _state(os.getpid())
        return f"{_machine()} {os.getpid()} {since}"
    except (OSError, IndexError):
        return ""


def has_ended(identity: str) -> bool:
    """Has the process with this identity ended? False also if it cannot be checked from here."""
    words = identity.split()
    try:
        if len(words) != 4 or " ".join(words[:2]) != _machine():
            return False
        state, since = _state(int(words[2]))
    except (FileNotFoundError, ProcessLookupError):
        return True
    except (OSError, ValueError, IndexError):
        return False
    return state in "ZX" or since != words[3]


def _machine() -> str:
    """This boot of this machine, and the container in it, within which process numbers count."""
    return f"{_BOOT.read_text().strip()} {os.readlink(_CONTAINER)}"


def _state(pid: int) -> tuple[str, str]:
    """State of a process by the letter of ``ps``, and its start in ticks since the boot."""
    # The name in brackets comes second and may contain anything: count from its end.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return fields[0], fields[19]


_living: WeakSet[Lease] = WeakSet()
_lock = threading.Lock()


class LeaseHeld(InputError):
    """A living owner has the lease."""


class LeaseLost(Stopped):
    """The lease was taken over by another owner; nothing more may be done under it."""


class Lease:
    """An acquired lease; see ``hold_lease``."""

    def __init__(self, folder: Path, path: Path, beat: float) -> None:
        self.folder, self.fence = folder, int(path.name)
        self._path, self._beat = path, beat
        self._reason: Stopped | None = None
        self._listeners: list[Callable[[Stopped], None]] = []
        self._released = threading.Event()
        self._thread = threading.Thread(target=self._touch, name="lease", daemon=True)

    def check(self) -> None:
        """Check that the lease is still valid, before a persistent effect; thread-safe."""
        if self._released.is_set():
            raise LeaseLost(f"{self.folder}: the lease {self.fence} has been released")
        try:
            os.utime(self._path, follow_symlinks=False)
        except FileNotFoundError:
            lost = LeaseLost(
                f"{self.folder}: another process has taken over its lease {self.fence} and "
                "continues the run"
            )
            self.notify_stop(lost)
            raise lost from None
        except OSError as error:
            raise LeaseLost(
                f"{self.folder}: cannot check its lease {self.fence}: {error.strerror}"
            ) from error

    def notify_stop(self, reason: Stopped) -> None:
        """Ask everything that runs under the lease to end soon; the first reason is kept."""
        with _lock:
            if self._reason is not None:
                return
            self._reason = reason
            listeners = list(self._listeners)
        for listener in listeners:
            listener(reason)

    @contextmanager
    def interrupting(self, tell: Callable[[Stopped], None]) -> Iterator[None]:
        """Call ``tell`` with the reason, within this block, when the run is to end soon."""
        with _lock:
            self._listeners.append(tell)
            reason = self._reason
        try:
            if reason is not None:
                tell(reason)
            yield
        finally:
            with _lock:
                self._listeners.remove(tell)

    def _touch(self) -> None:
        while not self._released.wait(self._beat):
            # A file system that is away for a moment is no loss; the next effect would find out.
            with suppress(LeaseLost):
                self.check()


@contextmanager
def hold_lease(
    folder: Path, owner: str, *, beat: float = BEAT, missed: int = MISSED
) -> Iterator[Lease]:
    """Hold the lease of a run folder for this block; ``beat`` is the same for all who share it."""
    lease_folder = folder.with_name(f"{folder.name}.lease")
    with disk_errors_as(Stopped, f"{lease_folder}: the lease cannot be written"):
        make_folder(lease_folder)
        lease = Lease(folder, _taken(lease_folder, owner, beat, beat * missed), beat)
    with _lock:
        _living.add(lease)
    lease._thread.start()
    try:
        yield lease
    finally:
        lease._released.set()
        lease._thread.join()
        with _lock:
            _living.discard(lease)
        # The file stays, so that the numbers go on growing; touched at the epoch it is nobody's.
        with suppress(OSError):
            os.utime(lease._path, (0, 0), follow_symlinks=False)


def is_abandoned(folder: Path) -> bool:
    """Has the latest owner of a run ended or given up its lease, by the clock of this machine?"""
    lease_folder = folder.with_name(f"{folder.name}.lease")
    try:
        lines, touched = _read(lease_folder / str(max(_numbers(lease_folder))))
    except (OSError, ValueError, InputError):
        return False
    fresh = touched > 0 and time.time() - touched <= BEAT * MISSED
    return not fresh or (len(lines) > 1 and has_ended(lines[1]))


def stop_all(reason: Stopped, within: Path | None = None) -> int:
    """Ask every run that this process has a lease of to end soon; returns how many there are."""
    with _lock:
        living = list(_living)
    meant = [held for held in living if within is None or within in held.folder.parents]
    for lease in meant:
        lease.notify_stop(reason)
    return len(meant)


def _taken(place: Path, owner: str, beat: float, patience: float) -> Path:
    """Create the next lease file, unless a live process has the latest."""
    before = _numbers(place)
    latest = max(before, default=0)
    if latest:
        _refuse_living(place / str(latest), beat, patience)
    mine = place / str(latest + 1)
    try:
        made = open_new(mine)
    except FileExistsError:
        raise LeaseHeld(_held(mine)) from None
    with made as file:
        file.write(f"{' '.join(owner.split())}\n{process_identity()}\n")
    after = _numbers(place)
    if max(after) != latest + 1:
        # Whoever looked too long at an old number made one that had been used up already.
        remove_file(mine)
        raise LeaseHeld(_held(place / str(max(after))))
    for number in after:
        if number <= latest:
            remove_file(place / str(number))
    return mine


def _refuse_living(path: Path, beat: float, patience: float) -> None:
    """Raise LeaseHeld, unless the lease was given back, has expired, or its process has ended."""
    try:
        lines, touched = _read(path)
        if touched <= 0 or (len(lines) > 1 and has_ended(lines[1])):
            return
        fresh = -beat <= _now(path.parent) - touched <= patience
        if not fresh:
            # A clock that was set by an hour makes a living owner look dead, or a dead one alive
            # for an hour. Whoever lives touches its lease again, by a clock that nobody sets.
            time.sleep(2 * beat)
            again = _read(path)[1]
            if again <= 0:  # given back meanwhile
                return
            fresh = again != touched
    except FileNotFoundError:
        raise LeaseHeld(_held(path)) from None
    if fresh:
        raise LeaseHeld(_held(path))


def _read(path: Path) -> tuple[list[str], float]:
    """The lines of a lease, and when it was touched last."""
    # Opened, because only then does a network file system tell times that are not old ones.
    with require_plain(path).open("rb") as file:
        lines = file.read().decode("utf-8", "replace").splitlines()
        return lines, os.fstat(file.fileno()).st_mtime


def _now(place: Path) -> float:
    """The clock of the file system: the time of a file that is made just now."""
    probe = place / f"now-{uuid4().hex}"
    try:
        with open_new(probe) as file:
            return os.fstat(file.fileno()).st_mtime
    finally:
        remove_file(probe)


def _numbers(place: Path) -> list[int]:
    return [int(name) for name in os.listdir(place) if name.isdigit()]


def _held(path: Path) -> str:
    owner = ""
    with suppress(OSError, IndexError):
        owner = path.read_text(encoding="utf-8").splitlines()[0]
    folder = path.parent.with_suffix("")
    return f"{folder}: {owner or 'another process'} is working on it; wait until it ends"
