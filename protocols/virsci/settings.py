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


def profile_keys() -> set[str]:
    """Dotted keys that some profile sets."""
    keys = set()
    for profile in PROFILES.values():
        for key, value in profile.items():
            keys |= {f"{key}.{name}" for name in value} if isinstance(value, Mapping) else {key}
    return keys


def apply_profile(
    given: Mapping[str, Any], profiles: Mapping[Any, Mapping[str, Any]] = PROFILES
) -> dict[str, Any]:
    """Add the values of a profile to the keys that are given, which win over them."""
    # Of an unknown profile pydantic complains, by name.
    name = given.get("profile")
    profile = profiles.get(name, {}) if isinstance(name, str) else {}
    return {**given, **{key: _given_or(given, key, value) for key, value in profile.items()}}


def _given_or(given: Mapping[str, Any], key: str, value: Any) -> Any:
    """The value of a key of a profile, overridden by the given value."""
    if key not in given:
        return value
    own = given[key]
    if isinstance(own, Part):
        # Only what was given: the defaults of a section must not hide the profile.
        own = own.model_dump(include=own.model_fields_set)
    return {**value, **own} if isinstance(value, Mapping) and isinstance(own, Mapping) else own


# Cached, so that editing a file does not change the prompts of a run.
@lru_cache(maxsize=16)
def _load_pages(folder: str) -> Prompts:
    return Prompts(Path(folder), PROMPTS)


class Turns(Part):
    """Turns of each stage (K)."""

    topic: int = Field(default=5, ge=1, le=10_000)
    """Topic discussion. Unit: turns. Source: VirSci, appendix C.3."""
    ideas: int = Field(default=5, ge=1, le=10_000)
    """Idea generation. Unit: turns. Source: VirSci, appendix C.3."""
    assessment: int = Field(default=5, ge=1, le=10_000)
    """Novelty assessment: ballots per member. Unit: turns. Source: VirSci, appendix C.3."""
    abstract: int = Field(default=5, ge=1, le=10_000)
    """Abstract generation, draft included; repeated after a self-review. Unit: turns. Source:
    VirSci, appendix C.3."""


class VirSciSettings(TeamBuilding):
    """Everything about VirSci that a scenario can change; a section is handed to its stage."""

    profile: Profile = "paper"
    """``released-code``: unset keys take the published program's values; ``full``: ``prompts``
    switched on."""
    author_order: AuthorOrder = "leader_first"
    """The leader first or last, the others in order of joining. Source: VirSci: first."""
    turns: Turns | Annotated[int, Field(ge=1, le=10_000)] = 5
    """Turns of each stage (K), or one number per stage. Unit: turns. Source: VirSci, appendix
    C.3."""
    memory: Literal["off", "own"] = "off"
    """``own``: up to five lines from the scientist's other teams, except when assessing."""
    novelty_assessment: Switch = "on"
    """``off``: the last scientist's idea is taken. Source: VirSci, section 3.2 and table 6."""
    cites: Literal["used", "retrieved"] = "used"
    """References: papers the idea says it uses, or all retrieved for any idea. Source: published
    program: ``retrieved``."""
    neighbour_query: Literal["abstract", "abstract_only", "idea"] = "abstract"
    """Embedded text of the paper: title and abstract, abstract alone, or idea. Source: VirSci,
    section 4.1."""

    discussion: DiscussionSettings = Field(default_factory=DiscussionSettings)
    """How stages are discussed. Source: VirSci, sections 3.2 to 3.5."""
    prompts: PromptSwitches = Field(default_factory=PromptSwitches)
    """Contents of prompts beyond the paper; ``profile: full`` switches them on."""
    references: ReferenceUse = Field(default_factory=ReferenceUse)
    """Papers shown in each stage. Source: VirSci, tables 3 and 4."""
    topic: TopicStage = Field(default_factory=TopicStage)
    """How the topic is chosen; ``free``: by open discussion. Source: VirSci, section 3.2."""
    ideas: IdeaStage = Field(default_factory=IdeaStage)
    """How ideas are generated. Source: VirSci, section 3.3."""
    confidence: Confidence = Field(default_factory=Confidence)
    """How three ideas are selected."""
    assessment: AssessmentStage = Field(default_factory=AssessmentStage)
    """How novelty is assessed. Source: VirSci, section 3.4."""
    abstract: AbstractStage = Field(default_factory=AbstractStage)
    """How the abstract is written and reviewed. Source: VirSci, section 3.5."""
    released_code: ReleasedCode = Field(default_factory=ReleasedCode)
    """Behaviour of the published program only."""

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
            key for key in profile_keys() if attrgetter(key)(self) == attrgetter(key)(bare)
        )

    @property
    def pages(self) -> Prompts:
        """The prompts: the project's, and in their place those of one's own folder."""
        folder = self.prompts.folder
        return PROMPTS if folder is None else _load_pages(folder)
