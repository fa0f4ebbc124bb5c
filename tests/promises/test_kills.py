"""R1: kill -9 anywhere, the same command again: the same digest, nothing committed paid twice."""

from random import Random

import pytest

from tests.faultserver import Plan
from tests.forked_commands import SITES
from tests.promises.conftest import (
    answers_in,
    attempts_in,
    digest_of,
    ledger_of,
    nothing_kept_was_paid_again,
    reset,
    write_teams,
)
from tests.protocols.systems.conftest import SMALL
from virsci_society.society.results.run import Run

KILLS = (1, 2, 3, 4, 14, 20, 26, 31)
"""Runs that ``make test`` kills: at every site, and once after a share of its time.

``make test-slow`` kills 300.
"""
OCCURRENCES = {
    "before intent": 40,
    "after intent": 40,
    "after answer": 40,
    "after commit": 40,
    "during resume": 25,
    "writing tables": 12,
    "writing results": 5,
}
"""Up to which occurrence of a site a run is killed; every run comes that far."""


@pytest.fixture(scope="module")
def whole(nursery, server, ecosystem, tmp_path_factory):
    """Digest, seconds and attempts of the run that nobody interrupts."""

    folder = tmp_path_factory.mktemp("whole")
    path = write_teams(folder, ecosystem, server)
    reset(server)
    code, seconds = nursery.run(folder / "log", "run", path, "--out", folder / "run")
    assert code == 0, (folder / "log").read_text()
    return digest_of(folder / "run"), seconds, server.counts()["requests"]


def points(kill):
    """Where the kills of one run happen, drawn from its number: one to three deaths."""
    rng = Random(kill)
    for _ in range(rng.choice((1, 1, 2, 3))):
        if kill % 3 == 0:
            yield {"share": rng.random()}
        else:
            site = SITES[kill % len(SITES)]
            yield {"site": site, "nth": rng.randint(1, OCCURRENCES[site])}


def is_killed(tmp_path, nursery, server, scenario, whole, kill):
    """One run, killed and gone on with until it is done.

    Returns how often it died, and how many calls were made twice.
    """
    digest, seconds, _ = whole
    path, run = scenario(), tmp_path / "run"
    server.reset()
    deaths, page = 0, kill % 10 == 0
    committed, paid = set(), {}
    plan = list(points(kill))
    if plan[0].get("site") == "during resume":
        plan.insert(0, {"site": "after commit", "nth": 30})
    for point in plan:
        how = {"kill_after": point["share"] * seconds} if "share" in point else point
        code, _ = nursery.run(tmp_path / "log", "run", path, "--out", run, page=page, **how)
        assert code in (0, -9), (tmp_path / "log").read_text()
        deaths += code == -9
        calls = server.counts(full=True)["by_call"]
        for id_ in committed:
            assert calls[id_]["attempts"] == paid[id_], f"{id_} was paid again"
        committed = answers_in(run)
        paid = {id_: calls[id_]["attempts"] for id_ in committed}
    code, _ = nursery.run(tmp_path / "log", "run", path, "--out", run, page=page)
    assert code == 0, (tmp_path / "log").read_text()
    assert digest_of(run) == digest
    if page:
        assert digest in (run / "report.html").read_text(encoding="utf-8")
    counts = server.counts(full=True)
    for id_ in committed:
        assert counts["by_call"][id_]["attempts"] == paid[id_], f"{id_} was paid again"
    ledger = ledger_of(run)
    repeated = {id_ for id_, call in counts["by_call"].items() if call["attempts"] > 1}
    assert repeated <= set(ledger["in_doubt"]), "a call that was repeated is not listed"
    assert len(ledger["in_doubt"]) <= 8 * deaths
    in_doubt = ledger["outcomes"].get("in doubt", 0)
    assert ledger["attempts"] - in_doubt <= counts["requests"] <= ledger["attempts"]
    assert len(attempts_in(run)) == ledger["attempts"]
    return deaths, len(repeated)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("start", range(0, len(KILLS), 2))
def test_a_run_killed_anywhere_is_the_run_that_was_not(
    tmp_path, nursery, server, scenario, whole, promise, start
):
    for kill in KILLS[start : start + 2]:
        (tmp_path / str(kill)).mkdir()
        deaths, repeated = is_killed(tmp_path / str(kill), nursery, server, scenario, whole, kill)
        promise("R1", "kills", deaths)
        promise("R1", "runs that were killed and gone on with", 1)
        promise("R1", "committed calls paid twice", 0)
        promise("R1", "calls under way at a kill that were repeated and listed", repeated)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("start", range(0, 300, 20))
def test_a_run_killed_anywhere_at_length(
    tmp_path, nursery, server, scenario, whole, promise, start
):
    for kill in sorted({*range(start, start + 20)}.difference(KILLS)):
        (tmp_path / str(kill)).mkdir()
        deaths, _ = is_killed(tmp_path / str(kill), nursery, server, scenario, whole, kill)
        promise("R1", "kills", deaths)


def test_every_site_is_one_that_a_run_comes_to():
    drawn = {point.get("site") for kill in KILLS for point in points(kill)}
    assert drawn >= set(SITES)


FAST = ("co_scientist", "cycle_researcher")
"""Systems that ``make test`` kills; ``make test-slow`` kills them all."""


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in FAST else pytest.mark.slow) for name in sorted(SMALL)],
)
def test_a_team_of_every_system_killed_in_the_middle_is_the_team_that_was_not(
    tmp_path, run_of, server, scenario, name
):
    path = scenario(protocol={"use": name, **SMALL[name]})
    is_the_same_after_two_deaths(tmp_path, run_of, server, path)


@pytest.mark.slow
def test_ideas_that_are_carried_out_have_the_same_outcomes_after_a_kill(
    tmp_path, run_of, server, scenario
):
    execution = {"use": "attempt", "duration": "20d", "effort": "2d", "success": 0.2}
    funding = {"accept": 0.9, "decision": "5d", "signal": 0.5}
    keys = {"worth": {"use": "landscape"}, "execution": {**execution, "funding": funding}}
    path = scenario(**keys, until="40w", metrics=["worth"])
    outcomes = is_the_same_after_two_deaths(tmp_path, run_of, server, path).table("outcomes")
    assert outcomes["outcome"].notna().sum() >= 1


def is_the_same_after_two_deaths(tmp_path, run_of, server, path):
    """The run of a scenario that died twice in the middle, which is the one that never did."""
    server.plan(Plan())
    run_of(0, path, "whole", page=False)
    calls, run = len(answers_in(tmp_path / "whole")), tmp_path / "run"
    server.reset()
    for site in ("after commit", "during resume"):
        run_of(-9, path, site=site, nth=calls // 2, page=False)
    assert 0 < len(answers_in(run)) < calls
    run_of(0, path, page=False)
    assert digest_of(run) == digest_of(tmp_path / "whole")
    nothing_kept_was_paid_again(server, run, "attempts")
    return Run.open(run)
