"""A drifting society keeps the promises: same bytes, same prefix, the same past."""

import numpy as np
import pytest

from tests.test_determinism import digest
from virsci_society.agents.offline.backend import Offline
from virsci_society.protocols.policies.coauthorship import Coauthorship
from virsci_society.protocols.virsci.protocol import VirSci
from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic
from virsci_society.society.formation.founding import Poisson
from virsci_society.society.kernel.durations import Times
from virsci_society.society.model import Society
from virsci_society.society.population.interest_drift import Writing


def drifting(latency=0.0, in_flight=64, until=110.0, drift=None, guests=2.0):
    """Teams aiming at diversity, whose members' topics drift, whose leaders ask guests again."""
    society = Society(
        Synthetic(scientists=30, papers=240).generate(3),
        protocol=VirSci(
            team_size=3, turns=1, diversity=1.0, min_size=2, selection=Coauthorship(guests=guests)
        ),
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


def digest_of_drifting():
    return digest(drifting())


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
def test_another_process_finds_the_same(nursery, reference):
    here = "tests.society.population.test_drifting_society"
    assert nursery.call(f"{here}:digest_of_drifting") == digest(reference)


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


@pytest.mark.slow
def test_the_last_row_of_each_is_what_the_profile_says(reference):
    last = {row[0]: tuple(row[4].split("; ")) for row in reference.log.rows["interests"]}
    before = reference.ecosystem.profiles
    for row, scientist in enumerate(reference.population.names):
        told = reference.world.profile(scientist)
        assert told.interests == last.get(scientist, before[row].interests)
        assert len(told.interests) <= 10
        version = reference.knowledge.visible(reference.day)
        assert reference.knowledge.profile(scientist, version).interests == told.interests


@pytest.mark.slow
def test_subjects_are_the_main_topics_of_now(reference):
    topics = np.array([reference.world.topic(row) for row in range(len(reference.population))])
    same = topics[:, None] == topics[None, :]
    subjects = reference.world.topic_numbers
    assert (same == (subjects[:, None] == subjects[None, :])).all()
    assert topics.tolist() != list(reference.ecosystem.profiles.topics)


def test_guests_are_known_once_the_team_that_asked_them_has_ended(reference):
    """Each consultation of an ended team is counted for who asked, and no other."""
    rows = reference.population.rows
    running = {row[0] for row in reference.log.rows["teams"] if row[9] in ("running", "finished")}
    counted = np.zeros((len(rows), len(rows)), dtype=int)
    for team, asker, guest, *_ in reference.log.rows["consultations"]:
        counted[rows[asker], rows[guest]] += team not in running
    assert counted.sum() >= 10
    consulted = reference.network.consultations
    for asker in range(len(rows)):
        found = consulted.counts(asker, np.arange(len(rows)))
        assert found.tolist() == counted[asker].tolist()
        assert consulted.total(asker) == counted[asker].sum()
