"""Stage 2, topic discussion: K turns, the leader's topic, a majority for it, and who leaves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from pydantic import Field

from virsci_society.agents.config import Switch
from virsci_society.agents.errors import Dissolved
from virsci_society.agents.prompts.slots import Utterance
from virsci_society.protocols.discussion import Discussion
from virsci_society.protocols.forms import Remark, Topic
from virsci_society.protocols.given_topics import GivenTopic
from virsci_society.protocols.virsci.forms import Agreement, Stay
from virsci_society.protocols.virsci.team_memory import TeamMemory, tell_failed_topic
from virsci_society.society.kernel.answer import Answer
from virsci_society.society.kernel.durations import Process

if TYPE_CHECKING:
    from collections.abc import Sequence

    from virsci_society.society.teams.lab import Lab
    from virsci_society.society.teams.team import Team


class TopicStage(GivenTopic):
    """How a team chooses its topic: by discussion, from a start, or a given one."""

    may_be_free: ClassVar[bool] = True

    consensus: Literal["majority", "leader"] = "majority"
    """Who approves the topic: all members (majority) or the leader. Source: VirSci, section 1:
    majority."""
    restarts: int = Field(default=3, ge=0, le=10_000)
    """Repeated discussions without a majority. Unit: discussions."""
    leaving: Switch = "on"
    """Members may leave after the topic is chosen. Source: VirSci, section 1."""


class TopicProposal(NamedTuple):
    """What a discussion ends with, unread."""

    topic: Answer[Topic]
    votes: Sequence[Answer[Agreement]]
    stays: Mapping[str, Answer[Stay]]


def discuss_topic(
    team: Team,
    lab: Lab,
    rules: TopicStage,
    memory: TeamMemory,
    make_discussion: Callable[[], Discussion],
    *,
    smallest: int,
    forced_after: int | None,
) -> Process[Answer[Topic]]:
    """Discuss until those asked agree on a topic; then members who are not interested leave."""
    by_leader = rules.consensus == "leader"
    for attempt in range(rules.restarts + 1):
        discussion, last = make_discussion(), attempt == rules.restarts
        forced = attempt + 1 == forced_after
        decided_by = "proposal" if forced else rules.consensus
        steps = hold_discussion(rules, memory, discussion, decided_by, last=last)
        proposal: TopicProposal = yield from lab.stage("topic", steps)
        yield from lab.prepare()
        yield from lab.notice()
        # Votes take effect on the date of the next meeting, which is called by now.
        votes = [vote.read().agree for vote in proposal.votes]
        if 2 * sum(votes) > len(votes) or forced:
            break
        lab.event("no_consensus", attempt=attempt + 1)
        if last:
            raise Dissolved("no consensus")
        dropped = partial(tell_failed_topic, sum(votes), len(votes), by_leader=by_leader)
        memory.failed_topics += (lab.later(dropped, proposal.topic),)
        team.restarts += 1
    memory.topic_summaries = discussion.summaries
    team.notes["topic"] = proposal.topic
    for member, answer in proposal.stays.items():
        # Only now that the topic stands: what was said of a topic that was dropped is not read.
        if not answer.read().stay:
            lab.people.leave(member)
    if team.size < smallest:
        raise Dissolved("too small after leaving")
    return proposal.topic


def hold_discussion(
    rules: TopicStage, memory: TeamMemory, discussion: Discussion, decided_by: str, *, last: bool
) -> Process[TopicProposal]:
    """One discussion: K turns (Eq. 1), the leader's topic, and the votes on it."""
    lab, start, references = discussion.lab, rules.start or "", memory.references
    with discussion:
        while turn := (yield from discussion.next_turn(closing=True)):
            summaries = discussion.summaries
            # Before the first utterance, profiles are searched by the members' interests.
            own = "; ".join(profile.topic for profile in lab.people.members)
            cue = summaries[-1] if summaries else start or own
            for seat, speaker in turn.speakers:
                remark, guest = yield from discussion.utter(
                    speaker,
                    seat,
                    "topic_turn",
                    Remark,
                    cue=cue,
                    recall=cue,
                    about=start,
                    members=lab.people.members,
                    start=start,
                    decided_by=decided_by,
                    tried=memory.failed_topics,
                    references=references.find_for(speaker, lab, cue)
                    if references.topic == "on"
                    else (),
                    summaries=summaries,
                    said=turn.said,
                )
                turn.said += (Utterance(speaker, remark), *guest)
                # Whoever speaks next is shown the people who are near to what was said last.
                cue = remark
        # In the last meeting, which the discussion holds open: everybody who votes is present.
        proposal = yield from propose_topic(rules, memory, discussion, decided_by, last=last)
    yield from discussion.seat_last_guests()
    return proposal


def propose_topic(
    rules: TopicStage, memory: TeamMemory, discussion: Discussion, decided_by: str, *, last: bool
) -> Process[TopicProposal]:
    """The leader proposes a topic; then agreement and staying are asked for."""
    team, lab = discussion.team, discussion.lab
    shown: dict[str, Any] = {"decided_by": decided_by, "tried": memory.failed_topics}
    topic: Answer[Topic] = yield from lab.ask(
        team.leader,
        memory.prompts["topic_choice"],
        Topic,
        "decide",
        # The slots are in the order of the call's needs, which the digest contains.
        **shown,
        summaries=discussion.summaries,
        said=discussion.last_turn,
    )
    votes: Sequence[Answer[Agreement]] = yield from lab.ask_each(
        [team.leader] if rules.consensus == "leader" else team.members,
        lambda seat, voter: lab.submit(
            voter,
            memory.prompts["agreement"],
            Agreement,
            "agree",
            seat=seat,
            topic=topic,
            leader=team.leader,
            last_attempt=last,
            reasons=memory.carries,
            **shown,
        ),
    )
    stays: dict[str, Answer[Stay]] = {}
    if rules.leaving == "on":
        stays = {
            member: lab.submit(
                member,
                memory.prompts["stay"],
                Stay,
                "stay",
                seat=seat,
                # Read on the date of the next meeting, which is called when this one ends.
                within=lab.times.meeting_notice,
                topic=topic,
                leader=team.leader,
                reasons=memory.carries,
                tried=memory.failed_topics,
                # Of its other teams: this one is counted too.
                load=lab.people.load(member) - 1,
            )
            for seat, member in enumerate(team.members[1:], 1)
        }
    return TopicProposal(topic, votes, stays)
