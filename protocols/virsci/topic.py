"""Stage 2, topic discussion: K turns, a topic, a majority; then who stays?"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from agents.errors import Dissolved
from protocols.discussion import Discussion, Said
from protocols.forms import Remark
from protocols.virsci.forms import Agreement, Stay, Topic
from protocols.virsci.prompts import PROMPTS
from protocols.virsci.settings import GivenTopic, Settings
from society.answer import Answer
from society.steps import Steps

if TYPE_CHECKING:
    from society.lab import Lab
    from society.team import Team


def discuss(virsci: Settings, team: Team, lab: Lab) -> Steps:
    """Discuss until those asked agree on a topic; then those who are not interested leave.

    Consensus and staying are settled by the next meeting, so both are asked in the last one:
    who would not stay if this became the topic says so then, and is heard only if it does.

    Raises:
        Dissolved: no consensus after the last restart, or too few stay.
    """
    for attempt in range(virsci.restarts + 1):
        topic, voices, stays = yield from lab.stage("topic", talk(virsci, team, lab))
        yield from lab.prepare()
        yield from lab.notice()
        agreed = 2 * sum(voice.read().agree for voice in voices) > len(voices)
        if agreed or attempt + 1 == virsci.forced_after:
            break
        lab.event("no_consensus", attempt=attempt + 1)
        if attempt == virsci.restarts:
            raise Dissolved("no consensus")
        team.restarts += 1
    team.notes["topic"] = topic
    for who, answer in stays.items():
        if not answer.read().stay:
            lab.leave(who)
    if team.size < virsci.smallest(team.target_size):
        raise Dissolved("too small after leaving")
    return topic


def talk(virsci: Settings, team: Team, lab: Lab) -> Steps:
    """One discussion: K turns (Eq. 1), the leader's topic, and who agrees to it."""
    discussion = Discussion(virsci, team, lab, virsci.turns_of.topic, PROMPTS)
    start = virsci.topic.start or "" if isinstance(virsci.topic, GivenTopic) else ""

    def speak(turn: int, speakers: list[str]) -> Steps:
        said: Said = ()
        cue = discussion.summaries[-1] if discussion.summaries else start or _interests(lab)
        for seat, speaker in enumerate(speakers):
            remark, guest = yield from discussion.utter(
                speaker,
                seat,
                "topic_turn",
                Remark,
                cue=cue,
                recall=cue,
                members=lab.members,
                start=start,
                summaries=discussion.summaries,
                said=said,
            )
            said = (*said, remark, *guest)
            cue = remark
        return said

    settle = partial(propose, virsci, team, lab, discussion)
    return (yield from discussion.hold(speak, closing=settle))


def propose(virsci: Settings, team: Team, lab: Lab, discussion: Discussion) -> Steps:
    """The leader's topic, what those say who decide on it, and who would stay for it."""
    topic: Answer[Any] = yield from lab.ask(
        team.leader,
        PROMPTS["topic_choice"],
        Topic,
        "decide",
        summaries=discussion.summaries,
        said=discussion.last_turn,
    )
    voices = yield from lab.ask_each(
        [team.leader] if virsci.consensus == "leader" else team.members,
        lambda seat, who: lab.pose(
            who, PROMPTS["agreement"], Agreement, "agree", seat=seat, topic=topic
        ),
    )
    return topic, voices, ask_to_stay(virsci, team, lab, topic)


def ask_to_stay(virsci: Settings, team: Team, lab: Lab, topic: Answer[Any]) -> dict[str, Any]:
    """Ask every member but the leader whether it stays; the Answers, by member."""
    if virsci.leaving == "off":
        return {}
    return {
        who: lab.pose(
            who,
            PROMPTS["stay"],
            Stay,
            "stay",
            seat=seat,
            within=lab.times.meeting_notice,
            topic=topic,
            load=lab.load(who) - 1,
        )
        for seat, who in enumerate(team.members[1:], 1)
    }


def _interests(lab: Lab) -> str:
    """What relevant profiles are searched with before anybody has spoken."""
    return "; ".join(profile.topic for profile in lab.members)
