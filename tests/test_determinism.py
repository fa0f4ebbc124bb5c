"""The promise: the same seed and the same words give the same bytes.

In any process, at any concurrency, with any latency; with review before publication too.
"""

import hashlib
import json
from functools import cache

import pytest


def small(reviewed=False, latency=0.0, in_flight=64, seed=3, until=150.0, step_days=7.0):
    """A small society of VirSci teams, with everything switched on, after its end."""

    from virsci_society.agents.offline.backend import Offline
    from virsci_society.protocols.peer_review.protocol import PeerReview
    from virsci_society.protocols.virsci.protocol import VirSci
    from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic
    from virsci_society.society.formation.founding import Poisson
    from virsci_society.society.interventions import Change, Removal
    from virsci_society.society.kernel.durations import Times
    from virsci_society.society.model import Society

    if reviewed:
        settings = {
            "protocol": VirSci(team_size=3, turns=1, inviting="at_once"),
            "founding": Poisson(teams_per_year=1.2),
            "times": Times(publication_delay=5.0, reply_window=5.0, meeting_notice=3.0),
            "publication": PeerReview(
                **{"nearest": 0.4, "submissions": 2, "resubmission": 3.0, "due": 1.0},
                **{"patience": 0.5, "screening": 2.0, "answer": 3.0},
            ),
            "interventions": (Change(105.0, removal=Removal(count=10, by="random")),),
        }
    else:
        discussed = {"abstract": {"self_review": "on"}, "memory": "own", "inviting": "at_once"}
        delays = {"publication_delay": 15.0, "reply_window": 5.0, "meeting_notice": 3.0}
        settings = {
            "protocol": VirSci(team_size=3, turns=2, **discussed),
            "founding": Poisson(teams_per_year=1.5),
            "times": Times(**delays, deadline=75.0),
        }
    society = Society(
        Synthetic(scientists=30, papers=240).generate(3),
        backend=Offline(latency=latency),
        **{"in_flight": in_flight, "until": until, "step_days": step_days, "seed": seed},
        **settings,
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


@cache
def whole(reviewed=False):
    """The society in this process, which is not one of silence."""
    society = small(reviewed)
    rows = society.log.rows
    if reviewed:
        assert {row[5] for row in rows["submissions"]} == {"accept", "revise", "reject", None}
        assert 2 in {row[1] for row in rows["submissions"]}
        assert {"delivered", "declined", "late", "gone"} <= {row[9] for row in rows["referees"]}
        return society
    for table in ("calls", "reads", "papers", "consultations", "invitations", "homework", "ties"):
        assert len(rows[table]) > 3, table
    assert any(row[9] == "dissolved" for row in rows["teams"])
    assert any(row[9] == "running" for row in rows["teams"])
    return society


REVIEWED = pytest.mark.parametrize("reviewed", [False, True], ids=["plain", "reviewed"])
SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({}, id="at once", marks=SLOW),
        pytest.param({"latency": 0.001, "in_flight": 16}, id="live"),
        pytest.param(
            {"reviewed": True, "latency": 0.0005, "in_flight": 16}, id="reviewed", marks=SLOW
        ),
    ],
)
def test_another_process_finds_the_same(nursery, settings):
    """A process that has another hash seed."""
    found = nursery.call("tests.test_determinism:digest_of_small", **settings)
    assert found == digest(whole(settings.get("reviewed", False)))


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({}, id="again", marks=SLOW),
        pytest.param({"in_flight": 1}, id="one slot", marks=SLOW),
        pytest.param({"latency": 0.002, "in_flight": 64}, id="latency", marks=SLOW),
        pytest.param({"latency": 0.0005, "in_flight": 1}, id="latency and one slot", marks=SLOW),
        pytest.param({"step_days": 31.7}, id="other periods", marks=SLOW),
        pytest.param({"reviewed": True, "in_flight": 1}, id="reviewed, one slot", marks=SLOW),
        pytest.param({"reviewed": True, "latency": 0.001}, id="reviewed, latency", marks=SLOW),
        pytest.param({"reviewed": True, "step_days": 31.7}, id="reviewed, periods", marks=SLOW),
    ],
)
def test_execution_changes_nothing(settings):
    assert digest(small(**settings)) == digest(whole(settings.get("reviewed", False)))


@SLOW
def test_another_seed_is_another_world():
    assert digest(small(seed=4)) != digest(whole())


@REVIEWED
def test_a_longer_run_begins_like_a_shorter_one(reviewed):
    short, long = small(reviewed, until=110.0 if reviewed else 80.0), whole(reviewed)
    events = short.log.events
    assert 50 < len(events) < len(long.log.events)
    assert events == long.log.events[: len(events)]
    assert any(event["kind"] == "reviewed" for event in events) == reviewed
    # Rows that are born of words are written at a team's end; those of the clock at once.
    for table in ("homework", "papers", "reads", *(() if reviewed else ("meetings", "ties"))):
        rows = short.log.rows[table]
        assert rows == long.log.rows[table][: len(rows)], table
    if reviewed:
        return
    # So are invitations when they are answered; what the end overtakes is on its way in both.
    sent, answered = short.log.rows["invitations"], long.log.rows["invitations"]
    overtaken = [row for row in sent if row[5] is None]
    settled = [row for row in sent if row[5] is not None]
    assert overtaken
    assert settled == answered[: len(settled)]
    later = {(*row[:4], *row[6:]): row[4] for row in answered}
    assert all(later[*row[:4], *row[6:]] >= 80.0 for row in overtaken)
