"""The settings of VirSci, of which each is one key under ``protocol`` in a scenario."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from virsci_society.agents.config import Part, Switch
from virsci_society.agents.prompts.prompt import Prompts
from virsci_society.protocols.collaborator_selection import TeamBuilding
from virsci_society.protocols.discussion import DiscussionSettings
from virsci_society.protocols.virsci.abstract import AbstractStage
from virsci_society.protocols.virsci.ideas import Confidence, IdeaStage
from virsci_society.protocols.virsci.novelty import AssessmentStage
from virsci_society.protocols.virsci.released_code import RELEASED_CODE, ReleasedCode
from virsci_society.protocols.virsci.searches import ReferenceUse
from virsci_society.protocols.virsci.team_memory import PROMPTS, PromptSwitches
from virsci_society.protocols.virsci.topic import TopicStage
from virsci_society.society.teams.team import AuthorOrder

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
        "queries": "several",
        "diversity": 0.3,
    },
}
"""What a team of language models is shown and asked beyond the paper's equations and figures."""

PROFILES: Mapping[Profile, Mapping[str, Any]] = {
    "paper": {},
    "full": FULL,
    "released-code": RELEASED_CODE,
}

PROFILE_KEYS = tuple(
    dict.fromkeys(
        f"{key}.{below}" if below else key
        for profile in PROFILES.values()
        for key, value in profile.items()
        for below in (value if isinstance(value, Mapping) else ("",))
    )
)
"""Dotted keys that some profile sets."""


def apply_profile(
    given: Mapping[str, Any], profiles: Mapping[Any, Mapping[str, Any]] = PROFILES
) -> dict[str, Any]:
    """Add the values of a profile to the keys that are given, which win over them."""
    # Of an unknown profile pydantic complains, by name.
    name = given.get("profile")
    profile = profiles.get(name, {}) if isinstance(name, str) else {}
    return {**given, **{key: _given_or(given, key, value) for key, value in profile.items()}}


def _given_or(given: Mapping[str, Any], key: str, value: Any) -> Any:
    """The value of a key of a profile, under what is given for it."""
    if key not in given:
        return value
    own = given[key]
    if isinstance(own, Part):
        # Only what was given: the defaults of a section must not hide the profile.
        own = own.model_dump(include=own.model_fields_set)
    return {**value, **own} if isinstance(value, Mapping) and isinstance(own, Mapping) else own


# A run must not change its prompts when a file is edited meanwhile.
@lru_cache(maxsize=16)
def _load_pages(folder: str) -> Prompts:
    return Prompts(Path(folder), PROMPTS)


class Turns(Part):
    """Turns of each stage (K)."""

    topic: int = Field(default=5, ge=1, le=10_000)
    """Of the topic discussion. Unit: turns. Source: VirSci, appendix C.3."""
    ideas: int = Field(default=5, ge=1, le=10_000)
    """Of idea generation. Unit: turns. Source: VirSci, appendix C.3."""
    assessment: int = Field(default=5, ge=1, le=10_000)
    """Of novelty assessment: ballots per member. Unit: turns. Source: VirSci, appendix C.3."""
    abstract: int = Field(default=5, ge=1, le=10_000)
    """Of abstract generation, the draft included; again as many after a self-review. Unit: turns.
    Source: VirSci, appendix C.3."""


class VirSciSettings(TeamBuilding):
    """Everything about VirSci that a scenario can change; a section is handed to its stage."""

    profile: Profile = "paper"
    """``released-code``: keys that are not given take the values of the published program. Source:
    VirSci; `released-code`: its published program."""
    author_order: AuthorOrder = "leader_first"
    """``leader_first``: the leader, then the others as they joined. ``leader_last``: the
    others, and the leader at the end. Source: VirSci; `leader_last`: this project."""
    turns: Turns | Annotated[int, Field(ge=1, le=10_000)] = 5
    """K for all stages, or one number per stage. Unit: turns. Source: VirSci, appendix C.3 (5
    turns)."""
    memory: Literal["off", "own"] = "off"
    """``own``: up to five lines from the scientist's other teams; never in assessment. Source: off
    as in VirSci, whose scientists work once."""
    novelty_assessment: Switch = "on"
    """Off: the last scientist's idea is taken (Table 6). Source: VirSci, section 3.2 and table
    6."""
    cites: Literal["used", "retrieved"] = "used"
    """What the paper cites: what its idea says it uses, or all that was found for any idea. Source:
    assumed; the published program of VirSci: `retrieved`."""
    found_by: Literal["abstract", "abstract_only", "idea"] = "abstract"
    """The text that is embedded as the paper: title and abstract, the abstract without its title,
    or the idea, whose HD, CD and CI are then measured. The self-review searches by the abstract,
    with its title unless ``abstract_only``. Source: VirSci, section 4.1 (the abstract is
    embedded)."""

    discussion: DiscussionSettings = Field(default_factory=DiscussionSettings)
    """How the stages are discussed. Source: VirSci, sections 3.2 to 3.5."""
    prompts: PromptSwitches = Field(default_factory=PromptSwitches)
    """What prompts hold beyond the paper's figures; ``profile: full`` switches it on. Source: ours,
    after a reader's report (prompts.md)."""
    references: ReferenceUse = Field(default_factory=ReferenceUse)
    """Which stages see papers. Source: VirSci, tables 3 and 4."""
    topic: TopicStage = Field(default_factory=TopicStage)
    """How the topic is settled; ``free``: discussed, and begun from nothing. Source: VirSci,
    section 3.2."""
    ideas: IdeaStage = Field(default_factory=IdeaStage)
    """How ideas are generated. Source: VirSci, section 3.3."""
    confidence: Confidence = Field(default_factory=Confidence)
    """What keeps three ideas. Source: see its keys."""
    assessment: AssessmentStage = Field(default_factory=AssessmentStage)
    """How the novelty of ideas is assessed. Source: VirSci, section 3.4."""
    abstract: AbstractStage = Field(default_factory=AbstractStage)
    """How the abstract is written and reviewed. Source: VirSci, section 3.5."""
    released_code: ReleasedCode = Field(default_factory=ReleasedCode)
    """What only the published program does. Source: the published program of VirSci."""

    @model_validator(mode="before")
    @classmethod
    def _fill_from_profile(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        free = given.get("topic") == "free"
        return apply_profile({**given, "topic": {}} if free else given)

    @property
    def implied(self) -> frozenset[str]:
        """Dotted keys whose values are those of the profile, and would change with it."""
        bare = type(self)(profile=self.profile)
        return frozenset(
            key for key in PROFILE_KEYS if attrgetter(key)(self) == attrgetter(key)(bare)
        )

    @property
    def pages(self) -> Prompts:
        """The prompts: the project's, and in their place those of one's own folder."""
        folder = self.prompts.folder
        return PROMPTS if folder is None else _load_pages(folder)
