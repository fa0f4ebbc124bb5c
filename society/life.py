"""The life of one team: from its founding to its paper, or to the reason why there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import simpy

from agents.errors import Dissolved, Verdict
from society.answer import Answer
from society.call import text_of
from society.interfaces import Manuscript, Steps
from society.lab import Lab
from society.literature.paper import Paper
from society.team import Team

if TYPE_CHECKING:
    from society.model import Society


def live(society: Society, team: Team, lab: Lab) -> Steps:
    """Work, hand in, be published: the SimPy process of one team."""
    manuscript: Manuscript | None = None
    reason: str | None = None
    try:
        manuscript = yield from team.protocol.run(team, lab)
    except Dissolved as dissolved:
        reason = str(dissolved)
    except simpy.Interrupt as interrupt:
        reason = str(interrupt.cause)
    except Verdict as verdict:
        reason = f"unreadable: {verdict}"
    # The first reason wins, also over whatever the protocol made of being interrupted.
    reason = team.dissolution or reason
    team.finished = society.env.now
    team.state = "finished" if reason is None else "dissolved"
    yield from lab.end_parts()
    for member in list(team.members):
        society.leave(team, member, stayed=True)
    if reason is None and manuscript is not None:
        lab.event("finished")
        yield society.env.timeout(society.times.publication_delay)
        try:
            publish(society, team, manuscript)
        except Verdict as verdict:
            reason, team.state = f"unreadable: {verdict}", "dissolved"
    team.reason = reason
    if reason is not None:
        lab.event("dissolved", reason=reason)
    end(society, team, lab)


def deadline(society: Society, team: Team, days: float) -> Steps:
    """Dissolve a team that has not finished in time."""
    yield society.env.timeout(days)
    team.dissolve("deadline")


def publish(society: Society, team: Team, manuscript: Manuscript) -> None:
    """Read the manuscript on the clock and let the world see it from now on.

    Raises:
        Verdict: its words stayed unreadable.
    """
    text = manuscript.text.read()
    cites = manuscript.cites.read() if manuscript.cites is not None else ()
    authors = [member.scientist for member in team.memberships if member.stayed]
    now, population = society.env.now, society.population
    paper = Paper(
        id=team.id,
        title=text.title,
        abstract=text.abstract,
        date=now,
        year=society.ecosystem.boundary + int(now // 365),
        authors=tuple(authors),
        references=tuple(dict.fromkeys(cite for cite in cites if cite in society.literature)),
        keywords=_keywords(society, authors, text_of(text)),
    )
    team.state, team.published = "published", now
    cited = [society.literature.paper(cite) for cite in paper.references]
    society.literature.publish(paper)
    rows = [population.rows[author] for author in authors]
    society.network.record(rows)
    population.publish(
        rows, [population.rows[a] for work in cited for a in work.authors if a in population.rows]
    )
    _write_paper(society, team, paper)


def end(society: Society, team: Team, lab: Lab) -> None:
    """Wait for every word the team has asked for, and write the rows that are born of words."""
    society.dispatcher.settle(team.answers)
    for answer in team.answers:
        for call in answer.calls:
            society.log.row("calls", *call.row())
    _write_consultations(society, team, lab)
    if team.state in ("published", "dissolved"):
        _remember(society, team)
    _write_team(society, team)
    team.answers.clear()
    society.teams_in_world.pop(team.id, None)


def _keywords(society: Society, authors: list[str], text: str) -> tuple[str, ...]:
    """Interests of the authors that the text names, in the authors' order; up to six."""
    lower = text.lower()
    named = [
        interest
        for author in authors
        for interest in society.profile(author).interests
        if interest.lower() in lower
    ]
    return tuple(dict.fromkeys(named))[:6]


def _write_paper(society: Society, team: Team, paper: Paper) -> None:
    log, now = society.log, society.env.now
    log.event("published", team=team.id, paper=paper.id, title=paper.title)
    log.row(
        "papers", paper.id, team.id, paper.title, paper.abstract, now, _said(team, "topic"),
        "; ".join(paper.keywords),
    )  # fmt: skip
    for position, author in enumerate(paper.authors):
        log.row("authorships", paper.id, author, position)
    for cited in paper.references:
        inside = society.literature.paper(cited).date >= 0
        log.row("citations", paper.id, cited, now, inside)
    for position, author in enumerate(paper.authors):
        for other in paper.authors[position + 1 :]:
            log.row("ties", *sorted((author, other)), now, 1)


def _write_consultations(society: Society, team: Team, lab: Lab) -> None:
    for consultation in lab.consultations:
        reply, error = _settled(consultation.reply)
        spoken, _ = _settled(consultation.spoken)
        if reply is None or error is not None:
            continue
        guest = consultation.reply.calls[0].scientist
        row = society.population.rows[guest]
        society.log.row(
            "consultations", team.id, consultation.asker, guest, consultation.date,
            consultation.stage, spoken.ask.question, reply.words(),
            society.population.busy_elsewhere(row, team.id, consultation.date),
        )  # fmt: skip
        society.population.scientist(row).remember(
            society.env.now, team.id, f"Asked by {consultation.asker}: {spoken.ask.question}"
        )


def _remember(society: Society, team: Team) -> None:
    """What each member takes with it: the topic and the paper, or how the team ended."""
    topic = _said(team, "topic") or ""
    if team.state == "published":
        line = f'We wrote "{society.literature.paper(team.id).title}" on {topic}.'
    elif topic:
        line = f"A team on {topic} ended without a paper ({team.reason})."
    else:
        return
    mates = [member.scientist for member in team.memberships]
    for mate in mates:
        others = ", ".join(other for other in mates if other != mate)
        scientist = society.population.named(mate)
        scientist.remember(society.env.now, team.id, f"{line} With {others}." if others else line)


def _write_team(society: Society, team: Team) -> None:
    ties = _noted(team, "ties")
    society.log.row(
        "teams", team.id, team.leader, team.protocol.name, team.target_size,
        sum(member.stayed for member in team.memberships), team.founded, team.formed,
        team.finished, team.published, team.state, team.reason, team.stage, _said(team, "topic"),
        team.restarts, team.strikes, 0 if ties is None else ties,
    )  # fmt: skip
    for member in team.memberships:
        society.log.row(
            "members", team.id, member.scientist, member.role, member.joined, member.left,
            member.stayed, member.load,
        )  # fmt: skip


def _settled(answer: Answer[Any]) -> tuple[Any, Exception | None]:
    return answer._value, answer._error


def _noted(team: Team, name: str) -> Any:
    """A note of the protocol as a value; its Answer has settled by now."""
    note = team.notes.get(name)
    return _settled(note)[0] if isinstance(note, Answer) else note


def _said(team: Team, name: str) -> str | None:
    note = _noted(team, name)
    return None if note is None else text_of(note)
