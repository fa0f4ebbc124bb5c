"""The life of one team, from its founding to its paper or its end without one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import astuple, replace
from typing import Any

import simpy

from virsci_society.agents.errors import Dissolved, Over, ReplyError, Verdict
from virsci_society.society.ecosystem.knowledge_bank import interests_text
from virsci_society.society.formation.leaders import Anybody
from virsci_society.society.kernel.answer import Answer, row_of, text_of
from virsci_society.society.kernel.durations import Process
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.literature.embedding.base import paper_text
from virsci_society.society.literature.papers import DAYS_PER_YEAR, Paper
from virsci_society.society.teams.contracts import Manuscript
from virsci_society.society.teams.execution import REPLICATES
from virsci_society.society.teams.lab import Lab
from virsci_society.society.teams.library import vector_of_text
from virsci_society.society.teams.team import PublicationRule, Team, TeamRule
from virsci_society.society.teams.world import World


class FoundingProcess:
    """Founds the teams of a world by its present founding rule."""

    def __init__(self, world: World) -> None:
        self.labs: dict[str, Lab] = {}
        self._world = world
        self._streams = Streams(world.streams.seed)
        self._projects: dict[int, int] = {}
        self._founders: tuple[float, set[int]] = (-1.0, set())

    def reseed(self, seed: int) -> None:
        """Draw dates and leaders from another seed from now on."""
        self._streams.reseed(seed)

    def begin(self, rows: range) -> None:
        """Found teams for these rows, everybody's or one newcomer's, from now on."""
        self._world.env.process(self._found_teams(rows))

    def restart(self, number: int) -> None:
        """Found by another rule for everybody, since the intervention of this number."""
        # The new streams object is also the sign by which the old processes end.
        self._streams = Streams(self._world.streams.seed, "since", number)
        self.begin(range(len(self._world.population)))

    def _found_teams(self, rows: range) -> Process[None]:
        """The SimPy process of foundings for some people, until there is another rule."""
        world, began, current = self._world, self._world.day, self._streams
        # A newcomer has separate streams, so its arrival shifts no other draw (rule 9).
        streams = current if rows.start == 0 else current.below("newcomer", rows.start)
        # The past papers of day 0, also for a rule that an intervention sets later.
        rule = world.founding.counted_on(lambda: world.history.past)
        foundings = enumerate(rule.foundings(len(rows), streams))
        for ordinal, (after, row) in foundings:
            date = began + after
            if date >= world.until:
                return
            yield world.env.timeout(date - world.day)
            # Only after the wait: an intervention may have set another rule.
            if current is not self._streams:
                return
            if world.founding.per_scientist and world.careers is not None:
                everybody = len(world.population)
                if rows != range(everybody):
                    # Each who was ever here has the same chance to lead. The draw of the rule
                    # itself stands as long as it falls on the people that the rule knows.
                    turn = int(streams.stream("turn", ordinal).integers(everybody))
                    row = row if rows.start == 0 and turn in rows else turn
                # Founds nothing, so that foundings stay proportional to the scientists present.
                if row in world.population.departed:
                    continue
            if row is None or world.founding.leaders is not None:
                leaders = world.founding.leaders or Anybody()
                today = self._founders[1] if self._founders[0] == world.day else frozenset()
                excluded = world.unavailable() | today
                row = leaders.choose(excluded, world, streams.stream("lead", ordinal))
            if row is None:
                world.log.event("founding_skipped", scientist=None)
                continue
            seats = world.newcomer_seats
            if seats is not None:
                rng = streams.stream("newcomer leads", ordinal)
                if seats.leads(world.day, rng):
                    self._found(world.bring(row, seats, rng), arriving=True)
                    continue
            self._found(row)

    def _found(self, row: int, *, arriving: bool = False) -> None:
        """Start a team, which keeps the rules of now (rule 23), if its leader is free."""
        world, date = self._world, self._world.day
        leader = world.population.names[row]
        if row in world.population.departed:
            return
        if not arriving and world.at_limit(row):
            world.log.event("founding_skipped", scientist=leader)
            return
        ordinal = self._projects[row] = self._projects.get(row, 0) + 1
        team_id = f"{leader}/{ordinal}"
        protocol = world.protocol.of_team(team_id, world.streams)
        team = Team(team_id, leader, protocol.name, date, world.times)
        if self._founders[0] != date:
            self._founders = (date, set())
        self._founders[1].add(row)
        lab = Lab(world, team)
        world.teams[team_id], self.labs[team_id] = team, lab
        world.log.event("founded", team=team_id, leader=leader)
        world.join(team, leader, "leader", arriving=arriving)
        life = run_team(world, team, lab, protocol, world.publication, self._forget)
        team.process = world.env.process(life)
        if world.times.deadline is not None:
            world.env.process(deadline(world.env, team, world.times.deadline))

    def _forget(self, team: Team) -> None:
        # After its rows are written: the end of the run closes the teams listed here.
        del self._world.teams[team.id], self.labs[team.id]


def run_team(
    world: World,
    team: Team,
    lab: Lab,
    protocol: TeamRule,
    publication: PublicationRule,
    forget: Callable[[Team], None],
) -> Process[None]:
    """The SimPy process of one team, by protocol and publication of its founding (rule 23)."""
    manuscript: Manuscript | None = None
    reason: str | None = None
    try:
        manuscript = yield from protocol.run(team, lab)
        if world.execution is not None and manuscript is not None:
            yield from world.execution.carry_out(team, lab, manuscript)
    except (Dissolved, Over) as dissolved:
        reason = str(dissolved)
    except simpy.Interrupt as interrupt:
        reason = str(interrupt.cause)
    except Verdict as verdict:
        # Only words end a team. A ``Stopped`` is not caught, because it ends the run (rule 1).
        reason = reason_of(verdict)
    if manuscript is None and reason is None:
        reason = "nothing handed in"
    # The first reason wins, also over what the protocol made of being interrupted (rule 20).
    reason = team.dissolution or reason
    team.finished = world.env.now
    team.state = "finished" if reason is None else "dissolved"
    # Before the members leave: a part may still be in a meeting or at a desk.
    yield from lab.end_parts()
    # A copy: ``leave`` takes members out of the list.
    for member in list(team.members):
        world.leave(team, member, stayed=True)
    if reason is None and manuscript is not None:
        lab.event("finished")
        reason = yield from review_and_publish(world, team, lab, publication, manuscript)
        if reason is not None:
            team.state = "dissolved"
    team.reason = reason
    if reason is not None:
        lab.event("dissolved", reason=reason)
    end(world, team, lab)
    world.release_transients(team)
    forget(team)


def review_and_publish(
    world: World, team: Team, lab: Lab, publication: PublicationRule, manuscript: Manuscript
) -> Process[str | None]:
    """Let a manuscript be reviewed and, after the publication delay, be published."""
    lab.hand_in()
    try:
        accepted = yield from publication.consider(team, lab, manuscript)
        # Also the reply's due time: it is read only afterwards (rule 13).
        yield world.env.timeout(team.times.publication_delay)
        if world.env.now < 0:
            return "before day 0"
        publish(world, team, accepted)
    except Dissolved as dissolved:
        return str(dissolved)
    except Verdict as verdict:
        return reason_of(verdict)
    return None


def reason_of(verdict: Verdict) -> str:
    """The reason of a team that ends because words it needs are missing."""
    return f"{'unreadable' if isinstance(verdict, ReplyError) else 'unspoken'}: {verdict}"


def deadline(env: simpy.Environment, team: Team, days: float) -> Process[None]:
    """A SimPy process that dissolves a team which has not finished in time."""
    yield env.timeout(days)
    team.dissolve("deadline")


def publish(world: World, team: Team, manuscript: Manuscript) -> None:
    """Read the manuscript on the clock and make it a paper that others can find (rule 13)."""
    # Read before anything is recorded: an unreadable text must leave no half of a paper.
    text = manuscript.text.read()
    cites = manuscript.cites.read() if manuscript.cites is not None else ()
    query = manuscript.neighbour_query
    query_text = None if query is None else query.read()
    # The authors are those who stayed to the end.
    authors = [member.scientist for member in team.memberships if member.stayed]
    if manuscript.author_order == "leader_last":
        # Stable: the others keep their order of joining.
        authors.sort(key=lambda who: who == team.leader)
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
    embedded = paper_text(paper.title, paper.abstract) if query_text is None else query_text
    world.literature.publish(paper, vector_of_text(world, (f"{team.id}/vector", now), embedded))
    rows = [population.rows[author] for author in authors]
    world.network.record_paper(rows)
    world.history.record(rows)
    population.record_paper(
        rows, [population.rows[a] for work in cited for a in work.authors if a in population.rows]
    )
    outside = 0
    if world.outside is not None and rows:
        # A stream per paper, so that nothing else is drawn differently (rule 9).
        outside = world.outside(len(rows), world.streams.stream("external authors", paper.id))
    log = world.log
    log.event("published", team=team.id, paper=paper.id, title=paper.title)
    log.row(
        "papers",
        paper.id,
        team.id,
        paper.title,
        paper.abstract,
        now,
        _note_text(team, "topic"),
        "; ".join(paper.keywords),
        asked_a_model(world, team),
        query_text,
        outside or None,
    )
    for work in cited:
        log.row("citations", paper.id, work.id, now, work.date >= 0)
    for position, author in enumerate(paper.authors):
        for other in paper.authors[position + 1 :]:
            log.row("ties", *sorted((author, other)), now, 1)
    for rank, author in enumerate(authors):
        log.row("authorships", paper.id, author, rank)
    if world.successes.get(team.id) and REPLICATES not in team.notes:
        world.on_record.append(team.id)
    renew_interests(world, paper)


def renew_interests(world: World, paper: Paper) -> None:
    """Let the interests of a new paper's authors follow it, by the drift rule of the world."""
    rule, population = world.drift, world.population
    if rule is None:
        return
    for author in paper.authors:
        row = population.rows[author]
        came = population.arrived.get(row, 0.0)
        held = population.interests.latest(row)
        date, old = held or (came, rule.initial_weights(world.profile(author).interests))
        # A stream per paper and author, so that no drift shifts another (rule 9).
        rng = world.streams.stream("drift", paper.id, author)
        new = rule.after_paper(old, world.day - date, paper.keywords, rng)
        population.interests.record(row, world.day, new)
        before, after = [name for name, _ in old], [name for name, _ in new]
        if before == after:
            continue
        entered = [name for name in after if name not in before]
        dropped = [name for name in before if name not in after]
        values = ("; ".join(names) or None for names in (after[:1], after, entered, dropped))
        world.log.row("interests", author, world.day, paper.id, *values)
        # Just after now: paper and citations of this instant are counted strictly before.
        profile = population.profile(row, math.nextafter(world.day, math.inf))
        profile = replace(profile, interests=tuple(after))
        place = (f"{paper.id}/interests/{author}", world.day)
        vector = vector_of_text(world, place, interests_text(profile))
        world.knowledge.update(world.day, profile, vector)


def asked_a_model(world: World, team: Team) -> bool:
    """True if any call of the team was answered by a model and not by rules."""
    backend = world.dispatcher.gateway.backend
    asked = (call for answer in team.answers for call in answer.calls)
    return any(not backend.backend_for(call.id, call.scientist).rule_based for call in asked)


def end(world: World, team: Team, lab: Lab) -> None:
    """Wait for every Answer of a team and write the rows that depend on words (rule 24)."""
    # Also for a dissolved team: what it asked is answered, journaled and paid (rules 20 and 21).
    world.dispatcher.settle(team.answers)
    for answer in team.answers:
        for call in answer.calls:
            world.log.row("calls", *row_of(call))
    # Those that were open when the team, or the run, ended.
    for who, (sent, facts) in list(team.open_invitations.items()):
        lab.people.note_invitation(who, sent, facts, None)
    for consultation in lab.consultations:
        reply, error = _settled(consultation.reply)
        if reply is None or error is not None:
            continue
        guest = reply.guest
        row = world.population.rows[guest]
        world.log.row(
            "consultations",
            team.id,
            consultation.asker,
            guest,
            consultation.date,
            consultation.stage,
            reply.question,
            reply.words(),
            world.population.busy_elsewhere(row, team.id, consultation.date),
        )
        world.population.scientist(row).remember(
            world.env.now, team.id, f"Asked by {consultation.asker}: {reply.question}"
        )
    if team.state in ("published", "dissolved"):
        _remember(world, team)
    world.log.row(
        "teams",
        team.id,
        team.leader,
        team.protocol_name,
        team.target_size,
        sum(member.stayed for member in team.memberships),
        team.founded,
        team.formed,
        team.finished,
        team.published,
        team.state,
        team.reason,
        team.stage,
        _note_text(team, "topic"),
        team.restarts,
        team.strikes,
        _note(team, "ties"),
        asked_a_model(world, team),
        getattr(_note(team, "idea"), "author", None) or None,
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
    noted = {name: _note(team, name) for name in team.notes if name not in IN_TABLE}
    if noted := {name: value for name, value in noted.items() if value is not None}:
        world.log.event("notes", team=team.id, **noted)
    for table, records in (("submissions", team.submissions), ("referees", team.referees)):
        for record in records:
            world.log.row(table, team.id, *astuple(record))
    # Otherwise each prompt would keep all earlier texts in memory (rule 21).
    team.answers.clear()


def _keywords(world: World, authors: list[str], text: str) -> tuple[str, ...]:
    """Up to six interests of the authors that occur in the text, in the order of the authors."""
    lower, people = text.lower(), world.population
    named = [
        interest
        for author in authors
        for interest in people.interests_of(people.rows[author], world.day)
        if interest.lower() in lower
    ]
    return tuple(dict.fromkeys(named))[:6]


IN_TABLE = ("topic", "ties", "idea", REPLICATES)
"""Notes that are columns of the tables ``teams`` and ``outcomes``; others are events."""
OUTCOMES = {None: "", True: " Carried out, it worked.", False: " Carried out, it did not work."}
"""What those who carried out an idea remember of its outcome."""


def _remember(world: World, team: Team) -> None:
    """Add a line to the memory of all who stayed: the topic and paper, or how the team ended."""
    topic = _note_text(team, "topic") or ""
    if team.state == "published":
        title = world.literature.paper(team.id).title
        line = f'We wrote "{title}" on {topic}.{OUTCOMES[world.successes.get(team.id)]}'
    elif topic:
        line = f"A team on {topic} ended without a paper ({team.reason})."
    else:
        return
    mates = [member.scientist for member in team.memberships if member.stayed]
    for mate in mates:
        others = ", ".join(other for other in mates if other != mate)
        scientist = world.population.scientist_named(mate)
        scientist.remember(world.env.now, team.id, f"{line} With {others}." if others else line)


def _settled(answer: Answer[Any]) -> tuple[Any, Exception | None]:
    """Value and error of an Answer that has settled, without logging a read."""
    return answer._value, answer._error


def _note(team: Team, name: str) -> Any:
    """The value of a note of the protocol; if it is an Answer, it has settled by now."""
    note = team.notes.get(name)
    return _settled(note)[0] if isinstance(note, Answer) else note


def _note_text(team: Team, name: str) -> str | None:
    """The text of a note of the protocol; None without one."""
    note = _note(team, name)
    return None if note is None else text_of(note)
