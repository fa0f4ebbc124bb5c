"""Who sees what: every prompt of every stage holds exactly the words it should, and no other.

``expected`` states Eq. 1 to 6 of the paper once more, from the calls alone: from stage, visit,
turn and seat of everything said so far. It shares nothing with the protocol's own code.
"""

import re

import pytest
from players import PLANTED, Call, Played, Said, play, word

from agents.prompt import introduce, listed
from protocols.virsci.protocol import VirSci
from society.founding import Once

SPOKEN = {
    "Remark": ("Response",),
    "GuestReply": ("Answer",),
    "Summary": ("Summary",),
    "Topic": ("Selected Topic",),
    "Idea": ("Idea", "Title", "Experiment"),
    "Ballot": ("Decision Made",),
    "Draft": ("Title", "Abstract"),
    "Revision": ("Title", "Abstract"),
    "SelfReview": ("reason",),
}
"""Fields that others hear. Reasons, directions and lists of changes stay with their author."""

PAPERS = re.compile(r"<<<papers\n.*?papers>>>", re.DOTALL)
KNOWLEDGE = "Scientists whose work bears on this:"
OUTSIDERS = "Outside the team, these scientists could be asked"


# -- an independent statement of Eq. 1 to 6 ------------------------------------------------------


class Past:
    """What has been said before one call, and how to find it."""

    def __init__(self, said: list[Said], now: Said) -> None:
        self.now, self.call = now, now.call
        self.said = [s for s in said[: said.index(now)] if s.call.team == now.call.team]

    def find(self, act: str | None = None, **fields: object) -> list[Said]:
        """Earlier words with these values, in the order of turn and seat, guests after askers."""
        here = {"stage": self.call.stage, "visit": self.call.visit} | fields
        found = [
            s
            for s in self.said
            if (act is None or s.call.act == act)
            and all(getattr(s.call, name) == value for name, value in here.items())
        ]
        return sorted(found, key=lambda s: (s.call.turn, s.call.seat, s.call.guest is not None))

    def summaries(self, before: int) -> list[Said]:
        return [s for s in self.find("summarise") if s.call.turn < before]

    def replies(self, turn: int, before: float = float("inf")) -> list[Said]:
        """Utterances of a turn with the answers of guests, of the seats before one."""
        return [s for s in self.find("utter", turn=turn) if s.call.seat < before]

    def latest(self, stage: str, visit: int | None = None, *, guest: bool = False) -> list[Said]:
        """The last utterance of a stage so far, or what a guest answered to it."""
        spoken = [s for s in self.said if s.call.stage == stage and s.call.act == "utter"]
        spoken = [s for s in spoken if visit is None or s.call.visit == visit]
        last = max((s.call[2:5] for s in spoken), default=None)
        return [s for s in spoken if s.call[2:5] == last and (s.call.guest is not None) == guest]

    def topic(self) -> list[Said]:
        return [s for s in self.said if s.form == "Topic"][-1:]

    def ideas(self, visit: int) -> list[Said]:
        found = self.find("utter", stage="ideas", visit=visit, guest=None)
        return sorted(found, key=lambda s: (s.call.turn, s.call.seat))

    def rounds(self) -> int:
        """Times that ideas have been generated so far."""
        return max(s.call.visit for s in self.said if s.call.stage == "ideas")

    def best(self) -> list[Said]:
        """The three with the highest confidence in the order of being said; ties: the later."""
        ideas = self.ideas(self.rounds())
        order = sorted(range(len(ideas)), key=lambda i: (confidence(ideas[i]), i), reverse=True)
        return [ideas[i] for i in sorted(order[:3])]

    def winner(self) -> list[Said]:
        """Most votes of all turns; ties by confidence, then by order."""
        kept, visit = self.best(), self.rounds()
        votes = [s.reply["Decision Made"] for s in self.find("vote", stage="novelty", visit=visit)]
        if not votes:
            return self.ideas(visit)[-1:]
        for_ = [sum(f"Idea {n} " in vote for vote in votes) for n in range(len(kept))]
        first = max(range(len(kept)), key=lambda n: (for_[n], confidence(kept[n]), -n))
        return [kept[first]]


def confidence(idea: Said) -> float:
    return sum(idea.reply[name] for name in ("Clarity", "Feasibility", "Novelty")) / 3


def heard(past: Past) -> list[Said]:
    """Whose words one prompt may hold: Eq. 1 to 6, one line each."""
    call: Call = past.call
    match call.stage, past.now.form:
        case _, "Choice":
            return []
        case _, "GuestReply":
            return past.find("utter", turn=call.turn, seat=call.seat, guest=None)
        case "topic", "Remark":  # Eq. 1
            return past.summaries(call.turn) + past.replies(call.turn, call.seat)
        case (("topic" | "ideas"), "Summary"):
            return past.replies(call.turn)
        case "topic", "Topic":
            last = max(s.call.turn for s in past.find("utter"))
            return past.summaries(last) + past.replies(last)
        case "topic", ("Agreement" | "Stay"):
            return past.topic()
        case "ideas", "Idea":  # Eq. 2
            said = past.summaries(call.turn) + past.replies(call.turn, call.seat)
            return past.topic() + past.ideas(call.visit)[-1:] + said
        case "novelty", "Ballot":  # Eq. 3
            return past.best()
        case "abstract", "Draft":
            return past.winner()
        case "abstract", "Revision":  # Eq. 4 and 6
            review = past.find("review", visit=call.visit - 1)
            begins = not past.find("utter") and review
            guest = [] if begins else past.latest("abstract", call.visit, guest=True)
            return past.latest("abstract") + guest + (review if begins else [])
        case "abstract", "SelfReview":  # Eq. 5
            return past.latest("abstract", call.visit)
        case "novelty", "AnotherTurn":
            return past.find("vote", turn=call.turn)
        case "abstract", "AnotherTurn":
            return past.latest("abstract", call.visit)
        case (("topic" | "ideas"), "AnotherTurn"):
            return past.find("summarise", turn=call.turn)
    raise AssertionError(f"no statement for {call} {past.now.form}")


def expected(past: Past) -> set[str]:
    """The planted words that a prompt holds."""
    words = {said.word(field) for said in heard(past) for field in SPOKEN[said.form]}
    if past.now.form == "GuestReply":
        (asker,) = heard(past)
        # A guest is told what it is about: of an idea, title and idea.
        words = words - {asker.word("Experiment")} | {asker.word("Question")}
    return words


def check_words(played: Played) -> None:
    """Equality of sets for every single prompt of a run of one team."""
    assert played.said
    for said in played.said:
        told = set(PLANTED.findall(f"{said.system}\n{said.user}"))
        wanted = expected(Past(played.said, said))
        assert told == wanted, (
            f"{said.request.id}: missing {sorted(wanted - told)}, too much {sorted(told - wanted)}"
        )


def searched(played: Played, text: str, at: Said, count: int = 8) -> str:
    """B_past(text) as the prompt prints it."""
    literature = played.society.literature
    date = next(r["asked"] for r in played.rows("calls") if r["call"] == at.request.id)
    return listed(literature.search(text, count, literature.visible(date)))


def query(said: Said) -> str:
    """The text by which an idea, a topic or a draft is searched for."""
    if said.form == "Idea":
        return f"{said.reply['Title']}. {said.reply['Idea']}"
    if said.form == "Topic":
        return said.reply["Selected Topic"]
    return f"{said.reply['Title']}\n{said.reply['Abstract']}"


def papers_expected(played: Played, said: Said) -> list[str]:
    """The lists of papers in one prompt: B_past(topic) or B_past(idea), stage by stage."""
    protocol, past = played.society.protocol, Past(played.said, said)
    use = protocol.references
    if said.form == "Idea" and use.ideas == "on":
        cue = past.ideas(said.call.visit)[-1:] or past.topic()
        text = query(cue[0]) if cue else protocol.topic.given
        return [searched(played, text, said)]
    if said.form == "Ballot" and use.assessment == "on":
        return [searched(played, query(idea), said) for idea in past.best()]
    if said.form == "Draft":
        source = use.assessment if protocol.novelty_assessment == "on" else use.ideas
        return [searched(played, query(past.winner()[0]), said)] if source == "on" else []
    if said.form == "SelfReview":
        return [searched(played, query(past.latest("abstract")[0]), said)]
    if said.form == "Revision" and said.call.visit > 1 and not past.find("utter"):
        return [searched(played, query(past.latest("abstract")[0]), said)]
    return []


def check_papers(played: Played) -> None:
    """Every prompt holds the published papers it should, in full and in order."""
    for said in played.said:
        assert PAPERS.findall(said.user) == papers_expected(played, said), said.request.id


def people_under(heading: str, text: str) -> list[str]:
    """Names of the scientists listed under a heading of a prompt."""
    lines = iter(text.splitlines())
    if not any(line.startswith(heading) for line in lines):
        return []
    names = []
    for line in lines:
        if not line.startswith("- "):
            break
        names.append(line[2:].split(":")[0])
    return names


def check_people(played: Played) -> None:
    """System prompts introduce the person asked; profiles and outsiders follow the switches."""
    protocol, leaders = played.society.protocol, {r["leader"] for r in played.rows("teams")}
    for said in played.said:
        who, system = said.request.who, said.system
        assert who.id == (said.call.guest or said.call.who)
        assert system.startswith(f"You are {who.id}, a scientist.")
        assert introduce(who) in system
        leads = who.id in leaders and said.form not in ("Choice", "GuestReply")
        assert ("You lead this team." in system) == leads
        joins = not leads and said.form not in ("Choice", "GuestReply")
        assert ("You are a member of this team." in system) == joins
        speaks = said.form in ("Remark", "Idea", "Draft", "Revision")
        known = people_under(KNOWLEDGE, said.user)
        assert bool(known) == (speaks and protocol.knowledge == "on")
        assert len(known) <= protocol.profiles
        asked = people_under(OUTSIDERS, said.user)
        assert bool(asked) == (speaks and protocol.invitation == "on")
        assert len(asked) <= protocol.outsiders
        assert not set(asked) & members_at(played, said)


def members_at(played: Played, said: Said) -> set[str]:
    date = next(r["asked"] for r in played.rows("calls") if r["call"] == said.request.id)
    return {
        r["scientist"]
        for r in played.rows("members")
        if r["team"] == said.call.team and r["joined"] <= date < r["left"]
    }


def check(played: Played) -> None:
    check_words(played)
    check_papers(played)
    check_people(played)


# -- scripts ------------------------------------------------------------------------------------


def mixed_ballots(call, request):
    """Votes that fall on different ideas in different turns."""
    if call.act == "vote":
        choice = (call.seat + call.turn) % len(request.slots["ideas"])
        return {"Decision Made": f"Idea {choice} {word(request.id, 'Decision Made')}"}
    return None


def one_restart(call, request):
    """Nobody agrees with the first topic."""
    return {"Agree": False} if call.act == "agree" and call.visit == 1 else None


def a_leaver(call, request):
    return {"Stay": False} if call.act == "stay" and call.seat == 2 else None


def strikes(*visits):
    """Self-reviews that find too much overlap after these visits of the abstract stage."""

    def script(call, request):
        if call.act == "review" and call.visit in visits:
            return {"similarity_scores": {"Written Abstract vs A": 85}}
        return None

    return script


def stops_after(turn):
    def script(call, request):
        if request.form.__name__ == "AnotherTurn":
            return {"Another Turn": call.turn < turn}
        return None

    return script


SMALL = {"team_size": 3, "turns": 3}
SCENES = {
    "as it is": ({}, None, False),
    "guests speak": ({}, None, True),
    "no invitation": ({"invitation": "off"}, None, True),
    "no knowledge": ({"knowledge": "off"}, None, True),
    "no papers for ideas": ({"references": {"ideas": "off"}}, None, False),
    "no papers for ballots": ({"references": {"assessment": "off"}}, None, False),
    "no papers": ({"references": {"ideas": "off", "assessment": "off"}}, None, False),
    "no assessment": ({"novelty_assessment": "off"}, None, True),
    "mixed ballots": ({}, mixed_ballots, False),
    "random order": ({"speaking_order": "random", "team_size": 4}, mixed_ballots, True),
    "adaptive to the end": ({"pacing": "adaptive", "max_turns": 3}, None, True),
    "adaptive, two turns": ({"pacing": "adaptive", "max_turns": 4}, stops_after(2), True),
    "adaptive, one turn": ({"pacing": "adaptive"}, stops_after(1), True),
    "a restart": ({}, one_restart, True),
    "somebody leaves": ({"team_size": 4}, a_leaver, True),
    "nobody is asked to leave": ({"leaving": "off"}, None, False),
    "start topic": ({"topic": {"start": "tides of the moon"}}, None, True),
    "given topic": ({"topic": {"given": "tides of the moon"}}, None, True),
    "reviewed": ({"self_review": "on"}, None, True),
    "one strike": ({"self_review": "on"}, strikes(1), True),
    "new idea": ({"self_review": "on"}, strikes(1, 2), True),
    "alone": ({"team_size": 1}, None, True),
    "one turn": ({"turns": 1}, None, True),
    "two": ({"team_size": 2, "turns": {"topic": 1, "ideas": 2, "abstract": 3}}, None, True),
}


@pytest.mark.parametrize("scene", SCENES)
def test_every_prompt_holds_exactly_the_words_it_should(synthetic, scene):
    settings, script, consults = SCENES[scene]
    played = play(synthetic, VirSci(**SMALL | settings), script, consults=consults)
    assert played.team["state"] == "published"
    check(played)


def test_the_scenes_show_what_they_are_named_for(synthetic):
    def scene(name):
        settings, script, consults = SCENES[name]
        return play(synthetic, VirSci(**SMALL | settings), script, consults=consults)

    guests = scene("guests speak")
    assert {s.call.stage for s in guests.of_form("GuestReply")} == {"topic", "ideas", "abstract"}
    assert not scene("no invitation").of_form("GuestReply")
    assert scene("a restart").team["restarts"] == 1
    assert scene("one strike").team["strikes"] == 1
    assert {s.call.visit for s in scene("new idea").of(stage="ideas")} == {1, 2}
    left = scene("somebody leaves")
    assert [r["stayed"] for r in left.rows("members")].count(False) == 1


# -- what else stands in the prompts ------------------------------------------------------------


def test_the_start_topic_is_in_every_prompt_of_the_discussion_only(synthetic):
    topic = "tides of the moon"
    started = play(synthetic, VirSci(**SMALL, topic={"start": topic}))
    assert {s.form for s in started.said if topic in s.user} == {"Remark"}
    assert all(topic in s.user for s in started.of_form("Remark"))


def test_a_given_topic_skips_the_discussion(synthetic):
    topic = "tides of the moon"
    given = play(synthetic, VirSci(**SMALL, topic={"given": topic}))
    assert not given.of(stage="topic")
    assert all(topic in s.user for s in given.of_form("Idea"))
    assert given.team["topic"] == topic


def test_the_invited_see_inviter_members_ties_and_their_own_load(synthetic):
    played = play(synthetic, VirSci(team_size=4, turns=1))
    invitations = played.of_form("Choice")
    assert len(invitations) == 3
    society, leader = played.society, played.team["leader"]
    for place, said in enumerate(invitations):
        before = [leader, *(s.call.who for s in invitations[:place])]
        assert people_under("In the team so far:", said.user) == before
        assert f"The invitation comes from {leader}" in said.user
        ties = society.ecosystem.coauthors[
            society.population.rows[leader], society.population.rows[said.call.who]
        ]
        assert f"You have written {ties} joint paper" in said.user
        assert "You are working in 0 other teams at present." in said.user
        for name in before:
            assert introduce(society.ecosystem.profiles[society.population.rows[name]]) in said.user


def test_the_team_is_described_in_the_topic_discussion(synthetic):
    played = play(synthetic, VirSci(**SMALL))
    team = [r["scientist"] for r in played.rows("members")]
    for said in played.of_form("Remark"):
        assert people_under("The team:", said.user) == team


def test_knowledge_and_outsiders_are_those_nearest_to_the_text_at_hand(synthetic):
    played = play(synthetic, VirSci(**SMALL))
    society = played.society
    for said in played.of_form("Revision"):
        (draft,) = Past(played.said, said).latest("abstract")
        near = society.relevant(3, frozenset(), 0.0, query(draft))
        assert people_under(KNOWLEDGE, said.user) == [profile.id for profile in near]
        without = frozenset(members_at(played, said))
        near = society.relevant(3, without, 0.0, query(draft))
        assert people_under(OUTSIDERS, said.user) == [profile.id for profile in near]


def test_a_question_to_somebody_who_was_not_shown_reaches_nobody(synthetic):
    def to_a_member(call, request):
        if request.form.__name__ == "Remark":
            me = request.slots["me"].id
            return {"Ask": {"Scientist": me, "Question": "What do you think?"}}
        if request.form.__name__ == "Idea":
            return {"Ask": {"Scientist": request.slots["outsiders"][0].id, "Question": "  "}}
        return None

    played = play(synthetic, VirSci(**SMALL), to_a_member)
    assert not played.of_form("GuestReply")
    assert not played.rows("consultations")
    check_words(played)


def test_consultations_are_logged_with_asker_guest_stage_and_words(synthetic):
    played = play(synthetic, VirSci(**SMALL), consults=True)
    guests = played.of_form("GuestReply")
    rows = played.rows("consultations")
    assert len(rows) == len(guests) == 27
    for row, said in zip(rows, guests, strict=True):
        assert (row["asker"], row["guest"]) == (said.call.who, said.call.guest)
        assert (row["stage"], row["answer"]) == (said.call.stage, said.reply["Answer"])
        assert row["guest"] not in {r["scientist"] for r in played.rows("members")}


# -- memory -------------------------------------------------------------------------------------


def recalled(said: Said) -> list[str]:
    heading = "From your work in other teams you recall:"
    return [line[2:] for line in said.system.partition(heading)[2].splitlines() if line[:2] == "- "]


def six_teams(synthetic, memory):
    protocol = VirSci(**SMALL, memory=memory)
    founding = Once(count=6, every="150d", max_teams=9)
    return play(synthetic, protocol, consults=True, founding=founding)


def test_memory_is_ones_own_from_other_teams_and_never_in_assessment(synthetic):
    played = six_teams(synthetic, "own")
    asked = {r["call"]: r["asked"] for r in played.rows("calls")}
    remembering = [said for said in played.said if recalled(said)]
    assert {said.form for said in remembering} == {"Remark", "Idea", "Draft", "Revision"}
    for said in remembering:
        lines = recalled(said)
        memory = played.society.population.named(said.call.who).memory
        own = {entry.line for entry in memory if entry.date <= asked[said.request.id]}
        assert set(lines) <= own
        assert len(lines) <= 5
        teams = {entry.team for entry in memory if entry.line in lines}
        assert said.call.team not in teams
    for said in played.said:
        # Apart from memory and from what has been published, a team's words stay in the team.
        told = set(PLANTED.findall(PAPERS.sub("", said.user)))
        assert told == expected(Past(played.said, said)), said.request.id


def test_without_memory_nobody_recalls_anything(synthetic):
    assert not any(recalled(said) for said in six_teams(synthetic, "off").said)
