"""Faults and stops: they end the run and leave no trace in its world (rules 1, 2, 4, 26)."""

import threading
import time

import pytest

from tests.society.tiny_society import (
    SAY,
    Scripted,
    Words,
    by_chance,
    echo,
    found,
    name,
    run,
    talk,
    traces,
)
from virsci_society.agents.errors import Dissolved, ProtocolError, SocietyError, Stopped, Verdict
from virsci_society.society.kernel.dispatcher import Dispatcher

SPEEDS = pytest.mark.parametrize("delay", [None, by_chance], ids=["inline", "live"])
LEADERS = tuple((float(day), day % 10) for day in range(0, 40, 4))


class Outage(Exception):
    """What a provider's library might raise; it cannot be rebuilt from its arguments."""

    def __init__(self, code, reason):
        super().__init__(f"{code} {reason}")


def failing(at):
    return lambda request: Outage(503, "down") if at in request.id else echo(request)


def is_prefix(part, whole):
    """Do the traces of one society begin those of another?"""
    events, rows = traces(part)
    all_events, all_rows = traces(whole)
    same = events == all_events[: len(events)]
    return same and all(rows[t] == all_rows[t][: len(rows[t])] for t in rows)


@SPEEDS
@pytest.mark.parametrize("reading", [False, True])
@pytest.mark.parametrize("at", ["Scientist6/1/topic/1/2/1", "Scientist0/1/topic/1/1/0", "abstract"])
def test_a_fault_stops_the_run_as_it_was_and_leaves_no_trace(delay, reading, at):
    whole = run(talk(reading=reading), *LEADERS)
    society = found(talk(reading=reading), *LEADERS, script=failing(at), delay=delay)
    with pytest.raises(Outage, match="503 down"):
        society.run_to_end()
    assert not society.running
    assert society.log.sealed
    assert len(society.log.events) < len(whole.log.events)
    assert is_prefix(society, whole)
    before = [dict(event) for event in society.log.events]
    society.step()
    society.close()
    assert society.log.events == before


@SPEEDS
def test_what_unwinds_at_a_stop_writes_nothing(delay):
    """Rooms are left and desks given back, but the log has been sealed before."""

    def steps(team, lab):
        yield from lab.stage("topic", meet(team, lab))

    def meet(team, lab):
        yield from lab.notice()
        with lab.convene(1) as everybody:
            yield everybody
            answer = yield from lab.ask(team.leader, SAY, Words, heard=())
            yield from lab.wait(1.0)
            try:
                answer.read()
            except SocietyError:
                lab.event("swallowed")
                yield from lab.wait(0.0)
            yield from lab.wait(1.0)
        lab.event("left the room")
        raise Dissolved("enough")

    whole = run(steps)
    assert len(whole.log.rows["meetings"]) == 1
    society = found(steps, script=failing("topic"), delay=delay)
    with pytest.raises(Outage):
        society.run_to_end()
    assert is_prefix(society, whole)
    assert not society.log.rows["meetings"]
    assert not society.log.rows["calls"]


def test_words_settled_by_a_stop_are_never_written():
    """The fault has come, but the clock has not looked yet: the team's end waits and leaves."""
    society = found(talk(), script=failing("topic/1/1/0"), delay=lambda request: 0.0)
    society.dispatcher.on_clock(True)
    while society.env.peek() < 1.0:
        society.env.step()
    until(lambda: society.dispatcher.fault is not None)
    (team,) = society.world.teams.values()
    until(lambda: all(answer._settled for answer in team.answers))
    with pytest.raises(Stopped, match="503 down"):
        society.dispatcher.settle(team.answers)
    with pytest.raises(Outage):
        society.run_to_end()
    assert not society.log.rows["calls"]


def until(holds, seconds=120.0):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.001)


def test_a_fault_at_the_very_end_stops_the_run_too():
    """The words are still outstanding when the last day has passed."""
    whole = run(talk(), until=10.0)

    def slowly(request):
        return 0.05

    society = found(talk(), until=10.0, script=failing("topic/1/3/1"), delay=slowly)
    with pytest.raises(Outage):
        society.run_to_end()
    assert society.log.sealed
    assert not society.running
    assert not society.log.rows["teams"]
    assert is_prefix(society, whole)


@SPEEDS
def test_a_verdict_decides_within_its_team_only(delay):
    def script(request):
        refused = request.id.startswith("Scientist4/1/topic/1/2/0")
        return Verdict("not this") if refused else echo(request)

    society = run(talk(reading=True), *LEADERS, script=script, delay=delay)
    ended = {row[0]: (row[9], row[10]) for row in society.log.rows["teams"]}
    assert ended["Scientist4/1"] == ("dissolved", "unspoken: not this")
    others = [state for team, (state, _) in ended.items() if team != "Scientist4/1"]
    assert others == ["published"] * 9


@SPEEDS
def test_an_unreadable_manuscript_dissolves_the_team_on_its_publication_date(delay):
    def script(request):
        return Verdict("nothing") if "abstract" in request.id else echo(request)

    society = run(talk(), script=script, delay=delay)
    (team,) = society.log.rows["teams"]
    assert (team[9], team[10]) == ("dissolved", "unspoken: nothing")
    assert not society.log.rows["papers"]
    (event,) = [e for e in society.log.events if e["kind"] == "dissolved"]
    (finished,) = [e for e in society.log.events if e["kind"] == "finished"]
    assert event["date"] == finished["date"] + 10.0
    assert name(0) not in [agent.name for agent in society.agents if agent.load]


def test_a_mistake_in_a_protocol_ends_the_run_too():
    def steps(team, lab):
        yield from lab.wait(3.0)
        raise ValueError("a mistake")

    society = found(steps)
    with pytest.raises(ValueError, match="a mistake"):
        society.run_to_end()
    assert not society.running
    assert society.log.sealed
    assert [thread for thread in threading.enumerate() if thread.name == "answers"] == []


def test_a_backend_that_says_inline_must_not_suspend():
    class Late(Scripted):
        @property
        def inline(self):
            return True

    society = found(talk(), backend=Late(delay=lambda request: 0.001))
    with pytest.raises((ProtocolError, RuntimeError), match=r"inline|no running event loop"):
        society.run_to_end()


@SPEEDS
def test_after_a_stop_no_thread_is_left(delay):
    society = found(talk(), script=failing("topic"), delay=delay)
    with pytest.raises(Outage):
        society.run_to_end()
    until(lambda: not [t for t in threading.enumerate() if t.name == "answers"])
    assert isinstance(society.dispatcher, Dispatcher)
