"""R3, R4, R5: a call that is sent twice is answered once and paid for within the budget."""

import asyncio
from collections import Counter

from tests.faultserver import Plan
from tests.faultserver.client import asked, settled
from virsci_society.agents.backends.openai import OpenAI
from virsci_society.agents.errors import BudgetReached
from virsci_society.agents.gateway.budget import Budget
from virsci_society.agents.gateway.gateway import Gateway
from virsci_society.agents.gateway.hedging import LEAST
from virsci_society.agents.gateway.retry import Retry
from virsci_society.agents.journal.journal import Journal
from virsci_society.agents.journal.records import ANSWERED, SUPERSEDED

CALLS = 90
SLOW = {"slow": 0.15, "server_error": 0.05}


def ask_all(server, journal, hedge, bound=None):
    """Ask four at a time, with four slots more for second attempts; gives the words by call."""
    backend = OpenAI(model="test", api_base=server.url, max_tokens=300)
    retry = Retry(attempts=1000, first=0.0005, longest=0.001)
    gateway = Gateway(backend, 8, journal, retry=retry, budget=Budget(tokens=bound), hedge=hedge)
    requests = iter([asked(f"t/1/topic/1/{turn}/0/utter/Scientist1") for turn in range(CALLS)])
    words = {}

    async def ask_in_turn():
        for one in requests:
            words[one.id] = (await gateway.complete(one)).text

    async def scene():
        if gateway.shut:
            gateway.open()
        try:
            ends = await asyncio.gather(*(ask_in_turn() for _ in range(4)), return_exceptions=True)
        finally:
            await gateway.close()
        assert all(end is None or isinstance(end, BudgetReached) for end in ends), ends

    asyncio.run(scene())
    return words


def served(server):
    told = settled(server)
    tokens = told["generated"]
    return told["requests"], tokens["prompt_tokens"] + tokens["completion_tokens"]


def test_hedged_calls_are_answered_once_with_the_same_words_and_the_ledger_tells_all(
    server, tmp_path, promise
):
    server.plan(Plan(rates=SLOW, seed=3, streak=50, slow_seconds=0.1))
    server.reset()
    plain = ask_all(server, None, None)
    server.reset()
    with Journal.open(tmp_path / "journal.sqlite") as journal:
        assert ask_all(server, journal, "p70") == plain
        attempts, totals = list(journal.attempts()), journal.totals()
        assert Counter(journal.answered_ids()) == Counter(list(plain))
    requests, tokens = served(server)
    hedges = Counter(one.call for one in attempts if one.hedge)
    given_up = [one for one in attempts if one.outcome == SUPERSEDED]
    assert set(Counter(one.call for one in attempts if one.outcome == ANSWERED).values()) == {1}
    assert sum(hedges.values()) == totals.hedges > 0
    # Both answers may be there before the later one is given up: then what it cost is known.
    known = [one for one in given_up if one.usage.completion_tokens and not one.usage.estimated]
    # One that is given up before its request is written was sent to nobody; it counts all the same.
    assert len(attempts) - len(given_up) + len(known) <= requests <= len(attempts)
    assert tokens <= totals.tokens
    promise("R4", "second attempts at slow calls", totals.hedges)
    server.reset()
    with Journal.open(tmp_path / "journal.sqlite") as journal:
        assert ask_all(server, journal, "p70") == plain
    assert served(server) == (0, 0)


def test_second_attempts_stay_within_a_budget(server, promise):
    server.plan(Plan(rates=SLOW, seed=4, streak=50, slow_seconds=0.1))
    server.reset()
    with Journal.open(None) as journal:
        words = ask_all(server, journal, "p70", bound=20_000)
        totals = journal.totals()
    assert len(words) > LEAST
    assert totals.hedges > 0
    assert served(server)[1] <= totals.tokens <= 20_000
    promise("R5", "budgets with second attempts", 1)
