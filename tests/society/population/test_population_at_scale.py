"""People in columns: a large society is a small one whose people become agents when they act."""

import tracemalloc

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

from tests.society.tiny_society import name
from virsci_society.agents.offline.backend import Offline
from virsci_society.protocols.virsci.protocol import VirSci
from virsci_society.society.ecosystem.knowledge_bank import People, numbered_names
from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic
from virsci_society.society.formation.founding import Once
from virsci_society.society.kernel.durations import Times
from virsci_society.society.model import Society
from virsci_society.society.population import population
from virsci_society.society.population.network import CoauthorNetwork
from virsci_society.society.results.dataframes import build_tables
from virsci_society.society.results.run import Run

pytestmark = pytest.mark.usefixtures("collected")

PART = ("members", "invitations", "consultations", "homework", "calls", "authorships")


@pytest.fixture(scope="module")
def ecosystem():
    return Synthetic(scientists=80, papers=700).generate(5)


def society(ecosystem, **settings):
    return Society(
        ecosystem,
        protocol=VirSci(team_size=3, turns=1, memory="own", freshness=1.0),
        founding=Once(count=6, every=3.0, max_teams=1),
        times=Times(publication_delay=10.0, reply_window=3.0, meeting_notice=2.0),
        backend=Offline(),
        until=150.0,
        seed=2,
        **settings,
    )


def took_part(society):
    """Everybody whom a row names who was in a team, was invited or was asked for words."""
    places = {"invitations": 2, "consultations": 2, "calls": 7}
    return {row[places.get(table, 1)] for table in PART for row in society.log.rows[table]}


@pytest.fixture(scope="module")
def both(ecosystem):
    """The same society with everybody an agent, and with agents made when they act."""
    small = society(ecosystem)
    small.run_to_end()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(population, "ALL_AGENTS_LIMIT", 20)
        large = society(ecosystem)
        assert not large.agents
        large.run_to_end()
        yield small, large


@pytest.mark.slow
def test_what_happens_does_not_depend_on_who_is_an_agent(both):
    small, large = both
    assert small.log.events == large.log.events
    assert len(small.log.rows["papers"]) > 3
    for table, rows in large.log.rows.items():
        if table not in ("scientists", "ties"):
            assert rows == small.log.rows[table], table


@pytest.mark.slow
def test_agents_are_those_who_have_acted(both):
    small, large = both
    assert (len(small.agents), len(large.agents)) == (80, len({a.name for a in large.agents}))
    acted = {row[1] for row in large.log.rows["members"]}
    assert acted <= {agent.name for agent in large.agents} < {agent.name for agent in small.agents}
    frames_ = [one.datacollector.get_model_vars_dataframe() for one in both]
    assert [frame["people"].iloc[-1] for frame in frames_] == [80, 80]
    assert frames_[0]["agents"].tolist() == [80] * len(frames_[0])
    assert frames_[1]["agents"].iloc[-1] == len(large.agents)
    assert frames_[1]["agents"].is_monotonic_increasing
    for figure in ("busy_scientists", "max_memberships", "teams_running", "papers", "calls"):
        assert frames_[0][figure].tolist() == frames_[1][figure].tolist()
    assert frames_[0]["busy_scientists"].max() > 3


def test_the_tables_of_a_large_society_tell_of_those_who_took_part(both):
    small, large = both
    assert small.log.all_rows() is small.log.rows
    everybody, told = (Run(build_tables(one.log.all_rows()), {}, {}).tables() for one in both)
    part = took_part(large)
    people = everybody["scientists"]
    expected = people[people["scientist"].isin(part)].reset_index(drop=True)
    assert 3 < len(expected) < 80
    assert told["scientists"].equals(expected)
    ties = everybody["ties"]
    theirs = ties["source"].isin(part) | ties["target"].isin(part)
    assert theirs.sum() < len(ties)
    assert told["ties"].equals(ties[theirs].reset_index(drop=True))
    assert (told["ties"]["date"] >= 0).any()


def test_a_stopped_large_society_tells_of_those_who_took_part_so_far(ecosystem, monkeypatch):
    monkeypatch.setattr(population, "ALL_AGENTS_LIMIT", 20)
    stopped = society(ecosystem)
    told = []
    for date in (0.5, 30.0, 60.0):
        stopped.advance(date)
        told.append({row[0] for row in stopped.log.all_rows()["scientists"]})
        assert told[-1] == took_part(stopped)
    assert not told[0]
    assert told[1] < told[2]


def many_people(count):
    numbers = np.arange(count)
    columns = {
        "id": numbered_names("Scientist", count),
        "affiliations": pa.LargeListArray.from_arrays(
            np.zeros(count + 1, np.int64), pa.array([], pa.large_string())
        ),
        "interests": pa.LargeListArray.from_arrays(
            np.arange(count + 1),
            pa.DictionaryArray.from_arrays(
                pa.array(numbers % 7), pa.array([f"field {n}" for n in range(7)], pa.large_string())
            ).cast(pa.large_string()),
        ),
        "papers": pa.array(numbers % 50),
        "citations": pa.array(numbers),
        "collaborators": pa.LargeListArray.from_arrays(
            np.zeros(count + 1, np.int64), pa.array([], pa.large_string())
        ),
    }
    return People(pa.table(columns, schema=People.schema()))


def no_ties(count):
    return csr_array((count, count), dtype=np.int64)


def crowd_of(people):
    network = CoauthorNetwork(no_ties(len(people)), lambda: 0.0)
    return population.Population(people, None, network, lambda: 0.0)


def test_names_are_found_both_ways_whatever_people_are_called(monkeypatch):
    monkeypatch.setattr(population, "ALL_AGENTS_LIMIT", 2)
    for called in (["Scientist0", "Scientist1", "Scientist2"], ["Zoe", "Ann", "Scientist0"]):
        ids = pa.array(called, pa.large_string())
        people = People(many_people(3).table.set_column(0, "id", ids))
        one = crowd_of(people)
        assert [one.names[row] for row in range(3)] == called
        assert [one.rows[who] for who in called] == [0, 1, 2]
        assert all(who in one.rows for who in called)
        for nobody in ("Scientist3", "Scientist01", "scientist1", "", "Bob"):
            assert nobody not in one.rows
            with pytest.raises(KeyError):
                one.rows[nobody]
        assert list(one.rows) == called
        assert [one.profile(row, 9.0).id for row in range(3)] == called


def test_many_people_cost_nothing_until_they_act():
    people = many_people(200_000)
    tracemalloc.start()
    crowd = crowd_of(people)
    assert crowd.names[123_456] == name(123_456)
    assert crowd.rows[name(199_999)] == 199_999
    assert crowd.profile(77, 1.0).papers == 77 % 50
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(crowd) == 200_000
    assert peak < 60 * len(crowd)
    assert held < 40 * len(crowd)


def test_who_works_in_so_many_teams_is_known_without_looking_at_everybody(ecosystem):
    one = society(ecosystem)
    crowd = one.population
    memberships = [(3, "a"), (3, "b"), (4, "a"), (5, "c"), (3, "c")]
    for row, team in memberships:
        crowd.join_team(row, team)

    def told():
        return [set(crowd.working_in_at_least(teams)) for teams in (1, 2, 3, 4)]

    def counted():
        return [{r for r, load in crowd.busy.items() if load >= teams} for teams in (1, 2, 3, 4)]

    assert told() == counted() == [{3, 4, 5}, {3}, {3}, set()]
    for row, team in memberships:
        crowd.leave_team(row, team)
        assert told() == counted()
    assert not crowd.busy
