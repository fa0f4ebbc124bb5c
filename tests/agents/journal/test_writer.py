"""The group-commit writer: no change is left in the queue while the writer sleeps."""

import asyncio
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


def test_of_one_commit_requests_to_send_are_woken_first_and_replies_one_in_a_round(writer):
    async def changes():
        full, begun, woken, rounds = threading.Event(), threading.Event(), [], [0]

        def first():
            begun.set()
            full.wait(PATIENCE)

        async def commit(name, value):
            await writer.commit(lambda: value)
            woken.append((name, rounds[0]))

        writer.enqueue(first)  # the others become one commit behind it
        assert begun.wait(PATIENCE)
        values = {"reply": "a", "intent": None, "other reply": "b", "other intent": None}
        tasks = [asyncio.ensure_future(commit(*one)) for one in values.items()]
        await asyncio.sleep(0)
        full.set()
        while len(woken) < len(tasks):
            rounds[0] += 1
            await asyncio.sleep(0)
        return woken

    woken = asyncio.run(changes())
    assert [name for name, _ in woken] == ["intent", "other intent", "reply", "other reply"]
    first, second, reply, other = (at for _, at in woken)
    assert first == second <= reply < other
