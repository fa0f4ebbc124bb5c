"""Prompt: a text file with slots, the text that fills them, and the messages they become.

Besides plain slots the pages know two filters: ``introduce`` puts a Profile into sentences,
``listed`` numbers References. Both keep what others wrote inside fences, as data. The slot
``you`` is where a page tells the scientist who it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import jinja2
from jinja2 import meta

from agents.errors import ReplyError
from agents.profile import Profile
from agents.reference import Reference
from agents.request import Message, Reply


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
    """One prompt of a protocol; a slot left out by mistake is an error, never a blank.

    The slot ``you`` is filled with the definition of the scientist asked, which is made of
    ``me``, ``role`` and ``memory``. A page with a ``system`` text of its own is put to somebody
    outside the society, who is told that text in place of what scientists are told.
    """

    def __init__(self, path: Path, system: str | None = None) -> None:
        self.name = path.stem
        self.text = path.read_text(encoding="utf-8")
        self.system = system

    @cached_property
    def _template(self) -> jinja2.Template:
        return _PAGES.from_string(self.text)

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(meta.find_undeclared_variables(_PAGES.parse(self.text)))

    @property
    def personal(self) -> bool:
        """True if the text itself has a place for who is asked."""
        return "you" in self._names

    @property
    def slots(self) -> frozenset[str]:
        """Names of the slots that must be given; for ``you``, those that it is made of."""
        return (self._names - {"you"}) | DEFINITION.slots if self.personal else self._names

    def render(self, slots: Mapping[str, Any]) -> str:
        """The prompt as the model is told it.

        Raises:
            jinja2.UndefinedError: a slot of the text is missing.
        """
        if self.personal:
            slots = {**slots, "you": DEFINITION.render(slots)}
        return self._template.render(slots).strip()


class Prompts:
    """The prompts of one folder, by name."""

    def __init__(self, folder: Path) -> None:
        self._prompts = {path.stem: Prompt(path) for path in sorted(folder.glob("*.txt"))}

    def __getitem__(self, name: str) -> Prompt:
        return self._prompts[name]

    def __iter__(self) -> Iterator[Prompt]:
        return iter(self._prompts.values())


EVERYBODY = Prompt(Path(__file__).with_name("everybody.txt"))
"""What every scientist is told first, in the same words."""
DEFINITION = Prompt(Path(__file__).with_name("definition.txt"))
"""Who is asked (Fig. 16): its name, role and profile, and what it recalls."""


_FIRST = EVERYBODY.render({})


def messages_of(page: Prompt, slots: Mapping[str, Any]) -> tuple[Message, Message]:
    """What a model is told: first what is the same for everybody, then the page.

    Providers reuse what they have worked out for the beginning of an earlier prompt, so who is
    asked stands where the page has its place for it; without one, before the page.

    Args:
        page: what is asked.
        slots: those of the page, and ``me``, ``role`` and ``memory``.

    Raises:
        jinja2.UndefinedError: a slot is missing.
    """
    if page.system is not None:
        return Message("system", page.system), Message("user", page.render(slots))
    system = _FIRST
    if not page.personal:
        system = f"{system}\n\n{DEFINITION.render(slots)}"
    return Message("system", system), Message("user", page.render(slots))


def asked_again(
    messages: tuple[Message, ...], reply: Reply, trouble: ReplyError
) -> tuple[Message, ...]:
    """The messages that ask for words once more, after a reply that could not be read."""
    why = "it was cut off: be brief" if reply.cut else str(trouble)
    complaint = (
        f"That answer could not be read ({why}). Please give it once more, with the JSON "
        "block exactly in the format that was asked for."
    )
    return (*messages, Message("assistant", reply.text), Message("user", complaint))
