"""Effort by role and stage, and what turning from one project to another takes."""

from tests.society.teams.test_lifecycle import at, team_of
from tests.society.teams.test_meetings import FOUNDED, SHARED, meeting, rows
from tests.society.tiny_society import found, only, run, times
from virsci_society.society.kernel.durations import FixedDuration
from virsci_society.society.results.dataframes import build_tables
from virsci_society.society.results.digest import digest_content

FOUR = FixedDuration(length=4.0)


def at_desks(society, turn=1):
    columns = ("scientist", "team", "assigned", "started", "done", "effort", "switching")
    return [
        tuple(row[c] for c in columns) for row in only(society, "homework") if row["turn"] == turn
    ]


def test_homework_takes_the_effort_of_its_role_and_stage():
    given = times(homework=FOUR, member_effort=0.5, stage_effort={"topic": {"member": 3}, "x": 9})
    society = run(meeting(SHARED), *FOUNDED, times=given)
    efforts = {(team, who): effort for who, team, *_, effort, _ in at_desks(society)}
    assert efforts["Scientist0/1", "Scientist0"] == 4.0 * 1.5
    assert efforts["Scientist0/1", "Scientist1"] == 4.0 * 0.5 * 3


def test_a_desk_that_turns_to_another_project_takes_longer():
    society = run(meeting(SHARED, turns=2), *FOUNDED, times=times(homework=FOUR, switching=0.5))
    assert at_desks(society) == [
        ("Scientist1", "Scientist0/1", 9.0, 9.0, 13.0, 4.0, 0.0),
        ("Scientist0", "Scientist0/1", 9.0, 9.0, 15.0, 6.0, 0.0),
        ("Scientist2", "Scientist2/1", 11.0, 11.0, 17.0, 6.0, 0.0),
        ("Scientist3", "Scientist1/1", 13.0, 13.0, 17.0, 4.0, 0.0),
        ("Scientist1", "Scientist2/1", 11.0, 13.0, 17.5, 4.0, 0.5),
        ("Scientist1", "Scientist1/1", 13.0, 17.5, 24.0, 6.0, 0.5),
    ]
    # Who stays with one project turns from nothing.
    assert {row[-1] for row in at_desks(society, 2) if row[0] != "Scientist1"} == {0.0}
    assert {row[-1] for row in at_desks(society, 2) if row[0] == "Scientist1"} == {0.5}


def test_where_attention_is_unlimited_nothing_is_turned_from():
    given = times(homework=FOUR, switching=0.5)
    society = run(meeting(SHARED, turns=2), *FOUNDED, times=given, attention="unlimited")
    assert {row[-1] for turn in (1, 2) for row in at_desks(society, turn)} == {0.0}


def test_who_is_interrupted_while_turning_has_done_nothing():
    given = times(homework=FOUR, switching=2.0)
    society = found(meeting(SHARED), *FOUNDED, times=given)
    at(society, 14.0, lambda: team_of(society, 2).dissolve("gave up"))
    society.run_to_end()
    row = next(row for row in at_desks(society) if row[:2] == ("Scientist1", "Scientist2/1"))
    assert row[2:] == (11.0, 13.0, 14.0, 0.0, 1.0)


def test_where_turning_takes_nothing_tables_and_digests_are_as_they_were():
    society = run(meeting(SHARED), *FOUNDED, times=times(homework=FOUR))
    assert rows(society, "homework", "switching") == [(None,)] * 6
    tables = build_tables(society.log.rows)
    assert "switching" in tables["homework"].column_names
    assert "switching" not in digest_content(tables)["homework"].column_names
    turned = run(meeting(SHARED), *FOUNDED, times=times(homework=FOUR, switching=0.5))
    content = digest_content(build_tables(turned.log.rows))
    assert "switching" in content["homework"].column_names
