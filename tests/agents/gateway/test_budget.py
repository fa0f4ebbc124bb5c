"""Budget: nothing is overspent, and nobody waits for ever (R5, rule 2)."""

import asyncio
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from virsci_society.agents.errors import BudgetReached
from virsci_society.agents.gateway.budget import Budget, BudgetAccount
from virsci_society.agents.journal.records import Spending, nano_dollars
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.request import Message, Request, most_tokens
from virsci_society.agents.replies.form import Form


def spending(calls=0, tokens=0, usd=0.0):
    return Spending(calls, tokens, nano_dollars(usd))


def at_once(work):
    """The result of a coroutine that must not suspend."""
    with pytest.raises(StopIteration) as end:
        work.send(None)
    return end.value.value


async def turns():
    """Let every task do what it can."""
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("budget", "spent"),
    [
        (Budget(tokens=100), {"tokens": 41}),
        (Budget(usd=0.1), {"usd": 0.0401}),
        (Budget(calls=3), {"calls": 3}),
        (Budget(usd=0), {}),
        (Budget(tokens=0), {}),
        (Budget(calls=0), {}),
    ],
)
def test_what_was_spent_before_counts(budget, spent):
    with pytest.raises(BudgetReached):
        asyncio.run(BudgetAccount(budget, spending(**spent)).reserve(60, 0.06))


def test_without_bounds_nothing_waits():
    account = BudgetAccount(Budget(), spending(tokens=10**15, usd=1e9, calls=10**9))
    for _ in range(3):
        at_once(account.reserve(10**12, 1e6))


def test_a_call_that_does_not_fit_waits_until_another_settles():
    async def scene():
        account = BudgetAccount(Budget(tokens=100))
        first = await account.reserve(60, 0.0)
        waiting = asyncio.create_task(account.reserve(60, 0.0))
        await turns()
        assert not waiting.done()
        first.settle(40, 0.0)
        second = await waiting
        second.settle(60, 0.0)
        with pytest.raises(BudgetReached):
            await account.reserve(1, 0.0)

    asyncio.run(scene())


def test_a_dropped_reservation_has_cost_nothing_and_counts_once():
    async def scene():
        account = BudgetAccount(Budget(tokens=100, calls=1))
        for _ in range(3):
            reservation = await account.reserve(100, 0.0)
            reservation.cancel()
            reservation.cancel()
            reservation.settle(100, 0.0)
        (await account.reserve(100, 0.0)).settle(100, 0.0)
        with pytest.raises(BudgetReached):
            await account.reserve(1, 0.0)

    asyncio.run(scene())


def test_failed_attempts_are_no_calls():
    async def scene():
        account = BudgetAccount(Budget(calls=1))
        for _ in range(5):
            (await account.reserve(10, 0.0)).settle(0, 0.0, calls=0)
        (await account.reserve(10, 0.0)).settle(10, 0.0)
        with pytest.raises(BudgetReached):
            await account.reserve(10, 0.0)

    asyncio.run(scene())


def test_who_came_first_is_served_first():
    async def scene():
        served = []

        async def call(name, tokens):
            reservation = await account.reserve(tokens, 0.0)
            served.append(name)
            await asyncio.sleep(0)
            reservation.settle(0, 0.0)

        account = BudgetAccount(Budget(tokens=100))
        holder = await account.reserve(60, 0.0)
        calls = [asyncio.create_task(call(*one)) for one in (("big", 90), ("small", 10))]
        await turns()
        assert served == []
        holder.settle(0, 0.0)
        await asyncio.gather(*calls)
        assert served == ["big", "small"]

    asyncio.run(scene())


def test_where_one_cannot_be_paid_nobody_is_paid_after_it():
    """The run stops, so a smaller cost paid afterwards would be missing in what the stop names."""

    async def scene():
        account = BudgetAccount(Budget(tokens=100))
        holder = await account.reserve(50, 0.0)
        big, small = (asyncio.create_task(account.reserve(tokens, 0.0)) for tokens in (90, 40))
        await turns()
        holder.settle(50, 0.0)
        # Before anybody has been told: it comes without waiting in the queue.
        with pytest.raises(BudgetReached) as late:
            await account.reserve(1, 0.0)
        ends = await asyncio.wait_for(asyncio.gather(big, small, return_exceptions=True), 5)
        assert {str(end) for end in ends} == {str(late.value)}
        assert "50 of 100 tokens are spent" in str(late.value)

    asyncio.run(scene())


@pytest.mark.parametrize("served", [False, True])
def test_a_cancelled_wait_keeps_nothing_and_holds_nobody_up(served):
    async def scene():
        account = BudgetAccount(Budget(tokens=100))
        holder = await account.reserve(60, 0.0)
        first = asyncio.create_task(account.reserve(90, 0.0))
        second = asyncio.create_task(account.reserve(40, 0.0))
        await turns()
        if served:
            holder.settle(0, 0.0)
        first.cancel()
        (await asyncio.wait_for(second, 5)).settle(0, 0.0)
        holder.cancel()
        (await asyncio.wait_for(account.reserve(100, 0.0), 5)).cancel()

    asyncio.run(scene())


@pytest.mark.parametrize(
    ("budget", "spent", "told", "key", "enough"),
    [
        (Budget(usd=5), {"usd": 4.9}, "4.9 of 5 US dollars are spent, .* up to 0.25", "usd", 5.15),
        (Budget(tokens=900), {"tokens": 850}, "850 of 900 tokens .* up to 100", "tokens", 950),
        (Budget(calls=7), {"calls": 7}, "7 of 7 calls are made", "calls", 8),
        (Budget(calls=0), {}, "0 of 0 calls are made", "calls", 1),
        (Budget(usd=0), {"usd": 3.0}, "3 of 0 US dollars are spent", "usd", 3.25),
    ],
)
def test_the_message_says_which_bound_and_how_to_go_on(budget, spent, told, key, enough):
    with pytest.raises(BudgetReached, match=told) as caught:
        asyncio.run(BudgetAccount(budget, spending(**spent)).reserve(100, 0.25))
    (proposed,) = re.findall(rf"--set backend\.budget\.{key}=([0-9]+)$", str(caught.value))
    assert int(proposed) >= enough
    asyncio.run(BudgetAccount(Budget(**{key: int(proposed)}), spending(**spent)).reserve(100, 0.25))


@pytest.mark.parametrize(("price", "times"), [(0.1, 3), (0.0041, 100), (0.0157, 1), (1e-7, 9999)])
def test_sums_of_prices_are_exact(price, times):
    account = BudgetAccount(Budget(usd=round(price * times, 9)))
    for _ in range(times):
        at_once(account.reserve(0, price)).settle(0, price)
    with pytest.raises(BudgetReached):
        asyncio.run(account.reserve(0, 1e-9))


AMOUNT = st.integers(0, 60)
CALLS = st.lists(st.tuples(AMOUNT, AMOUNT, st.floats(0, 1), st.integers(0, 3)), max_size=25)
BOUND = st.none() | st.integers(0, 300)


@given(CALLS, BOUND, BOUND, st.none() | st.integers(0, 12), st.data())
def test_no_bound_is_ever_exceeded_and_every_wait_ends(calls, tokens, cents, most, data):
    usd = None if cents is None else cents / 100
    account = BudgetAccount(Budget(usd=usd, tokens=tokens, calls=most))
    spent = [0, 0, 0]  # cents, tokens, calls

    async def call(tokens_most, cents_most, part, way):
        reservation = await account.reserve(tokens_most, cents_most / 100)
        try:
            for _ in range(data.draw(st.integers(0, 3))):
                await asyncio.sleep(0)
            if way:
                used = (int(part * cents_most), int(part * tokens_most), int(way > 1))
                spent[:] = (a + b for a, b in zip(spent, used, strict=True))
                reservation.settle(used[1], used[0] / 100, calls=used[2])
        finally:
            reservation.cancel()

    async def scene():
        tasks = [asyncio.create_task(call(*one)) for one in calls]
        for task in data.draw(
            st.lists(st.sampled_from(tasks), max_size=3) if tasks else st.just([])
        ):
            await asyncio.sleep(0)
            task.cancel()
        for _ in range(10 * len(tasks) + 10):
            await asyncio.sleep(0)
        assert all(task.done() for task in tasks)
        return await asyncio.gather(*tasks, return_exceptions=True)

    ends = asyncio.run(scene())
    for end in ends:
        assert end is None or isinstance(end, BudgetReached | asyncio.CancelledError)
    for used, bound in zip(spent, (cents, tokens, most), strict=True):
        assert bound is None or used <= bound
    if cents is tokens is most is None:
        assert not any(isinstance(end, BudgetReached) for end in ends)


@pytest.mark.parametrize(
    "bounds",
    [
        *({"usd": -1}, {"tokens": -1}, {"calls": -1}, {"usd": float("inf")}, {"euro": 1}),
        {"tokens": 1.5},
    ],
)
def test_bounds_out_of_range_are_refused(bounds):
    with pytest.raises(ValidationError):
        Budget(**bounds)


class Words(Form):
    text: str


@pytest.mark.slow
@given(st.lists(st.text(), max_size=4), st.integers(0, 5000))
def test_a_call_has_fewer_tokens_than_bytes(texts, longest):
    messages = tuple(Message("user", text) for text in texts)
    request = Request("a", Profile("S1"), messages, Words)
    told = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    schema = len(json.dumps(Words.json_schema()).encode())
    assert most_tokens(request, longest) == told + schema + 16 * len(texts) + 16 + longest
