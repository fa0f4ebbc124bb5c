"""Topics that a scenario gives: one for each team, the same in all arms of one seed."""

import pytest

from tests.protocols.systems.conftest import live, make
from virsci_society import load_scenario
from virsci_society.agents.errors import InputError
from virsci_society.protocols.given_topics import GivenTopic, neutral_topics
from virsci_society.society.formation.founding import Once

__all__ = ["live"]


def topics_of(lived):
    return [team["topic"] for team in lived.rows("teams")]


def test_there_are_twenty_neutral_topics_of_one_line_each():
    topics = neutral_topics()
    assert len(set(topics)) == len(topics) == 20
    assert all(4 <= len(topic.split()) <= 16 for topic in topics)


def test_teams_are_given_one_of_the_topics_and_all_arms_the_same(live):
    given = GivenTopic(one_of="neutral")
    founding = Once(count=6, every=3.0)
    first = topics_of(live(make("debate", topic=given, rounds=1), founding=founding, until=90.0))
    second = topics_of(live(make("hypogen", topic=given, rounds=1), founding=founding, until=90.0))
    assert first == second
    assert set(first) <= set(neutral_topics())
    assert len(set(first)) > 2
    other = topics_of(live(make("debate", topic=given), founding=founding, until=90.0, seed=2))
    assert other != first


def test_own_topics_are_taken_and_nothing_else_beside_them(live):
    given = GivenTopic(one_of=("tides", "moons"))
    assert set(topics_of(live(make("ai_scientist", topic=given)))) <= {"tides", "moons"}
    for told in ({}, {"one_of": ()}, {"one_of": "neutral", "given": "a"}):
        with pytest.raises(ValueError, match="either start or given"):
            GivenTopic(**told)


def test_a_scenario_takes_the_set_by_name_or_a_list(tmp_path):
    for value in ("neutral", ["a", "b"]):
        scenario = load_scenario("quickstart", **{"protocol.topic": {"one_of": value}})
        assert scenario.protocol.topic.one_of in ("neutral", ("a", "b"))
    with pytest.raises(InputError, match="one_of"):
        load_scenario("quickstart", **{"protocol.topic": {"one_of": "natural"}})
