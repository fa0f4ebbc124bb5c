"""The settings of VirSci, of which each is one key under ``protocol`` in a scenario.

A profile is a named set of values for these keys. ``paper`` is what the paper describes: the
defaults. ``full`` is what lets a team of language models do its best work.
``released-code`` is what the published implementation is known to do where it departs from the
paper (``released_code``). Every departure is a key of its own, so that its effect can be measured
alone; a key that a scenario gives beside the profile wins over the profile.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from virsci_society.agents.config import Part, Switch
from virsci_society.agents.prompts.prompt import Prompts
from virsci_society.protocols.collaborator_selection import TeamBuilding
from virsci_society.protocols.discussion import DiscussionSettings
from virsci_society.protocols.given_topics import GivenTopic
from virsci_society.protocols.policies.coauthorship import Coauthorship
from virsci_society.protocols.team_sizes import TeamSize
from virsci_society.protocols.virsci.abstract import AbstractRules, SelfReviewRules
from virsci_society.protocols.virsci.ideas import IdeaRules, RankingRules
from virsci_society.protocols.virsci.novelty import BallotRules
from virsci_society.protocols.virsci.prompts import PROMPTS
from virsci_society.protocols.virsci.released_code import RELEASED_CODE
from virsci_society.protocols.virsci.searches import SearchRules
from virsci_society.protocols.virsci.topic import TopicRules
from virsci_society.society.formation.newcomer_seats import NewcomerSeats
from virsci_society.society.formation.repeated_teams import RepeatedTeams
from virsci_society.society.formation.research_groups import ResearchGroups
from virsci_society.society.formation.selection import SelectionPolicy
from virsci_society.society.teams.contracts import AuthorOrder

Profile = Literal["paper", "full", "released-code"]


FULL: Mapping[str, Any] = {
    "prompts": {
        "carry": "on",
        "marks": "on",
        "critique": "on",
        "comparisons": "on",
        "idea_order": "permuted",
    },
    "references": {
        "topic": "on",
        "draft": "on",
        "guest": "on",
        "count": 4,
        "sentences": 2,
        "queries": "several",
        "diversity": 0.3,
    },
}
"""What a team of language models is shown and asked beyond the paper's equations and figures."""

GUEST_PAPERS = 3
"""Own papers that a scientist who is consulted is shown."""

PROFILES: Mapping[Profile, Mapping[str, Any]] = {
    "paper": {},
    "full": FULL,
    "released-code": RELEASED_CODE,
}
PROFILE_KEYS = tuple(dict.fromkeys(key for profile in PROFILES.values() for key in profile))
"""Keys that some profile sets."""


def apply_profile(given: Mapping[str, Any]) -> dict[str, Any]:
    """Add the values of a profile to the keys that are given, which win over them.

    A section that is given in part takes its other keys from the profile.

    Args:
        given: keys of the protocol, the profile's name among them.
    """
    # Of an unknown profile pydantic complains, by name.
    name = given.get("profile", "paper")
    profile = PROFILES.get(name, {}) if isinstance(name, str) else {}  # type: ignore[call-overload]
    return {**given, **{key: _given_or(given, key, value) for key, value in profile.items()}}


def _given_or(given: Mapping[str, Any], key: str, value: Any) -> Any:
    """The value of a key of a profile, under what is given for it."""
    if key not in given:
        return value
    own = given[key]
    if isinstance(value, Mapping) and isinstance(own, Part):
        return {**value, **own.model_dump(include=own.model_fields_set)}
    return {**value, **own} if isinstance(value, Mapping) and isinstance(own, Mapping) else own


@lru_cache(maxsize=16)
def _load_pages(folder: str) -> Prompts:
    """The prompts of a folder, over the project's.

    Read once: a run must not change its words because somebody edits a file meanwhile.
    """
    return Prompts(Path(folder), PROMPTS)


class Turns(Part):
    """Turns of each stage (K)."""

    topic: int = Field(default=5, ge=1, le=10_000)
    """Of the topic discussion."""
    ideas: int = Field(default=5, ge=1, le=10_000)
    """Of idea generation."""
    assessment: int = Field(default=5, ge=1, le=10_000)
    """Of novelty assessment: ballots per member."""
    abstract: int = Field(default=5, ge=1, le=10_000)
    """Of abstract generation, the draft included; again as many after a self-review."""


class ReferenceUse(Part):
    """Which stages see papers of the past (Tables 3 and 4)."""

    ideas: Switch = "on"
    """In idea generation."""
    assessment: Switch = "on"
    """On the ballots."""
    topic: Switch = "off"
    """In the topic discussion, as titles."""
    draft: Switch = "off"
    """In the prompt of the first abstract, those near the idea; Fig. 22 shows none."""
    guest: Switch = "off"
    """Its own papers, to a scientist who is consulted."""
    count: int = Field(default=8, ge=1, le=50)
    """Papers per search (Fig. 35 shows eight)."""
    per_idea: int = Field(default=3, ge=1, le=50)
    """Papers beside each idea on a ballot; papers that several ideas share are listed once."""
    few_ideas: Annotated[int, Field(ge=1, le=50)] | None = None
    """Papers for each idea where fewer than three are on the ballot; null: as ``per_idea``."""
    ballot: Literal["per_idea", "pooled"] = "per_idea"
    """``pooled``: a ballot lists the papers of all ideas in order of publication, and does not say
    which of them is near to which idea."""
    self_review: Annotated[int, Field(ge=1, le=50)] | None = None
    """Past abstracts with which the self-review compares; null: as ``count``."""
    query: Literal["idea", "title"] = "idea"
    """What papers near an idea are searched by: its title and text, or its title alone."""
    sentences: Annotated[int, Field(ge=0, le=1000)] | None = 3
    """First sentences of an abstract that a prompt shows; null: the whole abstract."""
    queries: Literal["one", "several"] = "one"
    """``several``: papers are searched by the text at hand, the topic and the speaker's own
    interests, so that members bring different literature."""
    diversity: float = Field(default=0.0, ge=0, le=1)
    """Weight of the distance between the papers chosen, in maximal marginal relevance; 0: the
    nearest papers, whatever they have in common."""


class PromptSwitches(Part):
    """What prompts hold and ask for beyond the paper's equations and figures."""

    folder: str | None = None
    """Folder with prompts of one's own (``idea_turn.txt`` ...), in place of those of their name."""

    @field_validator("folder")
    @classmethod
    def _holds_prompts(cls, folder: str | None) -> str | None:
        if folder is None:
            return None
        own = sorted(path.stem for path in Path(folder).glob("*.txt"))
        names = sorted(prompt.name for prompt in PROMPTS)
        unknown = [name for name in own if name not in names]
        if not own or unknown:
            found = f"{', '.join(unknown)}: not known" if unknown else "no .txt file is there"
            raise ValueError(f"{folder}: {found}; the prompts are {', '.join(names)}")
        return folder

    carry: Switch = "off"
    """Do later stages see what earlier ones thought: reasons of the topic, summaries, gists of
    all ideas, what the idea builds on, advice of outsiders, changes of earlier revisers?"""
    marks: Switch = "off"
    """Does each speaker object to the idea on the table and rate it? Its confidence is then the
    mean of its author's and of others' ratings."""
    critique: Switch = "off"
    """Does a member who is not the idea's author examine it before the abstract is written?"""
    comparisons: Switch = "off"
    """Is each idea on a ballot compared with its nearest paper before the vote?"""
    idea_order: Literal["fixed", "permuted"] = "fixed"
    """``permuted``: every ballot lists the ideas in an order of its own."""
    profiles_in_abstract: Switch = "off"
    """Are relevant scientists shown to those who write the abstract?"""
    ratings: Switch = "off"
    """Do an idea's ratings of itself stand with it for the next speaker, on ballots and beside the
    draft?"""


class Confidence(Part):
    """Weights of the self-assessment in the choice of the three ideas."""

    clarity: float = Field(default=1.0, ge=0, le=1_000_000, allow_inf_nan=False)
    """Weight of the stated clarity."""
    feasibility: float = Field(default=1.0, ge=0, le=1_000_000, allow_inf_nan=False)
    """Weight of the stated feasibility."""
    novelty: float = Field(default=1.0, ge=0, le=1_000_000, allow_inf_nan=False)
    """Weight of the stated novelty."""
    first_idea: Literal["scored", "unscored"] = "scored"
    """``unscored``: a team's first idea counts as one of no confidence at all."""
    listed: Literal["all", "not_below_best"] = "all"
    """Ideas that the three are chosen from: all, or the first and each whose confidence is at
    least that of the last one listed before it."""
    ranked_by: Literal["own", "next"] = "own"
    """``next``: of more than three listed ideas, each is ranked by the confidence of the one listed
    after it, so that the last drops out; on a tie the earlier one is taken, and ballots list the
    ideas by rank."""

    @model_validator(mode="after")
    def _something_counts(self) -> Confidence:
        if self.clarity + self.feasibility + self.novelty <= 0:
            raise ValueError("at least one weight must be above zero")
        return self

    @property
    def weights(self) -> tuple[float, float, float]:
        """Weights of clarity, feasibility and novelty."""
        return self.clarity, self.feasibility, self.novelty


class VirSciSettings(Part):
    """Everything about VirSci that a scenario can change."""

    profile: Profile = "paper"
    """``released-code``: keys that are not given take the values of the published program."""
    team_size: TeamSize | Annotated[int, Field(ge=1, le=10_000)] = 4
    """n, the leader included: a number, ``{use: observed}`` or ``{use: stated, weights: ...}``."""
    min_size: Annotated[int, Field(ge=1, le=10_000)] | Literal["all"] | None = None
    """Below this no team starts; default 2 (1 when n = 1); ``all``: n."""
    min_size_after_leaving: Annotated[int, Field(ge=1, le=10_000)] | Literal["all"] | None = None
    """Below this a team ends when members have left; null: as ``min_size``."""
    inviting: Literal["one_by_one", "at_once"] = "one_by_one"
    """One invitation at a time, as the paper; or all empty seats at once, as people do."""
    max_invitations: int = Field(default=40, ge=1, le=10_000)
    """Invitations per team before the leader gives up."""
    replacement: Switch = "on"
    """Is another one asked for each who declines? Off: n - 1 invitations, whatever comes back."""
    newcomers: NewcomerSeats | None = None
    """Which seats newcomers take without an invitation; null: none."""
    again: RepeatedTeams | None = None
    """Which teams begin with the invitation of co-authors of an earlier paper; null: none."""
    groups: ResearchGroups | None = None
    """How leaders ask newcomers of their own group first; null: no groups."""
    author_order: AuthorOrder = "leader_first"
    """``leader_first``: the leader, then the others as they joined. ``leader_last``: the
    others, and the leader at the end."""
    selection: SelectionPolicy = Field(default_factory=Coauthorship)
    """Whom the leader asks."""
    freshness: float | None = Field(default=None, ge=0, le=1)
    """Target share of members without joint papers with any other member (Fig. 5)."""
    diversity: float | None = Field(default=None, ge=0, le=1)
    """Target number of distinct main topics / n (Fig. 6)."""
    diversity_variant: Literal["distinct", "unique"] = "distinct"
    """``unique``: share of members whose main topic nobody else has."""

    turns: Turns | Annotated[int, Field(ge=1, le=10_000)] = 5
    """K for all stages, or one number per stage."""
    pacing: Literal["fixed", "adaptive"] = "fixed"
    """``adaptive``: after each turn the leader decides whether there is another (Table 9)."""
    max_turns: int = Field(default=7, ge=1, le=10_000)
    """Adaptive pacing ends a stage after this many turns."""
    decision_lag: int = Field(default=0, ge=0, le=10)
    """Turns that adaptive pacing holds after the leader has decided that a stage is to end; with 1,
    nobody waits for the decision, so that a run is sooner done."""
    speaking_order: Literal["round_table", "random"] = "round_table"
    """Table 8: in turn, or at random but never the same speaker twice running."""
    invitation: Switch | Literal["topic"] = "on"
    """May speakers consult scientists outside the team (Table 5)? ``topic``: in the topic
    discussion only."""
    guests: Literal["advise", "join"] = "advise"
    """``join``: who is consulted becomes a member by the next turn, and nobody sees its answer.
    Who is consulted in the last turn of an abstract comes too late."""
    asking: Literal["question", "by_the_way"] = "question"
    """How an outsider is consulted: by a question to one of those shown; or by whatever is said
    with the words "by the way" and a scientist's name, which no prompt asks for."""
    outsiders: int = Field(default=3, ge=1, le=20)
    """Outside scientists shown to a speaker; with ``by_the_way``, most whom one reply can call."""
    knowledge: Switch | Literal["topic"] = "on"
    """Does the prompt carry the profiles most relevant to the text at hand? ``topic``: in the topic
    discussion only."""
    profiles: int = Field(default=3, ge=1, le=20)
    """Profiles taken from the author knowledge bank for one prompt."""
    memory: Literal["off", "own"] = "off"
    """``own``: up to five lines from the scientist's other teams; never in assessment."""

    prompts: PromptSwitches = Field(default_factory=PromptSwitches)
    """What prompts hold beyond the paper's figures; ``profile: full`` switches it on."""
    topic: Literal["free"] | GivenTopic = "free"
    """Discussed freely, begun from a topic, or given."""
    consensus: Literal["majority", "leader"] = "majority"
    """Who is asked whether the topic stands: every member, or the leader alone."""
    forced_after: Annotated[int, Field(ge=1, le=10_000)] | None = None
    """The discussion at whose end the topic stands without consensus (2: the second); or null."""
    restarts: int = Field(default=3, ge=0, le=10_000)
    """Topic discussions that may be started again without a majority."""
    leaving: Switch = "on"
    """May members leave once the topic stands?"""
    references: ReferenceUse = Field(default_factory=ReferenceUse)
    """Which stages see papers."""
    idea_dialogue: Switch = "on"
    """Off: in idea generation a speaker sees the idea on the table and nothing else that was said;
    rounds are not summarised."""
    confidence: Confidence = Field(default_factory=Confidence)
    """What keeps three ideas."""
    novelty_assessment: Switch = "on"
    """Off: the last scientist's idea is taken (Table 6)."""
    votes: Literal["all_turns", "last_turn"] = "all_turns"
    """Which ballots are counted; the paper does not say, the published program pools them all."""
    unreadable_votes: Literal["abstain", "first_idea"] = "abstain"
    """What a ballot counts as that stays unreadable after the re-asks."""
    tied_votes: Literal["confidence", "first_cast"] = "confidence"
    """Which of the ideas with most votes wins: the most confident, or the first voted for."""
    self_review: Switch | Literal["recorded"] = "off"
    """Does the leader compare the abstract with the past (Table 7)? ``recorded``: it does, and
    nothing follows from it."""
    threshold: float = Field(default=85.0, ge=0, le=100)
    """Similarity at or above which the self-review finds too much overlap."""
    new_ideas: int = Field(default=1, ge=0, le=1000)
    """Times the team may start again from new ideas after two strikes."""
    cites: Literal["used", "retrieved"] = "used"
    """What the paper cites: what its idea says it uses, or all that was found for any idea."""
    found_by: Literal["abstract", "abstract_only", "idea"] = "abstract"
    """The text that is embedded as the paper: title and abstract, the abstract without its title,
    or the idea, whose HD, CD and CI are then measured. The self-review searches by the abstract,
    with its title unless ``abstract_only``."""

    @model_validator(mode="before")
    @classmethod
    def _fill_from_profile(cls, given: Any) -> Any:
        return apply_profile(given) if isinstance(given, Mapping) else given

    @model_validator(mode="after")
    def _sizes_fit(self) -> VirSciSettings:
        size, least = self.team_size, self.min_size
        if isinstance(size, int) and isinstance(least, int) and least > size:
            raise ValueError("min_size is larger than team_size; lower it, or raise team_size")
        return self

    @property
    def implied(self) -> frozenset[str]:
        """Keys whose values are those of the profile, and would change with it."""
        bare = VirSciSettings(profile=self.profile)
        return frozenset(key for key in PROFILE_KEYS if getattr(self, key) == getattr(bare, key))

    @property
    def turns_of(self) -> Turns:
        """Turns of each stage."""
        if isinstance(self.turns, Turns):
            return self.turns
        return Turns(topic=self.turns, ideas=self.turns, assessment=self.turns, abstract=self.turns)

    @property
    def team_building(self) -> TeamBuilding:
        """What the selection of collaborators needs."""
        return TeamBuilding(
            team_size=self.team_size,
            min_size=self.min_size,
            min_size_after_leaving=self.min_size_after_leaving,
            inviting=self.inviting,
            max_invitations=self.max_invitations,
            replacement=self.replacement,
            selection=self.selection,
            newcomers=self.newcomers,
            again=self.again,
            groups=self.groups,
            freshness=self.freshness,
            diversity=self.diversity,
            diversity_variant=self.diversity_variant,
        )

    @property
    def pages(self) -> Prompts:
        """The prompts: the project's, and in their place those of one's own folder."""
        folder = self.prompts.folder
        return PROMPTS if folder is None else _load_pages(folder)

    @property
    def idea_rules(self) -> IdeaRules:
        """What idea generation needs."""
        switches = self.prompts
        named = (("gist", switches.carry), ("marks", switches.marks))
        return IdeaRules(
            search=self._search(self.references.ideas),
            near=SearchRules(
                self.references.ideas,
                self.references.count,
                title_only=self.references.query == "title",
            ),
            first_scored=self.confidence.first_idea == "scored",
            extras=tuple(name for name, switch in named if switch == "on"),
            dialogue=self.idea_dialogue == "on",
            ratings=switches.ratings == "on",
        )

    @property
    def ballot_rules(self) -> BallotRules:
        """What the novelty assessment needs."""
        uses = self.references
        title_only = uses.query == "title"
        few = uses.per_idea if uses.few_ideas is None else uses.few_ideas
        return BallotRules(
            near=SearchRules(uses.assessment, uses.per_idea, title_only=title_only),
            near_few=SearchRules(uses.assessment, few, title_only=title_only),
            ranking=self.ranking,
            last_turn_only=self.votes == "last_turn",
            permuted=self.prompts.idea_order == "permuted",
            pooled=uses.ballot == "pooled",
            unreadable_is_first=self.unreadable_votes == "first_idea",
            first_cast_wins=self.tied_votes == "first_cast",
            ratings=self.prompts.ratings == "on",
            extras=("comparisons",) if self.prompts.comparisons == "on" else (),
        )

    @property
    def ranking(self) -> RankingRules:
        """How the ideas on the ballot are chosen."""
        return RankingRules(
            weights=self.confidence.weights,
            not_below_best=self.confidence.listed == "not_below_best",
            by_next=self.confidence.ranked_by == "next",
        )

    @property
    def abstract_rules(self) -> AbstractRules:
        """What the writing of the abstract needs."""
        return AbstractRules(
            near=SearchRules(self.references.draft, self.references.count),
            profiles=self.prompts.profiles_in_abstract,
            critique=self.prompts.critique,
            ratings=self.prompts.ratings == "on",
        )

    @property
    def review_rules(self) -> SelfReviewRules:
        """What the self-review needs."""
        uses = self.references
        return SelfReviewRules(
            count=uses.count if uses.self_review is None else uses.self_review,
            threshold=self.threshold,
            abstract_only=self.found_by == "abstract_only",
        )

    def _search(self, shown: Switch) -> SearchRules:
        uses = self.references
        return SearchRules(
            shown,
            uses.count,
            uses.queries == "several",
            uses.diversity,
            title_only=uses.query == "title",
        )

    def discussion_of(self, stage: str) -> DiscussionSettings:
        """What a stage that is discussed needs.

        Args:
            stage: ``topic``, ``ideas``, ``novelty`` or ``abstract``.
        """

        def in_stage(switch: str) -> Switch:
            return "on" if switch == "on" or switch == stage else "off"

        return DiscussionSettings(
            pacing=self.pacing,
            max_turns=self.max_turns,
            decision_lag=self.decision_lag,
            speaking_order=self.speaking_order,
            invitation=in_stage(self.invitation),
            guests=self.guests,
            asking=self.asking,
            outsiders=self.outsiders,
            knowledge=in_stage(self.knowledge),
            profiles=self.profiles,
            memory=self.memory,
            sentences=self.references.sentences,
            guest_papers=GUEST_PAPERS if self.references.guest == "on" else 0,
        )

    @property
    def topic_rules(self) -> TopicRules:
        """What the topic discussion needs."""
        start = self.topic.start if isinstance(self.topic, GivenTopic) else None
        return TopicRules(
            start=start or "",
            consensus=self.consensus,
            forced_after=self.forced_after,
            restarts=self.restarts,
            leaving=self.leaving,
            search=self._search(self.references.topic),
        )
