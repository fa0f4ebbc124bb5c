"""The base of research systems: topic, literature, team, and a last call that writes the paper."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias, TypeVar

from pydantic import Field, field_validator, model_validator

from virsci_society.agents.config import Switch
from virsci_society.agents.prompts.prompt import Prompts
from virsci_society.agents.prompts.slots import TurnPosition, paper_key
from virsci_society.agents.spelling import did_you_mean
from virsci_society.protocols.collaborator_selection import (
    Invitations,
    TeamBuilding,
    select_collaborators,
)
from virsci_society.protocols.engines.forms import Proposal
from virsci_society.protocols.forms import Draft, Topic
from virsci_society.protocols.given_topics import GivenTopic
from virsci_society.protocols.ideas import (
    CandidateIdea,
    Idea,
    idea_text,
    make_candidate,
    retrieved_references,
)
from virsci_society.protocols.team_assembly import TeamMembers
from virsci_society.protocols.team_sizes import TeamSize
from virsci_society.protocols.virsci.settings import apply_profile
from virsci_society.protocols.virsci.team_memory import PROMPTS as VIRSCI_PROMPTS
from virsci_society.society.kernel.answer import Answer
from virsci_society.society.teams.contracts import Manuscript, TeamProtocol

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from virsci_society.agents.prompts.slots import Reference
    from virsci_society.agents.replies.form import Form
    from virsci_society.society.kernel.durations import Process
    from virsci_society.society.teams.lab import Lab
    from virsci_society.society.teams.team import Team


FormT = TypeVar("FormT", bound="Form")
IdeaT = TypeVar("IdeaT", bound="Idea")
FoundPapers: TypeAlias = "Answer[tuple[Reference, ...]]"
"""Papers found by one search, unread."""

PAGES = Prompts(Path(__file__).with_name("prompts"), VIRSCI_PROMPTS)
"""The prompts that several systems share. Pages that are not there are VirSci's: the invitation,
the draft, the ballot, the summary."""
Temperature = Annotated[float, Field(ge=0, le=2)]
COMPARABLE = {"neighbour_query": "idea", "output": "abstract"}
"""What makes the papers of different systems comparable, in the profile ``matched``."""
STAGES = frozenset({"topic", "ideas", "novelty", "abstract"})


class ResearchSystem(TeamProtocol):
    """A scientist or team that develops a topic into an idea and a paper.

    Most systems are cards (``protocols/engines/card.py``). Otherwise subclass it,
    set ``system``, and write ``find_idea``. Pages in a folder ``prompts`` beside the module of the
    subclass lie over the shared ones.

    Example:
        >>> class FirstThought(vs.ResearchSystem):
        ...     system = "first_thought"
        ...     published = {"references": 10}
        ...     def find_idea(self, work):
        ...         return (yield from work.lab.stage("ideas", self.think(work)))
        ...     def think(self, work):
        ...         with (yield from work.hold_round("first thought")):
        ...             (idea,) = yield from work.propose([work.team.leader])
        ...         return idea
        >>> FirstThought(profile="published").references, FirstThought().name
        (10, 'first_thought')
    """

    system: ClassVar[str] = ""
    """The name in tables; empty: the name of the class."""
    pages: ClassVar[Prompts] = PAGES
    published: ClassVar[Mapping[str, Any]] = {}
    """Keys that differ in the published program, with its values."""
    matched: ClassVar[Mapping[str, Any]] = {}
    """Keys by which the system ends early, switched off, and what makes its text comparable."""

    profile: Literal["small", "published", "matched"] = "small"
    """``published``: unset keys take the published program's numbers; ``matched``: no early end and
    comparable texts, for equal-cost studies."""
    profiles: Switch = "on"
    """Prompts describe the person asked; ``off``: by name only, as in the published programs."""
    temperatures: Temperature | dict[str, Temperature] | None = None
    """Temperature of the replies, or by prompt name; null: ``backend.temperature``, which the last
    step always uses."""
    topic: Literal["free"] | GivenTopic = "free"
    """``free``: the leader proposes a topic; a section gives one, or a start. Source: VirSci,
    appendix C.3."""
    references: int = Field(default=8, ge=1, le=100)
    """Papers per search. Unit: papers."""
    sentences: int | None = Field(default=2, ge=1, le=1000)
    """Sentences shown of an abstract, from its main statement on; null: all. Unit: sentences."""
    memory: Literal["off", "own"] = "off"
    """``own``: up to five lines from the scientist's other teams."""
    output: Literal["abstract", "proposal"] = "abstract"
    """The paper: an abstract as in VirSci, or a proposal in five parts."""
    cites: Literal["used", "retrieved"] = "used"
    """References of an abstract: papers its idea says it uses, or all retrieved."""
    neighbour_query: Literal["abstract", "idea"] = "abstract"
    """Text by which searches find an abstract: title and abstract, or its idea. Source: VirSci,
    appendix C.3."""

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        folder = Path(getattr(sys.modules[cls.__module__], "__file__", None) or ".").parent
        if "pages" not in cls.__dict__ and (folder / "prompts").is_dir():
            cls.pages = Prompts(folder / "prompts", PAGES)

    @model_validator(mode="before")
    @classmethod
    def _fill_from_profile(cls, given: Any) -> Any:
        profiles = {"published": cls.published, "matched": {**COMPARABLE, **cls.matched}}
        return apply_profile(given, profiles) if isinstance(given, Mapping) else given

    @field_validator("temperatures")
    @classmethod
    def _of_pages(cls, value: Any) -> Any:
        known = [page.name for page in cls.pages]
        for name in value if isinstance(value, Mapping) else ():
            if name not in known:
                raise ValueError(f"no prompt is called {name!r}{did_you_mean(name, known)}")
        return value

    @property
    def implied(self) -> frozenset[str]:
        """Keys whose values follow from the profile."""
        bare = type(self)(profile=self.profile)
        keys = (*self.published, *COMPARABLE, *self.matched)
        return frozenset(key for key in keys if getattr(self, key) == getattr(bare, key))

    @property
    def name(self) -> str:
        """The name in the tables."""
        return self.system or super().name

    @property
    def stages(self) -> frozenset[str]:
        """The stages whose meetings leave homework."""
        return STAGES

    def run(self, team: Team, lab: Lab) -> Process[Manuscript]:
        """Gather the team, settle the topic, find the idea, write the paper."""
        work = TeamWork(team, lab, self)
        yield from self.gather(work)
        yield from self.settle_topic(work)
        idea = team.notes["idea"] = yield from self.find_idea(work)
        return (yield from self.write_paper(work, idea))

    def gather(self, work: TeamWork) -> Process[None]:
        """Bring the members together; a solitary scientist is complete at once."""
        work.team.formed = work.lab.now
        yield from ()

    def settle_topic(self, work: TeamWork) -> Process[None]:
        """Take the given topic, or let the leader propose one."""
        given = self.topic if isinstance(self.topic, GivenTopic) else None
        topic = None if given is None else given.topic_for(work.team, work.lab)
        if topic is not None:
            work.topic = Topic(topic=topic)
        else:
            start = "" if given is None else given.start or ""
            yield from work.lab.stage("topic", self._propose_topic(work, start))
        work.team.notes["topic"] = work.topic

    def _propose_topic(self, work: TeamWork, start: str) -> Process[None]:
        leader, people = work.team.leader, work.lab.people
        with (yield from work.hold_round("choice of a topic")):
            near = work.search(start or "; ".join(people.profile(leader).interests) or leader)
            slots = {"topic": start, "start": start, "members": people.members, "references": near}
            work.topic = yield from work.ask(
                leader, "topic", Topic, "decide", summaries=(), said=(), **slots
            )

    def find_idea(self, work: TeamWork) -> Process[Answer[CandidateIdea]]:
        """Develop the topic of ``work`` into an idea, without reading it."""
        raise NotImplementedError(f"{type(self).__name__} finds no idea; write find_idea")

    def write_paper(self, work: TeamWork, idea: Answer[CandidateIdea]) -> Process[Manuscript]:
        """Let the leader write the abstract or proposal of the idea."""
        text = work.text
        if text is None:
            text = yield from work.lab.stage("abstract", self._write_text(work, idea))
        lab = work.lab
        if self.output == "proposal":
            checked = lab.later(check_references, text, *work.found)
            work.team.notes["references_removed"] = lab.later(attrgetter("removed"), checked)
            return Manuscript(text=checked, cites=lab.later(attrgetter("cites"), checked))
        cites: Any = attrgetter("used") if self.cites == "used" else retrieved_references
        neighbour_query = lab.later(idea_text, idea) if self.neighbour_query == "idea" else None
        return Manuscript(text=text, cites=lab.later(cites, idea), neighbour_query=neighbour_query)

    def _write_text(self, work: TeamWork, idea: Answer[CandidateIdea]) -> Process[Answer[Any]]:
        with (yield from work.hold_round(self.output)):
            (text,) = yield from self.write_texts(work, [idea])
        return text

    def write_texts(
        self, work: TeamWork, ideas: Sequence[Answer[CandidateIdea]]
    ) -> Process[list[Answer[Any]]]:
        """Ask the leader for the abstracts, or the proposals, of some ideas, side by side."""
        leader = work.team.leader

        def submit(seat: int, _: str) -> Answer[Any]:
            slots: dict[str, Any] = {"idea": ideas[seat], "seat": seat}
            if self.output == "proposal":
                slots |= {"said": (), "references": work.search(ideas[seat]), "standing": ""}
                return work.submit(leader, "proposal", Proposal, **slots)
            slots |= dict.fromkeys(("critique", "advice", "tried", "knowledge", "outsiders"), ())
            return work.submit(leader, "draft", Draft, reasons=True, ratings=False, **slots)

        return work.lab.ask_each([leader] * len(ideas), submit)


class TeamSystem(Invitations, TeamMembers, ResearchSystem):
    """A research system of several scientists, gathered as a VirSci team is."""

    team_size: TeamSize | Annotated[int, Field(ge=1, le=10_000)] = 3
    """Members, the leader included: a number or a distribution. Unit: members. Source: Chen et al.
    2025."""
    inviting: Literal["one_by_one", "at_once"] = "at_once"
    """Invite one at a time, or for all empty seats at once."""

    def gather(self, work: TeamWork) -> Process[None]:
        """Invite until the team is complete."""
        building = TeamBuilding(
            team_size=self.team_size,
            min_size=self.min_size,
            # Who fits depends on who has joined, so a composed team is asked one by one.
            inviting=self.inviting if self.policy is self.selection else "one_by_one",
            max_invitations=self.max_invitations,
            selection=self.policy,
        )
        selection = select_collaborators(work.team, work.lab, building, work.pages)
        yield from work.lab.stage("selection", selection)


class TeamWork:
    """One team at work; made by ``ResearchSystem.run`` and handed to its stages."""

    def __init__(self, team: Team, lab: Lab, system: ResearchSystem) -> None:
        self.team, self.lab, self.system, self.pages = team, lab, system, system.pages
        self.topic: Answer[Topic] | Topic | None = None
        self.found: tuple[FoundPapers, ...] = ()
        self.text: Answer[Any] | None = None
        self._stage, self._round, self._rounds = "", 0, 0

    def search(self, query: Any, count: int | None = None) -> FoundPapers:
        """Find the papers nearest to a text or an Answer as of now; they count as retrieved."""
        papers = self.lab.library.search(query, count or self.system.references)
        self.found += (papers,)
        return papers

    def call_meeting(self) -> Process[None]:
        """Do the homework, then wait for the date of the next meeting; on it Answers are read."""
        yield from self.lab.prepare()
        yield from self.lab.notice()

    def convene(
        self, stage: str, number: int = 1, rounds: int = 1, *, before: int = 0
    ) -> Process[AbstractContextManager[object]]:
        """Hold the meeting that was called, which is one round, until its ``with`` block ends."""
        # Closed here if the wait for its members ends the team; otherwise handed over open.
        with ExitStack() as meeting:
            yield meeting.enter_context(self.lab.convene(before + number))
            self._stage, self._round, self._rounds = stage, number, rounds
            return meeting.pop_all()

    def hold_round(
        self, stage: str, number: int = 1, rounds: int = 1
    ) -> Process[AbstractContextManager[object]]:
        """Call a meeting and hold it: ``with (yield from work.hold_round("vote")):``."""
        yield from self.call_meeting()
        return (yield from self.convene(stage, number, rounds))

    def ask(self, who: str, page: str, form: type[FormT], *act: str, **slots: Any) -> Process[Any]:
        """Ask one scientist a question and wait for the simulated time that its answer takes."""
        (answer,) = yield from self.lab.ask_each(
            [who], lambda _, person: self.submit(person, page, form, *act, **slots)
        )
        return answer

    def submit(
        self, who: str, page: str, form: type[FormT], act: str = "utter", **slots: Any
    ) -> Answer[FormT]:
        """Ask one scientist a question as ``ask`` does, without waiting, for ``Lab.ask_each``."""
        seats, system = slots.pop("seats", 1), self.system
        # Seats of parallel meetings are numbered consecutively, so that call ids are unique.
        seat = int(slots.get("seat", 0)) % seats + 1
        common: dict[str, Any] = {
            "topic": self.topic,
            "team": tuple(self.team.members),
            "sentences": system.sentences,
            "part": "",
            "position": TurnPosition(self._stage, self._round, self._rounds, seat, seats),
        }
        if system.profiles == "off":
            common["you"] = f"You are {who}."
        if system.memory == "own" and act == "utter":
            common["recall"] = self.topic
        given = system.temperatures
        temperature = given.get(page) if isinstance(given, Mapping) else given
        prompt = self.pages[page].at_temperature(temperature)
        return self.lab.submit(who, prompt, form, act, **common | slots)

    def ask_each(
        self,
        people: Sequence[str],
        page: str,
        form: type[FormT],
        act: str = "utter",
        own: Sequence[Mapping[str, Any]] | None = None,
        seat: int = 0,
        **slots: Any,
    ) -> Process[list[Answer[FormT]]]:
        """Ask several people in parallel, with common and individual slots."""
        each = own or [{}] * len(people)
        return self.lab.ask_each(
            people,
            lambda n, who: self.submit(who, page, form, act, seat=seat + n, **slots, **each[n]),
        )

    def propose(
        self, people: Sequence[str], shown: Any = None, *, page: str = "idea", **slots: Any
    ) -> Process[tuple[Answer[CandidateIdea], ...]]:
        """Ask for one idea each, side by side: what everybody is shown is the same."""
        papers = self.search(self.topic) if shown is None else shown
        given = {"archive": (), "summaries": (), "said": (), "references": papers, **slots}
        said = yield from self.ask_each(people, page, Idea, **given)
        return tuple(self.candidate(w, idea, papers) for w, idea in zip(people, said, strict=True))

    def candidate(
        self, author: str, idea: Answer[IdeaT], shown: Any = (), previous: Any = ()
    ) -> Answer[CandidateIdea]:
        """An idea with the papers near it, unread; see ``make_candidate``."""
        near = self.search(idea)
        return self.lab.later(partial(make_candidate, author, True), idea, shown, near, previous)


def unrated_idea(**fields: str) -> Idea:
    """An idea with ratings in the middle of the scale, because none were requested."""
    return Idea(**fields, clarity=5.0, feasibility=5.0, novelty=5.0)


def proposal_as_idea(author: str, proposal: Proposal, *found: tuple[Any, ...]) -> CandidateIdea:
    """A proposal as an idea, for systems whose paper is to be an abstract."""
    checked = check_references(proposal, *found)
    papers = {paper.id: paper for one in found for paper in one}
    text = f"{proposal.problem} {proposal.motivation} {proposal.method}"
    idea = unrated_idea(title=proposal.title, idea=text, experiment=proposal.plan)
    cited = tuple(papers[id_] for id_ in checked.cites)
    return CandidateIdea(
        idea, author, references=cited, used=checked.cites, retrieved=tuple(papers), builds_on=cited
    )


_KEY_IN_TEXT = re.compile(r"\[P0*(\d{1,9})\]")
_LEFT_BLANK = re.compile(r" +(?=[ .,;:)])")


@dataclass(frozen=True, slots=True)
class CheckedProposal:
    """A proposal without references that were never retrieved."""

    title: str
    abstract: str
    cites: tuple[str, ...]
    removed: int

    def words(self) -> str:
        """Title and all parts."""
        return f"{self.title}\n{self.abstract}"


def check_references(proposal: Proposal, *found: tuple[Reference, ...]) -> CheckedProposal:
    """Remove the references of a proposal, also in its text, that no search has found."""
    known = {paper_key(paper, n): paper.id for papers in found for n, paper in enumerate(papers, 1)}
    text = proposal.abstract
    in_text = [f"P{int(number)}" for number in _KEY_IN_TEXT.findall(text)]
    named = list(dict.fromkeys([*getattr(proposal, "cited", ()), *in_text]))
    kept = _KEY_IN_TEXT.sub(lambda key: key[0] if f"P{int(key[1])}" in known else "", text)
    return CheckedProposal(
        title=proposal.title,
        abstract=_LEFT_BLANK.sub("", kept) if kept != text else text,
        cites=tuple(dict.fromkeys(known[key] for key in named if key in known)),
        removed=sum(key not in known for key in named),
    )
