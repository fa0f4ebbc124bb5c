"""A little world written by hand: ten scientists, eight papers, scripted words.

Every number in it can be checked by a reader: an utterance takes one day, a notice seven, a
paper appears ten days after it is finished.
"""

import asyncio
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from virsci_society.agents.gateway.backend import Backend
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.prompt import Prompts
from virsci_society.agents.prompts.request import Reply, Usage
from virsci_society.agents.replies.form import Form
from virsci_society.society.ecosystem.ecosystem import Ecosystem
from virsci_society.society.formation.founding import Founding
from virsci_society.society.kernel.durations import FixedDuration, Times
from virsci_society.society.literature.embedding.base import Embedding
from virsci_society.society.literature.papers import Paper
from virsci_society.society.model import Society
from virsci_society.society.teams.contracts import Manuscript, TeamProtocol

PAGES = Prompts(Path(__file__).with_name("pages"))
SAY, GUEST, INVITE = PAGES["say"], PAGES["guest"], PAGES["invite"]
INTERESTS = ("graphs", "vision", "speech", "proteins", "climate", "robots", "galaxies", "privacy")
PEOPLE = 10
BEFORE = {(0, 1): 2, (1, 2): 1, (3, 4): 5}


class Counting(Embedding):
    """One dimension per interest: how often a text names it."""

    name = "counting"
    revision = "1"
    dim = len(INTERESTS)

    def encode(self, texts):
        rows = np.array([[t.lower().count(word) for word in INTERESTS] for t in texts], np.float32)
        rows = rows.reshape(len(texts), self.dim)
        lengths = np.sqrt(np.square(rows).sum(axis=1, keepdims=True))
        return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)

    def save(self, folder):
        raise NotImplementedError


def name(row):
    return f"Scientist{row}"


def _ecosystem():
    past = tuple(
        Paper(
            f"past{n}", f"On {word}", f"All about {word}.", -365.0 * (8 - n), 2012 + n, (name(n),)
        )
        for n, word in enumerate(INTERESTS)
    )
    profiles = tuple(
        Profile(name(n), ("University",), (INTERESTS[n % 8],), papers=n, citations=10 * n)
        for n in range(PEOPLE)
    )
    counts = np.zeros((PEOPLE, PEOPLE), dtype=np.int64)
    for (i, j), count in BEFORE.items():
        counts[i, j] = counts[j, i] = count
    embedding = Counting()
    return Ecosystem(
        boundary=2020,
        past=past,
        contemporary=(),
        profiles=profiles,
        career_starts=(2010,) * PEOPLE,
        coauthors=csr_array(counts),
        embedding=embedding,
        past_vectors=embedding.encode([f"{p.title}. {p.abstract}" for p in past]),
        contemporary_vectors=embedding.encode([]),
    )


ECOSYSTEM = _ecosystem()


class Words(Form):
    """Something said."""

    text: str

    def words(self):
        return self.text


class Asked(Form):
    """A question to a guest."""

    scientist: str
    question: str


class Talk(Words):
    """Something said, with a question to a guest or without."""

    ask: Asked | None = None


class Sure(Words):
    """Something said, with a default for what cannot be read."""

    @classmethod
    def fallback(cls, slots):
        return cls(text="silence")


class Page(Form):
    """A paper."""

    title: str
    abstract: str

    def words(self):
        return f"{self.title}\n{self.abstract}"


def echo(request):
    """Words that depend on everything the model was told."""
    said = request.hash[:8]
    return {"text": said, "title": f"Title {said}", "abstract": f"Abstract {said}"}


def by_chance(request):
    """A delay that nobody can foresee."""
    return random.SystemRandom().random() * 0.004


class Scripted(Backend):
    """A backend that says what a function says, at once or after a real delay."""

    script: Callable[..., Any] = echo
    delay: Callable[..., float] | None = None

    @property
    def inline(self):
        return self.delay is None

    async def complete(self, request):
        if self.delay is not None:
            await asyncio.sleep(self.delay(request))
        said = self.script(request)
        if asyncio.iscoroutine(said):
            said = await said
        if isinstance(said, Exception):
            raise said
        text = said if isinstance(said, str) else json.dumps(said)
        return Reply(text, Usage(3, 1), "scripted")


class Written(TeamProtocol):
    """A protocol made of a function of team and lab."""

    steps: Callable[..., Any]

    def run(self, team, lab):
        return self.steps(team, lab)


class Stated(Founding):
    """Teams founded as stated: pairs of date and leader's row."""

    teams_at: tuple[tuple[float, int], ...] = ((0.0, 0),)

    def foundings(self, scientists, streams):
        yield from self.teams_at


def times(**changes):
    """An utterance takes a day; no homework; a paper appears after ten days."""
    return Times(
        **{
            "utterance": FixedDuration(length=1.0),
            "homework": None,
            "meeting_notice": 7.0,
            "reply_window": 14.0,
            "publication_delay": 10.0,
            **changes,
        }
    )


def found(steps, *leaders, **settings):
    """A society whose teams work as ``steps`` says; ``leaders`` are pairs (date, row)."""
    defaults = {
        "founding": Stated(teams_at=leaders or ((0.0, 0),), max_teams=settings.pop("most", 3)),
        "times": settings.pop("times", None) or times(),
        "backend": Scripted(script=settings.pop("script", echo), delay=settings.pop("delay", None)),
        "until": 100.0,
        "step_days": 10.0,
    }
    ecosystem = settings.pop("ecosystem", ECOSYSTEM)
    protocol = steps if isinstance(steps, TeamProtocol) else Written(steps=steps)
    return Society(ecosystem, protocol=protocol, **(defaults | settings))


def run(steps, *leaders, **settings):
    society = found(steps, *leaders, **settings)
    society.run_to_end()
    return society


def only(society, table):
    """The rows of a table, as dicts by column."""
    from virsci_society.society.results.tables import TABLES

    columns = [column.name for column in TABLES[table]]
    return [dict(zip(columns, row, strict=True)) for row in society.log.rows[table]]


def kinds(society, *wanted):
    return [(e["date"], e["kind"]) for e in society.log.events if e["kind"] in wanted]


def traces(society):
    return society.log.events, society.log.rows


def talk(rounds=3, *, reading=False):
    """Process[Any] of a team of leader and next scientist that talks, writes and hands in."""

    def steps(team, lab):
        mate = name((int(team.leader[9:]) + 1) % PEOPLE)
        yield from lab.stage("topic", chat(team, lab, mate))
        page = yield from lab.stage("abstract", lab.ask(team.leader, SAY, Page, heard=()))
        if reading:
            page.read()
        return Manuscript(page, lab.later(ids_of, lab.library.search("graphs and vision", 2)))

    def chat(team, lab, mate):
        if not lab.people.join(mate):
            return
        heard = ()
        for turn in range(1, rounds + 1):
            lab.turn = turn
            for seat, who in enumerate(list(team.members)):
                said = yield from lab.ask(who, SAY, Words, seat=seat, heard=heard)
                if reading:
                    said.read()
                heard = (*heard, said)

    return steps


def ids_of(references):
    return tuple(reference.id for reference in references)


def first(values):
    return values[0]


def together(*values):
    return " ".join(value.text for value in values)


def nothing_left(society):
    """Is nobody working, and has every room and desk been given back?"""
    attention = society.world.attention
    queues = [*attention._presence.values(), *attention._desks.values()]
    idle = all(not queue.users and not queue.queue for queue in queues)
    return idle and not society.population.busy and not any(a.teams for a in society.agents)
