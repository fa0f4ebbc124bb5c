"""Interventions: first on their date, for what begins after it, and people who leave."""

import pytest

from tests.society.tiny_society import (
    INVITE,
    PEOPLE,
    SAY,
    Page,
    Stated,
    Words,
    kinds,
    name,
    only,
    run,
    talk,
    times,
)
from virsci_society.agents.errors import Dissolved
from virsci_society.society.formation.founding import Once, Poisson
from virsci_society.society.interventions import Change, Removal
from virsci_society.society.teams.contracts import Manuscript


def removing(date, count=1, by="degree"):
    return Change(date, removal=Removal(count=count, by=by))


def gone(society):
    return [row["scientist"] for row in only(society, "careers")]


@pytest.mark.parametrize(
    ("by", "expected"), [("degree", [1, 0, 2]), ("papers", [9, 8, 7]), ("citations", [9, 8, 7])]
)
def test_those_with_most_leave_and_ties_go_by_row(by, expected):
    # Scientist1 has two co-authors, 0, 2, 3 and 4 have one each; papers and citations are n, 10 n.
    society = run(talk(), (50.0, 5), interventions=[removing(5.0, 3, by)])
    assert gone(society) == [name(row) for row in expected]
    assert {row["change"] for row in only(society, "careers")} == {"removed"}
    told = only(society, "interventions")
    assert told == [{"number": 1, "date": 5.0, "settings": None, "ranked": by, "removed": 3}]


def test_ranks_are_as_of_the_date():
    # Scientists 5, 6 and 7 write a paper together: visible from day 11 on, and counted after it.
    def steps(team, lab):
        for mate in (6, 7):
            lab.people.join(name(mate))
        page = yield from lab.stage("abstract", lab.ask(team.leader, SAY, Page, heard=()))
        return Manuscript(page)

    on_the_day = run(steps, (0.0, 5), interventions=[removing(11.0, 4)])
    assert gone(on_the_day) == [name(row) for row in (1, 0, 2, 3)]
    later = run(steps, (0.0, 5), interventions=[removing(12.0, 4)])
    assert gone(later) == [name(row) for row in (1, 5, 6, 7)]


def test_random_removal_is_the_same_again_and_leaves_one():
    ones = [
        gone(run(talk(), interventions=[removing(5.0, 4, "random")], seed=s)) for s in (1, 1, 2)
    ]
    assert ones[0] == ones[1] != ones[2]
    assert len(set(ones[0])) == 4
    assert len(gone(run(talk(), interventions=[removing(5.0, 50)]))) == PEOPLE - 1


def test_an_intervention_comes_first_on_its_date():
    teams = ((20.0, 9), (20.0, 5))
    society = run(talk(), *teams, interventions=[removing(20.0, 1, "papers")])
    assert [row["leader"] for row in only(society, "teams")] == [name(5)]
    assert [kind for date, kind in kinds(society, "intervention", "founded")] == [
        "intervention",
        "founded",
    ]


def test_teams_keep_the_times_they_were_founded_with():
    slow = Change(10.0, "{}", {"times": times(publication_delay=30.0)})
    society = run(talk(1), (9.0, 0), (10.0, 5), interventions=[slow])
    rows = {row["leader"]: row for row in only(society, "teams")}
    delays = {who: row["published"] - row["finished"] for who, row in rows.items()}
    assert delays == {name(0): 10.0, name(5): 30.0}


def test_the_limit_of_teams_is_everybodys_at_once():
    def steps(team, lab):
        yield from lab.wait(60.0)
        raise Dissolved("waited")

    def changed(most):
        rule = Stated(teams_at=((0.0, 0), (5.0, 0), (20.0, 0)), max_teams=most)
        return Change(10.0, None, {"founding": rule})

    teams = (0.0, 0), (5.0, 0), (20.0, 0)
    assert len(only(run(steps, *teams, most=1), "teams")) == 1
    raised = run(steps, *teams, most=1, interventions=[changed(2)])
    assert [row["founded"] for row in only(raised, "teams")] == [0.0, 20.0]


def test_another_rule_of_founding_begins_on_the_date():
    once = Change(30.0, None, {"founding": Once(count=3, every=2.0)})
    society = run(talk(), (10.0, 0), (40.0, 1), interventions=[once])
    assert [row["founded"] for row in only(society, "teams")] == [10.0, 30.0, 32.0, 34.0]


def test_another_seed_is_other_luck_from_the_date_on():
    def steps(team, lab):
        yield from lab.wait(float(lab.rng("wait").integers(1, 30)))
        yield from lab.wait(float(lab.rng("again").integers(1, 30)))
        raise Dissolved("enough")

    rule = {"founding": Poisson(teams_per_year=3.0), "until": 300.0}
    parent = run(steps, **rule)
    fork = run(steps, **rule, interventions=[Change(100.0, None, {"seed": 77})])

    def of(society, when):
        return [e for e in society.log.events if when(e["date"]) and e["kind"] != "intervention"]

    assert of(parent, lambda date: date < 100) == of(fork, lambda date: date < 100)
    assert len(of(parent, lambda date: date < 100)) > 5
    told = [(e["date"], e["kind"]) for e in of(parent, lambda date: date >= 100)]
    assert told != [(e["date"], e["kind"]) for e in of(fork, lambda date: date >= 100)]


def test_who_leaves_leaves_its_teams_and_is_no_author():
    def steps(team, lab):
        lab.people.join(name(9))
        lab.people.join(name(5))
        page = yield from lab.stage("abstract", lab.ask(team.leader, SAY, Page, heard=()))
        yield from lab.wait(20.0)
        return Manuscript(page)

    society = run(steps, (0.0, 3), interventions=[removing(7.0, 1, "papers")])
    members = {row["scientist"]: row for row in only(society, "members")}
    assert (members[name(9)]["left"], members[name(9)]["stayed"]) == (7.0, False)
    assert [row["scientist"] for row in only(society, "authorships")] == [name(3), name(5)]
    assert society.population.load(9) == 0


def test_a_team_that_loses_its_leader_ends():
    society = run(talk(9), (0.0, 8), interventions=[removing(4.0, 2, "papers")])
    (team,) = only(society, "teams")
    assert (team["reason"], team["finished"], team["published"]) == ("leader gone", 4.0, None)


def test_a_finished_paper_appears_also_when_its_authors_are_gone():
    society = run(talk(1), (0.0, 8), interventions=[removing(5.0, 3, "papers")])
    (team,) = only(society, "teams")
    assert team["finished"] < 5.0 < team["published"]
    assert [row["scientist"] for row in only(society, "authorships")] == [name(8), name(9)]


def test_a_meeting_goes_on_with_those_who_are_in_it():
    seen = []

    def steps(team, lab):
        lab.people.join(name(9))
        yield from lab.stage("topic", meet(team, lab))
        seen.append(tuple(team.members))
        raise Dissolved("enough")

    def meet(team, lab):
        yield from lab.notice()
        with lab.convene(1) as everybody:
            yield everybody
            yield from lab.wait(5.0)
            seen.append(tuple(team.members))

    run(steps, (0.0, 3), interventions=[removing(9.0, 1, "papers")])
    assert seen == [(name(3), name(9)), (name(3),)]


def test_those_who_are_gone_are_neither_asked_nor_taken_in():
    found = {}

    def steps(team, lab):
        yield from lab.wait(10.0)
        found["people"] = lab.library.people("graphs vision speech", 20)
        found["joined"] = lab.people.join(name(9))
        found["why"] = lab.people.why_not(name(9)), lab.people.why_not(name(8))
        found["closed"] = set(lab.world.unavailable())
        yield from lab.stage("s", ask(lab))
        found["people"] = {profile.id for profile in found["people"].read()}
        raise Dissolved("enough")

    def ask(lab):
        yield from lab.ask(name(3), SAY, Words, heard=())

    run(steps, (0.0, 3), interventions=[removing(5.0, 1, "papers")])
    assert found["people"] == {name(row) for row in range(9)}
    assert (found["joined"], found["why"]) == (False, ("gone", "full"))
    assert found["closed"] == {9}


def test_an_invitation_that_meets_nobody_any_more():
    assert INVITE.name == "invite"
    outcomes = []

    def steps(team, lab):
        yield from lab.stage("selection", win(lab))
        raise Dissolved("enough")

    def win(lab):
        known = lab.people.acquaintance(name(9))
        answer = lab.people.invite(name(9), INVITE, Words, 0, known)
        yield from lab.wait(14.0)
        answer.read()
        joined = lab.people.join(name(9))
        outcomes.append("accepted" if joined else lab.people.why_not(name(9)))
        lab.people.note_invitation(name(9), 0.0, known, outcomes[-1])

    society = run(steps, (0.0, 3), interventions=[removing(5.0, 1, "papers")])
    assert outcomes == ["gone"]
    assert [row["outcome"] for row in only(society, "invitations")] == ["gone"]
