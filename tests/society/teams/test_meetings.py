"""People in one room, work on one desk (rules 19, 20; architecture section 5)."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.society.tiny_society import SAY, Words, found, name, only, run, times
from virsci_society.agents.errors import Dissolved, ProtocolError
from virsci_society.society.kernel.durations import FixedDuration, Gamma


def meeting(mates, turns=1):
    """Process[Any] of a team that meets; ``mates`` are rows by the leader's row."""

    def steps(team, lab):
        for mate in mates[int(team.leader[9:])]:
            lab.people.join(name(mate))
        yield from lab.stage("topic", meet(team, lab))
        raise Dissolved("done")

    def meet(team, lab):
        for turn in range(1, turns + 1):
            yield from lab.prepare()
            yield from lab.notice()
            with lab.convene(turn) as everybody:
                yield everybody
                for seat, who in enumerate(team.members):
                    yield from lab.ask(who, SAY, Words, seat=seat, heard=())
        yield from lab.prepare()

    return steps


def rows(society, table, *columns):
    return [tuple(row[column] for column in columns) for row in only(society, table)]


SHARED = {0: (1,), 2: (1,), 1: (3,)}
"""Scientist1 is a member of the teams of 0 and 2 and leads its own."""
FOUNDED = ((0.0, 0), (1.0, 2), (1.5, 1))


def test_meetings_that_share_a_person_are_held_one_after_another():
    society = run(meeting(SHARED), *FOUNDED)
    columns = ("team", "called", "due", "held", "ended", "size", "waited_for")
    assert rows(society, "meetings", *columns) == [
        ("Scientist0/1", 0.0, 7.0, 7.0, 9.0, 2, None),
        ("Scientist2/1", 1.0, 8.0, 9.0, 11.0, 2, "Scientist1"),
        ("Scientist1/1", 1.5, 8.5, 11.0, 13.0, 2, "Scientist1"),
    ]


def test_homework_queues_at_the_desk_behind_that_of_other_teams():
    """Four days for a member, six for a leader; the next meeting follows the last to finish."""
    society = run(
        meeting(SHARED, turns=2), *FOUNDED, times=times(homework=FixedDuration(length=4.0))
    )
    columns = ("scientist", "team", "assigned", "started", "done", "effort")
    first = [row for row in only(society, "homework") if row["turn"] == 1]
    assert [tuple(row[c] for c in columns) for row in first] == [
        ("Scientist1", "Scientist0/1", 9.0, 9.0, 13.0, 4.0),
        ("Scientist0", "Scientist0/1", 9.0, 9.0, 15.0, 6.0),
        ("Scientist2", "Scientist2/1", 11.0, 11.0, 17.0, 6.0),
        ("Scientist1", "Scientist2/1", 11.0, 13.0, 17.0, 4.0),
        ("Scientist3", "Scientist1/1", 13.0, 13.0, 17.0, 4.0),
        ("Scientist1", "Scientist1/1", 13.0, 17.0, 23.0, 6.0),
    ]
    second = [row for row in only(society, "meetings") if row["turn"] == 2]
    assert [(row["team"], row["called"], row["due"], row["held"]) for row in second] == [
        ("Scientist0/1", 15.0, 22.0, 22.0),
        ("Scientist2/1", 17.0, 24.0, 24.0),
        ("Scientist1/1", 23.0, 30.0, 30.0),
    ]


def test_homework_and_meetings_do_not_wait_for_each_other():
    """A desk is no room: Scientist1 is at its desk from day 9 on, and in a room on day 10."""
    society = run(
        meeting({0: (1,), 2: (1,)}),
        (0.0, 0),
        (3.0, 2),
        times=times(homework=FixedDuration(length=4.0)),
    )
    assert rows(society, "meetings", "held", "waited_for") == [(7.0, None), (10.0, None)]


def test_who_waits_for_several_people_names_the_last():
    society = run(meeting({0: (3,), 2: (1,), 4: (1, 3)}), (0.0, 0), (0.5, 4), (1.0, 2))
    held = {row["team"]: (row["held"], row["waited_for"]) for row in only(society, "meetings")}
    # The team of 4 asked before that of 2, and 1 was free then: so 2 waits for it.
    assert held == {
        "Scientist0/1": (7.0, None),
        "Scientist4/1": (9.0, "Scientist3"),
        "Scientist2/1": (12.0, "Scientist1"),
    }


def test_with_unlimited_attention_nobody_waits():
    society = run(
        meeting(SHARED, turns=2),
        *FOUNDED,
        attention="unlimited",
        times=times(homework=FixedDuration(length=4.0)),
    )
    met, done = only(society, "meetings"), only(society, "homework")
    assert len(met) == 6
    assert all(row["held"] == row["due"] and row["waited_for"] is None for row in met)
    assert len(done) == 12
    assert all(row["started"] == row["assigned"] for row in done)
    limited = run(
        meeting(SHARED, turns=2), *FOUNDED, times=times(homework=FixedDuration(length=4.0))
    )
    assert any(row["held"] > row["due"] for row in only(limited, "meetings"))


def test_homework_is_done_once_per_meeting_and_a_notice_is_given_once():
    def steps(team, lab):
        for turn in (1, 2):
            yield from lab.prepare()
            yield from lab.prepare()
            yield from lab.notice()
            yield from lab.notice()
            with lab.convene(turn) as everybody:
                yield everybody
        raise Dissolved("done")

    society = run(
        lambda team, lab: lab.stage("topic", steps(team, lab)),
        times=times(homework=FixedDuration(length=2.0)),
    )
    assert rows(society, "homework", "turn", "effort") == [(1, 3.0)]
    assert rows(society, "meetings", "due") == [(7.0,), (17.0,)]


def test_a_meeting_needs_a_notice_of_its_own():
    def steps(team, lab):
        with pytest.raises(ProtocolError, match="Scientist0/1: a meeting is called before"):
            lab.convene(1)
        yield from lab.notice()
        with lab.convene(1) as everybody:
            yield everybody
        with pytest.raises(ProtocolError, match="called before it is held"):
            lab.convene(2)
        raise Dissolved("done")

    society = run(lambda team, lab: lab.stage("topic", steps(team, lab)))
    assert only(society, "teams")[0]["reason"] == "done"


@pytest.mark.parametrize("inside", ["process", "part"])
def test_a_team_is_in_one_meeting_at_a_time(inside):
    """Or the second would wait for people whom the first keeps, for ever."""

    def steps(team, lab):
        yield from lab.notice()
        with lab.convene(1) as everybody:
            yield everybody
            again = second(lab)
            yield from lab.together(again) if inside == "part" else again
        yield from second(lab)
        raise Dissolved("never")

    def second(lab):
        yield from lab.notice()
        with lab.convene(2) as everybody:
            yield everybody

    society = found(lambda team, lab: lab.stage("topic", steps(team, lab)))
    with pytest.raises(ProtocolError, match="Scientist0/1 is in a meeting: leave its room first"):
        society.run_to_end()
    assert society.day == 14.0


def test_nobody_is_a_member_twice():
    """Or a meeting would wait for a second presence of the same person, for ever."""

    def steps(team, lab):
        lab.people.join(name(1))
        for who in (team.leader, name(1)):
            with pytest.raises(ProtocolError, match=f"Scientist0/1: {who} is a member already"):
                lab.people.join(who)
        raise Dissolved("done")
        yield

    society = run(steps)
    assert [member["scientist"] for member in only(society, "members")] == [name(0), name(1)]


def test_a_team_that_ends_in_a_meeting_frees_the_room():
    def steps(team, lab):
        lab.people.join(name(1))
        yield from lab.stage("topic", meet(team, lab))
        raise Dissolved("done")

    def meet(team, lab):
        yield from lab.notice()
        with lab.convene(1) as everybody:
            yield everybody
            if team.leader == name(0):
                raise Dissolved("walked out")
            yield from lab.wait(1.0)

    society = run(steps, (0.0, 0), (0.0, 2))
    assert rows(society, "meetings", "team", "held", "ended", "waited_for") == [
        ("Scientist0/1", 7.0, 7.0, None),
        ("Scientist2/1", 7.0, 8.0, None),
    ]


PEOPLE = 6
TEAMS = st.lists(
    st.tuples(
        st.integers(0, 40),
        st.lists(st.integers(0, PEOPLE - 1), min_size=1, max_size=4, unique=True),
    ),
    min_size=2,
    max_size=12,
)


@settings(max_examples=25, deadline=None)
@given(TEAMS, st.integers(0, 2**32))
def test_any_teams_end_and_nobody_is_in_two_places(teams, seed):
    """No deadlock among overlapping meetings; one room and one desk at a time."""
    teams = sorted(teams)
    plan = iter([members for _, members in teams])

    def steps(team, lab):
        for mate in next(plan):
            if name(mate) != team.leader:
                lab.people.join(name(mate))
        yield from lab.stage("topic", meet(team, lab))
        raise Dissolved("done")

    def meet(team, lab):
        for turn in (1, 2):
            yield from lab.prepare()
            yield from lab.notice()
            with lab.convene(turn) as everybody:
                yield everybody
                yield from lab.ask(team.leader, SAY, Words, heard=())

    society = run(
        steps,
        *((float(day), members[0]) for day, members in teams),
        most=99,
        seed=seed,
        until=5000.0,
        step_days=5000.0,
        times=times(
            utterance=Gamma(mean=3.0), homework=Gamma(mean=2.0, shape=1.0), meeting_notice=1.0
        ),
    )
    ended = only(society, "teams")
    assert [team["reason"] for team in ended] == ["done"] * len(teams)
    met = only(society, "meetings")
    assert len(met) == 2 * len(teams)
    members = {team["team"]: set() for team in ended}
    for row in only(society, "members"):
        members[row["team"]].add(row["scientist"])
    for person in map(name, range(PEOPLE)):
        rooms = [(m["held"], m["ended"]) for m in met if person in members[m["team"]]]
        desk = [
            (h["started"], h["done"]) for h in only(society, "homework") if h["scientist"] == person
        ]
        assert_one_after_another(rooms)
        assert_one_after_another(desk)
    # Nobody was kept waiting while everybody it waited for was free.
    for row in met:
        if row["held"] > row["due"]:
            ends = [
                m["ended"] for m in met if members[m["team"]] & members[row["team"]] and m != row
            ]
            assert row["held"] in ends


def assert_one_after_another(spells):
    spells.sort()
    assert all(one[1] <= other[0] for one, other in pairwise(spells))


def together(*parts, kept):

    def steps(team, lab):
        try:
            kept.append((yield from lab.together(*(part(lab) for part in parts))))
        except Exception as error:
            kept.append((type(error), str(error), lab.now))
        raise Dissolved("done")

    return steps


def part(days, result=None, error=None):

    def steps(lab):
        yield from lab.wait(days)
        if error is not None:
            raise error
        return result

    return steps


def test_parts_run_side_by_side_and_give_their_results_in_order():
    kept = []
    society = run(together(part(3.0, "a"), part(1.0, "b"), part(2.0, "c"), kept=kept))
    assert kept == [["a", "b", "c"]]
    assert only(society, "teams")[0]["finished"] == 3.0


def test_a_failing_part_is_raised_when_every_part_has_ended():
    kept, done = [], []

    def slow(lab):
        yield from lab.wait(5.0)
        done.append(lab.now)

    run(
        together(
            slow,
            part(2.0, error=ValueError("second")),
            part(1.0, error=KeyError("first")),
            kept=kept,
        )
    )
    assert done == [5.0]
    assert kept == [(ValueError, "second", 5.0)]


def test_parts_end_with_their_team():
    """Also parts of parts, and those that wait for a room or a desk."""
    ended = []

    def steps(team, lab):
        yield from lab.together(inner(lab), outer(lab))

    def inner(lab):
        try:
            yield from lab.wait(50.0)
        finally:
            ended.append(("inner", lab.now))

    def outer(lab):
        yield from lab.together(inner(lab))
        ended.append("never")

    society = found(steps)
    society.env.process(dissolving(society, 4.0, "stopped"))
    society.run_to_end()
    assert ended == [("inner", 4.0), ("inner", 4.0)]
    (team,) = only(society, "teams")
    assert (team["reason"], team["finished"]) == ("stopped", 4.0)


def dissolving(society, date, *reasons):
    yield society.env.timeout(date)
    for team in list(society.world.teams.values()):
        for reason in reasons:
            team.dissolve(reason)
