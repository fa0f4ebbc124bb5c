"""The group-commit writer: which changes become one commit, and who is woken by it."""

import asyncio
import threading

import pytest

from virsci_society.agents.errors import Stopped
from virsci_society.agents.journal.database import GROUP, GroupCommitWriter


@pytest.fixture
def writer():
    """A writer that has nothing to open and nothing to make durable."""
    made = GroupCommitWriter(lambda: None, lambda: None, lambda error: Stopped(str(error)))
    yield made
    if made.fault is None:
        made.close()


def test_what_nobody_waits_for_is_committed_in_groups(writer):
    done = []
    for number in range(GROUP - 1):
        writer.enqueue(lambda number=number: done.append(number))
    assert (writer.commits, done) == (0, [])
    writer.enqueue(lambda: done.append(GROUP - 1))
    assert (writer.commits, done) == (1, list(range(GROUP)))
    writer.enqueue(lambda: done.append("last"))
    writer.flush()
    assert (writer.commits, done[-1]) == (2, "last")


def test_a_commit_takes_what_any_thread_has_queued_and_wakes_its_loop(writer):
    """A flush on the clock's thread commits what a loop waits for on another thread."""
    queued, flushed, woken = threading.Event(), threading.Event(), []

    async def wait():
        task = asyncio.ensure_future(writer.commit(lambda: "value", queued.set))
        await asyncio.sleep(0)
        flushed.wait(60)  # so that the loop comes to a commit of its own only afterwards
        woken.append(await task)

    loop = threading.Thread(target=lambda: asyncio.run(wait()))
    loop.start()
    assert queued.wait(60)
    writer.flush()
    flushed.set()
    loop.join(60)
    assert (writer.commits, woken) == (1, ["value"])


@pytest.mark.parametrize(
    ("error", "raised"), [(OSError("no room"), Stopped), (KeyboardInterrupt(), KeyboardInterrupt)]
)
def test_after_a_commit_that_failed_nothing_more_is_written(writer, error, raised):
    def change():
        raise error

    writer.enqueue(change)
    with pytest.raises(raised):
        writer.flush()
    with pytest.raises(Stopped):
        writer.enqueue(list)
    assert writer.commits == 0


def test_of_one_commit_requests_to_send_are_woken_first_and_replies_one_in_a_round(writer):
    async def changes():
        woken, rounds = [], [0]

        async def commit(name, value):
            await writer.commit(lambda: value)
            woken.append((name, rounds[0]))

        values = {"reply": "a", "intent": None, "other reply": "b", "other intent": None}
        tasks = [asyncio.ensure_future(commit(*one)) for one in values.items()]
        while len(woken) < len(tasks):
            rounds[0] += 1
            await asyncio.sleep(0)
        return woken

    woken = asyncio.run(changes())
    assert writer.commits == 1
    assert [name for name, _ in woken] == ["intent", "other intent", "reply", "other reply"]
    first, second, reply, other = (at for _, at in woken)
    assert first == second <= reply < other
