"""With review before publication too: same seed and words, same bytes, however it is run."""

import pytest

from tests.test_determinism import digest


def small(latency=0.0, in_flight=64, seed=3, until=150.0, step_days=7.0):
    """A small society whose manuscripts are reviewed, after its end."""
    from virsci_society.agents.offline.backend import Offline
    from virsci_society.protocols.peer_review.protocol import PeerReview
    from virsci_society.protocols.peer_review.rules import Decision
    from virsci_society.protocols.virsci.protocol import VirSci
    from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic
    from virsci_society.society.formation.founding import Poisson
    from virsci_society.society.interventions import Change, Removal
    from virsci_society.society.kernel.durations import Times
    from virsci_society.society.model import Society

    society = Society(
        Synthetic(scientists=30, papers=240).generate(3),
        protocol=VirSci(team_size=3, turns=1, inviting="at_once"),
        founding=Poisson(teams_per_year=1.2),
        times=Times(publication_delay=5.0, reply_window=5.0, meeting_notice=3.0),
        publication=PeerReview(
            nearest=0.4,
            submissions=2,
            resubmission=3.0,
            due=1.0,
            patience=0.5,
            screening=2.0,
            answer=3.0,
            decision=Decision(rule="mean", accept_from=5.5, reject_below=4.5),
        ),
        interventions=(Change(105.0, removal=Removal(count=10, by="random")),),
        backend=Offline(latency=latency),
        in_flight=in_flight,
        until=until,
        step_days=step_days,
        seed=seed,
    )
    society.run_to_end()
    return society


def digest_of_small(**settings):
    """The digest of a small society, for another process."""
    return digest(small(**settings))


@pytest.fixture(scope="module")
def whole():
    """The society in this process; everything that review can bring has come about in it."""
    society = small()
    rows = society.log.rows
    assert {row[5] for row in rows["submissions"]} == {"accept", "revise", "reject", None}
    assert 2 in {row[1] for row in rows["submissions"]}
    assert {"delivered", "declined", "late", "gone"} <= {row[9] for row in rows["referees"]}
    return society


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"in_flight": 1}, id="one slot", marks=pytest.mark.slow),
        pytest.param({"latency": 0.001, "in_flight": 64}, id="latency"),
        pytest.param({"step_days": 31.7}, id="other periods", marks=pytest.mark.slow),
    ],
)
def test_execution_changes_nothing(whole, settings):
    assert digest(small(**settings)) == digest(whole)


def test_another_process_finds_the_same(nursery, whole):
    found = nursery.call(
        "tests.test_review_determinism:digest_of_small", latency=0.0005, in_flight=16
    )
    assert found == digest(whole)


def test_a_longer_run_begins_like_a_shorter_one(whole):
    short = small(until=110.0)
    events = short.log.events
    assert any(event["kind"] == "reviewed" for event in events)
    assert events == whole.log.events[: len(events)]
    for table in ("homework", "papers", "reads"):
        rows = short.log.rows[table]
        assert rows == whole.log.rows[table][: len(rows)], table
