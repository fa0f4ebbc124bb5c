"""The life of one team: from its founding to its paper, or to the reason why there is none."""

from __future__ import annotations

from typing import Any

import simpy

from agents.errors import Dissolved, Over, ReplyError, Verdict
from society.answer import Answer
from society.call import text_of
from society.findings import vector_of_paper
from society.interfaces import Manuscript
from society.lab import Lab
from society.literature.embedding import paper_text
from society.literature.paper import DAYS_PER_YEAR, Paper
from society.renewal import renew_interests
from society.steps import Steps
from society.submissions import Referee, Submission
from society.team import Team
from society.world import World


def live(world: World, team: Team, lab: Lab) -> Steps:
    """Work, hand in, be published: the SimPy process of one team."""
    manuscript: Manuscript | None = None
    reason: str | None = None
    try:
        manuscript = yield from team.protocol.run(team, lab)
    except (Dissolved, Over) as dissolved:
        reason = str(dissolved)
    except simpy.Interrupt as interrupt:
        reason = str(interrupt.cause)
    except Verdict as verdict:
        reason = unspoken(verdict)
    if manuscript is None and reason is None:
        reason = "nothing handed in"
    # The first reason wins, also over whatever the protocol made of being interrupted.
    reason = team.dissolution or reason
    team.finished = world.env.now
    team.state = "finished" if reason is None else "dissolved"
    yield from lab.end_parts()
    for member in list(team.members):
        world.leave(team, member, stayed=True)
    if reason is None and manuscript is not None:
        lab.event("finished")
        reason = yield from appear(world, team, lab, manuscript)
        if reason is not None:
            team.state = "dissolved"
    team.reason = reason
    if reason is not None:
        lab.event("dissolved", reason=reason)
    end(world, team, lab)


def appear(world: World, team: Team, lab: Lab, manuscript: Manuscript) -> Steps:
    """Be accepted and be published; returns the reason where it is not."""
    lab.hand_in()
    try:
        accepted = yield from team.publication.consider(team, lab, manuscript)
        yield world.env.timeout(team.times.publication_delay)
        publish(world, team, accepted)
    except Dissolved as dissolved:
        return str(dissolved)
    except Verdict as verdict:
        return unspoken(verdict)
    return None


def unspoken(verdict: Verdict) -> str:
    """Why a team had to end without words that it needed."""
    return f"{'unreadable' if isinstance(verdict, ReplyError) else 'unspoken'}: {verdict}"


def deadline(env: simpy.Environment, team: Team, days: float) -> Steps:
    """Dissolve a team that has not finished in time."""
    yield env.timeout(days)
    team.dissolve("deadline")


def publish(world: World, team: Team, manuscript: Manuscript) -> None:
    """Read the manuscript on the clock and let the world see it from now on.

    Raises:
        Verdict: its words stayed unreadable.
    """
    text = manuscript.text.read()
    cites = manuscript.cites.read() if manuscript.cites is not None else ()
    authors = [member.scientist for member in team.memberships if member.stayed]
    now, population = world.env.now, world.population
    paper = Paper(
        id=team.id,
        title=text.title,
        abstract=text.abstract,
        date=now,
        year=world.ecosystem.boundary + int(now // DAYS_PER_YEAR),
        authors=tuple(authors),
        references=tuple(dict.fromkeys(cite for cite in cites if cite in world.literature)),
        keywords=_keywords(world, authors, text_of(text)),
    )
    team.state, team.published = "published", now
    cited = [world.literature.paper(cite) for cite in paper.references]
    found_by = manuscript.found_by.read() if manuscript.found_by is not None else None
    told = paper_text(paper.title, paper.abstract) if found_by is None else found_by
    world.literature.publish(paper, vector_of_paper(world, (f"{team.id}/vector", now), told))
    rows = [population.rows[author] for author in authors]
    world.network.record(rows)
    population.publish(
        rows, [population.rows[a] for work in cited for a in work.authors if a in population.rows]
    )
    _write_paper(world, team, paper, found_by)
    renew_interests(world, paper)


def spoken_live(world: World, team: Team) -> bool:
    """Was a model asked, and not rules alone, in any call that the team has made?"""
    backend = world.dispatcher.gateway.backend
    asked = (call for answer in team.answers for call in answer.calls)
    return any(not backend.voice(call.id).rules for call in asked)


def end(world: World, team: Team, lab: Lab) -> None:
    """Wait for every word the team has asked for, and write the rows that are born of words."""
    world.dispatcher.settle(team.answers)
    for answer in team.answers:
        for call in answer.calls:
            world.log.row("calls", *call.row())
    lab.note_unanswered()
    _write_consultations(world, team, lab)
    if team.state in ("published", "dissolved"):
        _remember(world, team)
    _write_team(world, team)
    records: list[Submission | Referee] = [*team.submissions, *team.referees]
    for record in records:
        world.log.row(*record.row(team.id))
    team.answers.clear()


def _keywords(world: World, authors: list[str], text: str) -> tuple[str, ...]:
    """Interests of the authors that the text names, in the authors' order; up to six."""
    lower = text.lower()
    named = [
        interest
        for author in authors
        for interest in world.profile(author).interests
        if interest.lower() in lower
    ]
    return tuple(dict.fromkeys(named))[:6]


def _write_paper(world: World, team: Team, paper: Paper, found_by: str | None) -> None:
    log, now = world.log, world.env.now
    log.event("published", team=team.id, paper=paper.id, title=paper.title)
    log.row(
        "papers",
        paper.id,
        team.id,
        paper.title,
        paper.abstract,
        now,
        _said(team, "topic"),
        "; ".join(paper.keywords),
        spoken_live(world, team),
        found_by,
    )
    for position, author in enumerate(paper.authors):
        log.row("authorships", paper.id, author, position)
    for cited in paper.references:
        inside = world.literature.paper(cited).date >= 0
        log.row("citations", paper.id, cited, now, inside)
    for position, author in enumerate(paper.authors):
        for other in paper.authors[position + 1 :]:
            log.row("ties", *sorted((author, other)), now, 1)


def _write_consultations(world: World, team: Team, lab: Lab) -> None:
    for consultation in lab.consultations:
        reply, error = _settled(consultation.reply)
        spoken, _ = _settled(consultation.spoken)
        if reply is None or error is not None:
            continue
        guest = consultation.reply.calls[0].scientist
        row = world.population.rows[guest]
        world.log.row(
            "consultations",
            team.id,
            consultation.asker,
            guest,
            consultation.date,
            consultation.stage,
            spoken.ask.question,
            reply.words(),
            world.population.busy_elsewhere(row, team.id, consultation.date),
        )
        world.network.consulted.record(world.population.rows[consultation.asker], row)
        world.population.scientist(row).remember(
            world.env.now, team.id, f"Asked by {consultation.asker}: {spoken.ask.question}"
        )


def _remember(world: World, team: Team) -> None:
    """What each who stayed takes with it: topic and paper, or how the team ended."""
    topic = _said(team, "topic") or ""
    if team.state == "published":
        line = f'We wrote "{world.literature.paper(team.id).title}" on {topic}.'
    elif topic:
        line = f"A team on {topic} ended without a paper ({team.reason})."
    else:
        return
    mates = [member.scientist for member in team.memberships if member.stayed]
    for mate in mates:
        others = ", ".join(other for other in mates if other != mate)
        scientist = world.population.named(mate)
        scientist.remember(world.env.now, team.id, f"{line} With {others}." if others else line)


def _write_team(world: World, team: Team) -> None:
    world.log.row(
        "teams",
        team.id,
        team.leader,
        team.protocol.name,
        team.target_size,
        sum(member.stayed for member in team.memberships),
        team.founded,
        team.formed,
        team.finished,
        team.published,
        team.state,
        team.reason,
        team.stage,
        _said(team, "topic"),
        team.restarts,
        team.strikes,
        _noted(team, "ties"),
        spoken_live(world, team),
    )
    for member in team.memberships:
        world.log.row(
            "members",
            team.id,
            member.scientist,
            member.role,
            member.joined,
            member.left,
            member.stayed,
            member.load,
        )


def _settled(answer: Answer[Any]) -> tuple[Any, Exception | None]:
    return answer._value, answer._error


def _noted(team: Team, name: str) -> Any:
    """A note of the protocol as a value; its Answer has settled by now."""
    note = team.notes.get(name)
    return _settled(note)[0] if isinstance(note, Answer) else note


def _said(team: Team, name: str) -> str | None:
    note = _noted(team, name)
    return None if note is None else text_of(note)
