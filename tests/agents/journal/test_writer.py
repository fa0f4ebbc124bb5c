"""The group-commit writer: no change is left in the queue while the writer sleeps."""

import threading
import time

import pytest

from virsci_society.agents.errors import Stopped
from virsci_society.agents.journal.database import GroupCommitWriter

PATIENCE = 60.0


class LateCondition(threading.Condition):
    """A condition whose next holder on one thread enters only after something has happened."""

    def __init__(self):
        super().__init__()
        self.late, self.first, self.sleeps = None, None, 0

    def __enter__(self):
        if threading.current_thread() is self.late:
            self.late = None
            self.first()
        return super().__enter__()

    def wait(self, timeout=None):
        self.sleeps += 1
        return super().wait(timeout)


@pytest.fixture
def writer():
    """A writer that has nothing to open and nothing to make durable."""
    made = GroupCommitWriter(lambda: None, lambda: None, lambda error: Stopped(str(error)))
    yield made
    made.close()


def test_a_caller_who_waited_for_the_lock_does_not_put_the_writer_to_sleep(writer):
    """It saw an idle writer, which another caller woke and which has committed both changes."""
    done, sleeps = [], []
    writer._changed = LateCondition()
    writer.enqueue(lambda: done.append("warm"))
    writer.flush()

    def another_caller():
        other = threading.Thread(target=writer.enqueue, args=(lambda: done.append("other"),))
        other.start()
        other.join(PATIENCE)
        writer.flush()
        sleeps.append(writer._changed.sleeps)

    writer._changed.first, writer._changed.late = another_caller, threading.current_thread()
    writer.enqueue(lambda: done.append("late"))
    assert done == ["warm", "late", "other"]
    end = time.monotonic() + PATIENCE
    while writer._changed.sleeps == sleeps[0] and time.monotonic() < end:
        time.sleep(0.001)
    written = threading.Event()
    writer.enqueue(written.set)
    assert written.wait(PATIENCE)
