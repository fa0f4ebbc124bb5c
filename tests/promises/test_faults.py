"""R3 and R4: faults never crash or corrupt, and the ledger is the truth about them."""

import pytest

from tests.faultserver import KINDS, Plan
from tests.promises.conftest import digest_of, ledger_of

ENDS = {
    "slow": "answered",
    "stalled": "timeout",
    "cut_body": "connection",
    "dropped": "connection",
    "malformed_http": "garbled",
    "no_choices": "withheld",
    "null_content": "empty",
    "empty_content": "empty",
    "unauthorised": "key",
    "forbidden": "key",
    "not_found": "request",
    "quota": "credit",
    "rate_limited": "rate",
    "rate_limited_bare": "rate",
    "server_error": "server",
    "bad_gateway": "server",
    "unavailable": "server",
    "refusal": "refused",
    "content_filter": "filtered",
    "overflow": "overflow",
    "length": "answered",
    "malformed_reply": "answered",
    "prose_reply": "answered",
    "missing_usage": "answered",
    "zero_usage": "answered",
    "wrong_usage": "answered",
    "echo_key": "server",
    "echo_key_200": "answered",
}
"""How the ledger calls an attempt that met each kind of fault."""
IMPATIENT = {"connect": 60, "read": 1.0, "total": 2.0}
"""Deadlines for a server that never answers: each such answer takes as long as they allow."""
FINAL = ("unauthorised", "forbidden", "not_found", "quota")
"""Faults that stop the run at once."""
WORDS = ("refusal", "content_filter", "overflow", "length", "malformed_reply", "echo_key_200")
"""Faults in the words themselves: part of the digest, if they last beyond the re-asks."""

FEW = (
    *("stalled", "dropped", "no_choices", "empty_content", "unauthorised", "rate_limited"),
    *("server_error", "overflow", "missing_usage"),
)
"""Kinds that ``make test`` tries one by one, no two with the same end; ``make test-slow``: all."""


def kinds(names, few):
    """Those names, the others than a few of them behind the mark of what is slow."""
    return [pytest.param(name, marks=() if name in few else pytest.mark.slow) for name in names]


def test_every_kind_of_fault_is_tried():
    assert set(ENDS) == set(KINDS)


def plan_of(kind, rate):
    """Faults of one kind, quick ones."""
    short = {"retry_after": 0.02, "slow_seconds": 0.1, "stalled_seconds": 60.0}
    return Plan(rates={kind: rate}, seed=round(1000 * rate), streak=2, **short)


def run_under(nursery, server, folder, path, kind, rate):
    """Run with faults; a run that they stop goes on without. Returns run folder and counts."""
    run = folder / "run"
    server.plan(plan_of(kind, rate))
    server.reset()
    code, _ = nursery.run(folder / "log", "run", path, "--out", run)
    told = (folder / "log").read_text(encoding="utf-8")
    assert "Traceback" not in told, told
    injected = server.counts()["faults"].get(kind, 0)
    if kind in FINAL and injected:
        assert code == 5, told
        assert not (run / "manifest.json").exists()
        server.plan(Plan())
        code, _ = nursery.run(folder / "log", "run", path, "--out", run)
    assert code == 0, (folder / "log").read_text(encoding="utf-8")
    return run, server.counts(full=True)


def try_kind(nursery, server, scenario, tmp_path, honest, promise, kind, rate):
    """R3 and R4 for one kind at one rate."""
    folder = tmp_path / f"{kind}-{rate}"
    folder.mkdir()
    path = scenario(**({"backend.deadlines": IMPATIENT} if kind == "stalled" else {}))
    run, counts = run_under(nursery, server, folder, path, kind, rate)
    ledger, injected = ledger_of(run), counts["faults"].get(kind, 0)
    if kind == "stalled":
        # On a busy machine other answers come too late as well; the server knows of each.
        injected += counts["outcomes"].get("gone", 0)
    if kind not in WORDS:
        assert digest_of(run) == honest
    assert ledger["attempts"] == counts["requests"]
    assert counts["repeated_answers"] == 0
    if ENDS[kind] == "answered":
        assert set(ledger["outcomes"]) == {"answered"}
    else:
        assert ledger["outcomes"].get(ENDS[kind], 0) == injected
        assert sum(ledger["outcomes"].values()) == counts["requests"]
    if KINDS[kind].sort == "usage":
        assert ledger["estimated"] == injected
    else:
        tokens = (ledger["prompt_tokens"], ledger["completion_tokens"])
        told = [sum(one) for one in zip(*counts["tokens"].values(), strict=True)]
        assert tokens == tuple(told)
    promise("R3", "runs under faults", 1)
    promise("R3", "faults injected", injected)
    promise("R3", "faults that the ledger counted", injected)
    promise("R4", "HTTP attempts that ledger and server agree on", counts["requests"])


@pytest.mark.sweep(3)
@pytest.mark.parametrize("kind", kinds(KINDS, FEW))
def test_faults_stay_outside_the_world(nursery, server, scenario, tmp_path, honest, promise, kind):
    # Each stalled answer lasts as long as the deadlines allow.
    rate = 0.1 if kind == "stalled" else 0.3
    try_kind(nursery, server, scenario, tmp_path, honest, promise, kind, rate)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_faults_at_more_rates(nursery, server, scenario, tmp_path, honest, promise, kind):
    for rate in (0.01, 0.05, 0.1, 0.15, 0.2, 0.3):
        try_kind(nursery, server, scenario, tmp_path, honest, promise, kind, rate)


@pytest.mark.parametrize("kind", kinds(WORDS, ("refusal", "length")))
def test_faulty_words_are_the_same_words_at_any_concurrency(
    nursery, server, scenario, tmp_path, kind
):
    digests = set()
    for number, in_flight in enumerate((1, 16)):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = scenario(**{"backend.in_flight": in_flight})
        run, counts = run_under(nursery, server, folder, path, kind, 0.2)
        assert counts["faults"].get(kind, 0) > 0
        digests.add(digest_of(run))
    assert len(digests) == 1


def test_all_faults_at_once_leave_the_digest_alone(
    nursery, server, scenario, tmp_path, honest, promise
):
    """Everything that is on the way, and wrong counts of tokens, together."""
    everything = [
        kind
        for kind, what in KINDS.items()
        if what.sort in ("transport", "usage", "secret") and kind not in (*FINAL, *WORDS)
    ]
    server.plan(
        Plan(
            rates=dict.fromkeys(everything, 0.03),
            latency=0.005,
            latency_kind="exponential",
            retry_after=0.02,
            slow_seconds=0.1,
            stalled_seconds=60.0,
            streak=2,
        )
    )
    server.reset()
    run, path = tmp_path / "run", scenario(**{"backend.deadlines": IMPATIENT})
    code, _ = nursery.run(tmp_path / "log", "run", path, "--out", run)
    assert code == 0, (tmp_path / "log").read_text(encoding="utf-8")
    assert digest_of(run) == honest
    counts = server.counts()
    assert ledger_of(run)["attempts"] == counts["requests"]
    promise("R3", "faults injected, all kinds at once", sum(counts["faults"].values()))
