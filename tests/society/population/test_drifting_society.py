"""A drifting society keeps the promises: same bytes, same prefix, the same past."""

import pytest

from tests.test_determinism import digest
from virsci_society.agents.offline.backend import Offline
from virsci_society.protocols.virsci.protocol import VirSci
from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic
from virsci_society.society.formation.founding import Poisson
from virsci_society.society.kernel.durations import Times
from virsci_society.society.model import Society
from virsci_society.society.population.interest_drift import Writing


def drifting(latency=0.0, in_flight=64, until=110.0, drift=None):
    """Teams aiming at diversity, whose members' topics drift."""
    society = Society(
        Synthetic(scientists=30, papers=240).generate(3),
        protocol=VirSci(team_size=3, turns=1, diversity=1.0, min_size=2),
        founding=Poisson(teams_per_year=3.0),
        times=Times(publication_delay=5.0, reply_window=3.0, meeting_notice=1.0, deadline=60.0),
        backend=Offline(latency=latency),
        in_flight=in_flight,
        until=until,
        seed=5,
        drift=drift or Writing(memory=60.0, start=1.0, entering=0.6),
    )
    society.run_to_end()
    return society


@pytest.fixture(scope="module")
def reference():
    """It is no society in which nothing drifts."""
    society = drifting()
    rows = society.log.rows
    assert len(rows["papers"]) > 5
    assert len(rows["interests"]) > 10
    assert len(rows["consultations"]) > 10
    return society


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"in_flight": 1}, id="one", marks=pytest.mark.slow),
        pytest.param({"latency": 0.001, "in_flight": 64}, id="many, live", marks=pytest.mark.slow),
    ],
)
def test_execution_changes_nothing(reference, settings):
    assert digest(drifting(**settings)) == digest(reference)


@pytest.mark.slow
def test_a_longer_run_begins_like_a_shorter_one(reference):
    short = drifting(until=80.0)
    events = short.log.events
    assert events == reference.log.events[: len(events)]
    for table in ("papers", "interests"):
        rows = short.log.rows[table]
        assert len(rows) > 3
        assert rows == reference.log.rows[table][: len(rows)], table


@pytest.mark.slow
def test_drift_reaches_what_scientists_are_told(reference):
    """Other profiles make other words, and so another society, from the first paper on."""
    still = drifting(drift=Writing(memory=60.0, start=10_000.0, entering=0.0))
    first = reference.log.rows["interests"][0][1]
    assert digest(still) != digest(reference)
    ours, theirs = (
        [event for event in society.log.events if event["date"] < first]
        for society in (reference, still)
    )
    assert ours == theirs
