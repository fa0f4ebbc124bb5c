"""Prompt: a text file with slots, and the text that fills them.

Besides plain slots the pages know two filters: ``introduce`` puts a Profile into sentences,
``listed`` numbers References. Both keep what others wrote inside fences, as data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import jinja2
from jinja2 import meta

from agents.profile import Profile
from agents.reference import Reference


def introduce(profile: Profile) -> str:
    """What others may know of a scientist, in sentences (the fields of Fig. 16)."""
    parts = []
    if profile.affiliations:
        parts.append(f"Affiliations: {'; '.join(profile.affiliations)}.")
    if profile.interests:
        parts.append(f"Research interests: {'; '.join(profile.interests)}.")
    cited = "" if profile.citations is None else f", cited {profile.citations} times"
    parts.append(f"Published papers: {profile.papers}{cited}.")
    if profile.collaborators:
        parts.append(f"Earlier collaborators: {', '.join(profile.collaborators)}.")
    return " ".join(parts)


def listed(references: Sequence[Reference]) -> str:
    """References as a numbered list between fences."""
    lines = [
        f"[{number}] {reference.title} ({reference.year}). {reference.abstract}".rstrip()
        for number, reference in enumerate(references, 1)
    ]
    return "\n".join(["<<<papers", *lines, "papers>>>"])


_PAGES = jinja2.Environment(
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    autoescape=False,  # noqa: S701 - prompts are plain text, not HTML
)
_PAGES.filters["introduce"] = introduce
_PAGES.filters["listed"] = listed


class Prompt:
    """One prompt of a protocol; a slot left out by mistake is an error, never a blank."""

    def __init__(self, path: Path) -> None:
        self.name = path.stem
        self.text = path.read_text(encoding="utf-8")

    @cached_property
    def _template(self) -> jinja2.Template:
        return _PAGES.from_string(self.text)

    @cached_property
    def slots(self) -> frozenset[str]:
        """Names of the slots the text uses."""
        return frozenset(meta.find_undeclared_variables(_PAGES.parse(self.text)))

    def render(self, slots: Mapping[str, Any]) -> str:
        """The prompt as the model is told it.

        Raises:
            jinja2.UndefinedError: a slot of the text is missing.
        """
        return self._template.render(slots).strip()


class Prompts:
    """The prompts of one folder, by name."""

    def __init__(self, folder: Path) -> None:
        self._prompts = {path.stem: Prompt(path) for path in sorted(folder.glob("*.txt"))}

    def __getitem__(self, name: str) -> Prompt:
        return self._prompts[name]

    def __iter__(self) -> Iterator[Prompt]:
        return iter(self._prompts.values())


DEFINITION = Prompt(Path(__file__).with_name("definition.txt"))
"""The system prompt of every scientist (Fig. 16): who it is and what it recalls."""
