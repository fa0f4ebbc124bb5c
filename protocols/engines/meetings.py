"""The meetings of a card: rounds of questions, and what a team has on the table meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from functools import partial
from math import ceil
from statistics import fmean
from typing import TYPE_CHECKING, Any

from virsci_society.agents.prompts.slots import Utterance
from virsci_society.protocols.engines.card import Meeting, Stage, Turn
from virsci_society.protocols.engines.questions import QUESTIONS
from virsci_society.protocols.ideas import CandidateIdea, Idea, without_ratings
from virsci_society.protocols.parts.forms import (
    ChairReview,
    NoveltyVerdict,
    PlanStep,
    SearchedIdea,
    Seeds,
    StepReview,
)
from virsci_society.protocols.parts.steps import (
    choose_reviewers,
    find_by_queries,
    join_papers,
    mean_of_reviews,
    papers_of_ideas,
)
from virsci_society.protocols.parts.team_work import TeamWork

if TYPE_CHECKING:
    from virsci_society.agents.prompts.slots import Reference
    from virsci_society.protocols.parts.forms import PaperReview
    from virsci_society.society.kernel.answer import Answer
    from virsci_society.society.kernel.durations import Process


class Board:
    """What a team has on the table while it works by a card.

    Attributes:
        ideas: of the last question that asked for any.
        idea: the one that is worked on; None: none yet.
        archive: ideas of the earlier visits of a stage that is repeated.
        said: the conversation of the meeting.
    """

    def __init__(self, system: Any, work: TeamWork) -> None:
        self.system, self.card, self.work, self.lab = system, system.card, work, work.lab
        self.keys = {name: getattr(system, name) for name in self.card.keys}
        self.ideas: tuple[Answer[CandidateIdea], ...] = ()
        self.idea: Answer[CandidateIdea] | None = None
        self.archive: tuple[Answer[CandidateIdea], ...] = ()
        self.authors: tuple[str, ...] = ()
        self.said: tuple[Utterance, ...] = ()
        self.notes: tuple[Utterance, ...] = ()
        self.remarks: tuple[Utterance, ...] = ()
        self.reviews: tuple[Utterance, ...] = ()
        self.reviewers: tuple[str, ...] = ()
        self.chair = ""
        self.papers: Any = ()
        self.cache: dict[str, Any] = {}
        self.core: Any = None
        self.entities: Any = ()
        self.earlier: tuple[Answer[Any], ...] = ()
        self.found: tuple[Any, ...] = ()
        self.verdicts: tuple[Answer[NoveltyVerdict], ...] = ()
        self.step, self.criteria = "", ()
        self.steps: tuple[Answer[PlanStep], ...] = ()
        self.versions: tuple[Answer[PlanStep], ...] = ()
        self.version_reviews: tuple[tuple[Answer[StepReview], ...], ...] = ()
        self.last: Answer[Any] | None = None
        self.talks = False
        self.held = self.place = self.seat = 0

    def number(self, value: Any) -> Any:
        """A number of the card, or the value of the key that it names."""
        return getattr(self.system, value) if isinstance(value, str) else value

    def hold_stages(self) -> Process[None]:
        """Hold the meetings of all stages, one after another."""
        for stage in self.card.stages:
            if not (stage.skip_one and len(self.ideas) == 1):
                yield from self._hold_stage(stage)

    def _hold_stage(self, stage: Stage) -> Process[None]:
        if any(turn.papers == "core" for turn in stage.turns):
            self._find_core()
        if count := self.number(stage.reviewers):
            # Between two meetings, because the topic is read for it.
            yield from self.work.call_meeting()
            chair = any(turn.who == "chair" for turn in stage.turns)
            chosen = choose_reviewers(self.work, count + chair)
            # The chair is the one of them who is farthest from the topic.
            self.reviewers = (chosen[:-1] or chosen) if chair else chosen
            self.chair = chosen[-1]
        if stage.each == "idea":
            for idea in self.ideas:
                self.idea = idea
                yield from self.lab.stage(stage.name, self._hold_meetings(stage))
                self.verdicts += (self.earlier[-1],)
        elif stage.each == "step":
            for self.step, self.criteria in stage.steps.items():
                self.versions, self.version_reviews, self.remarks = (), (), ()
                yield from self.lab.stage(stage.name, self._hold_meetings(stage))
                best = self.lab.later(best_version, self.versions, self.version_reviews)
                self.steps += (best,)
        else:
            times = self.number(stage.repeat)
            for _ in range(times):
                # One after another: each is to be unlike those that are in the archive by then.
                if stage.repeat != 1:
                    self.idea = None
                yield from self.lab.stage(stage.name, self._hold_meetings(stage))
                if stage.repeat != 1:
                    self.archive += self.ideas
            self.ideas = self.archive or self.ideas

    def _hold_meetings(self, stage: Stage) -> Process[None]:
        self.held = 0
        self.cache.clear()
        for meeting in stage.meetings:
            yield from self._hold_meeting(meeting)

    def _hold_meeting(self, meeting: Meeting) -> Process[None]:
        rounds = self.number(meeting.rounds)
        if meeting.seeds is not None:
            batches = ceil(self.number(meeting.seeds) / self.number(meeting.batch))
            rounds = batches - bool(meeting.opening)
        rounds += bool(meeting.opening) + bool(meeting.closing)
        early = self.number(meeting.ends_early) in (True, "on")
        self.said, self.earlier, self.found, self.last = (), (), (), None
        name = meeting.name.replace("STEP", self.step)
        self.talks = any("conversation" in turn.shows for turn in meeting.all_turns)
        if meeting.parallel != 1:
            self._near_topic()  # once, so that all of them are shown the same papers
        copies = [self._copy(place) for place in range(self.number(meeting.parallel))]
        for number in range(1, rounds + 1):
            yield from self.work.call_meeting()
            # On the date of the next round, whose meeting is not held if the last one was enough.
            if early and self.last is not None and self.last.read().finished:
                break
            turns = meeting.turns
            if meeting.opening and number == 1:
                turns = meeting.opening
            elif meeting.closing and number == rounds:
                turns = meeting.closing
            with (yield from self.work.convene(name, number, rounds, before=self.held)):
                moment = {"number": number, "final": number == rounds}
                moment["ends"] = early and number < rounds
                if len(copies) == 1:
                    yield from self._take_turns(meeting, turns, **moment)
                else:
                    held = (one._take_turns(meeting, turns, **moment) for one in copies)
                    yield from self.lab.together(*held)
        self.held += rounds
        if len(copies) > 1:
            self.ideas = tuple(idea for one in copies for idea in one.ideas)

    def _copy(self, place: int) -> Board:
        """The table of one of several meetings side by side."""
        made = copy(self)
        made.place = place
        return made

    def _take_turns(
        self, meeting: Meeting, turns: Sequence[Turn], *, number: int, final: bool, ends: bool
    ) -> Process[None]:
        """The questions of one round, one after another."""
        self.seat = self.place * sum(len(self.people(turn)) for turn in turns)
        for turn in turns:
            people = self.people(turn)
            seat = self.seat if turn.seat is None else turn.seat
            self.seat = max(self.seat, seat + len(people))
            slots = {"final": final, "ends": ends}
            if turn.asks == "seeds":
                yield from self._ask_for_seeds(meeting, number, seat)
            elif turn.order == "one_by_one":
                for place, who in enumerate(people):
                    yield from self._ask(turn, (who,), seat + place, len(people), **slots)
            else:
                yield from self._ask(turn, people, seat, 1, **slots)

    def people(self, turn: Turn) -> tuple[str, ...]:
        """Who is asked, once for each reply."""
        team = self.work.team
        named = {
            "leader": (team.leader,),
            "everybody": tuple(team.members),
            # Who is a member may have changed since.
            "authors": tuple(one for one in self.authors if one in team.members),
            "reviewers": self.reviewers,
            "chair": (self.chair,),
        }
        people = named.get(turn.who) or (self.holder(turn.who),)
        return people * int(self.number(turn.times))

    def holder(self, role: str) -> str:
        """The member who has a role now."""
        members, roles = self.work.team.members, self.card.roles
        if isinstance(roles, Mapping):
            return members[-1 if role == roles.get("last") else 0]
        return members[roles.index(role) % len(members)]

    def roles(self) -> tuple[tuple[str, str], ...]:
        """The members with their parts; where roles go round, one may have several."""
        members, roles = self.work.team.members, self.card.roles
        if not isinstance(roles, Mapping):
            return tuple((self.holder(role), role) for role in roles)
        # In a team of one or two nobody has the last part.
        last = len(members) - 1 if len(members) > 2 else None
        return tuple(
            (who, roles["leader" if n == 0 else "last" if n == last else "others"])
            for n, who in enumerate(members)
        )

    def part(self, turn: Turn, who: str) -> str:
        """The role in which somebody is asked; empty without roles."""
        if turn.who in self.card.role_names or not isinstance(self.card.roles, Mapping):
            return turn.who if turn.who in self.card.role_names else ""
        return dict(self.roles()).get(who, "")

    def _ask(
        self, turn: Turn, people: tuple[str, ...], seat: int, seats: int, **moment: bool
    ) -> Process[None]:
        """Ask some people side by side, and put what they reply on the table."""
        work, question = self.work, QUESTIONS[turn.asks]
        if turn.asks in ("verdict", "worked_out_idea") and self.earlier:
            query = self.lab.later(next_query, self.earlier[-1], self.idea)
            self.found += (work.search(query),)
        ideas = self._worked_on(turn, people)
        papers = [self._papers(turn, who, idea) for who, idea in zip(people, ideas, strict=True)] \
            if turn.papers in ("neighbours", "idea") else [self._papers(turn, "", None)] * len(people)
        shown = self._shown(turn, **moment)

        def pose(place: int, who: str) -> Answer[Any]:
            own: dict[str, Any] = {"references": papers[place], "part": self.part(turn, who)}
            if turn.ways:
                own["way"] = turn.ways[place % len(turn.ways)]
            if turn.asks == "better_idea":
                own["previous"] = ideas[place]
            if "others" in turn.shows:
                own["others"] = tuple(one for one in self.ideas if one is not ideas[place])
            if turn.asks == "step_review":
                own["criteria"] = self.criteria[place :: len(people)]
            slots = {**shown, **own, "seat": seat + place, "seats": seats}
            page = turn.page or question.page
            return work.pose(who, page, question.form, question.act, **slots)

        replies = yield from self.lab.ask_each(people, pose)
        if hasattr(question.form, "finished"):
            self.last = replies[-1]
        self._keep(turn, people, replies, ideas, papers)

    def _worked_on(self, turn: Turn, people: Sequence[str]) -> list[Answer[CandidateIdea] | None]:
        """The idea that each person works on: its own, or the one on the table."""
        if turn.who != "authors":
            return [self.idea] * len(people)
        own = dict(zip(self.authors, self.ideas, strict=True))
        return [own[who] for who in people]

    def _papers(self, turn: Turn, who: str, idea: Answer[CandidateIdea] | None) -> Any:
        """The papers that stand on a page."""
        work, system = self.work, self.system
        if getattr(system, "literature", "on") == "off" and turn.papers in ("topic", "idea"):
            return ()
        if turn.papers == "topic":
            return self._near_topic()
        if turn.papers == "idea":
            return work.search(idea)
        if turn.papers == "ideas":
            return self.lab.later(papers_of_ideas, *self.ideas)
        if turn.papers == "neighbours":
            return self._neighbours(who)
        if turn.papers == "found":
            return self.lab.later(join_papers, *self.found) if "searches" in turn.shows else self.papers
        return self.core if turn.papers == "core" else ()

    def _near_topic(self) -> Any:
        """The papers near the topic, as of the first question of a stage that shows them."""
        if "topic" not in self.cache:
            self.cache["topic"] = self.work.search(self.work.topic)
        return self.cache["topic"]

    def _neighbours(self, who: str) -> Any:
        """A member's own papers, and those near the topic and its interests."""
        work, library, own = self.work, self.lab.library, getattr(self.system, "own_papers", 0)
        papers = library.papers_by(who, work.topic, own) if own else ()
        interests = "; ".join(self.lab.people.profile(who).interests) or who
        near = library.search_diverse((work.topic, interests), self.system.references, diversity=0.0)
        joined = self.lab.later(join_papers, papers, near)
        work.found += (joined,)
        return joined

    def _find_core(self) -> None:
        """The core paper with the papers near it, and terms that stand in none of them."""
        lab, work = self.lab, self.work
        core = work.search(work.topic, 1)
        near = work.search(lab.later(text_of_core, core, work.topic))
        self.core = lab.later(core_first, core, near)
        store = lab.library.search(lab.later(text_of_core, core, work.topic), STORED)
        count = getattr(self.system, "entities", 0)
        self.entities = lab.later(partial(common_entities, count), self.core, store)

    def _shown(self, turn: Turn, **moment: bool) -> dict[str, Any]:
        """The slots of a page; what it does not show is empty."""
        shows, plan = turn.shows, turn.asks in ("step", "step_review")
        searches, judged = "searches" in shows, turn.asks in ("objection", "verdict")
        joint = turn.asks == "joint_idea" and self.ideas
        slots: dict[str, Any] = {
            **moment,
            "agenda": self.card.agenda,
            "roles": self.roles() if self.card.roles else (),
            "keys": self.keys,
            "way": "",
            "count": 0,
            "archive": self.archive if "archive" in shows else (),
            "summaries": self.notes if "notes" in shows else (),
            "notes": self.notes[-1].reply if "notes" in shows and self.notes else "",
            "said": self.said if "conversation" in shows else (),
            "feedback": self.remarks if "remarks" in shows else (),
            "others": self.ideas if joint else (),
            "previous": self.ideas[0] if joint else None,
            "searching": turn.asks == "worked_out_idea" and not moment["final"],
            "earlier": self.steps if plan else self.earlier if searches else (),
            "found": self.found if searches else (),
            "reviews": self.reviews if turn.asks == "decision" else (),
            "step": self.step,
            "entities": self.entities,
            "criteria": (),
            "idea": self.idea if judged else None,
            "text": None,
            "cited": (),
        }
        if turn.asks == "worked_out_idea":
            slots["previous"] = self.idea
        if turn.asks in ("review", "decision"):
            slots["text"] = self.idea
        if turn.asks == "review":
            slots["cited"] = self.lab.later(papers_of_ideas, self.idea)
        if turn.asks == "step":
            slots["previous"] = self.versions[-1] if self.versions else None
        if turn.asks == "step_review":
            slots["text"] = self.versions[-1]
        return slots

    def _keep(
        self,
        turn: Turn,
        people: tuple[str, ...],
        replies: list[Answer[Any]],
        ideas: list[Any],
        papers: list[Any],
    ) -> None:
        """Put replies on the table."""
        said = tuple(Utterance(who, one) for who, one in zip(people, replies, strict=True))
        notes = self.work.team.notes
        if turn.asks == "queries":
            count = self.system.references if turn.count is None else self.number(turn.count)
            self.papers = find_by_queries(self.work, replies[-1], count)
        elif turn.asks == "notes":
            self.notes = said
        elif turn.asks == "objection":
            self.remarks = said
        elif turn.asks == "verdict":
            self.earlier += tuple(replies)
        elif turn.asks == "review":
            self.reviews = said
            notes["review_score"] = self.lab.later(mean_of_reviews, *replies)
        elif turn.asks == "decision":
            notes["review_decision"] = self.lab.later(decision_of, replies[-1])
        elif turn.asks == "step":
            self.versions += tuple(replies)
        elif turn.asks == "step_review":
            self.remarks = said
            self.version_reviews += (tuple(replies),)
        elif turn.asks != "contribution":
            self._keep_ideas(turn, people, replies, ideas, papers)
            if self.talks:
                heard = [self.lab.later(without_ratings, one) for one in replies]
                said = tuple(Utterance(who, one) for who, one in zip(people, heard, strict=True))
        self.said += said

    def _keep_ideas(
        self,
        turn: Turn,
        people: tuple[str, ...],
        replies: list[Answer[Any]],
        ideas: list[Any],
        papers: list[Any],
    ) -> None:
        before = ideas
        if turn.asks == "joint_idea":
            before = list(self.ideas[:1]) or [None]
        made = [
            self.work.candidate(who, reply, near, () if old is None else old)
            for who, reply, near, old in zip(people, replies, papers, before, strict=True)
        ]
        if turn.asks == "worked_out_idea":
            self.earlier += tuple(replies)
        if turn.who == "authors":
            after = dict(zip(self.authors, self.ideas, strict=True)) | dict(
                zip(people, made, strict=True)
            )
            self.ideas = tuple(after.values())
        else:
            self.ideas, self.authors = tuple(made), people
        self.idea = self.ideas[0]

    def _ask_for_seeds(self, meeting: Meeting, number: int, seat: int) -> Process[None]:
        """One reply with several seed ideas; every second page shows some of the papers found."""
        system, lab, work = self.system, self.lab, self.work
        wanted, batch = self.number(meeting.seeds), self.number(meeting.batch)
        order = lab.rng("papers", number).permutation(2 * system.shown)
        drawn = partial(draw_papers, system.shown, tuple(map(int, order)))
        shown: Any = lab.later(drawn, self.papers)
        if not is_grounded(number - 1, system.grounded):
            shown = ()
        size = min(batch, wanted - batch * (number - 1))
        leader = work.team.leader
        said: Answer[Seeds] = yield from work.ask(
            leader, "seeds", Seeds, seat=seat, references=shown, archive=self.archive, count=size
        )
        new = [lab.later(partial(seed_at, place), said) for place in range(size)]
        self.archive += tuple(work.candidate(leader, one, shown) for one in new)
        self.ideas = self.archive


def next_query(reply: SearchedIdea | NoveltyVerdict, idea: CandidateIdea) -> str:
    """The query of one reply; the idea itself where it gives none."""
    own = reply.query_words if isinstance(reply, SearchedIdea) else reply.query
    return own.strip() or idea.query


def decision_of(review: ChairReview) -> str:
    """What the chair decides."""
    return review.decision


def draw_papers(
    count: int, order: tuple[int, ...], papers: tuple[Reference, ...]
) -> tuple[Reference, ...]:
    """Some of the nearest papers, by a drawn order of places; places without a paper fall out."""
    return tuple(papers[place] for place in order if place < len(papers))[:count]


def is_grounded(place: int, share: float) -> bool:
    """Is the page at a place shown papers? These pages are spread evenly over all."""
    return int((place + 1) * share) > int(place * share)


def seed_at(place: int, said: Seeds) -> Idea:
    """The seed at a place of a reply, as an idea whose ratings are the middle of the scale.

    Where the reply has fewer, its last one once more, which is then removed as a duplicate.
    """
    seed = said.seeds[min(place, len(said.seeds) - 1)]
    return Idea(
        title=seed.title,
        idea=seed.idea,
        experiment=seed.experiment,
        clarity=5.0,
        feasibility=5.0,
        novelty=5.0,
    )


STORED = 50
"""Papers nearest to the core paper whose keywords make the store of terms."""


def best_version(
    versions: tuple[PlanStep, ...], reviews: tuple[tuple[StepReview, ...], ...]
) -> PlanStep:
    """The version with the highest mean score; of equal ones, and without scores, the latest.

    Args:
        versions: in the order of writing, at least one.
    """
    means = [
        fmean(scores) if (scores := [s for one in said for s in one.scores.values()]) else 0.0
        for said in reviews
    ] or [0.0] * len(versions)
    return versions[max(range(len(versions)), key=lambda place: (means[place], place))]


def text_of_core(core: tuple[Reference, ...], topic: Any) -> str:
    """Title and abstract of the core paper; the topic where nothing has been published yet."""
    return f"{core[0].title}. {core[0].abstract}" if core else str(topic.words())


def core_first(core: tuple[Reference, ...], near: tuple[Reference, ...]) -> tuple[Reference, ...]:
    """The core paper, then its neighbours, each paper once."""
    ids = [paper.id for paper in core]
    return (*core, *(paper for paper in near if paper.id not in ids))


def common_entities(
    count: int, shown: tuple[Reference, ...], stored: tuple[Reference, ...]
) -> tuple[str, ...]:
    """The most frequent keywords of the stored papers that no shown paper has.

    Args:
        count: terms that are returned at most.
    """
    known = {word.casefold() for paper in shown for word in paper.keywords}
    counts = Counter(word for paper in stored for word in paper.keywords)
    left = [word for word, _ in counts.most_common() if word.casefold() not in known]
    return tuple(left[:count])
