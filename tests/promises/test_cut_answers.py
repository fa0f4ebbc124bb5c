"""R5: a provider never generates more than the budget allows, also where answers are cut off."""

import asyncio

import pytest

from tests.faultserver import KINDS
from tests.faultserver.client import asked, settled
from tests.journal_rows import attempts as ledger
from tests.promises.conftest import reset
from virsci_society.agents.backends.openai import OpenAI
from virsci_society.agents.errors import BudgetReached, Stopped
from virsci_society.agents.gateway.budget import Budget
from virsci_society.agents.gateway.gateway import Gateway
from virsci_society.agents.gateway.retry import Retry
from virsci_society.agents.journal.journal import Journal

CUT = ("stalled", "dropped", "cut_body", "malformed_http", "bad_gateway", "null_content", "slow")
"""Faults after which the client cannot know what was generated, or may not wait to be told."""
FAIR = ("server_error", "rate_limited_bare", "unavailable")
"""Faults of an endpoint that generated nothing."""
USAGE = ("missing_usage", "zero_usage")
CALLS, BOUND = 40, 6_000
PATIENT = {"connect": 60, "read": 60, "total": 60}
QUICK = {"connect": 60, "read": 0.05, "total": 0.05}
"""Seconds after which a stalled answer is given up; a busy machine may cut others off as well."""


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch):
    """The breaker stays closed however often calls fail: its pauses are tested elsewhere."""
    monkeypatch.setattr("virsci_society.agents.gateway.slots.FAILURES_TO_OPEN", 1_000_000)


def mixes():
    """Twenty mixtures of faults: every cut by itself, pairs, and all of them together."""
    alone = [{kind: 0.3} for kind in CUT]
    pairs = [{one: 0.25, other: 0.25} for one, other in zip(CUT, (*CUT[2:], *CUT[:2]), strict=True)]
    whole = [
        dict.fromkeys(CUT, 0.05),
        dict.fromkeys(CUT, 0.12),
        {**dict.fromkeys(CUT, 0.08), **dict.fromkeys(FAIR, 0.05)},
        {**dict.fromkeys(CUT, 0.08), **dict.fromkeys(USAGE, 0.1)},
        {"stalled": 0.8},
        {"dropped": 0.5, "cut_body": 0.5},
    ]
    return [*alone, *pairs, *whole]


def spend(server, journal, bound, *, calls=CALLS, deadlines=PATIENT):
    """Make calls until the budget is reached; gives how many of them were answered."""
    backend = OpenAI(model="test", api_base=server.url, max_tokens=300, deadlines=deadlines)
    gateway = Gateway(
        backend,
        8,
        journal,
        retry=Retry(attempts=1000, first=0.0005, longest=0.001),
        budget=Budget(tokens=bound),
    )

    async def ask_all():
        if gateway.shut:
            gateway.open()
        requests = (asked(f"t/1/topic/1/{turn}/0/utter/Scientist1") for turn in range(calls))
        try:
            return await asyncio.gather(
                *(gateway.complete(one) for one in requests), return_exceptions=True
            )
        finally:
            await gateway.close()

    ends = asyncio.run(ask_all())
    for end in ends:
        if isinstance(end, BaseException):
            assert isinstance(end, BudgetReached), end
    return sum(not isinstance(end, BaseException) for end in ends)


def generated(server):
    told = settled(server)["generated"]
    return told["prompt_tokens"] + told["completion_tokens"]


@pytest.mark.parametrize("number", range(20))
def test_no_more_is_generated_than_the_budget_allows(server, promise, number):
    rates = mixes()[number]
    late = not rates.keys().isdisjoint({"stalled", "slow"})
    reset(server, rates=rates, seed=number, streak=50, stalled_seconds=0.2, slow_seconds=0.1)
    with Journal(None) as journal:
        spend(server, journal, BOUND, deadlines=QUICK if late else PATIENT)
        totals = journal.totals()
    assert generated(server) <= totals.tokens <= BOUND
    assert late or generated(server) > BOUND // 10
    promise("R5", "budgets under cut answers", 1)
    promise("R5", "attempts cut off that the budget counts", totals.cut_off)


def test_there_are_twenty_mixtures_of_known_faults():
    assert len(mixes()) == 20
    assert all(set(rates) <= set(KINDS) for rates in mixes())


def test_what_a_resumed_run_spends_counts_what_was_cut_off_before(server, tmp_path, promise):
    reset(server, rates={"stalled": 0.5}, seed=3, streak=50, stalled_seconds=0.2)
    for bound in (BOUND, BOUND, 2 * BOUND):
        with Journal(tmp_path / "journal.sqlite") as journal:
            spend(server, journal, bound, deadlines=QUICK)
        with Journal(tmp_path / "journal.sqlite", frozen=True) as journal:
            totals, attempts = journal.totals(), ledger(journal)
        assert generated(server) <= totals.tokens <= bound
    late = [one for one in attempts if one.outcome == "timeout"]
    assert totals.cut_off == len(late) > 0
    assert totals.cut_off_tokens == sum(one.reserved for one in late)
    promise("R5", "budgets under cut answers", 3)


def test_an_attempt_that_never_reached_the_provider_costs_nothing(server):
    """A refused connection is no answer that could have been generated."""
    backend = OpenAI(model="test", api_base="http://127.0.0.1:9/v1", deadlines={"connect": 60})
    retry = Retry(attempts=3, first=0.0005, longest=0.001)
    with Journal(None) as journal:
        gateway = Gateway(backend, 1, journal, retry=retry, budget=Budget(tokens=50_000))
        with pytest.raises(Stopped, match="3 attempts"):
            asyncio.run(gateway.complete(asked()))
        assert journal.totals().attempts == 3
        assert journal.totals().tokens == journal.totals().cut_off == 0
