"""The prompts of VirSci, one text file each, in this project's own words, and what they hold."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import field_validator

from virsci_society.agents.config import Part, Switch
from virsci_society.agents.prompts.prompt import Prompts

PROMPTS = Prompts(Path(__file__).parent)


class PromptSwitches(Part):
    """What prompts hold and ask for beyond the paper's equations and figures."""

    folder: str | None = None
    """Folder with prompts of one's own (``idea_turn.txt`` ...), in place of those of their name.
    Source: ours, after a reader's report (prompts.md)."""

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
    all ideas, what the idea builds on, advice of outsiders, changes of earlier revisers? Source:
    ours, after a reader's report (prompts.md)."""
    marks: Switch = "off"
    """Does each speaker object to the idea on the table and rate it? Its confidence is then the
    mean of its author's and of others' ratings. Source: ours, after a reader's report
    (prompts.md)."""
    critique: Switch = "off"
    """Does a member who is not the idea's author examine it before the abstract is written? Source:
    ours, after a reader's report (prompts.md)."""
    comparisons: Switch = "off"
    """Is each idea on a ballot compared with its nearest paper before the vote? Source: ours, after
    a reader's report (prompts.md)."""
    idea_order: Literal["fixed", "permuted"] = "fixed"
    """``permuted``: every ballot lists the ideas in an order of its own. Source: ours, after a
    reader's report (prompts.md)."""
    profiles_in_abstract: Switch = "off"
    """Are relevant scientists shown to those who write the abstract? Source: ours, after a reader's
    report (prompts.md)."""
    ratings: Switch = "off"
    """Do an idea's ratings of itself stand with it for the next speaker, on ballots and beside the
    draft? Source: VirSci, figure 21 shows none; the published program of VirSci: `on`."""
