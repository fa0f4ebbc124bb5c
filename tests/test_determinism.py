"""The promise: the same seed and the same words give the same bytes.

In any process, at any concurrency, with any latency.
"""

import hashlib
import json

import pytest


def small(latency=0.0, in_flight=64, seed=3, until=150.0, step_days=7.0):
    """A small society of VirSci teams, with everything switched on, after its end."""
    from virsci_society.agents.offline.backend import Offline
    from virsci_society.protocols.virsci.protocol import VirSci
    from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic
    from virsci_society.society.formation.founding import Poisson
    from virsci_society.society.kernel.durations import Times
    from virsci_society.society.model import Society

    society = Society(
        Synthetic(scientists=30, papers=240).generate(3),
        protocol=VirSci(
            team_size=3, turns=2, abstract={"self_review": "on"}, memory="own", inviting="at_once"
        ),
        founding=Poisson(teams_per_year=1.5),
        times=Times(publication_delay=15.0, reply_window=5.0, meeting_notice=3.0, deadline=75.0),
        backend=Offline(latency=latency),
        in_flight=in_flight,
        until=until,
        step_days=step_days,
        seed=seed,
    )
    society.run_to_end()
    return society


def digest(society):
    """A hash of everything that happened, in order."""
    body = json.dumps([society.log.events, society.log.rows], default=list)
    return hashlib.sha256(body.encode()).hexdigest()


def digest_of_small(**settings):
    """The digest of a small society, for another process."""
    return digest(small(**settings))


@pytest.fixture(scope="module")
def whole():
    """The society in this process; it is no society of silence."""
    society = small()
    rows = society.log.rows
    for table in ("calls", "reads", "papers", "consultations", "invitations", "homework", "ties"):
        assert len(rows[table]) > 3, table
    assert any(row[9] == "dissolved" for row in rows["teams"])
    assert any(row[9] == "running" for row in rows["teams"])
    return society


@pytest.fixture(scope="module")
def reference(whole):
    """Its digest."""
    return digest(whole)


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({}, id="at once", marks=pytest.mark.slow),
        pytest.param({"latency": 0.001, "in_flight": 16}, id="live"),
    ],
)
def test_another_process_finds_the_same(nursery, reference, settings):
    """A process that has another hash seed."""
    assert nursery.call("tests.test_determinism:digest_of_small", **settings) == reference


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({}, id="again", marks=pytest.mark.slow),
        pytest.param({"in_flight": 1}, id="one slot"),
        pytest.param({"latency": 0.002, "in_flight": 64}, id="latency"),
        pytest.param(
            {"latency": 0.0005, "in_flight": 1}, id="latency and one slot", marks=pytest.mark.slow
        ),
        pytest.param({"step_days": 31.7}, id="other periods", marks=pytest.mark.slow),
    ],
)
def test_execution_changes_nothing(reference, settings):
    assert digest(small(**settings)) == reference


@pytest.mark.slow
def test_another_seed_is_another_world(reference):
    assert digest(small(seed=4)) != reference


def test_a_longer_run_begins_like_a_shorter_one(whole):
    short, long = small(until=80.0), whole
    events = short.log.events
    assert 50 < len(events) < len(long.log.events)
    assert events == long.log.events[: len(events)]
    # Rows that are born of words are written at a team's end; those of the clock at once.
    for table in ("meetings", "homework", "papers", "ties", "reads"):
        rows = short.log.rows[table]
        assert rows == long.log.rows[table][: len(rows)], table
    # So are invitations when they are answered; what the end overtakes is on its way in both.
    sent, answered = short.log.rows["invitations"], long.log.rows["invitations"]
    overtaken = [row for row in sent if row[5] is None]
    settled = [row for row in sent if row[5] is not None]
    assert overtaken
    assert settled == answered[: len(settled)]
    later = {(*row[:4], *row[6:]): row[4] for row in answered}
    assert all(later[*row[:4], *row[6:]] >= 80.0 for row in overtaken)
