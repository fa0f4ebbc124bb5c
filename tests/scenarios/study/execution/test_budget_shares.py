"""Shares: together the runs of a study never spend more than its budget."""

import asyncio
import threading
from random import Random

import pytest

from virsci_society.agents.errors import BudgetReached, InputError
from virsci_society.agents.gateway.budget import Budget, BudgetAccount
from virsci_society.agents.journal.journal import Journal
from virsci_society.agents.journal.records import ANSWERED, Attempt, CallOutcome, Spending
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.request import Request, Usage
from virsci_society.agents.replies.form import Form
from virsci_society.scenarios.runs.lease import hold_lease
from virsci_society.scenarios.study.execution.budget_shares import Shares, spent_by

ME = Profile("Scientist0", (), ("graphs",), papers=1, citations=0)


class Words(Form):
    text: str


def folder(study, index):
    return study / "runs" / f"{index:04d}"


def spend(study, index, tokens, usd=0.0, *, in_doubt=False):
    """Let a run's journal say that one more call has cost so much, or may have."""
    run = folder(study, index)
    run.mkdir(parents=True, exist_ok=True)

    async def call():
        with Journal.open(run / "journal.sqlite") as journal:
            asked = Request(f"call-{sum(1 for _ in journal.attempts())}", ME, (), Words)
            attempt = Attempt(asked.id, 0, "here", reserved=tokens, reserved_usd=usd)
            await journal.record_intent(asked, attempt)
            if not in_doubt:
                attempt.outcome, attempt.usd = ANSWERED, usd
                attempt.usage = Usage(tokens - 1, 1, False)
                await journal.record_outcome(
                    asked, attempt, CallOutcome("answer", "{}", usage=attempt.usage)
                )

    asyncio.run(call())


def test_every_run_gets_an_even_part_of_what_is_free(tmp_path):
    shares = Shares(tmp_path, Budget(tokens=1000, usd=4.0), 4)
    assert shares.take(0) == Budget(tokens=250, usd=1.0)
    assert shares.take(3) == Budget(tokens=250, usd=1.0)
    spend(tmp_path, 0, 50, 0.25)
    shares.settle(0, over=True)
    # 1000 - 50 - 250 and 4 - 0.25 - 1, for the two that have not begun.
    assert shares.take(1) == Budget(tokens=350, usd=1.375)
    assert shares.take(2) == Budget(tokens=350, usd=1.375)
    assert shares.spent() == Spending(1, 50, 250_000_000)


def test_what_is_not_bounded_stays_so(tmp_path):
    assert Shares(tmp_path, Budget(), 3).take(0) == Budget()
    assert Shares(tmp_path / "b", Budget(calls=7), 2).take(0) == Budget(calls=3)


@pytest.fixture(autouse=True)
def _folders(tmp_path):
    (tmp_path / "b").mkdir()


def test_a_share_counts_what_the_run_has_spent_before(tmp_path):
    shares = Shares(tmp_path, Budget(tokens=1000), 2)
    assert shares.take(0) == Budget(tokens=500)
    spend(tmp_path, 0, 400)
    shares.settle(0, over=False)
    # 400 of its own and half of the 600 that are free.
    assert shares.take(0) == Budget(tokens=700)
    assert shares.take(1) == Budget(tokens=300)


def test_a_dead_run_keeps_its_share_until_its_journal_was_read(tmp_path):
    shares = Shares(tmp_path, Budget(tokens=1000), 2)
    shares.take(0)
    spend(tmp_path, 0, 100)
    spend(tmp_path, 0, 60, in_doubt=True)
    assert shares.take(1) == Budget(tokens=500)
    shares.settle(1, over=False)
    Shares(tmp_path, Budget(tokens=1000), 2).reclaim()
    # A call in doubt counts as all that it can have cost: (1000 - 160) / 2.
    assert shares.take(1) == Budget(tokens=420)
    assert shares.spent() == Spending(1, 160, 0)


def test_the_share_of_a_run_that_is_alive_is_not_reclaimed(tmp_path):
    shares = Shares(tmp_path, Budget(tokens=1000), 2)
    with hold_lease(folder(tmp_path, 0), "alive"):
        shares.take(0)
        shares.reclaim()
        assert shares.take(1) == Budget(tokens=500)
    shares.reclaim()
    shares.settle(1, over=True)
    assert shares.take(0) == Budget(tokens=1000)


def test_a_smaller_budget_than_was_spent_leaves_nothing(tmp_path):
    spend(tmp_path, 0, 800)
    assert Shares(tmp_path, Budget(tokens=500), 2).take(1) == Budget(tokens=0)
    assert Shares(tmp_path, Budget(tokens=500), 2).take(0) == Budget(tokens=800)


def test_a_run_is_worth_another_try_once_others_have_given_back(tmp_path):
    shares = Shares(tmp_path, Budget(tokens=1000), 2)
    assert shares.worth_another(0)
    shares.take(0)
    shares.take(1)
    spend(tmp_path, 0, 490)
    shares.settle(0, over=False)
    assert not shares.worth_another(0)
    spend(tmp_path, 1, 100)
    shares.settle(1, over=True)
    assert shares.worth_another(0)
    assert shares.take(0) == Budget(tokens=900)
    shares.settle(0, over=False)
    assert not shares.worth_another(0), "it would stop at the same call for ever"


def test_a_lost_file_is_made_again_from_the_journals(tmp_path):
    shares = Shares(tmp_path, Budget(tokens=1000), 4)
    spend(tmp_path, 2, 400)
    assert shares.take(0) == Budget(tokens=150)
    (tmp_path / "shares.json").unlink()
    assert shares.spent() == Spending(1, 400, 0)
    assert shares.take(0) == Budget(tokens=150)


@pytest.mark.parametrize("text", ["", "[]", '{"a": {}}', '{"0": {}}', '{"0": 1}', "{"])
def test_a_damaged_file_is_bad_input_that_says_what_to_do(tmp_path, text):
    (tmp_path / "shares.json").write_text(text)
    with pytest.raises(InputError, match="delete it while no run is under way"):
        Shares(tmp_path, Budget(tokens=10), 1).take(0)


def test_nothing_is_spent_by_a_run_that_has_no_journal(tmp_path):
    assert spent_by(tmp_path) == Spending()


def test_eight_at_once_do_not_overspend(tmp_path):
    bound, runs = 40_000, 24
    shares = Shares(tmp_path, Budget(tokens=bound), runs)
    waiting, lock = list(range(runs)), threading.Lock()

    def work(number):
        rng = Random(number)
        while True:
            with lock:
                if not waiting:
                    return
                index = waiting.pop()
            asyncio.run(live(index, rng))

    async def live(index, rng):
        """Spend as a gateway would, call by call; now and then die before settling."""
        with hold_lease(folder(tmp_path, index), "worker"):
            account = BudgetAccount(
                shares.take(index), Spending(tokens=spent_by(folder(tmp_path, index)).tokens)
            )
            for _ in range(4):
                try:
                    reservation = await account.reserve(900, 0.0)
                except BudgetReached:
                    break
                cost = rng.randint(300, 900)
                await asyncio.to_thread(spend, tmp_path, index, cost)
                reservation.settle(cost, 0.0)
            if rng.random() < 0.8:
                shares.settle(index, over=True)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    shares.reclaim()
    assert bound / 2 < shares.spent().tokens <= bound
    assert shares.spent().tokens == sum(
        spent_by(folder(tmp_path, index)).tokens for index in range(runs)
    )
