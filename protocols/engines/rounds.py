"""The engine of rounds: what a team has on the table while it works by a card."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from copy import copy
from functools import partial
from math import ceil
from operator import attrgetter
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from virsci_society.agents.prompts.slots import Utterance
from virsci_society.protocols.engines.card import QUESTIONS, CardMeeting, CardTurn, Stage
from virsci_society.protocols.engines.research_system import TeamWork, unrated_idea
from virsci_society.protocols.ideas import CandidateIdea, Idea, confidence, without_ratings

if TYPE_CHECKING:
    from virsci_society.agents.arrays import FloatArray, VectorArray
    from virsci_society.agents.prompts.slots import Reference
    from virsci_society.protocols.engines.forms import (
        NoveltyVerdict,
        PaperReview,
        PlanStep,
        SearchedIdea,
        SearchQueries,
        Seeds,
        StepReview,
    )
    from virsci_society.society.kernel.answer import Answer
    from virsci_society.society.kernel.durations import Process

MOST_QUERIES = 5
"""Most queries of one reply that are searched."""
MOST_PAPERS = 12
"""Papers of several ideas that are shown."""
STORED = 50
"""Papers nearest to the core paper whose keywords make the store of terms."""
SEARCHING = ("verdict", "worked_out_idea")
"""Questions whose replies can request a search before the next round."""
REWORKED = ("better_idea", "joint_idea", "worked_out_idea")
"""Questions whose pages show the idea before."""


class Board:
    """What a team has on the table while it works by a card."""

    def __init__(self, system: Any, work: TeamWork) -> None:
        self.system, self.card, self.work, self.lab = system, system.card, work, work.lab
        self.ideas: tuple[Answer[CandidateIdea], ...] = ()
        self.authors: tuple[str, ...] = ()
        self.idea: Answer[CandidateIdea] | None = None
        # Ideas of the earlier visits of a stage that is repeated, or all seeds.
        self.archive: tuple[Answer[CandidateIdea], ...] = ()
        self.said: tuple[Utterance, ...] = ()
        self.notes: tuple[Utterance, ...] = ()
        # The last words on the idea or step, for those who make it better.
        self.remarks: tuple[Utterance, ...] = ()
        self.replies: dict[str, list[tuple[Answer[Any], ...]]] = defaultdict(list)
        # The last reply on each idea, or the best version of each step, of the stages so far.
        self.closed: tuple[Answer[Any], ...] = ()
        self.outside: tuple[str, ...] = ()
        self.papers: dict[str, Any] = {}
        self.searches: tuple[Any, ...] = ()
        self.step = ""
        self.criteria: tuple[str, ...] = ()
        self.last: Answer[Any] | None = None
        self.place = 0

    def number(self, value: Any) -> Any:
        """A number of the card, or the value of the key that it names."""
        return getattr(self.system, value) if isinstance(value, str) else value

    def hold_stage(self, stage: Stage) -> Process[None]:
        """Hold the meetings of one stage ``repeat`` times, for each idea, or for each step."""
        lab = self.lab
        if stage.skip_one and len(self.ideas) == 1:
            return
        if any(turn.papers == "core" for turn in stage.turns):
            self._find_core()
        if stage.reviewers:
            yield from self.work.call_meeting()
            chair = any(turn.who == "chair" for turn in stage.turns)
            self.outside = choose_reviewers(self.work, self.number(stage.reviewers) + chair)
        if stage.each == "idea":
            for idea in self.ideas:
                self.idea = idea
                yield from lab.stage(stage.name, self._hold_meetings(stage))
                self.closed += () if self.last is None else (self.last,)
        elif stage.each == "step":
            for self.step, self.criteria in stage.steps.items():
                self.remarks = ()
                yield from lab.stage(stage.name, self._hold_meetings(stage))
                versions = tuple(reply for (reply,) in self.replies["step"])
                reviews = tuple(self.replies["step_review"])
                self.closed += (lab.later(best_version, versions, reviews),)
        else:
            # One after another: each idea is to be unlike those in the archive by then.
            for _ in range(self.number(stage.repeat)):
                self.idea = self.idea if stage.repeat == 1 else None
                yield from lab.stage(stage.name, self._hold_meetings(stage))
                self.archive += () if stage.repeat == 1 else self.ideas
            self.ideas = self.archive or self.ideas

    def _hold_meetings(self, stage: Stage) -> Process[None]:
        """The meetings of one visit of a stage, in sequence."""
        self.papers.pop("topic", None)
        before = 0
        for meeting in stage.meetings:
            rounds = self.number(meeting.rounds) + bool(meeting.opening) + bool(meeting.closing)
            if meeting.seeds is not None:
                rounds = ceil(self.number(meeting.seeds) / self.number(meeting.batch))
            yield from self._hold_meeting(meeting, rounds, before)
            before += rounds

    def _hold_meeting(self, meeting: CardMeeting, rounds: int, before: int) -> Process[None]:
        """The rounds of one meeting, or of several parallel meetings."""
        early = self.number(meeting.ends_early) in (True, "on")
        self.said, self.searches, self.last = (), (), None
        self.replies.clear()
        boards = [self]
        if meeting.parallel != 1:
            self._near_topic()  # once, so that all of them are shown the same papers
            boards = [copy(self) for _ in range(self.number(meeting.parallel))]
            for index, board in enumerate(boards):
                board.place = index
        for number in range(1, rounds + 1):
            yield from self.work.call_meeting()
            # On the date of the next round, which is skipped if the last one was sufficient.
            if early and self.last is not None and self.last.read().finished:
                break
            name = meeting.name.replace("STEP", self.step)
            with (yield from self.work.convene(name, number, rounds, before=before)):
                slots = {"ends": early and number < rounds, "final": number == rounds}
                held = [board._hold_round(meeting, number, rounds, slots) for board in boards]
                if len(held) == 1:
                    yield from held[0]
                else:
                    yield from self.lab.together(*held)
        self.ideas = tuple(idea for board in boards for idea in board.ideas)

    def _hold_round(
        self, meeting: CardMeeting, number: int, rounds: int, slots: dict[str, Any]
    ) -> Process[None]:
        """The questions of one round, in sequence."""
        turns = meeting.turns_of(number, rounds)
        seat = self.place * sum(len(self._people(turn)) for turn in turns)
        for turn in turns:
            people = self._people(turn)
            first = seat if turn.seat is None else turn.seat
            seat = max(seat, first + len(people))
            if turn.asks == "seeds":
                yield from self._ask_for_seeds(meeting, number, first)
            elif turn.order == "one_by_one":
                for place, who in enumerate(people):
                    own = {"seats": len(people), **slots}
                    yield from self._ask(turn, meeting, (who,), first + place, own)
            else:
                yield from self._ask(turn, meeting, people, first, slots)

    def _people(self, turn: CardTurn) -> tuple[str, ...]:
        """Who is asked, once for each reply."""
        team = self.work.team
        people: tuple[str, ...] = (team.leader,)
        if turn.who == "everybody":
            people = tuple(team.members)
        elif turn.who == "authors":
            # Who is a member may have changed since.
            people = tuple(author for author in self.authors if author in team.members)
        elif turn.who == "chair":
            # The member who is farthest from the topic.
            people = self.outside[-1:]
        elif turn.who == "reviewers":
            chaired = any(part.who == "chair" for stage in self.card.stages for part in stage.turns)
            people = (self.outside[:-1] if chaired else ()) or self.outside
        elif turn.who != "leader" and isinstance(self.card.roles, Mapping):
            people = (team.members[-1 if turn.who == self.card.roles.get("last") else 0],)
        elif turn.who != "leader":
            people = tuple(who for who, role in self._roles() if role == turn.who)
        return people * int(self.number(turn.times))

    def _roles(self) -> tuple[tuple[str, str], ...]:
        """The members with their roles; where these go round, one may have several."""
        members, roles = self.work.team.members, self.card.roles
        if not isinstance(roles, Mapping):
            return tuple((members[at % len(members)], role) for at, role in enumerate(roles))
        # In a team of one or two nobody has the last role.
        places = ["leader"] + ["others"] * (len(members) - 1)
        if len(members) > 2:
            places[-1] = "last"
        return tuple((who, roles[at]) for who, at in zip(members, places, strict=True))

    def _ask(
        self,
        turn: CardTurn,
        meeting: CardMeeting,
        people: tuple[str, ...],
        seat: int,
        slots: dict[str, Any],
    ) -> Process[None]:
        """Ask some people side by side, and put what they reply on the table."""
        work, lab, question = self.work, self.lab, QUESTIONS[turn.asks]
        if turn.asks in SEARCHING and self.replies[turn.asks]:
            query = lab.later(next_query, self.replies[turn.asks][-1][0], self.idea)
            self.searches += (work.search(query),)
        theirs = dict(zip(self.authors, self.ideas, strict=True)) if turn.who == "authors" else {}
        ideas: list[Any] = [theirs.get(who, self.idea) for who in people]
        if turn.asks == "joint_idea":
            ideas = [*self.ideas[:1]] or [None]
        papers = [self._papers(turn, who, idea) for who, idea in zip(people, ideas, strict=True)]
        shown = self._slots(turn) | slots

        own: list[dict[str, Any]] = []
        for index, who in enumerate(people):
            role = turn.who if turn.who in self.card.role_names else ""
            if not role and isinstance(self.card.roles, Mapping):
                role = dict(self._roles()).get(who, "")
            mine = {"part": role, "references": papers[index]}
            if turn.ways:
                mine["way"] = turn.ways[index % len(turn.ways)]
            if turn.asks in REWORKED:
                mine["previous"] = ideas[index]
            if "others" in turn.shows:
                mine["others"] = tuple(item for item in self.ideas if item is not ideas[index])
            if turn.asks == "worked_out_idea":
                mine["searching"] = not slots["final"]
            if turn.asks == "step_review":
                # The reviewers share the criteria, so that each is scored once.
                mine["criteria"] = self.criteria[index :: len(people)]
            own.append(shown | mine)
        page = turn.page or question.page
        replies: list[Answer[Any]] = yield from work.ask_each(
            people, page, question.form, question.act, own, seat
        )
        if hasattr(question.form, "finished"):
            self.last = replies[-1]
        self._keep(turn, people, replies)
        is_idea = issubclass(question.form, Idea)
        if any("conversation" in item.shows for item in meeting.all_turns):
            heard = [lab.later(without_ratings, item) if is_idea else item for item in replies]
            self.said += tuple(map(Utterance, people, heard))
        if not is_idea:
            return
        made = [
            work.candidate(who, reply, near, () if old is None else old)
            for who, reply, near, old in zip(people, replies, papers, ideas, strict=True)
        ]
        if turn.who == "authors":
            self.ideas = tuple((theirs | dict(zip(people, made, strict=True))).values())
        else:
            self.ideas, self.authors = tuple(made), people
        self.idea = self.ideas[0]

    def _slots(self, turn: CardTurn) -> dict[str, Any]:
        """The slots of a prompt; unused slots are empty."""
        shows, asks = turn.shows, turn.asks
        versions = self.replies["step"]
        earlier = self.closed if asks in ("step", "step_review") else ()
        if asks in SEARCHING:
            earlier = tuple(reply for (reply,) in self.replies[asks])
        reviews = self.replies["review"][-1] if asks == "decision" else ()
        text = versions[-1][0] if asks == "step_review" else None
        text = self.idea if asks in ("review", "decision") else text
        return {
            "agenda": self.card.agenda,
            "archive": self.archive if "archive" in shows else (),
            "cited": self.lab.later(papers_of_ideas, self.idea) if asks == "review" else (),
            "count": 0,
            "criteria": (),
            "earlier": earlier,
            "entities": self.papers.get("entities", ()),
            "feedback": self.remarks if "remarks" in shows else (),
            "found": self.searches,
            "idea": self.idea if asks in ("objection", "verdict") else None,
            "keys": {name: getattr(self.system, name) for name in self.card.keys},
            "notes": self.notes[-1].reply if "notes" in shows and self.notes else "",
            "others": self.ideas if asks == "joint_idea" else (),
            "previous": versions[-1][0] if asks == "step" and versions else None,
            "reviews": tuple(map(Utterance, self.outside, reviews)),
            "roles": self._roles() if self.card.roles else (),
            "said": self.said if "conversation" in shows else (),
            "searching": False,
            "step": self.step,
            "summaries": self.notes if "notes" in shows else (),
            "text": text,
            "way": "",
        }

    def _papers(self, turn: CardTurn, who: str, idea: Answer[CandidateIdea] | None) -> Any:
        """The papers of a prompt."""
        lab, system, which = self.lab, self.system, turn.papers
        if which in ("topic", "idea") and getattr(system, "literature", "on") == "off":
            return ()
        if which == "topic":
            return self._near_topic()
        if which == "idea":
            return self.work.search(idea)
        if which == "ideas":
            return lab.later(papers_of_ideas, *self.ideas)
        if which == "searches":
            return lab.later(join_papers, *self.searches)
        if which != "neighbours":
            return self.papers[which] if which != "none" else ()
        # A member's own papers, and those near the topic and its interests.
        topic, own = self.work.topic, getattr(system, "own_papers", 0)
        papers = lab.library.papers_by(who, topic, own) if own else ()
        interests = "; ".join(lab.people.profile(who).interests) or who
        near = lab.library.search_diverse((topic, interests), system.references, diversity=0.0)
        joined = lab.later(join_papers, papers, near)
        self.work.found += (joined,)
        return joined

    def _near_topic(self) -> Any:
        """The papers near the topic, as of the first question of a stage that shows them."""
        if "topic" not in self.papers:
            self.papers["topic"] = self.work.search(self.work.topic)
        return self.papers["topic"]

    def _find_core(self) -> None:
        """The core paper with the papers near it, and terms that occur in none of them."""
        lab, work = self.lab, self.work
        core = work.search(work.topic, 1)
        near = work.search(lab.later(text_of_core, core, work.topic))
        self.papers["core"] = lab.later(join_papers, core, near)
        store = lab.library.search(lab.later(text_of_core, core, work.topic), STORED)
        common = partial(common_entities, self.system.entities)
        self.papers["entities"] = lab.later(common, self.papers["core"], store)

    def _keep(self, turn: CardTurn, people: Sequence[str], replies: list[Answer[Any]]) -> None:
        """Put replies on the table."""
        lab, said, notes = self.lab, tuple(map(Utterance, people, replies)), self.work.team.notes
        self.replies[turn.asks].append(tuple(replies))
        if turn.asks == "queries":
            count = self.system.references if turn.count is None else self.number(turn.count)
            queries = [
                lab.later(partial(query_at, index), replies[-1], self.work.topic)
                for index in range(MOST_QUERIES)
            ]
            searches = tuple(lab.library.search(query, count) for query in queries)
            self.papers["found"] = lab.later(partial(merge_searches, count), *searches)
            self.work.found += (self.papers["found"],)
        elif turn.asks == "notes":
            self.notes = said
        elif turn.asks in ("objection", "step_review"):
            self.remarks = said
        elif turn.asks == "review":
            notes["review_score"] = lab.later(mean_of_reviews, *replies)
        elif turn.asks == "decision":
            notes["review_decision"] = lab.later(attrgetter("decision"), replies[-1])

    def _ask_for_seeds(self, meeting: CardMeeting, number: int, seat: int) -> Process[None]:
        """One reply with several seed ideas; every second page shows some of the papers found."""
        lab, work, shown = self.lab, self.work, self.system.shown
        order = lab.rng("papers", number).permutation(2 * shown)
        papers: Any = ()
        if is_grounded(number - 1, self.system.grounded):
            draw = partial(draw_papers, shown, tuple(map(int, order)))
            papers = lab.later(draw, self.papers["found"])
        batch = self.number(meeting.batch)
        size = min(batch, self.number(meeting.seeds) - batch * (number - 1))
        slots = {"references": papers, "archive": self.archive, "count": size}
        said = yield from work.ask(
            work.team.leader, "seeds", QUESTIONS["seeds"].form, seat=seat, **slots
        )
        new = [lab.later(partial(seed_at, index), said) for index in range(size)]
        self.archive += tuple(work.candidate(work.team.leader, idea, papers) for idea in new)

    def chosen_idea(self) -> Answer[CandidateIdea]:
        """The idea that the card chooses of those on the table."""
        lab, ideas, choose = self.lab, self.ideas, self.card.choose
        if choose == "novel":
            return lab.later(best_novel, self.closed, ideas)
        if choose == "plan":
            join = partial(join_steps, self.work.team.leader)
            return lab.later(join, self.papers["core"], *self.closed)
        if choose == "most_frequent":
            vectors = tuple(lab.library.embed(idea) for idea in ideas)
            return lab.later(partial(most_frequent, self.system.similarity), vectors, ideas)
        return ideas[-1]


def choose_reviewers(work: TeamWork, count: int) -> tuple[str, ...]:
    """The scientists outside the team nearest to its topic; without any, the members."""
    # The topic is read here, so this is called between two meetings.
    members = tuple(work.team.members)
    near = work.lab.library.people(work.topic, count, without=members).read()
    return tuple(profile.id for profile in near) or members[-count:]


def next_query(reply: SearchedIdea | NoveltyVerdict, idea: CandidateIdea) -> str:
    """The query of one reply; the idea itself where it gives none."""
    return str(getattr(reply, "query_words", reply.query)).strip() or idea.query


def query_at(place: int, asked: SearchQueries, topic: Any) -> str:
    """The query at a place, from 0; the topic where there are fewer, so that none is empty."""
    queries = [query for query in asked.queries if query.strip()]
    return queries[place] if place < len(queries) else str(topic.words())


def merge_searches(count: int, *searches: tuple[Reference, ...]) -> tuple[Reference, ...]:
    """The results of several searches as one list: the first of each, then the second of each."""
    deepest = max((len(papers) for papers in searches), default=0)
    rows = [papers[rank] for rank in range(deepest) for papers in searches if rank < len(papers)]
    return join_papers(rows)[:count]


def join_papers(*lists: Sequence[Reference]) -> tuple[Reference, ...]:
    """Several lists of papers as one, each paper once, in the order of the lists."""
    papers_by_id: dict[str, Reference] = {}
    for paper in (paper for papers in lists for paper in papers):
        # The first of duplicate papers is kept: its key is in the prompt.
        papers_by_id.setdefault(paper.id, paper)
    return tuple(papers_by_id.values())


def papers_of_ideas(*ideas: CandidateIdea) -> tuple[Reference, ...]:
    """The papers that several ideas build on or are near to, in turn."""
    return merge_searches(MOST_PAPERS, *((*idea.builds_on, *idea.references) for idea in ideas))


def mean_of_reviews(*reviews: PaperReview) -> float | None:
    """The mean score, 1 to 10, rounded to two decimals; None where no review could be read."""
    scores = [review.score for review in reviews if review.score]
    return round(sum(scores) / len(scores), 2) if scores else None


def draw_papers(
    count: int, order: tuple[int, ...], papers: tuple[Reference, ...]
) -> tuple[Reference, ...]:
    """Some of the nearest papers, by a drawn order of places; places without a paper fall out."""
    return tuple(papers[index] for index in order if index < len(papers))[:count]


def is_grounded(place: int, share: float) -> bool:
    """Is the page at a place shown papers? These pages are spread evenly over all."""
    return int((place + 1) * share) > int(place * share)


def seed_at(place: int, said: Seeds) -> Idea:
    """The seed at a place of a reply as an idea; the last one once more where there are fewer."""
    seed = said.seeds[min(place, len(said.seeds) - 1)]
    return unrated_idea(title=seed.title, idea=seed.idea, experiment=seed.experiment)


def best_version(
    versions: tuple[PlanStep, ...], reviews: tuple[tuple[StepReview, ...], ...]
) -> PlanStep:
    """The version with the highest mean score; of equal ones, and without scores, the latest."""
    means = [0.0] * len(versions)
    for index, said in enumerate(reviews):
        scores = [score for review in said for score in review.scores.values()]
        means[index] = fmean(scores) if scores else 0.0
    return versions[max(range(len(versions)), key=lambda index: (means[index], index))]


def text_of_core(core: tuple[Reference, ...], topic: Any) -> str:
    """Title and abstract of the core paper; the topic where nothing has been published yet."""
    return f"{core[0].title}. {core[0].abstract}" if core else str(topic.words())


def common_entities(
    count: int, shown: tuple[Reference, ...], stored: tuple[Reference, ...]
) -> tuple[str, ...]:
    """The ``count`` most frequent keywords of stored papers that no shown paper has."""
    keywords = {word.casefold() for paper in shown for word in paper.keywords}
    counts = Counter(word for paper in stored for word in paper.keywords)
    left = [word for word, _ in counts.most_common() if word.casefold() not in keywords]
    return tuple(left[:count])


def best_novel(
    verdicts: tuple[NoveltyVerdict, ...], ideas: tuple[CandidateIdea, ...]
) -> CandidateIdea:
    """The idea with the highest self-ratings among ideas judged novel, or else among all."""
    pairs = zip(verdicts, ideas, strict=True)
    novel = [idea for verdict, idea in pairs if verdict.decision == "novel"]
    return max(novel or ideas, key=lambda idea: confidence(idea, (1.0, 1.0, 1.0)))


def most_frequent(
    threshold: float, vectors: tuple[VectorArray, ...], ideas: tuple[CandidateIdea, ...]
) -> CandidateIdea:
    """The idea with most similar ideas; ties go to the nearest to all, then the earliest."""
    units = [unit_vector(vector) for vector in vectors]
    # Rounded, so that the last digits of a sum on another machine decide nothing.
    cosines = [[round(float(unit @ other), 9) for other in units] for unit in units]
    alike = [sum(cosine >= threshold for cosine in row) for row in cosines]
    nearness = [round(sum(row), 6) for row in cosines]
    return ideas[max(range(len(ideas)), key=lambda at: (alike[at], nearness[at], -at))]


def join_steps(author: str, papers: tuple[Reference, ...], *steps: PlanStep) -> CandidateIdea:
    """Problem, method and experiment as one idea, which builds on the core paper."""
    problem, method, experiment = steps
    idea = unrated_idea(
        reason=problem.reason,
        title=method.title,
        idea=f"{problem.text} {method.text}",
        experiment=experiment.text,
    )
    return CandidateIdea(
        idea,
        author,
        references=papers[1:],
        used=tuple(paper.id for paper in papers[:1]),
        retrieved=tuple(paper.id for paper in papers),
        builds_on=papers[:1],
    )


def unit_vector(vector: VectorArray | FloatArray) -> FloatArray:
    """A vector of length 1, in double precision; the zero vector stays as it is."""
    wide: FloatArray = np.asarray(vector, dtype=np.float64).ravel()
    length = float(np.sqrt(wide @ wide))
    return wide / length if length else wide
