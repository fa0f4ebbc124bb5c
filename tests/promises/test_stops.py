"""R5, R12 and R14: a hard budget, one writer, and signals; all of it can be resumed."""

import json
import os
import signal
import time
from itertools import product

import pytest

from tests.faultserver import Plan
from tests.promises.conftest import digest_of, nothing_kept_was_paid_again, reset
from tests.promises.dask_processes import is_running

FEW = [(1, 0.6), (16, 0.9)]
"""Calls in flight and shares of the tokens of ``make test``; ``make test-slow`` tries all."""


def spent(server):
    counts = server.counts()
    return sum(map(sum, counts["tokens"].values()))


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("in_flight", "share"),
    [
        pytest.param(*one, marks=() if one in FEW else pytest.mark.slow)
        for one in product([1, 16], [0.05, 0.3, 0.6, 0.9])
    ],
)
def test_a_budget_in_tokens_is_never_overspent(
    run_of, server, scenario, tmp_path, spending, promise, share, in_flight
):
    digest, whole = spending
    bound = max(int(share * whole), 12_000)
    reset(server)
    poor = scenario(**{"backend.budget": {"tokens": bound}, "backend.in_flight": in_flight})
    assert "the same command with a larger budget resumes it" in run_of(4, poor)
    assert 0 < spent(server) <= bound
    run_of(4, poor)
    assert spent(server) <= bound
    run_of(0, scenario(**{"backend.budget": {"tokens": 50 * whole}}))
    assert digest_of(tmp_path / "run") == digest
    assert server.counts()["repeated_answers"] == 0
    promise("R5", "budgets reached", 2)
    promise("R5", "tokens overspent", max(0, spent(server) - 50 * whole))


@pytest.mark.slow
def test_a_budget_in_money_is_never_overspent(
    run_of, server, scenario, tmp_path, spending, promise
):
    digest, _ = spending
    reset(server, rates={"server_error": 0.1})
    prices = {"input": 2.5, "output": 10.0}
    run_of(4, scenario(**{"backend.prices": prices, "backend.budget": {"usd": 0.1}}))
    tokens = server.counts()["tokens"].values()
    usd = sum(told[0] * 2.5 + told[1] * 10.0 for told in tokens) / 1e6
    assert 0 < usd <= 0.1
    run_of(0, scenario(**{"backend.prices": prices}))
    assert digest_of(tmp_path / "run") == digest
    promise("R5", "budgets reached", 1)


def test_a_budget_in_money_without_a_price_is_bad_input(run_of, scenario):
    # A server on this machine costs nothing; one elsewhere needs a price.
    elsewhere = {"backend.api_base": "https://models.example/v1", "backend.key": None}
    assert "backend.prices" in run_of(2, scenario(**{"backend.budget": {"usd": 0.2}, **elsewhere}))


def test_two_resumers_have_one_winner(
    nursery, run_of, server, scenario, tmp_path, spending, promise
):
    digest, _ = spending
    reset(server, latency=0.02)
    path, run = scenario(), tmp_path / "run"
    run_of(-9, path, site="after commit", nth=20)
    logs = [tmp_path / f"log{number}" for number in range(3)]
    pids = [nursery.start(log, "run", path, "--out", run) for log in logs]
    codes = [nursery.wait(pid)[0] for pid in pids]
    assert sorted(codes) == [0, 2, 2]
    for log, code in zip(logs, codes, strict=True):
        told = log.read_text(encoding="utf-8")
        assert ("another process is running this" in told) == (code == 2), told
    assert digest_of(run) == digest
    nothing_kept_was_paid_again(server, run, "attempts")
    promise("R12", "resumers that started together", 3)
    promise("R12", "winners", 1)


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("plan", "number"),
    [
        ("slow", signal.SIGINT),
        ("stalled", signal.SIGTERM),
        pytest.param("slow", signal.SIGTERM, marks=pytest.mark.slow),
        pytest.param("stalled", signal.SIGINT, marks=pytest.mark.slow),
    ],
)
def test_a_signal_stops_soon_and_can_be_gone_on_with(
    nursery, run_of, server, scenario, tmp_path, spending, promise, number, plan
):
    """It ends unfinished; stalled answers, which never come, are given up."""
    digest, _ = spending
    stalled = Plan(rates={"stalled": 1.0}, streak=1000, from_n=30)
    server.plan(Plan(latency=0.05) if plan == "slow" else stalled)
    server.reset()
    path, run = scenario(**{"backend.deadlines": {"total": 3600, "read": 3600}}), tmp_path / "run"
    pid = nursery.start(tmp_path / "log", "run", path, "--out", run)
    if plan == "slow":
        wait_for(lambda: server.counts()["requests"] >= 15)
        server.plan(Plan(latency=0.5))
    wait_for(lambda: server.counts()["requests"] >= 25)
    os.kill(pid, number)
    code, _ = nursery.wait(pid)
    told = (tmp_path / "log").read_text(encoding="utf-8")
    assert code == 5, told
    assert f"interrupted by {signal.Signals(number).name}" in told
    assert not (run / "manifest.json").exists()
    partial = json.loads((run / "partial" / "manifest.json").read_text())
    assert "digest" not in partial
    server.plan(Plan())
    run_of(0, path)
    assert digest_of(run) == digest
    nothing_kept_was_paid_again(server, run)
    assert not (run / "partial").exists()
    promise("R14", "signals after which the run stopped without waiting for an answer", 1)


def test_a_running_run_is_shown_and_is_resumed_with_other_settings(
    nursery, run_of, server, scenario, tmp_path, spending, promise
):
    digest, whole = spending
    reset(server, latency=0.1)
    before = {"backend.in_flight": 2, "backend.budget": {"tokens": 2 * whole}}
    run, log = tmp_path / "run", tmp_path / "log"
    pid = nursery.start(log, "run", scenario(**before), "--out", run)
    wait_for(lambda: server.counts()["answers"] >= 5)
    shown = nursery.society("show", run)
    assert shown.returncode == 0, shown.stderr
    assert "state               running" in shown.stdout
    assert f"'society show {run} --follow' shows it until it ends" in shown.stdout
    os.kill(pid, signal.SIGINT)
    assert nursery.wait(pid)[0] == 5
    server.plan(Plan())
    changed = {"backend.in_flight": 16, "backend.budget": {"tokens": 50 * whole, "calls": 10_000}}
    changed |= {"backend.retry": {"longest": 1.0}, "backend.deadlines": {"total": 500}}
    run_of(0, scenario(**changed))
    assert digest_of(run) == digest
    nothing_kept_was_paid_again(server, run)
    promise("R14", "runs resumed with another budget, other slots, retries and deadlines", 1)


def test_a_second_signal_stops_at_once(nursery, server, scenario, tmp_path, promise):
    """Signals come until the process has ended; a single one would let it wait for answers."""
    reset(server, rates={"stalled": 1.0}, streak=1000, from_n=5)
    path = scenario(**{"backend.deadlines": {"total": 3600, "read": 3600}})
    pid = nursery.start(tmp_path / "log", "run", path, "--out", tmp_path / "run")
    wait_for(lambda: server.counts()["requests"] >= 6)
    os.kill(pid, signal.SIGINT)
    deadline = time.monotonic() + 120
    while is_running(pid):
        assert time.monotonic() < deadline
        time.sleep(0.05)
        os.kill(pid, signal.SIGINT)
    assert nursery.wait(pid)[0] == 5
    # It has neither written what there was nor said why, as it does after a single one.
    assert not (tmp_path / "run" / "partial").exists()
    assert "interrupted by" not in (tmp_path / "log").read_text(encoding="utf-8")
    promise("R14", "second signals after which the run stopped at once", 1)


def wait_for(holds):
    """Wait, two minutes at most."""
    deadline = time.monotonic() + 120
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert holds()
