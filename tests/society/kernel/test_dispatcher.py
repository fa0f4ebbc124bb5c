"""Dispatching: real time never reaches the simulated world (rules 2, 7, 9, 17, 18)."""

import asyncio
import threading
import time
from contextlib import contextmanager

import pytest

from tests.society.tiny_society import (
    GUEST,
    SAY,
    Words,
    by_chance,
    echo,
    found,
    name,
    only,
    run,
    talk,
    traces,
)
from virsci_society.agents.errors import Dissolved, ProtocolError
from virsci_society.society.kernel.streams import Streams

LEADERS = tuple((float(day), day % 10) for day in range(0, 60, 3))


@pytest.fixture(scope="module")
def inline():
    """The traces of a society that is answered at once."""
    society = run(talk(), *LEADERS)
    assert len(society.log.rows["papers"]) > 10
    return traces(society)


@pytest.mark.parametrize("in_flight", [1, 4, 64])
def test_latency_and_concurrency_change_nothing(inline, in_flight):
    society = run(talk(), *LEADERS, delay=by_chance, in_flight=in_flight)
    assert traces(society) == inline


def test_a_bound_on_outstanding_calls_changes_nothing(inline):
    society = found(talk(), *LEADERS, delay=by_chance)
    society.dispatcher._bound = lambda: 2
    society.run_to_end()
    assert traces(society) == inline


def test_another_seed_or_other_words_change_something(inline):
    other = run(talk(), *LEADERS, script=lambda r: echo(r) | {"text": r.id, "title": "Other"})
    assert traces(other) != inline


def test_the_clock_waits_at_the_bound():
    """With the model silent, exactly as many questions go out as the bound allows."""
    let, asked = threading.Event(), []

    async def silent(request):
        asked.append(request.id)
        while not let.is_set():
            await asyncio.sleep(0.001)
        return echo(request)

    society = found(many, delay=lambda r: 0.0, script=silent)
    society.dispatcher._bound = lambda: 3
    with running(society, let):
        wait_for(lambda: len(asked) >= 3)
        time.sleep(0.05)
        assert len(asked) == 3
        assert society.dispatcher._unsettled == 3
    assert len(asked) == 12
    assert society.dispatcher._unsettled == 0


def test_only_questions_wait_at_the_bound():
    """Searches and consultations are neither counted nor held back (rule 17)."""
    let, kept = threading.Event(), []

    async def silent(request):
        while not let.is_set():
            await asyncio.sleep(0.001)
        return echo(request)

    def steps(team, lab):
        return lab.stage("topic", ask_once(team, lab))

    def ask_once(team, lab):
        said = lab.submit(team.leader, SAY, Words, "utter", within=0.0, heard=())
        people = lab.library.people(said, 2)
        guest = lab.consult(said, people, GUEST, Words, team.leader)
        kept.extend((said, people, guest, lab.library.search(said, 2)))
        kept.append(lab.submit(name(1), SAY, Words, "utter", within=0.0, heard=()))
        yield from lab.wait(1.0)
        raise Dissolved("done")

    society = found(steps, delay=lambda r: 0.0, script=silent)
    society.dispatcher._bound = lambda: 1
    with running(society, let):
        wait_for(lambda: len(kept) == 4)
        time.sleep(0.05)
        assert len(kept) == 4, "the second question waits"
        assert society.dispatcher._unsettled == 1
    assert len(kept) == 5
    assert society.dispatcher._unsettled == 0


@contextmanager
def running(society, let):
    clock = threading.Thread(target=society.run_to_end, daemon=True)
    clock.start()
    try:
        yield
    finally:
        let.set()
        clock.join(120)


def wait_for(holds):
    deadline = time.monotonic() + 120
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.001)


def many(team, lab):
    return lab.stage("topic", _many(team, lab))


def _many(team, lab):
    for seat in range(12):
        lab.submit(name(seat % 10), SAY, Words, "invite", seat=seat, within=30.0 - seat, heard=())
    yield from lab.wait(40.0)
    raise Dissolved("enough")


def test_waiting_calls_are_served_by_due_date_then_id():
    order, posed = [], threading.Event()

    async def noting(request):
        order.append((request.due, request.id))
        if len(order) == 1:
            while not posed.is_set():
                await asyncio.sleep(0.001)
            await asyncio.sleep(0.02)
        return echo(request)

    def all_posed(team, lab):
        steps = _many(team, lab)
        first = next(steps)
        posed.set()
        yield first
        yield from steps

    run(
        lambda team, lab: lab.stage("topic", all_posed(team, lab)),
        delay=lambda r: 0.0,
        script=noting,
        in_flight=1,
    )
    assert len(order) == 12
    assert order[1:] == sorted(order[1:])
    assert order != sorted(order), "the first was sent before the others were waiting"


def test_a_slot_is_taken_only_when_a_prompt_is_complete():
    """With one slot, questions about unread words wait without holding it."""

    def steps(team, lab):
        heard = ()
        for turn in range(1, 6):
            lab.turn = turn
            said = lab.submit(team.leader, SAY, Words, "invite", within=9.0, heard=heard)
            heard = (*heard, said)
        yield from lab.wait(10.0)
        raise Dissolved("enough")

    society = run(
        lambda team, lab: lab.stage("topic", steps(team, lab)), delay=by_chance, in_flight=1
    )
    assert len(society.log.rows["calls"]) == 5


def test_an_id_asked_twice_is_an_error():
    def steps(team, lab):
        lab.submit(team.leader, SAY, Words, "invite", within=1.0, heard=())
        with pytest.raises(ProtocolError, match="/topic/1/0/0/invite/Scientist0 is asked twice"):
            lab.submit(team.leader, SAY, Words, "invite", within=1.0, heard=())
        for other in ({"who": name(1)}, {"act": "decide"}, {"seat": 1}):
            asked = {"who": team.leader, "act": "invite", "seat": 0} | other
            lab.submit(asked["who"], SAY, Words, asked["act"], seat=asked["seat"], heard=())
        yield from lab.wait(2.0)
        raise Dissolved("enough")

    society = run(lambda team, lab: lab.stage("topic", steps(team, lab)))
    assert only(society, "teams")[0]["reason"] == "enough"


def test_a_stage_entered_again_has_ids_of_its_own():
    def steps(team, lab):
        for _ in range(2):
            yield from lab.stage("topic", lab.ask(team.leader, SAY, Words, heard=()))
        raise Dissolved("enough")

    society = run(steps)
    assert [(c["call"], c["visit"]) for c in only(society, "calls")] == [
        ("Scientist0/1/topic/1/0/0/utter/Scientist0", 1),
        ("Scientist0/1/topic/2/0/0/utter/Scientist0", 2),
    ]


def seeds_of(**settings):
    """Seed and hash of every call, by id."""
    told = {}

    def script(request):
        told[request.id] = (request.seed, request.hash, request.due)
        return echo(request)

    run(talk(), *LEADERS, script=script, **settings)
    return told


def test_ids_and_seeds_know_nothing_of_how_the_run_is_executed():
    first = seeds_of()
    assert len({seed for seed, _, _ in first.values()}) == len(first)
    words = Streams(0)
    assert {id_: words.key("words", id_) for id_ in first} == {
        i: told[0] for i, told in first.items()
    }
    assert first == seeds_of(delay=by_chance, in_flight=3)
    short = seeds_of(until=30.0, step_days=3.0)
    assert short == {id_: first[id_] for id_ in short}
    assert 0 < len(short) < len(first)
    other = seeds_of(seed=1)
    assert {id_: other[id_][0] != first[id_][0] for id_ in first} == dict.fromkeys(first, True)


def test_a_shorter_run_is_the_beginning_of_a_longer_one():
    short = run(talk(), *LEADERS, until=30.0)
    long = run(talk(), *LEADERS, until=90.0, step_days=3.0)
    events = short.log.events
    assert events == long.log.events[: len(events)]
    assert 10 < len(events) < len(long.log.events)


def test_adding_a_team_shifts_nobody_elses_draws():
    def drawn(*leaders):
        return {
            row["call"]: (row["asked"], row["due"])
            for row in only(run(talk(), *leaders, times=sampled()), "calls")
        }

    def sampled():
        from tests.society.tiny_society import times
        from virsci_society.society.kernel.durations import Gamma

        return times(utterance=Gamma(mean=1.0))

    alone = drawn((0.0, 0))
    in_company = drawn((0.0, 0), (0.0, 5), (1.0, 7))
    assert alone == {id_: in_company[id_] for id_ in alone}
    assert len(in_company) > len(alone) > 5
    assert len({due - asked for asked, due in in_company.values()}) == len(in_company)
