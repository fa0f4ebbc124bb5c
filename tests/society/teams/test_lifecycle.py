"""How teams end: dissolved from outside, by themselves, or not at all (rules 12, 20, 21)."""

from types import SimpleNamespace

import pytest
import simpy

from tests.society.tiny_society import (
    GUEST,
    SAY,
    Page,
    Talk,
    Words,
    by_chance,
    found,
    kinds,
    name,
    nothing_left,
    only,
    run,
    talk,
    times,
    traces,
)
from virsci_society.agents.errors import Dissolved, ProtocolError, ReplyError
from virsci_society.society.kernel.durations import FixedDuration
from virsci_society.society.teams.contracts import Manuscript
from virsci_society.society.teams.lifecycle import publish


def at(society, date, act):

    def process():
        yield society.env.timeout(date)
        act()

    society.env.process(process())


def team_of(society, row=0):
    return society.world.teams[f"{name(row)}/1"]


def meet(team, lab, days=5.0):
    yield from lab.notice()
    with lab.convene(1) as everybody:
        yield everybody
        yield from lab.wait(days)
    yield from lab.prepare()


def meeting(team, lab):
    """A team of leader and Scientist1 that meets and hands in nothing."""
    lab.people.join(name(1))
    yield from lab.stage("topic", meet(team, lab))
    raise Dissolved("done")


def test_dissolving_frees_room_and_desk_and_membership():
    society = found(meeting, (0.0, 0), (1.0, 2), times=times(homework=FixedDuration(length=4.0)))
    at(society, 9.0, lambda: team_of(society).dissolve("moved away"))
    society.run_to_end()
    first, second = only(society, "meetings")
    assert (first["team"], first["held"], first["ended"]) == ("Scientist0/1", 7.0, 9.0)
    assert (second["team"], second["due"], second["held"]) == ("Scientist2/1", 8.0, 9.0)
    teams = {row["team"]: row for row in only(society, "teams")}
    assert teams["Scientist0/1"]["reason"] == "moved away"
    assert teams["Scientist0/1"]["finished"] == 9.0
    assert {m["left"] for m in only(society, "members") if m["team"] == "Scientist0/1"} == {9.0}
    assert nothing_left(society)


def test_dissolving_while_waiting_for_a_room_gives_the_place_back():
    """The team of 2 leaves the queue; that of 3 is served as if it had never been there."""
    society = found(meeting, (0.0, 0), (1.0, 2), (2.0, 3))
    at(society, 10.0, lambda: team_of(society, 2).dissolve("gave up"))
    society.run_to_end()
    held = {row["team"]: row["held"] for row in only(society, "meetings")}
    assert held == {"Scientist0/1": 7.0, "Scientist3/1": 12.0}


def test_dissolving_at_the_desk_frees_the_desk():
    society = found(meeting, (0.0, 0), (0.5, 2), times=times(homework=FixedDuration(length=20.0)))
    at(society, 14.0, lambda: team_of(society).dissolve("gave up"))
    society.run_to_end()
    rows = [(h["team"], h["started"], h["done"], h["effort"]) for h in only(society, "homework")]
    assert ("Scientist0/1", 12.0, 14.0, 2.0) in rows
    assert ("Scientist2/1", 17.0, 37.0, 20.0) in rows


def test_the_first_reason_wins():
    society = found(meeting)

    def act():
        team_of(society).dissolve("one")
        team_of(society).dissolve("two")

    at(society, 3.0, act)
    society.run_to_end()
    assert only(society, "teams")[0]["reason"] == "one"
    assert kinds(society, "dissolved") == [(3.0, "dissolved")]
    (event,) = [e for e in society.log.events if e["kind"] == "dissolved"]
    assert (event["team"], event["reason"]) == ("Scientist0/1", "one")


def test_a_dissolved_team_publishes_nothing_even_if_it_hands_something_in():
    """Its protocol makes light of being interrupted; the words were there already."""

    def steps(team, lab):
        page = yield from lab.stage("abstract", lab.ask(team.leader, SAY, Page, heard=()))
        try:
            yield from lab.wait(10.0)
        except simpy.Interrupt:
            return Manuscript(page)

    society = found(steps)
    at(society, 3.0, lambda: team_of(society).dissolve("from outside"))
    society.run_to_end()
    (team,) = only(society, "teams")
    assert (team["state"], team["reason"]) == ("dissolved", "from outside")
    assert not society.log.rows["papers"]
    assert not kinds(society, "finished", "published")
    assert len(society.literature) == 8


def test_ended_teams_are_left_alone():
    """It has finished on day 7 and waits for its publication on day 17."""
    society = found(talk(rounds=3))
    team = []
    at(society, 6.5, lambda: team.append(team_of(society)))
    at(society, 8.0, lambda: team[0].dissolve("too late"))
    at(society, 30.0, lambda: team[0].dissolve("much too late"))
    society.run_to_end()
    (row,) = only(society, "teams")
    assert (row["state"], row["finished"], row["published"]) == ("published", 7.0, 17.0)
    assert row["reason"] is None


@pytest.mark.parametrize("inside", ["process", "part"])
def test_a_team_cannot_dissolve_itself(inside):
    def steps(team, lab):
        if inside == "part":
            yield from lab.together(itself(team, lab))
        else:
            yield from itself(team, lab)
        raise Dissolved("done")

    def itself(team, lab):
        yield from lab.wait(1.0)
        with pytest.raises(ProtocolError, match="Scientist0/1 cannot dissolve itself"):
            team.dissolve("myself")

    assert only(run(steps), "teams")[0]["reason"] == "done"


def test_swallowing_everything_does_not_survive_a_dissolution():
    tried = []

    def steps(team, lab):
        said = yield from lab.stage("topic", lab.ask(team.leader, SAY, Talk, heard=()))
        people = lab.library.people("graphs", 1)
        try:
            yield from lab.wait(10.0)
        except Exception as error:
            tried.append(type(error))
        for step in every_step(team, lab, said, people):
            try:
                result = step()
                if hasattr(result, "send"):
                    yield from result
                tried.append(step)
            except Exception as error:
                tried.append((type(error), str(error)))
        return talk()

    society = found(steps)
    at(society, 3.0, lambda: team_of(society).dissolve("enough of you"))
    society.run_to_end()
    assert tried[0] is simpy.Interrupt
    assert tried[1:] == [(Dissolved, "enough of you")] * (len(tried) - 1)
    assert len(tried) == 15
    (team,) = only(society, "teams")
    assert (team["state"], team["reason"]) == ("dissolved", "enough of you")
    assert team["finished"] == 3.0


def every_step(team, lab, said, people):
    return (
        lambda: lab.wait(1.0),
        lambda: lab.stage("ideas", lab.wait(1.0)),
        lambda: lab.together(),
        lambda: lab.prepare(),
        lambda: lab.notice(),
        lambda: lab.convene(1),
        lambda: lab.ask(team.leader, SAY, Words, heard=()),
        lambda: lab.ask_each([team.leader], lambda seat, who: lab.submit(who, SAY, Words, "utter")),
        lambda: lab.submit(team.leader, SAY, Words, "utter", heard=()),
        lambda: lab.later(len, ()),
        lambda: lab.library.search("graphs", 1),
        lambda: lab.consult(said, people, GUEST, Words, team.leader),
        lambda: lab.people.join(name(5)),
        lambda: lab.people.leave(team.leader),
    )


def test_the_deadline_dissolves_who_has_not_finished():
    society = run(meeting, (0.0, 0), (4.0, 2), times=times(deadline=11.0))
    ended = {t["team"]: (t["reason"], t["finished"]) for t in only(society, "teams")}
    # The first meeting is held from day 7 to 12, the second one from 12 on.
    assert ended == {"Scientist0/1": ("deadline", 11.0), "Scientist2/1": ("deadline", 15.0)}
    in_time = run(meeting, times=times(deadline=13.0))
    assert only(in_time, "teams")[0]["reason"] == "done"


@pytest.mark.parametrize("delay", [None, by_chance], ids=["inline", "live"])
def test_what_was_asked_is_answered_also_for_a_team_that_is_gone(delay):
    society = found(talk(rounds=5), delay=delay)
    at(society, 4.5, lambda: team_of(society).dissolve("gave up"))
    society.run_to_end()
    calls = only(society, "calls")
    assert [call["asked"] for call in calls] == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert all(call["reply"] and call["model"] == "scripted" for call in calls)


def test_the_limit_of_teams_holds_for_founding_and_joining():
    joined = []

    def steps(team, lab):
        joined.append((team.id, lab.people.join(name(9))))
        yield from lab.wait(10.0)
        raise Dissolved("done")

    society = run(steps, (0.0, 0), (1.0, 1), (2.0, 0), (3.0, 0), (4.0, 2), (15.0, 0), most=2)
    assert joined == [
        ("Scientist0/1", True),
        ("Scientist1/1", True),
        ("Scientist0/2", False),
        ("Scientist2/1", False),
        ("Scientist0/3", True),
    ]
    assert kinds(society, "founding_skipped") == [(3.0, "founding_skipped")]
    assert {t["team"] for t in only(society, "teams")} == {team for team, _ in joined}
    loads = {(m["team"], m["scientist"]): m["load"] for m in only(society, "members")}
    assert loads["Scientist0/1", name(0)] == 0
    assert loads["Scientist0/2", name(0)] == 1
    assert loads["Scientist1/1", name(9)] == 1
    assert nothing_left(society)


def test_who_leaves_early_is_no_author_and_frees_its_place():
    def steps(team, lab):
        lab.people.join(name(1))
        yield from lab.wait(2.0)
        lab.people.leave(name(1))
        assert lab.people.load(name(1)) == 0
        page = yield from lab.stage("abstract", lab.ask(team.leader, SAY, Page, heard=()))
        return Manuscript(page)

    society = run(steps)
    members = {m["scientist"]: (m["left"], m["stayed"]) for m in only(society, "members")}
    assert members == {name(0): (3.0, True), name(1): (2.0, False)}
    assert kinds(society, "left") == [(2.0, "left")]
    assert [row["scientist"] for row in only(society, "authorships")] == [name(0)]
    (team,) = only(society, "teams")
    assert team["size"] == 1


@pytest.mark.parametrize("delay", [None, by_chance], ids=["inline", "live"])
def test_unfinished_teams_are_written_with_their_state(delay):
    """On day 12 one team has finished, one is running, one is published."""
    society = run(talk(rounds=3), (0.0, 0), (1.0, 4), (3.0, 5), (9.0, 7), delay=delay, until=18.0)
    teams = {t["team"]: t for t in only(society, "teams")}
    assert {id_: t["state"] for id_, t in teams.items()} == {
        "Scientist0/1": "published",
        "Scientist4/1": "finished",
        "Scientist5/1": "finished",
        "Scientist7/1": "finished",
    }
    early = run(talk(rounds=3), (0.0, 0), (9.0, 7), delay=delay, until=12.0)
    teams = {t["team"]: t for t in only(early, "teams")}
    assert teams["Scientist7/1"]["state"] == "running"
    assert teams["Scientist7/1"]["finished"] is None
    assert teams["Scientist7/1"]["stage"] == "topic"
    assert teams["Scientist0/1"]["state"] == "finished"
    running = [c for c in only(early, "calls") if c["team"] == "Scientist7/1"]
    assert [c["asked"] for c in running] == [9.0, 10.0, 11.0]
    assert all(c["reply"] for c in running)
    left = {m["team"]: m["left"] for m in only(early, "members")}
    assert left == {"Scientist0/1": 7.0, "Scientist7/1": None}


def test_the_log_is_sealed_before_anything_unwinds():
    """Teams that are cut off by the end write nothing any more, however they are collected."""

    def steps(team, lab):
        try:
            yield from meeting(team, lab)
        finally:
            lab.event("unwound")
            lab.world.log.row("ties", "a", "b", 0.0, 1)

    society = run(
        steps, (0.0, 0), (1.0, 2), until=9.0, times=times(homework=FixedDuration(length=1.0))
    )
    before = [list(rows) for rows in society.log.rows.values()]
    assert society.log.sealed
    for team in list(society.world.teams.values()):
        team.process._generator.close()
    society.world.env = None
    assert [list(rows) for rows in society.log.rows.values()] == before
    assert not kinds(society, "unwound")


def test_teams_that_are_cut_off_unwind_in_the_order_of_their_ids():
    order = []

    def steps(team, lab):
        try:
            yield from lab.wait(500.0)
        finally:
            order.append(team.id)

    run(steps, (0.0, 5), (0.0, 2), (0.0, 7), (1.0, 2), until=9.0)
    assert order == ["Scientist2/1", "Scientist2/2", "Scientist5/1", "Scientist7/1"]


def test_an_event_on_a_boundary_belongs_to_the_next_period():
    seen = []

    def steps(team, lab):
        for _ in range(3):
            yield from lab.wait(5.0)
            seen.append(lab.now)
        raise Dissolved("done")

    society = found(steps, until=15.0, step_days=5.0)
    for expected in ([], [5.0], [5.0, 10.0]):
        society.step()
        assert seen == expected
    assert society.day == 15.0
    assert not society.running
    assert only(society, "teams")[0]["state"] == "running", "day 15 is not part of the run"


def test_periods_of_any_length_give_the_same_run():
    whole = traces(run(talk(), (0.0, 0), (2.0, 3), step_days=100.0))
    for days in (0.7, 1.0, 7.0, 33.3):
        assert traces(run(talk(), (0.0, 0), (2.0, 3), step_days=days)) == whole


def deaf(lab):
    while True:
        try:
            yield from lab.wait(1.0)
        except Exception:
            continue


def test_a_protocol_that_catches_its_dissolution_for_ever_is_ended_over_its_head():
    def steps(team, lab):
        yield from lab.stage("work", deaf(lab))

    society = run(steps, (0.0, 0), times=times(deadline=5.0))
    (team,) = society.log.rows["teams"]
    assert team[9:11] == ("dissolved", "deadline")


def test_a_part_that_goes_on_after_the_end_of_its_team_is_ended_too():
    def steps(team, lab):
        yield from lab.stage("work", lab.together(failing(lab), deaf(lab)))

    def failing(lab):
        yield from lab.wait(1.0)
        raise ValueError("lost the notes")

    society = run(steps, (0.0, 0), times=times(deadline=5.0))
    (team,) = society.log.rows["teams"]
    assert team[9:11] == ("dissolved", "deadline")
    failures = [e["failure"] for e in society.log.events if e["kind"] == "part_failed"]
    assert failures == ["ValueError: lost the notes"]


def test_an_unreadable_text_leaves_no_half_of_a_paper():
    class Unreadable:
        def read(self):
            raise ReplyError("not a word")

    readable = SimpleNamespace(read=lambda: Words(text="a paper"))
    team = SimpleNamespace(state="finished", published=None)
    manuscript = Manuscript(readable, neighbour_query=Unreadable())
    with pytest.raises(ReplyError):
        publish(None, team, manuscript)
    assert team == SimpleNamespace(state="finished", published=None)


def test_who_hands_in_nothing_has_dissolved():
    def steps(team, lab):
        yield from lab.stage("work", lab.wait(1.0))

    society = run(steps)
    (team,) = society.log.rows["teams"]
    assert team[9:11] == ("dissolved", "nothing handed in")
