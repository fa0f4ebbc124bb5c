"""Slot pool: who gets the next place, and when (rules 6 and 17, R3), in invented time.

A loop on which nothing is left to happen raises, so whoever would wait for ever fails the test.
"""

import asyncio
import random
from collections import Counter
from dataclasses import dataclass
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.invented_time import now, play
from virsci_society.agents.errors import RULES, BudgetReached, Fault, Stopped
from virsci_society.agents.gateway.backend import Endpoint
from virsci_society.agents.gateway.retry import Retry
from virsci_society.agents.gateway.slots import SlotPool

ENDPOINT = Endpoint("here", None)


def make(in_flight=4, **more):
    """A slot pool in invented time."""
    return SlotPool(ENDPOINT, in_flight, clock=asyncio.get_running_loop().time, **more)


async def turns():
    """Let every task do what it can now."""
    for _ in range(5):
        await asyncio.sleep(0)


async def take(pool, id_="a", due=0.0, attempt=0):
    return await pool.acquire(due, id_, attempt)


async def attempt(pool, kind=None, after=None, seconds=0.0, id_="a"):
    """One attempt with its outcome: a kind of fault, or a success."""
    slot = await take(pool, id_)
    await asyncio.sleep(seconds)
    if kind is None:
        slot.pool.record_success()
    else:
        slot.pool.record_failure(slot, Fault("x", kind, retry_after=after))
    slot.release()


def test_waiting_requests_are_served_by_due_date_then_id_then_attempt():
    wanted = [(due, id_, number) for due in (1.0, 2.0) for id_ in "abc" for number in (0, 1)]

    async def scene():
        pool, served = make(in_flight=1), []
        holder = await take(pool)

        async def call(due, id_, number):
            slot = await pool.acquire(due, id_, number)
            served.append((due, id_, number))
            slot.release()

        mixed = random.Random(1).sample(wanted, len(wanted))
        calls = [asyncio.create_task(call(*one)) for one in mixed]
        await turns()
        holder.release()
        await asyncio.gather(*calls)
        return served

    assert play(scene) == wanted


def test_a_free_place_is_given_without_suspending():
    work = SlotPool(ENDPOINT, 1).acquire(0.0, "a", 0)
    with pytest.raises(StopIteration):
        work.send(None)


@pytest.mark.parametrize("handed", [False, True])
def test_a_cancelled_wait_loses_no_place(handed):
    async def scene():
        pool = make(in_flight=1)
        holder = await take(pool)
        first, second = (asyncio.create_task(take(pool, id_)) for id_ in "bc")
        await turns()
        if handed:
            holder.release()
        first.cancel()
        if not handed:
            holder.release()
        (await second).release()
        assert first.cancelled()
        (await take(pool)).release()

    play(scene)


def test_a_rate_fault_cuts_the_limit_once_for_all_that_were_under_way():
    async def scene():
        pool = make(in_flight=10)
        under_way = [await take(pool) for _ in range(10)]
        for slot in under_way[:5]:
            slot.pool.record_failure(slot, Fault("x", "rate"))
            slot.release()
            assert pool.limit == 7
        later = [await take(pool) for _ in range(2)]
        later[0].pool.record_failure(later[0], Fault("x", "rate"))
        assert pool.limit == 4
        for slot in (*under_way[5:], later[1]):
            slot.pool.record_failure(slot, Fault("x", "rate"))
        assert pool.limit == 4

    play(scene)


def test_the_limit_never_falls_below_one_and_rises_with_each_success_to_where_it_began():
    async def scene():
        pool = make(in_flight=4)
        for wanted in (2, 1, 1, 1):
            await attempt(pool, "rate")
            assert pool.limit == wanted
        held = await take(pool)
        waiting = asyncio.create_task(take(pool))
        await turns()
        assert not waiting.done()
        held.pool.record_success()
        held.release()
        (await waiting).release()
        assert pool.limit == 2
        await attempt(pool)
        assert pool.limit == 2.5
        for _ in range(20):
            await attempt(pool)
        assert pool.limit == 4

    play(scene)


def test_other_faults_leave_the_limit_alone():
    async def scene():
        pool = make(in_flight=4)
        for kind in RULES:
            if kind != "rate":
                await attempt(pool, kind)
        assert pool.limit == 4

    play(scene)


@dataclass
class Server:
    """A server that answers in a second, takes two attempts at a time, and is down until a date."""

    down_until: float = 0.0
    most: int = 2
    busy: int = 0

    async def attempt(self):
        if now() < 1000 + self.down_until:
            await asyncio.sleep(0.01)
            return Fault("refused", "connection")
        if self.busy >= self.most:
            await asyncio.sleep(0.01)
            return Fault("too many", "rate", retry_after=1.0)
        self.busy += 1
        await asyncio.sleep(1.0)
        self.busy -= 1
        return None


@pytest.mark.parametrize("down_until", [0.0, 10.0])
def test_a_server_that_takes_less_or_comes_back_answers_each_call_once(down_until):
    async def scene():
        pool, server, faults, answers = make(in_flight=4), Server(down_until), Counter(), []

        async def call(number):
            failed = 0
            while True:
                slot = await pool.acquire(float(number), f"call {number}", 0)
                fault = await server.attempt()
                if fault is None:
                    slot.pool.record_success()
                    slot.release()
                    answers.append(number)
                    return
                faults[fault.kind] += 1
                failed += 1
                slot.pool.record_failure(slot, fault)
                slot.release()
                await asyncio.sleep(Retry().delay(f"call {number}", failed, fault.retry_after))

        await asyncio.gather(*(call(number) for number in range(200)))
        return sorted(answers), faults, now() - 1000

    answers, faults, seconds = play(scene)
    assert answers == list(range(200))
    # The limit is cut by what is turned away, once for each burst.
    assert 0 < faults["rate"] < 200
    # A few while it is down: those that open the breaker, and one after each pause.
    assert faults["connection"] <= 5 + 4 + 6
    assert seconds < 1.5 * (down_until + 200 / Server.most)


@pytest.mark.parametrize(("after", "patience", "wanted"), [(20.0, 600.0, 20), (86_400.0, 60.0, 60)])
def test_where_all_are_shut_requests_wait_in_order_but_never_beyond_patience(
    after, patience, wanted
):
    async def scene():
        pool, served = make(in_flight=1, patience=patience), []
        await attempt(pool, "rate", after=after)

        async def call(id_):
            slot = await take(pool, id_)
            served.append((id_, round(now() - 1000)))
            await asyncio.sleep(1)
            slot.release()

        await asyncio.gather(*(call(id_) for id_ in "cab"))
        return served

    assert play(scene) == [("a", wanted), ("b", wanted + 1), ("c", wanted + 2)]


@pytest.mark.parametrize("looks_before", range(6))
def test_a_pause_that_ends_between_two_looks_at_the_clock_leaves_nobody_waiting(looks_before):
    async def scene():
        looks, running = count(), []
        pool = SlotPool(
            ENDPOINT, 1, clock=lambda: 20.0 - looks_before + next(looks) if running else 0.0
        )
        await attempt(pool, "rate", after=20.0)
        running.append(True)
        assert (await take(pool)).pool.endpoint is ENDPOINT

    play(scene)


async def ail(pool, kinds):
    """Attempts one after another, and when each began after the first."""
    begun = []
    for kind in kinds:
        slot = await take(pool)
        begun.append(round(now() - 1000))
        if kind is not None:
            slot.pool.record_failure(slot, Fault("x", kind))
        slot.release()
    return begun


def test_five_ailing_faults_in_a_row_open_pauses_that_double_up_to_a_minute():
    async def scene():
        return await ail(make(), ["server", "timeout", "connection", "garbled", "server"] * 3)

    wanted = [0, 0, 0, 0, 0, 1, 3, 7, 15, 31, 63, 123, 183, 243, 303]
    assert play(scene) == wanted


@pytest.mark.parametrize("between", [None, "rate", "empty", "request"])
def test_an_answer_of_any_kind_begins_the_count_anew(between):
    async def scene():
        pool = make()
        for _ in range(3):
            await ail(pool, ["server"] * 4)
            await attempt(pool, between)
        return now()

    assert play(scene) == 1000


def test_after_the_pause_there_is_one_at_a_time_until_one_succeeds():
    async def scene():
        pool = make(in_flight=8)
        await ail(pool, ["server"] * 5)
        calls = [asyncio.create_task(take(pool, f"{n}")) for n in range(8)]
        done = []
        for fate in ("server", "empty", "server", "nothing", "success"):
            await asyncio.sleep(10)
            (probe,) = (call.result() for call in calls if call.done() and call not in done)
            done = [call for call in calls if call.done()]
            if fate == "success":
                probe.pool.record_success()
            elif fate != "nothing":
                probe.pool.record_failure(probe, Fault("x", fate))
            probe.release()
            await turns()
            assert fate != "server" or sum(call.done() for call in calls) == len(done)
        assert all(call.done() for call in calls)
        assert not pool.half_open
        return await ail(pool, ["server"] * 6)

    assert play(scene)[-1] - play(scene)[0] == 1


def test_faults_of_attempts_begun_before_the_pause_say_nothing_new():
    async def scene():
        pool = make(in_flight=40)
        held = [await take(pool) for _ in range(40)]
        for slot in held:
            slot.pool.record_failure(slot, Fault("x", "timeout"))
            slot.release()
        slot = await take(pool)
        return now() - 1000, pool.probe is slot

    assert play(scene) == (pytest.approx(1, abs=0.01), True)


def test_silence_is_counted_from_the_last_success_or_from_the_first_take():
    async def scene():
        pool = make()
        await asyncio.sleep(7)
        assert pool.seconds_since_success() == 0
        await attempt(pool, "rate", seconds=5.0)
        await asyncio.sleep(5)
        await attempt(pool, "server", seconds=5.0)
        assert pool.seconds_since_success() == 15
        await attempt(pool)
        assert pool.seconds_since_success() == 0
        await asyncio.sleep(3)
        assert pool.seconds_since_success() == 3

    play(scene)


def test_closing_ends_every_wait_and_lets_what_is_held_come_back():
    async def scene():
        pool = make(in_flight=2)
        held = [await take(pool), await take(pool)]
        held[0].pool.record_failure(held[0], Fault("x", "rate", retry_after=50.0))
        held[0].release()
        waits = [asyncio.create_task(take(pool, id_)) for id_ in "bcd"]
        await turns()
        waits[0].cancel()
        pool.close(BudgetReached("no more"))
        ends = await asyncio.gather(*waits, take(pool), take(pool), return_exceptions=True)
        assert isinstance(ends[0], asyncio.CancelledError)
        assert [(type(end), str(end)) for end in ends[1:]] == [(BudgetReached, "no more")] * 4
        assert len(set(map(id, ends))) == 5
        held[1].pool.record_success()
        held[1].release()
        with pytest.raises(Stopped, match="no more"):
            await take(pool)

    play(scene)


FATES = st.sampled_from([None, *RULES, "nothing"])
STEPS = st.lists(
    st.tuples(FATES, st.integers(0, 30), st.none() | st.integers(0, 50), st.booleans()), max_size=40
)


@given(STEPS, st.integers(1, 6))
def test_whatever_happens_everybody_is_served_and_every_place_comes_back(steps, in_flight):
    async def scene():
        pool = make(in_flight=in_flight, patience=40.0)

        async def call(number, fate, seconds, after):
            slot = await take(pool, str(number))
            try:
                assert pool.busy <= in_flight
                await asyncio.sleep(seconds)
                if fate is None:
                    slot.pool.record_success()
                elif fate != "nothing":
                    slot.pool.record_failure(slot, Fault("x", fate, retry_after=after))
            finally:
                slot.release()

        calls = []
        for number, (fate, seconds, after, cancelled) in enumerate(steps):
            calls.append(asyncio.create_task(call(number, fate, seconds, after)))
            await asyncio.sleep(seconds / 10)
            if cancelled:
                calls[number // 2].cancel()
        ends = await asyncio.gather(*calls, return_exceptions=True)
        assert all(end is None or isinstance(end, asyncio.CancelledError) for end in ends)
        assert (pool.busy, pool.probe) == (0, None)
        await asyncio.sleep(100)
        for _ in range(20):
            pool.record_success()
        held = [await take(pool) for _ in range(in_flight)]
        assert len(held) == in_flight

    play(scene)
