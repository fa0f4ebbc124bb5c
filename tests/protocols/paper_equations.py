"""Who may see what: Eq. 1 to 6 of the paper stated once more, from the calls alone.

Everything here follows from stage, visit, turn and seat of what has been said so far. It
shares nothing with the protocol's own code, so that the two can be compared prompt by prompt.
"""

import re
from dataclasses import replace
from typing import NamedTuple

from tests.protocols.scripted_backend import PLANTED, Call, Said
from virsci_society.agents.prompts.slots import (
    introduce,
    introduce_briefly,
    list_lettered,
    list_references,
    list_titles,
)

SPOKEN = {
    "Remark": ("Response", "Direction"),
    "GuestReply": ("Answer",),
    "Summary": ("Summary",),
    "Topic": ("Selected Topic",),
    "Idea": ("Reason", "Idea", "Title", "Experiment"),
    "Ballot": ("Decision Made",),
    "Critique": ("Soundness", "Objection", "Advice"),
    "Draft": ("Title", "Abstract"),
    "Revision": ("Title", "Abstract"),
    "SelfReview": ("reason",),
}
"""Fields that the members hear when they are said; other reasons stay with their author."""
IDEA_TEXT = ("Title", "Idea", "Experiment")
"""What is shown of an idea wherever it stands alone."""
TEAM = "the team"
"""Speaker of what the team has taken as its own: topic, abstract, failed attempts."""
NOBODY = "nobody"
"""Speaker of what is shown without its author: the ideas on a ballot."""

NAME = r"(\S+?)(?: \(you\))?"
HEADINGS = (
    (rf"{NAME}:", None),
    (r"(\S+) asked \S+, who is not in the team:", None),
    (r"(\S+) answered:", None),
    (rf"Summary of round \d+(?: of this stage)?, by {NAME}:", None),
    (rf"Summary of the last round of (?:this stage|the topic discussion), by {NAME}:", None),
    (r"(Your) summary of round \d+:", None),
    (r"(\S+), who leads the team, proposes this research topic:", None),
    (r"The reasons that (\S+) gives:", None),
    (rf"How the team came to it, in the words of {NAME}:", None),
    (r"The idea on the table is (?:that of )?(\S+?)(?: own)?(?:, given in full above)?:", None),
    (rf"- by {NAME}:", None),
    (rf"The (?:idea|idea that it presents|version at hand), by {NAME}:", None),
    (r"What made (\S+) think of it:", None),
    (r"(The leader)'s self-review found this version too close to published work:", None),
    (r"What (\S+) has just put forward:", None),
    (r"(\S+) asks you:", None),
    (r"The topic:|The written abstract:|What the team works on:", TEAM),
    (r"What this team has tried before:", TEAM),
    (r"Begin from this topic:", TEAM),
    (r"Idea \d:", NOBODY),
)
"""How a page says who wrote the lines below: the name, or whose it is where no name is given."""
LITERATURE = (
    *("Published papers:", "Published papers near to the ideas:", "It builds on:"),
    *("Published papers near to it:", "Published papers that may be of use:"),
    "Papers of your own that are near to this:",
    *("The published abstracts it was compared with:", "Published abstracts:"),
)
KNOWLEDGE = "Scientists outside the team with related work:"
RECALLED = "From your work in other teams you recall:"
MAY_ASK = "If an answer would help, you may put one question to one of "


class Heard(NamedTuple):
    """Words of one reply on a page: which fields, and who is said to have said them."""

    said: Said
    fields: tuple[str, ...]
    by: str


def speaker(said):
    return said.call.guest or said.call.who


def aloud(*said):
    """Replies as others hear them, by those who said them."""
    return [Heard(one, SPOKEN[one.form], speaker(one)) for one in said]


class Past:
    """What has been said before one call, and how to find it."""

    def __init__(self, played, now):
        said = played.said
        self.now, self.call = now, now.call
        self.said = [s for s in said[: said.index(now)] if s.call.team == now.call.team]
        self.settings = played.society.world.protocol

    @property
    def size(self) -> int:
        """Members of the team, as the page names them."""
        return len(self.now.request.slots["team"])

    @property
    def carries(self) -> bool:
        return bool(self.settings.prompts.carry == "on")

    def find(self, act=None, **fields):
        """Earlier words with these values, in the order of turn and seat, guests after askers."""
        here = {"stage": self.call.stage, "visit": self.call.visit} | fields
        found = [
            s
            for s in self.said
            if (act is None or s.call.act == act)
            and all(getattr(s.call, name) == value for name, value in here.items())
        ]
        return sorted(found, key=lambda s: (s.call.turn, s.call.seat, s.call.guest is not None))

    def summaries(self, before):
        return [s for s in self.find("summarise") if s.call.turn < before]

    def replies(self, turn, before=float("inf")):
        """Utterances of a turn with the answers of guests, of the seats before one."""
        return [s for s in self.find("utter", turn=turn) if s.call.seat < before]

    def latest(self, stage, visit=None, *, guest=False):
        """The last utterance of a stage so far, or what a guest answered to it."""
        spoken = [s for s in self.said if s.call.stage == stage and s.call.act == "utter"]
        spoken = [s for s in spoken if visit is None or s.call.visit == visit]
        last = max((s.call[2:5] for s in spoken), default=None)
        return [s for s in spoken if s.call[2:5] == last and (s.call.guest is not None) == guest]

    def topic(self):
        return [s for s in self.said if s.form == "Topic"][-1:]

    def ideas(self, visit):
        found = self.find("utter", stage="ideas", visit=visit, guest=None)
        return sorted(found, key=lambda s: (s.call.turn, s.call.seat))

    def rounds(self):
        """Times that ideas have been generated so far."""
        return max(s.call.visit for s in self.said if s.call.stage == "ideas")

    def confidence(self, idea):
        """The mean of its marks, and of those that the next speaker gives it."""
        given = [idea.reply]
        ideas = self.ideas(idea.call.visit)
        after = ideas[ideas.index(idea) + 1 :][:1]
        if self.settings.prompts.marks == "on":
            given += [s.reply["Marks"] for s in after if s.call.who != idea.call.who]
        names = ("Clarity", "Feasibility", "Novelty")
        return sum(marks[name] for marks in given for name in names) / 3 / len(given)

    def best(self, visit=None):
        """The three with the highest confidence in the order of being said; ties: the later."""
        ideas = self.ideas(self.rounds() if visit is None else visit)
        marks = [self.confidence(idea) for idea in ideas]
        order = sorted(range(len(ideas)), key=lambda i: (marks[i], i), reverse=True)
        return [ideas[i] for i in sorted(order[:3])]

    def choice(self, ballot):
        """Title of the idea that a ballot names, by its place on that voter's page."""
        place = re.search(r"Idea (\d)", ballot.reply["Decision Made"])
        listed = ballot.request.slots["ideas"]
        return listed[int(place[1])].idea.title if place else ""

    def winner(self, visit=None):
        """Most votes of all turns; ties by confidence, then by order."""
        visit = self.rounds() if visit is None else visit
        kept = self.best(visit)
        ballots = self.find("vote", stage="novelty", visit=visit)
        if not ballots:
            return self.ideas(visit)[-1:]
        votes = [self.choice(ballot) for ballot in ballots]
        for_ = [votes.count(idea.reply["Title"]) for idea in kept]
        first = max(range(len(kept)), key=lambda n: (for_[n], self.confidence(kept[n]), -n))
        return [kept[first]]

    def dialogue(self, said):
        """Utterances aloud; before a guest's answer stands what its asker asked."""
        found: list[Heard] = []
        for one in said:
            if one.call.guest is not None:
                place = one.call._replace(guest=None)
                (asker,) = (s for s in self.said if s.call == place)
                found.append(Heard(asker, ("Question",), asker.call.who))
            found += aloud(one)
        return found

    def on_the_table(self):
        """The last idea: in full, or by its title where this round has it in full already."""
        last = self.ideas(self.call.visit)[-1:]
        above = last and last[0].call.turn == self.call.turn
        return [Heard(s, ("Title",) if above else IDEA_TEXT, s.call.who) for s in last]

    def gists(self):
        """Ideas of earlier rounds, apart from the one on the table where it opens a round.

        Of as many as the team has members, the last ones, also what they are in short.
        """
        ideas = self.ideas(self.call.visit)
        earlier = [s for s in ideas if s.call.turn < self.call.turn]
        if len(earlier) == len(ideas):
            earlier = earlier[:-1]
        older, last = earlier[: -self.size], earlier[-self.size :]
        named = [Heard(s, ("Title",), s.call.who) for s in older]
        return named + [Heard(s, ("Title", "In Short"), s.call.who) for s in last]

    def objections(self):
        """What the next speaker objected to the idea that was chosen, unless it was its own."""
        (idea,) = self.winner()
        ideas = self.ideas(idea.call.visit)
        after = ideas[ideas.index(idea) + 1 :][:1]
        asked = self.settings.prompts.marks == "on"
        others = [s for s in after if s.call.who != idea.call.who and asked]
        return [Heard(s, ("Objection",), s.call.who) for s in others]

    def failed_topics(self):
        topics = [s for s in self.said if s.form == "Topic"]
        return [Heard(s, ("Selected Topic",), TEAM) for s in topics]

    def failed_ideas(self, visit):
        """Ideas of earlier rounds: there is another round only because they fell."""
        fallen = [self.winner(earlier)[0] for earlier in range(1, visit)]
        return [Heard(s, ("Title",), TEAM) for s in fallen]

    def background(self):
        """The topic's reasons, and the last summary of the discussion that found it."""
        (topic,) = self.topic() or [None]
        if topic is None:
            return []
        there = {"stage": "topic", "visit": topic.call.visit}
        told = self.find("summarise", **there)
        last = max(s.call.turn for s in self.find("utter", **there))
        return [
            Heard(topic, ("Reason",), topic.call.who),
            *aloud(*(s for s in told if s.call.turn == last - 1)),
        ]

    def topic_carried(self):
        """The topic, for those who judge ideas on it."""
        chosen = self.topic() if self.carries else []
        return [Heard(s, ("Selected Topic",), TEAM) for s in chosen]

    def advice_on_ideas(self):
        spoken = self.find("utter", stage="ideas", visit=self.rounds())
        return self.dialogue([s for s in spoken if s.call.guest is not None])

    def examined(self):
        """The last examination of a chosen idea."""
        return [s for s in self.said if s.call.act == "critique" and s.form == "Critique"][-1:]

    def changes(self):
        """What the last revisers of this visit, as many as the team, say that they changed."""
        revised = [s for s in self.find("utter", guest=None) if s.form == "Revision"]
        revised = revised[-self.size :]
        return [Heard(s, ("Modifications",), s.call.who) for s in revised]


def heard(past):
    """Whose words one prompt may hold: Eq. 1 to 6, and what a team carries on."""
    call: Call = past.call
    carried = past.carries
    match call.stage, past.now.form:
        case _, "Choice":
            return []
        case _, "GuestReply":
            return asked_of_guest(past)
        case "topic", "Remark":  # Eq. 1
            said = past.summaries(call.turn) + past.replies(call.turn, call.seat)
            return past.failed_topics() + past.dialogue(said)
        case (("topic" | "ideas"), "Summary"):
            return past.dialogue(past.replies(call.turn))
        case "topic", "Topic":
            last = max(s.call.turn for s in past.find("utter"))
            return past.failed_topics() + past.dialogue(past.summaries(last) + past.replies(last))
        case "topic", ("Agreement" | "Stay"):
            (topic,) = past.topic()
            fields = ("Selected Topic", "Reason") if carried else ("Selected Topic",)
            return [Heard(topic, fields, topic.call.who), *past.failed_topics()[:-1]]
        case "ideas", "Idea":  # Eq. 2
            told = past.summaries(call.turn)
            said = told[-1 if carried else 0 :] + past.replies(call.turn, call.seat)
            topic = [Heard(s, ("Selected Topic",), TEAM) for s in past.topic()]
            kept = past.background() + past.gists() if carried else []
            failed = past.failed_ideas(call.visit)
            return topic + past.on_the_table() + past.dialogue(said) + kept + failed
        case "novelty", "Ballot":  # Eq. 3
            return past.topic_carried() + [Heard(s, IDEA_TEXT, NOBODY) for s in past.best()]
        case "abstract", "Critique":
            idea = [Heard(s, IDEA_TEXT, s.call.who) for s in past.winner()]
            return past.topic_carried() + idea
        case "abstract", "Draft":
            fields = (*IDEA_TEXT, "Reason") if carried else IDEA_TEXT
            idea = [Heard(s, fields, s.call.who) for s in past.winner()]
            advice = past.objections() + past.advice_on_ideas() if carried else []
            critique = aloud(*past.find("critique"))
            return idea + critique + advice + past.failed_ideas(past.rounds())
        case "abstract", "Revision":  # Eq. 4 and 6
            review = past.find("review", visit=call.visit - 1)
            begins = not past.find("utter") and review
            guest = [] if begins else past.latest("abstract", call.visit, guest=True)
            kept = [Heard(s, IDEA_TEXT, s.call.who) for s in past.winner()]
            kept += past.objections() + past.changes() + aloud(*past.examined())
            text = aloud(*past.latest("abstract"), *(review if begins else []))
            return text + past.dialogue(guest) + (kept if carried else [])
        case "abstract", "SelfReview":  # Eq. 5
            return [Heard(s, SPOKEN[s.form], TEAM) for s in past.latest("abstract", call.visit)]
        case "novelty", "AnotherTurn":
            # Votes on a list of another order are told by the leader's own numbers alone.
            permuted = past.settings.prompts.idea_order == "permuted"
            return [] if permuted else aloud(*past.find("vote", turn=call.turn))
        case "abstract", "AnotherTurn":
            return aloud(*past.latest("abstract", call.visit))
        case (("topic" | "ideas"), "AnotherTurn"):
            return aloud(*past.find("summarise", turn=call.turn))
    raise AssertionError(f"no statement for {call} {past.now.form}")


def asked_of_guest(past):
    """A guest is told the question, what its asker has said, and what the team works on."""
    call = past.call
    (asker,) = past.find("utter", turn=call.turn, seat=call.seat, guest=None)
    # Of an idea, what its own papers are searched by: title and idea.
    said = ("Title", "Idea") if asker.form == "Idea" else SPOKEN[asker.form]
    work = {
        "topic": [],
        "ideas": [Heard(s, ("Selected Topic",), TEAM) for s in past.topic()],
        "abstract": [Heard(s, IDEA_TEXT, TEAM) for s in past.winner()]
        if call.stage == "abstract"
        else [],
    }
    return [Heard(asker, (*said, "Question"), asker.call.who), *work[call.stage]]


def expected(past):
    """The planted words that a prompt holds, each with who is said to have said it."""
    return {(said.word(field), by) for said, fields, by in heard(past) for field in fields}


def expected_words(past):
    """The planted words that a prompt holds."""
    return {word for word, _ in expected(past)}


def quoted(page):
    """The lines of a page that others wrote, under the line directly before them."""
    blocks: list[tuple[str, list[str]]] = []
    before = ""
    for line in page.splitlines():
        if not line.startswith(">"):
            before = line
        elif before:
            blocks.append((before, [line]))
            before = ""
        else:
            assert blocks, f"nothing says whose line this is: {line}"
            blocks[-1][1].append(line)
    return blocks


def attributed(said):
    """Every planted word of a page with the name that stands above it.

    One's own words are marked as such, and nobody else's are.
    """
    me, found = said.request.who.id, set()
    for heading, lines in quoted(said.user):
        words = [word for line in lines for word in PLANTED.findall(line)]
        if not words or heading in LITERATURE or heading == RECALLED:
            continue
        by = name_in(heading, said)
        # A proposal is marked below, so that all who are asked side by side read it alike.
        if by not in (TEAM, NOBODY) and said.form not in ("Agreement", "Stay", "Revision"):
            marked = re.search(r"\(you\)|\b[Yy]our?\b(?! asks)", heading.replace("asks you", ""))
            assert bool(marked) == (by == me), (said.request.id, heading)
        found |= {(word, by) for word in words}
    return found


def name_in(heading, said):
    """Who wrote what stands under a heading."""
    for pattern, owner in HEADINGS:
        if (match := re.fullmatch(pattern, heading)) is not None:
            if owner is not None:
                return owner
            if match[1] == "The leader":
                return said.call.team.partition("/")[0]
            return said.request.who.id if match[1] in ("You", "Your", "you", "your") else match[1]
    raise AssertionError(f"{said.request.id}: {heading!r} says of nobody that it is theirs")


def check_words(played):
    """Equality of words and speakers for every single prompt of a run of one team."""
    assert played.said
    for said in played.said:
        wanted = expected(Past(played, said))
        told = attributed(said)
        assert told == wanted, (
            f"{said.request.id}: missing {sorted(wanted - told)}, too much {sorted(told - wanted)}"
        )
        # Nothing that somebody wrote stands on a line of the page itself.
        own = [line for line in said.user.splitlines() if not line.startswith(">")]
        assert not PLANTED.findall("\n".join([said.system, *own])), said.request.id


def searched(played, at, *texts, count, diverse=False):
    """B_past of one text, or of several with their differences weighed."""
    literature = played.society.literature
    date = next(r["asked"] for r in played.rows("calls") if r["call"] == at.request.id)
    visible, use = literature.visible(date), played.society.world.protocol.references
    if len(texts) == 1 and not diverse:
        return credited(played, literature.search(texts[0], count, visible))
    found = literature.search_diverse(texts, count, visible, diversity=use.diversity)
    return credited(played, found)


def credited(played, papers):
    """Papers with the first four of their authors who are scientists of the society."""
    society = played.society
    return tuple(
        replace(
            paper,
            authors=tuple(
                name
                for name in society.literature.paper(paper.id).authors
                if name in society.population.rows
            )[:4],
        )
        for paper in papers
    )


def query(said):
    """The text by which what was said is searched for."""
    reply = said.reply
    if said.form == "Idea":
        return f"{reply['Title']}. {reply['Idea']}"
    if said.form == "Remark":
        return f"{reply['Response']}\nDirection: {reply['Direction']}"
    if said.form in ("Topic", "Summary"):
        return reply["Selected Topic" if said.form == "Topic" else "Summary"]
    return f"{reply['Title']}\n{reply['Abstract']}"


def near_idea(played, said):
    """The text by which papers near an idea are searched."""
    by_title = played.society.world.protocol.references.query == "title"
    return str(said.reply["Title"]) if by_title else query(said)


def shown_to_speaker(played, said):
    """What a speaker sees: found by the text at hand, or also by topic and interests."""
    protocol, past = played.society.world.protocol, Past(played, said)
    use, call = protocol.references, said.call
    topic = [query(s) for s in past.topic()] or [protocol.topic.given or ""]
    if said.form == "Idea":
        cue = [near_idea(played, s) for s in past.ideas(call.visit)[-1:]] or topic
        texts = list(dict.fromkeys([*cue, *topic]))
    else:
        spoken = past.find("utter", turn=call.turn, guest=None) or past.summaries(call.turn)
        start = protocol.topic.start
        interests = "; ".join(profile.topic for profile in said.request.slots["members"])
        texts = [query(spoken[-1]) if spoken else start or interests]
    if use.queries == "one":
        texts = texts[:1]
    else:
        texts.append("; ".join(said.request.who.interests))
    return searched(played, said, *texts, count=use.count, diverse=use.diversity > 0)


def papers_expected(played, said):
    """The lists of papers in one prompt: B_past(topic) or B_past(idea), stage by stage."""
    past = Past(played, said)
    settings = played.society.world.protocol
    use = settings.references
    match said.form:
        case "Remark" if use.topic == "on":
            return [list_titles(named(said), shown_to_speaker(played, said))]
        case "Idea" if use.ideas == "on":
            return [list_references(named(said), shown_to_speaker(played, said), use.sentences)]
        case "Ballot" if use.assessment == "on":
            listed = [standing.idea.title for standing in said.request.slots["ideas"]]
            ideas = sorted(past.best(), key=lambda s: listed.index(s.reply["Title"]))
            near = [searched(played, said, near_idea(played, s), count=use.per_idea) for s in ideas]
            pooled = {paper.id: paper for papers in near[::-1] for paper in papers[::-1]}
            order = list(dict.fromkeys(paper.id for papers in near for paper in papers))
            if settings.released_code.ballot == "pooled":
                order.sort(key=lambda id_: int(pooled[id_].key[1:]))
            papers = [pooled[id_] for id_ in order]
            return [list_references(named(said), papers, use.sentences)]
        case "Draft" | "Critique":
            shown = use.draft if said.form == "Draft" else use.ideas
            if shown == "off":
                return []
            near = searched(played, said, near_idea(played, past.winner()[0]), count=use.count)
            return [list_references(named(said), near, use.sentences)]
        case "GuestReply" if use.guest == "on":
            (asker,) = past.find("utter", turn=said.call.turn, seat=said.call.seat, guest=None)
            literature = played.society.literature
            visible = literature.visible(said.request.asked)
            own = literature.search_author(said.call.guest, query(asker), 3, visible)
            if not own:
                return []
            return [list_references(named(said), credited(played, own), use.sentences)]
        case "SelfReview" | "Revision":
            if said.form == "Revision" and (said.call.visit == 1 or past.find("utter")):
                return []
            text = query(past.latest("abstract")[0])
            count = use.self_review or use.count
            return [list_lettered(searched(played, said, text, count=count))]
    return []


def named(said):
    """Who is listed on the page, as its context: of the authors of papers these alone are named."""
    slots = said.request.slots
    lists = [slots.get(slot, ()) for slot in ("team", "members", "knowledge", "outsiders")]
    return {"people_listed": {getattr(one, "id", one) for people in lists for one in people}}


def papers_on(said):
    """The lists of papers on a page."""
    return ["\n".join(lines) for heading, lines in quoted(said.user) if heading in LITERATURE]


def check_papers(played):
    """Every prompt holds the published papers it should, in full and in order."""
    for said in played.said:
        assert papers_on(said) == papers_expected(played, said), said.request.id


def people_under(heading, text):
    """Names of the scientists listed under a heading of a prompt."""
    lines = iter(text.splitlines())
    if not any(line.startswith(heading) for line in lines):
        return []
    names = []
    for line in lines:
        if not line.startswith("- "):
            break
        names.append(line[2:].split(":")[0].removesuffix(" (leader)"))
    return names


def oneself(said):
    """What the scientist asked is told of itself: who it is, and what it recalls."""
    sign = f"You are {said.request.who.id}, a scientist."
    assert re.findall(r"You are \S+, a scientist\.", said.user) == [sign]
    assert "Scientist" not in said.system
    begins = said.user.index(sign)
    recalls = said.user.find(RECALLED, begins)
    return said.user[begins : said.user.index("\n\n", max(begins, recalls))]


def may_be_asked(said):
    """Names of those to whom a speaker may put a question."""
    found = [line for line in said.user.splitlines() if line.startswith(MAY_ASK)]
    if found == [MAY_ASK + "them."]:
        return people_under(KNOWLEDGE, said.user)
    return found[0].removeprefix(MAY_ASK + "these: ").rstrip(".").split(", ") if found else []


def is_heard(played, said):
    """Is there anybody left who will hear what a guest answers?"""
    protocol, call = played.society.world.protocol, said.call
    later = call.stage == "topic" or (call.stage == "ideas" and protocol.prompts.carry == "on")
    turns = protocol.turns_of(call.stage)
    held = protocol.discussion
    most = held.max_turns if held.pacing == "adaptive" else turns
    return later or (call.turn, call.seat + 1) != (most, len(said.request.slots["team"]))


def check_people(played):
    """Prompts introduce the person asked; profiles and outsiders follow the switches."""
    settings, leaders = (played.society.world.protocol, {r["leader"] for r in played.rows("teams")})
    for said in played.said:
        who, you = said.request.who, oneself(said)
        shown = {**said.request.slots, **named(said), "me": who}
        shown["shown_interests"] = played.society.world.cleaned_interests
        assert who.id == (said.call.guest or said.call.who)
        assert introduce(shown, who) in you
        outside = said.form in ("Choice", "GuestReply")
        leads = who.id in leaders and not outside
        assert ("You lead this team." in you) == leads
        assert ("You are a member of this team." in you) == (not leads and not outside)
        speaks = said.form in ("Remark", "Idea", "Draft", "Revision")
        switch = "knowledge" if said.call.stage in ("topic", "ideas") else "profiles_in_abstract"
        told = speaks and settings.discussion.knowledge == "on"
        if switch == "profiles_in_abstract":
            told = told and settings.prompts.profiles_in_abstract == "on"
        asks = speaks and settings.discussion.invitation == "on" and is_heard(played, said)
        listed, asked = people_under(KNOWLEDGE, said.user), may_be_asked(said)
        assert bool(asked) == asks, said.request.id
        assert bool(listed) == (told or asks)
        assert set(asked) <= set(listed)
        assert len(listed) <= max(settings.discussion.profiles, settings.discussion.outsiders)
        assert ('"Ask": ' in said.user) == asks
        assert not set(listed) & members_at(played, said)
        describe = introduce if said.form == "Choice" else introduce_briefly
        for slot in ("members", "knowledge", "outsiders"):
            for other in said.request.slots.get(slot, ()):
                line = rf"^(- )?{other.id}( \(leader\))?: {re.escape(describe(shown, other))}$"
                assert len(re.findall(line, said.user, re.MULTILINE)) == 1


def members_at(played, said):
    date = next(r["asked"] for r in played.rows("calls") if r["call"] == said.request.id)
    return {
        r["scientist"]
        for r in played.rows("members")
        if r["team"] == said.call.team and r["joined"] <= date < r["left"]
    }


def check(played):
    check_words(played)
    check_papers(played)
    check_people(played)
