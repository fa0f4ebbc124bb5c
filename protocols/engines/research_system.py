"""The base of the research systems of other papers, rebuilt as protocols of teams of the society.

A system says how a team comes to an idea. What all of them share stands here and has the same keys:
the topic, the literature, the team, and the last step, in which one call makes the idea a paper. So
what differs between two systems is the way to the idea (``CycleResearcher`` writes several papers).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from virsci_society.agents.config import Switch
from virsci_society.agents.prompts.prompt import Prompts
from virsci_society.agents.prompts.slots import paper_key
from virsci_society.agents.spelling import did_you_mean
from virsci_society.protocols.collaborator_selection import (
    Invitations,
    TeamBuilding,
    select_collaborators,
)
from virsci_society.protocols.engines.forms import Proposal
from virsci_society.protocols.engines.team_work import TeamWork, unrated_idea
from virsci_society.protocols.forms import Draft, Topic
from virsci_society.protocols.given_topics import GivenTopic
from virsci_society.protocols.ideas import (
    CandidateIdea,
    idea_text,
    retrieved_references,
    used_references,
)
from virsci_society.protocols.team_assembly import TeamMembers
from virsci_society.protocols.team_sizes import TeamSize
from virsci_society.protocols.virsci.settings import apply_profile
from virsci_society.protocols.virsci.team_memory import PROMPTS as VIRSCI_PROMPTS
from virsci_society.society.kernel.answer import Answer
from virsci_society.society.teams.contracts import Manuscript, TeamProtocol

if TYPE_CHECKING:
    from virsci_society.agents.prompts.slots import Reference
    from virsci_society.society.kernel.durations import Process
    from virsci_society.society.teams.lab import Lab
    from virsci_society.society.teams.team import Team


PAGES = Prompts(Path(__file__).with_name("prompts"), VIRSCI_PROMPTS)
"""The prompts that several systems share. Pages that are not there are VirSci's: the invitation,
the draft, the ballot, the summary."""
Temperature = Annotated[float, Field(ge=0, le=2)]
COMPARABLE = {"found_by": "idea", "output": "abstract"}
"""What makes the papers of different systems comparable, in the profile ``matched``."""
STAGES = frozenset({"topic", "ideas", "novelty", "abstract"})


@cache
def _pages_of(folder: Path) -> Prompts:
    """The pages of a folder, over those that systems share."""
    return Prompts(folder, PAGES)


class ResearchSystem(TeamProtocol):
    """One scientist or one team that goes from a topic to an idea and from it to a paper.

    Most systems are cards (``protocols/engines/card.py``). For what no card can say, subclass it,
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
    """``published``: keys that are not given take the numbers of the published program, as far as
    it has been read; ``matched``: nothing ends early and the paper is an abstract that is found by
    its idea, for studies that match systems by calls. Source: this project."""
    profiles: Switch = "on"
    """Off: who is asked is told its name and nothing else of itself, as the agents of the published
    programs have no past. Members are invited by their profiles all the same. Source: this
    project."""
    temperatures: Temperature | dict[str, Temperature] | None = None
    """Temperature of the replies, or of those to single pages by name, in place of
    ``backend.temperature``, unless none is sent; the last step and invitations keep that. Source:
    this project."""
    topic: Literal["free"] | GivenTopic = "free"
    """Proposed by the leader (``free``), proposed from a start, or given. Source: VirSci, appendix
    C.3."""
    references: int = Field(default=8, ge=1, le=100)
    """Papers per search. Unit: papers. Source: assumed: as for `virsci`."""
    sentences: int | None = Field(default=2, ge=1, le=1000)
    """Sentences of an abstract that pages show, from the first that says what the paper does;
    null: all. Unit: sentences. Source: assumed: as for `virsci`."""
    memory: Literal["off", "own"] = "off"
    """``own``: up to five lines from the scientist's other teams. Source: this project."""
    output: Literal["abstract", "proposal"] = "abstract"
    """What the paper holds: an abstract as VirSci's, or a proposal in five parts. Source: this
    project."""
    cites: Literal["used", "retrieved"] = "used"
    """What an abstract cites: what its idea says it uses, or all that was found for it. A proposal
    cites what it lists and the team has retrieved. Source: this project."""
    found_by: Literal["abstract", "idea"] = "abstract"
    """The text that an abstract is found by: title and abstract, or the idea. A proposal is always
    found by its own text. Source: VirSci, appendix C.3."""

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        folder = Path(getattr(sys.modules[cls.__module__], "__file__", None) or ".").parent
        if "pages" not in cls.__dict__ and (folder / "prompts").is_dir():
            cls.pages = _pages_of(folder / "prompts")

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
                raise ValueError(f"there is no page {name!r}{did_you_mean(name, known)}")
        return value

    @property
    def implied(self) -> frozenset[str]:
        """Keys whose values are those of the profile, and would change with it."""
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
        """How the system comes from the topic of ``work`` to an idea, unread."""
        raise NotImplementedError(f"{type(self).__name__} finds no idea; write find_idea")

    def write_paper(self, work: TeamWork, idea: Answer[CandidateIdea]) -> Process[Manuscript]:
        """The last step: the leader writes the abstract, or the proposal, of the idea."""
        text = work.text
        if text is None:
            text = yield from work.lab.stage("abstract", self._write_text(work, idea))
        if self.output == "proposal":
            return self.hand_in_proposal(work, text)
        cites = used_references if self.cites == "used" else retrieved_references
        found_by = work.lab.later(idea_text, idea) if self.found_by == "idea" else None
        return Manuscript(text=text, cites=work.lab.later(cites, idea), found_by=found_by)

    def _write_text(self, work: TeamWork, idea: Answer[CandidateIdea]) -> Process[Answer[Any]]:
        with (yield from work.hold_round(self.output)):
            (text,) = yield from work.lab.ask_each(
                [work.team.leader], lambda seat, _: self.pose_text(work, idea, seat)
            )
        return text

    def pose_text(self, work: TeamWork, idea: Answer[CandidateIdea], seat: int = 0) -> Answer[Any]:
        """Ask the leader for the abstract, or the proposal, of an idea, without waiting."""
        slots: dict[str, Any] = {"idea": idea, "seat": seat}
        if self.output == "proposal":
            slots |= {"said": (), "references": work.search(idea), "standing": ""}
            return work.pose(work.team.leader, "proposal", Proposal, **slots)
        slots |= dict.fromkeys(("critique", "advice", "tried", "knowledge", "outsiders"), ())
        return work.pose(work.team.leader, "draft", Draft, reasons=True, ratings=False, **slots)

    def hand_in_proposal(self, work: TeamWork, proposal: Answer[Proposal]) -> Manuscript:
        """A manuscript of a proposal, without references that were never retrieved."""
        checked = work.lab.later(check_references, proposal, *work.found)
        work.team.notes["references_removed"] = work.lab.later(count_removed, checked)
        return Manuscript(text=checked, cites=work.lab.later(cited_ids, checked))


class TeamSystem(Invitations, TeamMembers, ResearchSystem):
    """A research system of several scientists, gathered as a VirSci team is."""

    team_size: TeamSize | Annotated[int, Field(ge=1, le=10_000)] = 3
    """n, the leader included: a number, ``{use: observed}`` or ``{use: stated, weights: ...}``.
    Unit: members. Source: Chen et al. 2025 (`idea2proposal`); of others the paper in kind, the
    value is assumed."""
    inviting: Literal["one_by_one", "at_once"] = "at_once"
    """One invitation at a time, or all empty seats at once. Source: this project."""

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
"""Blanks that a removed key leaves behind."""


@dataclass(frozen=True, slots=True)
class CheckedProposal:
    """A proposal without references that were never retrieved."""

    title: str
    abstract: str
    cites: tuple[str, ...]
    removed: tuple[str, ...]

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
        removed=tuple(key for key in named if key not in known),
    )


def cited_ids(checked: CheckedProposal) -> tuple[str, ...]:
    """Ids of the papers that a checked proposal cites."""
    return checked.cites


def count_removed(checked: CheckedProposal) -> int:
    """Number of references that were removed."""
    return len(checked.removed)
