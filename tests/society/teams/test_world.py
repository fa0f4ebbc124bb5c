"""What others can see: network, profiles, papers, memory (rules 13, 14, 16, 24)."""

import pytest

from tests.society.tiny_society import (
    BEFORE,
    ECOSYSTEM,
    GUEST,
    INVITE,
    PEOPLE,
    SAY,
    Page,
    Talk,
    Words,
    by_chance,
    echo,
    found,
    ids_of,
    name,
    only,
    run,
    talk,
    times,
)
from virsci_society.agents.errors import Dissolved
from virsci_society.society.population import population as population_module
from virsci_society.society.teams.contracts import Manuscript


def paper_of(steps=None, cites="graphs and vision"):
    """Process[Any] of a team of two that writes about something."""

    def write(team, lab):
        lab.people.join(name((int(team.leader[9:]) + 1) % PEOPLE))
        if steps is not None:
            yield from steps(team, lab)
        page = yield from lab.stage("abstract", lab.ask(team.leader, SAY, Page, heard=()))
        return Manuscript(page, lab.later(ids_of, lab.library.search(cites, 2)))

    return write


def test_a_profile_tells_what_was_published_strictly_before_its_date():
    society = run(paper_of(), (0.0, 3), (5.0, 4))
    profile = society.population.profile
    before = {row: profile(row, 11.0) for row in range(PEOPLE)}
    assert before == dict(enumerate(ECOSYSTEM.profiles)), "the first paper is dated day 11"
    after = profile(3, 11.5)
    assert (after.papers, after.citations) == (4, 30)
    assert after.collaborators == (name(4),), "joint papers of the past count as well"
    assert profile(4, 11.5).collaborators == (name(3),)
    assert [profile(4, date).papers for date in (11.0, 11.5, 16.0, 16.5)] == [4, 5, 5, 6]
    assert profile(4, 16.5).collaborators == (name(3), name(5))


def test_collaborators_are_ranked_by_joint_papers_then_by_row():
    society = run(paper_of(), (0.0, 0), (1.0, 1), (2.0, 1))
    # 1 wrote twice with 0 and once with 2 before, then once more with 0 and twice with 2.
    assert society.population.profile(1, 50.0).collaborators == (name(0), name(2))
    assert society.network.coauthors(1)[1].tolist() == [3, 3]


def test_citations_reach_the_authors_of_what_is_cited():
    society = run(paper_of(), (0.0, 3))
    profile = society.population.profile
    assert [profile(0, date).citations for date in (11.0, 11.5)] == [0, 1]
    assert [profile(1, date).citations for date in (11.0, 11.5)] == [10, 11]
    assert profile(2, 99.0).citations == 20


def test_people_beyond_the_limit_become_agents_when_they_act(monkeypatch):
    monkeypatch.setattr(population_module, "ALL_AGENTS_LIMIT", 5)
    society = run(paper_of(), (0.0, 3), (5.0, 4))
    assert sorted(agent.name for agent in society.agents) == [name(3), name(4), name(5)]
    ids = [agent.unique_id for agent in society.agents]
    assert len(set(ids)) == len(ids)
    assert len(society.population) == PEOPLE
    assert run(paper_of(), (0.0, 3)).population.scientist(9).name == name(9)


def seen_by(dates):
    """Process[Any] that look at the world on some dates and keep what they see."""
    seen = []

    def steps(team, lab):
        if team.leader != name(9):
            return (yield from paper_of()(team, lab))
        yield from lab.stage("topic", look(lab))
        raise Dissolved("done")

    def look(lab):
        for date in dates:
            yield from lab.wait(date - lab.now)
            hits = lab.library.search("anything at all", 99).read()
            world = lab.world
            seen.append(
                (
                    date,
                    len(hits),
                    world.literature.citations("past0", lab.now),
                    lab.people.profile(name(3)).papers,
                    world.acquaintance(name(3), name(4))["ties"],
                )
            )

    return steps, seen


@pytest.mark.parametrize("delay", [None, by_chance], ids=["inline", "live"])
def test_a_paper_is_seen_by_others_strictly_after_its_date(delay):
    """It is finished on day 1, published on day 11."""
    steps, seen = seen_by([1.5, 10.5, 11.0, 11.5])
    run(steps, (0.0, 3), (0.0, 9), delay=delay)
    assert seen == [(1.5, 8, 0, 3, 5), (10.5, 8, 0, 3, 5), (11.0, 8, 0, 3, 5), (11.5, 9, 1, 4, 6)]


def test_a_search_takes_effect_with_the_date_of_asking_also_when_its_words_are_late():
    """The words of the query arrive, really, after the paper has been published."""
    import asyncio

    kept = []

    async def slow(request):
        if request.who.id == name(9):
            await asyncio.sleep(0.15)
        return echo(request)

    def steps(team, lab):
        if team.leader != name(9):
            page = yield from lab.stage("abstract", lab.ask(team.leader, SAY, Page, heard=()))
            page.read()
            return Manuscript(page)
        yield from lab.stage("topic", late(team, lab))
        raise Dissolved("done")

    def late(team, lab):
        words = yield from lab.ask(team.leader, SAY, Words, heard=())
        near, people = lab.library.search(words, 99), lab.library.people(words, 99)
        yield from lab.wait(20.0)
        kept.append(len(near.read()))
        kept.append({p.id: p.papers for p in people.read()}[name(3)])
        kept.append(len(lab.library.search(words, 99).read()))

    run(steps, (0.0, 3), (0.0, 9), delay=lambda r: 0.0, script=slow)
    assert kept == [8, 3, 9]


def test_every_row_of_a_publication():
    def said(request):
        return {"title": "On graphs", "abstract": "Proteins as graphs, and climate.", "text": "x"}

    society = run(paper_of(cites="graphs and vision"), (0.0, 3), script=said)
    (paper,) = only(society, "papers")
    assert (paper["paper"], paper["title"], paper["published"]) == (
        "Scientist3/1",
        "On graphs",
        11.0,
    )
    assert paper["keywords"] == "proteins; climate", "interests of the authors that it names"
    assert society.log.rows["authorships"] == [
        ("Scientist3/1", name(3), 0),
        ("Scientist3/1", name(4), 1),
    ]
    assert society.log.rows["citations"] == [
        ("Scientist3/1", "past0", 11.0, False),
        ("Scientist3/1", "past1", 11.0, False),
    ]
    old = [row for row in society.log.rows["ties"] if row[2] < 0]
    assert old == [(name(i), name(j), -1.0, count) for (i, j), count in sorted(BEFORE.items())]
    assert [row for row in society.log.rows["ties"] if row[2] >= 0] == [(name(3), name(4), 11.0, 1)]
    published = society.literature.paper("Scientist3/1")
    assert published.references == ("past0", "past1")
    assert published.authors == (name(3), name(4))
    assert (published.year, published.date) == (2020, 11.0)
    (event,) = [e for e in society.log.events if e["kind"] == "published"]
    assert (event["date"], event["paper"]) == (11.0, "Scientist3/1")


def test_memory_is_written_when_a_team_ends_and_tells_topic_and_mates():
    def noted(team, lab):
        team.notes["topic"] = yield from lab.stage(
            "topic", lab.ask(team.leader, SAY, Words, heard=())
        )

    def script(request):
        return echo(request) | {"text": "proteins", "title": "A title"}

    society = found(paper_of(noted), (0.0, 3), script=script)
    society.advance(11.5)
    memory = society.population.scientist_named(name(3)).memory
    assert not memory, "finished on day 2, published and remembered on day 12"
    society.advance(12.5)
    (line,) = society.population.scientist_named(name(4)).memory
    assert line.line == 'We wrote "A title" on proteins. With Scientist3.'
    assert (line.date, line.team) == (12.0, "Scientist3/1")
    assert not society.population.scientist_named(name(5)).memory


def test_a_team_without_a_paper_is_remembered_by_its_topic_and_reason():
    def steps(team, lab):
        team.notes["topic"] = yield from lab.stage(
            "topic", lab.ask(team.leader, SAY, Words, heard=())
        )
        raise Dissolved("lost interest")

    society = run(steps, (0.0, 3), script=lambda r: {"text": "volcanoes"})
    (line,) = society.population.scientist_named(name(3)).memory
    assert line.line == "A team on volcanoes ended without a paper (lost interest)."


def consulting(wait=5.0):
    """A team whose leader consults the outsider whose interests are nearest to speech."""

    def script(request):
        if request.form is Talk:
            ask = {"scientist": name(2), "question": "What of speech?"}
            return {"text": "I think.", "ask": ask}
        return {"text": "Speech is hard."}

    def steps(team, lab):
        if team.leader != name(3):
            yield from lab.wait(100.0)
        said = yield from lab.stage("topic", lab.ask(team.leader, SAY, Talk, heard=()))
        guest = lab.consult(
            said, lab.library.people("speech", 2), GUEST, Words, team.leader, stage="topic"
        )
        lab.turn = 1
        yield from lab.ask(team.leader, SAY, Words, heard=(said, guest))
        yield from lab.wait(wait)
        raise Dissolved("done")

    return steps, script


@pytest.mark.parametrize("delay", [None, by_chance], ids=["inline", "live"])
def test_a_consultation_is_written_when_the_asking_team_ends(delay):
    steps, script = consulting()
    society = found(steps, (0.0, 3), (0.5, 2), script=script, delay=delay)
    society.advance(6.9)
    assert not society.log.rows["consultations"]
    assert not society.log.rows["calls"]
    guest = society.population.scientist_named(name(2))
    assert not guest.memory
    society.advance(7.5)
    (row,) = only(society, "consultations")
    assert row == {
        "team": "Scientist3/1",
        "asker": name(3),
        "guest": name(2),
        "date": 1.0,
        "stage": "topic",
        "question": "What of speech?",
        "answer": "Speech is hard.",
        "cross_team": True,
    }
    (line,) = guest.memory
    assert (line.date, line.line) == (7.0, "Asked by Scientist3: What of speech?")
    calls = {call["act"]: call for call in only(society, "calls")}
    assert calls["guest"]["call"] == ("Scientist3/1/topic/1/0/0/utter/Scientist3/guest/Scientist2")
    assert calls["guest"]["scientist"] == name(2)
    assert guest.load == 1, "the guest does not join"
    # Else its loop thread would live until the garbage collector came by, in some later test.
    society.dispatcher.close()


def test_a_guest_who_works_in_no_other_team_is_no_crossing():
    steps, script = consulting()
    society = run(steps, (0.0, 3), (2.0, 2), script=script)
    assert [row["cross_team"] for row in only(society, "consultations")] == [False]


def test_events_have_date_and_sequence():
    society = run(talk(), (0.0, 0), (2.0, 3), (2.0, 5))
    events = society.log.events
    assert [event["sequence"] for event in events] == list(range(len(events)))
    dates = [event["date"] for event in events]
    assert dates == sorted(dates)
    assert {event["kind"] for event in events} == {
        "founded",
        "joined",
        "stage",
        "finished",
        "published",
    }


def test_invitations_are_answered_within_the_window():
    kept = []

    def steps(team, lab):
        yield from lab.stage("selection", invite(team, lab))
        raise Dissolved("done")

    def invite(team, lab):
        sent, facts = lab.now, lab.world.acquaintance(team.leader, name(1))
        answer = lab.people.invite(name(1), INVITE, Words, 0, lab.people.acquaintance(name(1)))
        kept.append((answer.due, facts))
        yield from lab.wait(14.0)
        answer.read()
        lab.people.note_invitation(name(1), sent, lab.people.acquaintance(name(1)), "declined")

    def script(request):
        kept.append(dict(request.slots))
        return echo(request)

    society = run(steps, (3.0, 0), script=script)
    due, facts = kept[1]
    slots = kept[0]
    assert due == 17.0
    assert facts == {"ties": 2, "similarity": 0.0}
    assert (slots["ties"], slots["load"], slots["inviter"].id) == (2, 0, name(0))
    assert [member.id for member in slots["members"]] == [name(0)]
    assert slots["role"] == "", "an invitee is no member yet"
    (row,) = only(society, "invitations")
    assert (row["sent"], row["answered"], row["cross_team"]) == (3.0, 17.0, False)


def test_an_invitation_that_the_end_overtakes_stays_unanswered():
    def steps(team, lab):
        yield from lab.stage("selection", invite(team, lab))

    def invite(team, lab):
        sent, known = lab.now, lab.people.acquaintance(name(1))
        lab.people.invite(name(1), INVITE, Words, 0, known)
        yield from lab.wait(14.0)
        lab.people.note_invitation(name(1), sent, known, "accepted")

    def outcome(**settings):
        (row,) = only(run(steps, (3.0, 0), **settings), "invitations")
        return row["invitee"], row["sent"], row["answered"], row["outcome"], row["ties"]

    assert outcome() == (name(1), 3.0, 17.0, "accepted", 2)
    unanswered = (name(1), 3.0, None, None, 2)
    assert outcome(until=10.0) == unanswered, "the run has ended"
    assert outcome(times=times(deadline=5.0)) == unanswered, "the team was dissolved"


def test_a_row_must_fit_its_table():
    with pytest.raises(ValueError, match="authorships has 3 columns, got 2 values"):
        found(talk()).log.row("authorships", "p", "s")
