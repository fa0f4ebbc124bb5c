"""Hedged requests: when a second attempt is made, which reply counts, and what it costs."""

import asyncio
from functools import partial

import pytest
from pydantic import PrivateAttr

from virsci_society.agents.backends.hybrid import Hybrid
from virsci_society.agents.errors import Fault
from virsci_society.agents.gateway import hedging
from virsci_society.agents.gateway.backend import Backend, Endpoint
from virsci_society.agents.gateway.budget import Budget
from virsci_society.agents.gateway.gateway import Gateway
from virsci_society.agents.gateway.hedging import LEAST, RECENT, HedgeDelay, Race
from virsci_society.agents.gateway.retry import Retry, conclude
from virsci_society.agents.journal.journal import Journal
from virsci_society.agents.journal.records import ANSWERED, IN_DOUBT, SUPERSEDED
from virsci_society.agents.people.inbox import Inbox
from virsci_society.agents.people.seat import Seat
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.request import Message, Reply, Request, Usage
from virsci_society.agents.replies.form import Form

HANG = "hang"
OUTLAST = "outlast"
QUICK = Usage(3, 4, estimated=False)


class Words(Form):
    text: str


def request(id_):
    return Request(id_, Profile("S1"), (Message("user", "Speak."),), Words)


class Scripted(Backend):
    """Does at each attempt what it is told: hang, outlast the start of another, fail, or answer."""

    hosts: tuple[str, ...] = ("one",)
    longest: int = 50

    _script: dict = PrivateAttr(default_factory=dict)
    _seen: list = PrivateAttr(default_factory=list)
    _cancelled: list = PrivateAttr(default_factory=list)

    @property
    def max_reply_tokens(self):
        return self.longest

    def endpoints(self):
        return tuple(Endpoint(name, partial(self._at, name)) for name in self.hosts)

    def price(self, usage):
        return (usage.prompt_tokens + usage.completion_tokens) / 1000

    async def _at(self, host, asked):
        number = sum(id_ == asked.id for id_, _ in self._seen)
        self._seen.append((asked.id, host))
        acts = self._script.get(asked.id, ())
        act = acts[number] if number < len(acts) else None
        if isinstance(act, float):
            await asyncio.sleep(act)
        if isinstance(act, Fault):
            raise act
        if act == OUTLAST:
            while sum(id_ == asked.id for id_, _ in self._seen) == number + 1:
                await asyncio.sleep(0.001)
            await asyncio.sleep(0.01)
        if act == HANG:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self._cancelled.append(asked.id)
                raise
        return Reply(f"{asked.id} {number}", QUICK, "scripted")


def play(script=None, journal=None, *, hosts=("one",), in_flight=4, hedge="p95", budget=None):
    """Ask for as many quick calls as are needed, then for those of the script, side by side."""
    backend = Scripted(hosts=hosts)
    backend._script.update(script or {})
    retry = Retry(attempts=3, first=0.0005, longest=0.001)
    gateway = Gateway(backend, in_flight, journal, retry=retry, hedge=hedge, budget=budget)

    async def scene():
        for number in range(LEAST):
            await gateway.complete(request(f"q{number}"))
        replies = await asyncio.wait_for(
            asyncio.gather(*(gateway.complete(request(id_)) for id_ in script or {})), 60
        )
        return [reply.text for reply in replies]

    replies = asyncio.run(scene())
    attempts = [one for one in gateway.journal.attempts() if not one.call.startswith("q")]
    return backend, gateway, replies, attempts


def kinds(attempts):
    return [(one.outcome, one.hedge) for one in attempts]


def test_the_delay_is_a_percentile_of_the_kind_once_enough_are_known():
    delay = HedgeDelay("p95")
    for number in range(LEAST):
        assert delay.seconds("Idea") is None
        delay.record("Idea", float(number))
    assert delay.seconds("Idea") == 18.0
    assert delay.seconds("Summary") is None
    assert HedgeDelay("p50").seconds("Idea") is None


def test_only_the_latest_durations_count():
    delay = HedgeDelay("p50")
    for seconds in (*range(100), *(1000.0 for _ in range(RECENT))):
        delay.record("Idea", seconds)
    assert delay.seconds("Idea") == 1000.0


def test_the_second_attempt_at_a_call_that_hangs_answers_it():
    backend, gateway, replies, attempts = play({"slow": [HANG]})
    assert replies == ["slow 1"]
    assert backend._cancelled == ["slow"]
    assert kinds(attempts) == [(SUPERSEDED, False), (ANSWERED, True)]
    first, second = attempts
    assert (first.usage.estimated, second.usage.estimated) == (True, False)
    assert first.usage.prompt_tokens + first.usage.completion_tokens == first.reserved
    assert (first.usd, second.usd) == (first.reserved_usd, 0.007)
    totals = gateway.journal.totals()
    assert (totals.hedges, totals.cut_off, totals.cut_off_tokens) == (1, 1, first.reserved)
    assert totals.spending.calls == LEAST + 1
    assert gateway.under_way == gateway.waiting == 0


def test_of_two_replies_that_arrive_in_one_moment_one_is_the_answer(monkeypatch):
    async def scene():
        here = asyncio.Event()

        async def answered(*_):
            await here.wait()
            return conclude(Reply("words", QUICK, "scripted"), ())

        monkeypatch.setattr(hedging, "send_once", answered)
        race = Race(HedgeDelay("p95"))
        both = [race.send(request("slow"), None, (), first=first) for first in (True, False)]
        racing = asyncio.gather(*both)
        await asyncio.wait_for(race.sent.wait(), 60)
        await asyncio.sleep(0)
        here.set()
        return await racing

    first, second = asyncio.run(scene())
    assert (first.recorded, second.recorded) == (ANSWERED, SUPERSEDED)
    assert first.outcome.text == "words"
    assert second.outcome is None
    assert second.usage == QUICK


def test_another_endpoint_is_preferred_for_the_second_attempt():
    backend, _, _, _ = play({"slow": [HANG]}, hosts=("one", "two"))
    hosts = [host for id_, host in backend._seen if id_ == "slow"]
    assert sorted(hosts) == ["one", "two"]


def test_the_first_attempt_counts_where_it_is_quicker():
    backend, _, replies, attempts = play({"slow": [OUTLAST, HANG]})
    assert replies == ["slow 0"]
    assert backend._cancelled == ["slow"]
    assert kinds(attempts) == [(ANSWERED, False), (SUPERSEDED, True)]


@pytest.mark.parametrize("hedge", [None, "p95"])
def test_nothing_is_sent_twice_without_a_key_or_a_free_slot(hedge):
    backend, _, replies, attempts = play({"slow": [0.03]}, in_flight=1, hedge=hedge)
    assert replies == ["slow 0"]
    assert kinds(attempts) == [(ANSWERED, False)]
    assert len(backend._seen) == LEAST + 1


def test_no_second_attempt_is_made_while_a_request_waits_for_a_slot():
    # Each of the first two holds a slot until the other five are through: two slots, one is busy.
    script = {"slow": [0.05], **{f"next{n}": [0.01] for n in range(5)}}
    backend, _, _, _ = play(script, in_flight=2)
    order = [id_ for id_, _ in backend._seen[LEAST:]]
    first_hedge = next((at for at, id_ in enumerate(order) if id_ in order[:at]), len(order))
    assert first_hedge >= len(script)


@pytest.mark.parametrize("bound", ["tokens", "usd", "calls"])
def test_a_budget_without_room_for_it_forbids_the_second_attempt_and_stops_nothing(bound):
    _, _, _, (alone,) = play({"slow": [0.0]}, hedge=None)
    spent = {"tokens": 7 * LEAST, "usd": 0.007 * LEAST, "calls": LEAST}[bound]
    one = {"tokens": alone.reserved, "usd": alone.reserved_usd, "calls": 1}[bound]
    _, _, replies, attempts = play(
        {"slow": [0.05]},
        budget=Budget(
            **{bound: spent + 1.5 * one} if bound == "usd" else {bound: spent + int(1.5 * one)}
        ),
    )
    assert replies == ["slow 0"]
    assert kinds(attempts) == [(ANSWERED, False)]


def test_a_fault_of_the_second_attempt_is_in_the_ledger_and_changes_nothing():
    late = Fault("busy", "server", status=503)
    _, gateway, replies, attempts = play({"slow": [OUTLAST, late]})
    assert replies == ["slow 0"]
    assert kinds(attempts) == [(ANSWERED, False), ("server", True)]
    assert attempts[1].detail == "hedge: busy"
    assert gateway.journal.totals().hedges == 1


class LateFault(Scripted):
    """Its first attempt fails while the second one is under way."""

    async def _at(self, host, asked):
        if asked.id != "slow":
            return await super()._at(host, asked)
        self._seen.append((asked.id, host))
        if len(self._seen) == LEAST + 1:
            while len(self._seen) < LEAST + 2:
                await asyncio.sleep(0.001)
            raise Fault("gone", "server", status=500)
        await asyncio.sleep(0.01)
        return Reply("from the second", QUICK, "scripted")


def test_where_the_first_attempt_fails_the_second_one_answers(monkeypatch):
    monkeypatch.setitem(globals(), "Scripted", LateFault)
    _, _, replies, attempts = play({"slow": []})
    assert replies == ["from the second"]
    assert kinds(attempts) == [("server", False), (ANSWERED, True)]


def test_where_both_fail_the_call_is_tried_again():
    class Both(LateFault):
        async def _at(self, host, asked):
            if sum(id_ == "slow" for id_, _ in self._seen) == 1:
                self._seen.append((asked.id, host))
                raise Fault("the second too", "server", status=500)
            if sum(id_ == "slow" for id_, _ in self._seen) == 2:
                self._seen.append((asked.id, host))
                return Reply("at last", QUICK, "scripted")
            return await super()._at(host, asked)

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "Scripted", Both)
        _, _, replies, attempts = play({"slow": []})
    assert replies == ["at last"]
    # Where the machine is busy, the third attempt may last long enough for one beside it.
    ends = [one for one in kinds(attempts) if one[0] != SUPERSEDED]
    assert sorted(one for one, _ in ends) == [ANSWERED, "server", "server"]
    assert {("server", False), ("server", True)} < set(ends)


def test_a_hedged_call_is_one_answer_of_the_journal_and_is_replayed(tmp_path):
    path = tmp_path / "journal.sqlite"
    with Journal.open(path) as journal:
        play({"slow": [HANG]}, journal)
        before = journal.totals()
    with Journal.open(path) as journal:
        assert journal.totals() == before
        assert [id_ for id_ in journal.answered_ids() if id_ == "slow"] == ["slow"]
        backend = Scripted()
        gateway = Gateway(backend, 1, journal, strict=True, hedge="p95")
        reply = asyncio.run(gateway.complete(request("slow")))
    assert (reply.text, backend._seen) == ("slow 1", [])


def test_a_stop_leaves_both_attempts_in_doubt():
    backend = Scripted()
    backend._script["slow"] = [HANG, HANG]
    gateway = Gateway(backend, 4, hedge="p95")

    async def scene():
        for number in range(LEAST):
            await gateway.complete(request(f"q{number}"))
        call = asyncio.create_task(gateway.complete(request("slow")))
        while len(backend._seen) < LEAST + 2:
            await asyncio.sleep(0.001)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await gateway.close(grace=10)

    asyncio.run(scene())
    slow = [one for one in gateway.journal.attempts() if one.call == "slow"]
    assert kinds(slow) == [(IN_DOUBT, False), (IN_DOUBT, True)]
    assert gateway.under_way == 0


def test_nobody_is_asked_the_same_thing_twice(tmp_path):
    inbox = Inbox(path=tmp_path)
    seat = Seat(scientists=("S1",), path=tmp_path, base=Scripted())
    assert Scripted().hedgeable("S2/1/topic", "S2")
    assert not inbox.hedgeable("S2/1/topic", "S2")
    assert [seat.hedgeable("S2/1/topic", who) for who in ("S1", "S2")] == [False, True]
    assert not Hybrid(live=inbox, live_share=1.0).hedgeable("S2/1/topic", "S2")
