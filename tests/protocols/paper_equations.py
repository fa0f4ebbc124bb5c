"""Who may see what: Eq. 1 to 6 of the paper stated once more, from the calls alone.

Everything here follows from stage, visit, turn and seat of what has been said so far. It
shares nothing with the protocol's own code, so that the two can be compared prompt by prompt.
"""

import re

from agents.prompts.prompt import introduce, list_references
from tests.protocols.scripted_backend import PLANTED, Call, Played, Said

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
RECALLED = "From your work in other teams you recall:"
OUTSIDERS = "Outside the team, these scientists could be asked"


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
    return list_references(literature.search(text, count, literature.visible(date)))


def query(said: Said) -> str:
    """The text by which an idea, a topic or a draft is searched for."""
    if said.form == "Idea":
        return f"{said.reply['Title']}. {said.reply['Idea']}"
    if said.form == "Topic":
        return said.reply["Selected Topic"]
    return f"{said.reply['Title']}\n{said.reply['Abstract']}"


def papers_expected(played: Played, said: Said) -> list[str]:
    """The lists of papers in one prompt: B_past(topic) or B_past(idea), stage by stage."""
    protocol, past = played.society.world.protocol, Past(played.said, said)
    use = protocol.settings.references
    if said.form == "Idea" and use.ideas == "on":
        cue = past.ideas(said.call.visit)[-1:] or past.topic()
        text = query(cue[0]) if cue else protocol.settings.topic.given
        return [searched(played, text, said)]
    if said.form == "Ballot" and use.assessment == "on":
        return [searched(played, query(idea), said) for idea in past.best()]
    if said.form == "Draft":
        return [searched(played, query(past.winner()[0]), said)] if use.ideas == "on" else []
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


def oneself(said: Said) -> str:
    """What the scientist asked is told of itself: who it is, and what it recalls."""
    sign = f"You are {said.request.who.id}, a scientist."
    assert re.findall(r"You are \S+, a scientist\.", said.user) == [sign]
    assert "Scientist" not in said.system
    begins = said.user.index(sign)
    recalls = said.user.find(RECALLED, begins)
    return said.user[begins : said.user.index("\n\n", max(begins, recalls))]


def check_people(played: Played) -> None:
    """Prompts introduce the person asked; profiles and outsiders follow the switches."""
    protocol, leaders = played.society.world.protocol, {r["leader"] for r in played.rows("teams")}
    for said in played.said:
        who, you = said.request.who, oneself(said)
        assert who.id == (said.call.guest or said.call.who)
        assert introduce(who) in you
        leads = who.id in leaders and said.form not in ("Choice", "GuestReply")
        assert ("You lead this team." in you) == leads
        joins = not leads and said.form not in ("Choice", "GuestReply")
        assert ("You are a member of this team." in you) == joins
        speaks = said.form in ("Remark", "Idea", "Draft", "Revision")
        known = people_under(KNOWLEDGE, said.user)
        informed = speaks or said.form == "Ballot"
        assert bool(known) == (informed and protocol.settings.knowledge == "on")
        assert len(known) <= protocol.settings.profiles
        asked = people_under(OUTSIDERS, said.user)
        assert bool(asked) == (speaks and protocol.settings.invitation == "on")
        assert len(asked) <= protocol.settings.outsiders
        assert not set(asked) & members_at(played, said)
        for slot in ("members", "knowledge", "outsiders"):
            for other in said.request.slots.get(slot, ()):
                assert said.user.count(f"{other.id}: {introduce(other)}") == 1


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
