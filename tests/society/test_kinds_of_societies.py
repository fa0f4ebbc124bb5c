"""Societies with careers, interventions or drifting interests: same bytes, same prefix."""

from functools import cache

import pytest

from tests.society.test_careers import YEAR, lived
from tests.society.test_interventions import removing
from tests.society.tiny_society import by_chance, only
from tests.test_determinism import digest
from virsci_society.agents.offline.backend import Offline
from virsci_society.protocols.virsci.protocol import VirSci
from virsci_society.society.careers import Apprentices, Lengths, Rates
from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic
from virsci_society.society.formation.founding import Poisson
from virsci_society.society.interventions import Change
from virsci_society.society.kernel.durations import Times
from virsci_society.society.model import Society
from virsci_society.society.population import population
from virsci_society.society.population.interest_drift import Writing

EVERYTHING = Rates(
    newcomers=Apprentices(per_year=0.4),
    retirement=Lengths(mean=9 * YEAR, shape=3.0),
    inactivity=150.0,
)
BUSY = {"founding": Poisson(teams_per_year=1.5), "until": YEAR}
WAYS = {"team_size": 3, "turns": 1, "inviting": "at_once"}
WINDOWS = {"publication_delay": 15.0, "reply_window": 5.0, "meeting_notice": 3.0}
KINDS = {
    "interventions": {
        "protocol": VirSci(**WAYS),
        "founding": Poisson(teams_per_year=1.5),
        "times": Times(**WINDOWS),
        "until": 150.0,
        "seed": 3,
        "interventions": [
            removing(60.0, 8),
            Change(60.0, None, {"founding": Poisson(teams_per_year=4.0, max_teams=1)}),
            Change(80.0, None, {"protocol": VirSci(**(WAYS | {"turns": 2})), "seed": 8}),
            Change(80.0, None, {"times": Times(**(WINDOWS | {"meeting_notice": 1.0}))}),
            removing(100.0, 8, "random"),
        ],
    },
    "drift": {
        "protocol": VirSci(team_size=3, turns=1, diversity=1.0, min_size=2),
        "founding": Poisson(teams_per_year=3.0),
        "times": Times(publication_delay=5, reply_window=3, meeting_notice=1, deadline=60),
        "until": 110.0,
        "seed": 5,
        "drift": Writing(memory=60.0, start=1.0, entering=0.6),
    },
}
"""Teams of VirSci with every kind of intervention, and teams whose members' topics drift."""


def ended(kind, live=False, **settings):
    """A society of a kind after its end."""
    if kind == "careers":
        delay = by_chance if live else None
        return lived(EVERYTHING, delay=delay, **(BUSY | settings))
    ecosystem = Synthetic(scientists=30, papers=240).generate(3)
    backend = Offline(latency=0.0005 if live else 0.0)
    society = Society(ecosystem, backend=backend, **(KINDS[kind] | settings))
    society.run_to_end()
    return society


def digest_of(kind):
    """The digest of a society of a kind, for another process."""
    return digest(ended(kind))


@pytest.fixture(scope="module")
def reference():
    """A society of each kind, made once in this process."""
    return cache(ended)


def test_something_happens(reference):
    careers, interventions = reference("careers"), reference("interventions")
    happened = {row["change"] for row in only(careers, "careers")}
    assert happened == {"arrived", "retired", "inactive"}
    late = {careers.population.names[row] for row in careers.population.arrived}
    for table in ("members", "authorships"):
        assert late & {row["scientist"] for row in only(careers, table)}
    assert len(only(interventions, "careers")) == 16
    assert any(row["reason"] == "leader gone" for row in only(interventions, "teams"))
    assert not all(row["stayed"] for row in only(interventions, "members"))


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("kind", "in_flight"),
    [
        ("careers", 1),
        ("careers", 64),
        pytest.param("interventions", 1, marks=SLOW),
        ("interventions", 64),
        pytest.param("drift", 1, marks=SLOW),
        pytest.param("drift", 64, marks=SLOW),
    ],
)
def test_what_happens_depends_on_neither_delays_nor_slots(reference, kind, in_flight):
    assert digest(ended(kind, live=True, in_flight=in_flight)) == digest(reference(kind))


@SLOW
@pytest.mark.parametrize("kind", ["careers", *KINDS])
def test_another_process_finds_the_same(nursery, reference, kind):
    called = "tests.society.test_kinds_of_societies:digest_of"
    assert nursery.call(called, kind=kind) == digest(reference(kind))


@pytest.mark.parametrize(
    ("kind", "until", "tables"),
    [
        ("careers", 2 * YEAR, ()),
        pytest.param("interventions", 110.0, (), marks=SLOW),
        pytest.param("drift", 80.0, ("papers", "interests"), marks=SLOW),
    ],
)
def test_a_longer_run_begins_like_a_shorter_one(reference, kind, until, tables):
    both = reference(kind), ended(kind, until=until)
    short, long = sorted(both, key=lambda society: len(society.log.events))
    events = short.log.events
    assert events == long.log.events[: len(events)]
    assert len(events) < len(long.log.events)
    for table in tables:
        rows = short.log.rows[table]
        assert len(rows) > 3
        assert rows == long.log.rows[table][: len(rows)], table


def test_a_large_society_lives_as_a_small_one(reference, monkeypatch):
    small = reference("careers")
    monkeypatch.setattr(population, "ALL_AGENTS_LIMIT", 5)
    large = ended("careers")
    assert large.log.events == small.log.events
    assert large.log.rows["careers"] == small.log.rows["careers"]
    listed = [row[0] for row in large.log.all_rows()["scientists"]]
    assert len(set(listed)) == len(listed)
    assert {large.population.names[row] for row in large.population.arrived} < set(listed)
    assert len(large.agents) < len(large.population)


@SLOW
def test_drift_reaches_what_scientists_are_told(reference):
    """Other profiles make other words, and so another society, from the first paper on."""
    drifting = reference("drift")
    rows = drifting.log.rows
    assert len(rows["papers"]) > 5
    assert min(len(rows["interests"]), len(rows["consultations"])) > 10
    still = ended("drift", drift=Writing(memory=60.0, start=10_000.0, entering=0.0))
    first = rows["interests"][0][1]
    assert digest(still) != digest(drifting)
    ours, theirs = (
        [event for event in society.log.events if event["date"] < first]
        for society in (drifting, still)
    )
    assert ours == theirs
