"""What a lab looks up in its library: several queries, papers, authors, people, interests."""

import dataclasses

import pytest

from tests.society.tiny_society import (
    ECOSYSTEM,
    SAY,
    Page,
    Scripted,
    Talk,
    Words,
    by_chance,
    echo,
    found,
    ids_of,
    name,
    run,
)
from virsci_society.agents.errors import Dissolved, ProtocolError
from virsci_society.agents.gateway.gateway import Gateway
from virsci_society.agents.journal.journal import Journal
from virsci_society.agents.prompts.prompt import Prompt
from virsci_society.society.literature.literature import NAMED_AUTHORS, Literature
from virsci_society.society.teams.contracts import Manuscript
from virsci_society.society.teams.world import World

LIVE = pytest.mark.parametrize("delay", [None, by_chance], ids=["inline", "live"])


def looking(steps):

    def whole(team, lab):
        yield from lab.stage("topic", steps(team, lab))
        raise Dissolved("done")

    return whole


def writing(title, until=5.0):
    """A team that writes a paper of this title; published ten days after ``until``."""

    def steps(team, lab):
        page = yield from lab.stage("abstract", lab.ask(team.leader, SAY, Page, heard=()))
        yield from lab.wait(until - lab.now)
        return Manuscript(page)

    return steps


def said_by(titles):

    def script(request):
        if request.who.id in titles and request.form is Page:
            return {"title": titles[request.who.id], "abstract": "All of it."}
        return echo(request)

    return script


def ids(answer):
    return list(ids_of(answer.read()))


@LIVE
def test_papers_to_leave_out_may_be_answers_themselves(delay):
    kept = []

    def steps(team, lab):
        first = lab.library.search("graphs", 1)
        second = lab.library.search_diverse(("vision",), 1, diversity=0.0, exclude=(first,))
        third = lab.library.search_diverse(
            ("graphs and vision",), 9, diversity=0.0, exclude=(first, (second, "past7"))
        )
        one = lab.library.search_diverse(("graphs",), 1, diversity=0.0, exclude=first.read())
        kept.extend(map(ids, (first, second, third, one)))
        yield from lab.wait(1.0)

    run(looking(steps), delay=delay)
    first, second, third, one = kept
    assert (first, second) == (["past0"], ["past1"])
    assert sorted(third) == ["past2", "past3", "past4", "past5", "past6"]
    assert one != ["past0"]


@LIVE
def test_what_is_looked_up_is_that_of_the_date_of_asking(delay):
    """A paper of 1 is published on day 15; answers are read on day 30, whenever they were asked."""
    asked, found = [], []

    def steps(team, lab):
        if team.leader == name(1):
            return (yield from writing("Graphs of graphs")(team, lab))
        yield from lab.stage("topic", look(lab))
        raise Dissolved("done")

    def look(lab):
        words = yield from lab.ask(name(0), SAY, Words, heard=())
        for date in (14.5, 15.0, 15.5):
            yield from lab.wait(date - lab.now)
            diverse = lab.library.search_diverse((words, "graphs"), 99, diversity=0.2)
            asked.append(
                (
                    diverse,
                    lab.library.papers_by(name(1), words, 9),
                    lab.library.search("graphs", 99),
                )
            )
        yield from lab.wait(15.0)
        found.extend(tuple(answer.read() for answer in answers) for answers in asked)

    script = said_by({name(1): "Graphs of graphs"})
    run(steps, (0.0, 0), (0.0, 1), delay=delay, script=script)
    assert [len(diverse) for diverse, _, _ in found] == [8, 8, 9]
    own = [[paper.id for paper in papers] for _, papers, _ in found]
    assert own == [["past1"], ["past1"], ["Scientist1/1", "past1"]]
    for diverse, _, plain in found:
        assert {paper.id for paper in diverse} == {paper.id for paper in plain}
    (paper,) = [one for one in found[2][2] if one.id == "Scientist1/1"]
    assert paper.authors == (name(1),)


def test_papers_of_a_person_by_name_by_profile_or_of_nobody():
    kept = {}

    def steps(team, lab):
        yield from lab.wait(1.0)
        kept["name"] = lab.library.papers_by(name(3), "graphs", 2)
        kept["profile"] = lab.library.papers_by(lab.people.profile(name(3)), "graphs", 2)
        kept["answer"] = lab.library.papers_by(
            lab.later(first_of, lab.library.people("proteins", 1)), "graphs", 2
        )
        kept["nobody"] = lab.library.papers_by(
            lab.later(first_of, lab.library.people("proteins", 0)), "graphs", 2
        )
        kept["unwritten"] = lab.library.papers_by(name(9), "graphs", 2)
        kept["none wanted"] = lab.library.papers_by(name(3), "graphs", 0)
        kept.update({key: answer.read() for key, answer in kept.items()})

    run(looking(steps))
    (paper,) = kept["name"]
    assert kept["name"] == kept["profile"] == kept["answer"]
    assert kept["nobody"] == kept["unwritten"] == kept["none wanted"] == ()
    assert (paper.title, paper.authors) == ("On proteins", (name(3),))


@pytest.mark.parametrize(
    ("search", "message"),
    [
        (lambda at: at.search_diverse(("a",), 1, diversity=-0.1), r"diversity lies in 0\.\.1"),
        (lambda at: at.search_diverse(("a",), 1, diversity=float("nan")), "not nan"),
        (lambda at: at.papers_by("Scientist77", "a", 2).read(), "'Scientist77' are requested, but"),
    ],
)
def test_a_search_that_cannot_be_is_refused(search, message):
    def steps(team, lab):
        yield from lab.wait(1.0)
        search(lab.library)

    with pytest.raises(ProtocolError, match=message):
        run(looking(steps))


def first_of(profiles):
    return profiles[0] if profiles else None


@pytest.fixture
def guest_page(tmp_path):
    path = tmp_path / "guest.txt"
    path.write_text(
        "{{ asker.id }} asks: {{ question }}\n"
        "{% for paper in own %}\nOwn: {{ paper.title }} ({{ paper.year }})\n{% endfor %}\n"
    )
    return Prompt(path)


@LIVE
@pytest.mark.parametrize(
    ("asked", "own"),
    [("Scientist3", "Own: On proteins (2015)"), ("Scientist9", None), ("Scientist5", None)],
)
def test_a_guest_sees_some_of_its_own_papers(guest_page, delay, asked, own):
    """Scientist9 has written nothing; Scientist5 may not be asked."""
    pages = []

    def script(request):
        if "/guest/" in request.id:
            pages.append((request.id, request.messages[-1].content))
            return {"text": "Look here."}
        return {"text": "proteins", "ask": {"scientist": asked, "question": "How?"}}

    def steps(team, lab):
        outsiders = lab.library.people("proteins and vision", 2, without=team.members)
        may = lab.later(with_the_last, outsiders, lab.people.profile(name(9)))
        said = yield from lab.ask(team.leader, SAY, Talk, heard=())
        own = lab.library.papers_by(lab.guest(said, may), said, 2)
        reply = lab.consult(said, may, guest_page, Words, team.leader, own=own)
        yield from lab.wait(1.0)
        assert (reply.read() is None) == (asked == "Scientist5")

    run(looking(steps), delay=delay, script=script)
    if asked == "Scientist5":
        assert pages == []
        return
    ((id_, page),) = pages
    assert id_ == f"Scientist0/1/topic/1/0/0/utter/Scientist0/guest/{asked}"
    assert page.splitlines()[0] == "Scientist0 asks: How?"
    assert [line for line in page.splitlines() if line.startswith("Own")] == [own] * bool(own)


def with_the_last(profiles, last):
    return (*profiles, last)


def published_by_many(team, lab):
    """A paper of the leader and five others, who join at once."""
    for row in range(1, 6):
        lab.people.join(name(row))
    page = yield from lab.stage("abstract", lab.ask(team.leader, SAY, Page, heard=()))
    return Manuscript(page)


def test_the_first_few_authors_who_are_here_are_named():
    """Published on day 11; 1 leaves on day 20, so it is named until then."""
    kept = []

    def steps(team, lab):
        if team.leader == name(0):
            return (yield from published_by_many(team, lab))
        for date in (19.0, 20.0, 20.5):
            yield from lab.wait(date - lab.now)
            kept.append(lab.library.search("graphs and graphs", 1))
        yield from lab.wait(10.0)
        kept[:] = [answer.read()[0] for answer in kept]
        raise Dissolved("done")

    script = said_by({name(0): "Graphs and graphs"})
    society = found(steps, (0.0, 0), (0.0, 9), script=script)
    leaving = society.env.timeout(20.0)
    leaving.callbacks.append(lambda _: society.world.depart(1, "removed"))
    society.run_to_end()
    before, on_the_day, after = kept
    assert before.id == "Scientist0/1"
    assert NAMED_AUTHORS == 4
    # Asked for before and on the day itself, and read after it.
    assert before.authors == on_the_day.authors == tuple(map(name, range(4)))
    assert after.authors == tuple(map(name, (0, 2, 3, 4)))


def test_people_outside_the_society_are_not_named():
    past = [
        dataclasses.replace(paper, authors=("Author7", *paper.authors, "Author8", *paper.authors))
        for paper in ECOSYSTEM.past
    ]
    kept = []

    def steps(team, lab):
        yield from lab.wait(1.0)
        kept.append(lab.library.search("graphs", 1).read()[0].authors)

    run(looking(steps), ecosystem=dataclasses.replace(ECOSYSTEM, past=tuple(past)))
    assert kept == [(name(0),)]


def test_the_authors_of_results_as_people_who_may_be_asked():
    kept = []

    def steps(team, lab):
        yield from lab.wait(1.0)
        papers = lab.library.search("graphs, vision and speech", 3)
        kept.append([one.id for one in lab.library.authors(papers).read()])
        kept.append([one.id for one in lab.library.authors(papers, without=team.members).read()])
        kept.append(lab.library.authors(papers).read()[-1] == lab.people.profile(name(2)))

    run(looking(steps))
    assert kept == [[name(0), name(1), name(2)], [name(1), name(2)], True]


def every_search(team, lab, kept):
    """One search of each kind, in a team that writes, so that there are own papers."""
    heard = yield from lab.ask(team.leader, SAY, Words, heard=())
    yield from lab.wait(20.0)
    plain = lab.library.search("graphs", 2)
    diverse = lab.library.search_diverse((heard, "vision"), 3, diversity=0.4, exclude=(plain,))
    own = lab.library.papers_by(name(1), heard, 3)
    people = lab.library.people(heard, 2, without=team.members)
    yield from lab.wait(1.0)
    kept.append(
        [answer.read() for answer in (plain, diverse, own, people, lab.library.authors(diverse))]
    )


@LIVE
def test_a_resumed_run_searches_nothing_twice(tmp_path, monkeypatch, delay):
    """Not even a query is embedded again, and every result is the same."""
    script = said_by({name(1): "Graphs of graphs"})
    kept = []

    def steps(team, lab):
        if team.leader == name(1):
            return (yield from writing("Graphs of graphs")(team, lab))
        yield from lab.stage("topic", every_search(team, lab, kept))
        raise Dissolved("done")

    def session():
        with Journal(tmp_path / "journal.sqlite") as journal:
            backend = Scripted(script=script, delay=delay)
            run(steps, (0.0, 0), (0.0, 1), gateway=Gateway(backend, 4, journal), backend=backend)

    session()

    def again(*arguments, **more):
        raise AssertionError("searched again")

    for method in ("search", "search_diverse", "search_author"):
        monkeypatch.setattr(Literature, method, again)
    monkeypatch.setattr(World, "nearest_scientists", again)
    session()
    first, second = kept
    assert first == second
    plain, diverse, own, people, authors = second
    assert [len(one) for one in (plain, diverse, people)] == [2, 3, 2]
    assert "Scientist1/1" in {one.id for one in own}
    assert {one.id for one in authors} == {who for one in diverse for who in one.authors}


def test_every_part_of_a_question_is_a_part_of_its_hash(tmp_path):
    """Another diversity, other texts, papers to leave out, number or person: another question."""
    path = tmp_path / "journal.sqlite"
    asked = [
        lambda lab: lab.library.search_diverse(("graphs",), 2, diversity=0.4),
        lambda lab: lab.library.search_diverse(("graphs",), 2, diversity=0.5),
        lambda lab: lab.library.search_diverse(("graphs", "vision"), 2, diversity=0.4),
        lambda lab: lab.library.search_diverse(("graphs",), 2, diversity=0.4, exclude=("past3",)),
        lambda lab: lab.library.search_diverse(("graphs",), 3, diversity=0.4),
        lambda lab: lab.library.papers_by(name(1), "graphs", 2),
        lambda lab: lab.library.papers_by(name(2), "graphs", 2),
        lambda lab: lab.library.search("graphs", 2),
    ]

    def steps(team, lab):
        yield from lab.wait(1.0)
        for ask in asked:
            ask(lab).read()

    with Journal(path) as journal:
        run(looking(steps), gateway=Gateway(Scripted(), 4, journal))
    with Journal(path) as journal:
        rows = journal._all("SELECT id, hash FROM findings ORDER BY id")
    assert len({hash_ for _, hash_ in rows}) == len(asked) == len(rows)
