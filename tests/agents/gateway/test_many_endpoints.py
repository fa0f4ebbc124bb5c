"""Sixty-four endpoints of one pool, some of which fail, in invented time (docs/performance.md)."""

import pytest

from tests.agents.gateway.simulated_endpoints import Server, capacity, serve
from tests.invented_time import play

SLOTS, REQUESTS = 4, 6_000
DOWN, BACK, FAILING, LIMITED, SLOW = range(8), 8, 9, 10, range(11, 19)
BACK_AFTER, LIMIT = 10.0, 2
MOST_TRIES = 5 + SLOTS + 6
"""Failures that open the breaker, attempts then under way, and pauses of 1 to 32 seconds."""


def server(number):
    if number in DOWN:
        return Server(down=(0.0, 1e9))
    if number == BACK:
        return Server(down=(0.0, BACK_AFTER))
    if number == FAILING:
        return Server(failing=0.5)
    if number == LIMITED:
        return Server(most=LIMIT)
    return Server(seconds=4.0 if number in SLOW else 1.0)


SERVERS = tuple(server(number) for number in range(64))


@pytest.fixture(scope="module")
def played():
    return play(lambda: serve(SERVERS, SLOTS, REQUESTS))


def test_every_request_is_answered_once(played):
    assert sorted(played.answers) == list(range(REQUESTS))
    assert set(played.answers.values()) == {1}


def test_those_that_are_down_are_asked_a_few_times_and_no_more(played):
    tries = [played.faults[number].total() for number in DOWN]
    assert all(0 < some <= MOST_TRIES for some in tries)
    assert not any(played.served[number] for number in DOWN)


def test_one_that_comes_back_takes_its_part_again(played):
    healthy = played.served[63]
    left = 1 - BACK_AFTER / played.seconds
    assert 0.5 * left * healthy < played.served[BACK] < healthy


def test_one_that_asks_for_less_gets_less(played):
    limited, healthy = played.served[LIMITED], played.served[63]
    assert 0.5 < limited / (healthy * LIMIT / SLOTS) <= 1.2
    # Its limit is raised by successes and cut by what it turns away, once for each burst.
    assert played.faults[LIMITED]["rate"] < limited


def test_one_that_fails_half_the_time_is_used_with_caution(played):
    assert 0 < played.served[FAILING] < played.served[63]


def test_the_others_bear_the_whole_work(played):
    share = REQUESTS / capacity(SERVERS, SLOTS) / played.seconds
    assert share > 0.8  # the slow ones are late at the end, when nothing else is left to do
    assert all(held <= SLOTS for held in played.held.values())
    slow = sum(played.served[number] for number in SLOW) / len(SLOW)
    assert slow < 0.5 * played.served[63]


def test_the_same_faults_are_met_in_the_same_way():
    few = tuple(server(number) for number in range(7, 13))
    first, second = (play(lambda: serve(few, SLOTS, 120)) for _ in range(2))
    assert first == second
