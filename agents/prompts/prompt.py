"""Prompt templates with slots, the messages that they become, and their trimming.

Besides plain slots a prompt file knows these filters: ``introduce`` and ``brief`` (a Profile),
``transcript`` (who said what), ``quote`` (a text that others wrote), ``flatten`` (the same on one
line), ``words`` (a form or a text as text), ``listed``, ``titles``, ``lettered`` and ``keys``
(References), ``outside`` (Profiles of people outside the team), ``place`` (a TurnPosition as a
sentence), ``team`` (names of members) and ``name``. Quotations, transcripts and lists of papers
mark every line that others wrote. The slot ``you`` is where a prompt tells the scientist who it is,
``answer_form`` the JSON block that it asks for.

A prompt that a model cannot read as a whole is trimmed by a rule, so the same messages are always
cut in the same way. Long lines carry data (abstracts, profiles, drafts) and instructions stand in
short lines: so long lines are cut first, and text from the middle only if that is not enough.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import jinja2
from jinja2 import meta, nodes

from virsci_society.agents.errors import InputError, ReplyError
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.dialogue import (
    describe_position,
    flatten,
    list_names,
    name_of,
    quote,
    words_of,
    write_transcript,
)
from virsci_society.agents.prompts.paper_lists import (
    list_keys,
    list_lettered,
    list_references,
    list_titles,
)
from virsci_society.agents.prompts.request import Message, Reply
from virsci_society.agents.reference import Reference
from virsci_society.agents.spelling import did_you_mean

BRIEF = 5
"""Most interests of a scientist who is introduced on one line."""


@jinja2.pass_context
def introduce(context: Mapping[str, Any], profile: Profile) -> str:
    """A profile in sentences on one line, with the fields of the paper's Figure 16.

    Of the collaborators only those are named who stand on the page or have written with the
    reader, because no other masked name tells it anything.

    Args:
        context: values of the page, with ``me``, the reader. Its function ``shown_interests``, if
            there is one, chooses the interests of a profile that say something about it.
        profile: the profile.
    """
    interests = _shown_interests(context, profile)
    parts = []
    if profile.affiliations:
        parts.append(f"Affiliations: {'; '.join(profile.affiliations)}.")
    if interests:
        parts.append(f"Research interests: {'; '.join(interests)}.")
    cited = "" if profile.citations is None else f", cited {profile.citations} times"
    parts.append(f"Published papers: {profile.papers}{cited}.")
    me, known = context.get("me"), _people_listed(context)
    if me is not None:
        known |= {me.id} if profile == me else {me.id, *me.collaborators}
    names = [name_of(name, me) if me else name for name in profile.collaborators if name in known]
    if names:
        parts.append(f"Has written with: {', '.join(names)}.")
    return flatten(" ".join(parts))


@jinja2.pass_context
def introduce_briefly(context: Mapping[str, Any], profile: Profile) -> str:
    """What a profile says of somebody's work: main interests and number of papers, on one line.

    Args:
        context: values of the page, as for ``introduce``.
        profile: the profile.
    """
    interests = _shown_interests(context, profile)[:BRIEF]
    papers = "1 paper" if profile.papers == 1 else f"{profile.papers} papers"
    return flatten(f"{'; '.join(interests) or 'no stated interests'} ({papers})")


def _shown_interests(context: Mapping[str, Any], profile: Profile) -> Sequence[str]:
    choose = context.get("shown_interests")
    return profile.interests if choose is None else choose(profile)


@jinja2.pass_context
def introduce_outsiders(
    context: Mapping[str, Any], knowledge: Sequence[Profile], outsiders: Sequence[Profile]
) -> str:
    """Scientists outside the team, one line each, and which of them may be asked.

    Args:
        context: values of the page, as for ``introduce``.
        knowledge: those whose work is near to the text at hand.
        outsiders: those who may be asked a question.
    """
    listed = [*knowledge, *(one for one in outsiders if one not in knowledge)]
    lines = [f"- {one.id}: {introduce_briefly(context, one)}" for one in listed]
    if outsiders:
        names = ", ".join(one.id for one in outsiders)
        whom = "one of them" if len(listed) == len(outsiders) else f"one of these: {names}"
        lines.append(f"If an answer would help, you may put one question to {whom}.")
    return "\n".join(["Scientists outside the team whose work may be of use:", *lines])


@jinja2.pass_context
def list_references_here(
    context: Mapping[str, Any], references: Sequence[Reference], sentences: int | None = None
) -> str:
    """Papers with their abstracts; of the authors those who stand on the page."""
    return list_references(references, sentences, _people_listed(context))


@jinja2.pass_context
def list_titles_here(context: Mapping[str, Any], references: Sequence[Reference]) -> str:
    """Papers by their titles; of the authors those who stand on the page."""
    return list_titles(references, _people_listed(context))


def _people_listed(context: Mapping[str, Any]) -> set[str]:
    """Masked names of the people whom the page lists.

    The reader is none of them as such: what stands before its definition is the same for all who
    are asked side by side, so that a provider's cache can keep it.
    """
    people: list[Any] = []
    for slot in ("team", "members", "knowledge", "outsiders"):
        content = context.get(slot)
        # Pages of others may use these slots for something else, as interviews do.
        people += content if isinstance(content, list | tuple) else []
    return {getattr(one, "id", one) for one in people}


_PAGES = jinja2.Environment(
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    autoescape=False,  # noqa: S701 - prompts are plain text, not HTML
)
_PAGES.filters |= {
    "introduce": introduce,
    "brief": introduce_briefly,
    "quote": quote,
    "flatten": flatten,
    "transcript": write_transcript,
    "place": describe_position,
    "team": list_names,
    "name": name_of,
    "listed": list_references_here,
    "titles": list_titles_here,
    "outside": introduce_outsiders,
    "lettered": list_lettered,
    "keys": list_keys,
    "words": words_of,
}
_PROVIDED = frozenset({"you", "answer_form"})
"""Slots that are filled in by ``build_messages``."""


class PageError(InputError, jinja2.UndefinedError):
    """A page holds a slot, or a part of one, that its question does not give."""


class Prompt:
    """One prompt of a protocol; a missing slot is an error, never a blank.

    The slot ``you``, unless it is given, is filled with the definition of the scientist asked, made
    of the slots ``me``, ``role``, ``year`` and ``memory``.

    Args:
        path: the text file.
        system: a system message in place of the one that scientists get, for prompts to somebody
            outside the society; None: the usual one.

    Attributes:
        name: stem of the file's name.
        text: the template.

    Example:
        >>> from pathlib import Path
        >>> page = Path("essay.txt")
        >>> _ = page.write_text("Write about {{ topic }} in {{ words }} words.")
        >>> prompt = vs.Prompt(page)
        >>> sorted(prompt.slots), prompt.render({"topic": "networks", "words": 100})
        (['topic', 'words'], 'Write about networks in 100 words.')
    """

    def __init__(self, path: Path, system: str | None = None) -> None:
        self.name, self.path = path.stem, path
        self.text = path.read_text(encoding="utf-8")
        self.system = system

    @cached_property
    def _template(self) -> jinja2.Template:
        return _PAGES.from_string(self.text)

    @cached_property
    def _tree(self) -> nodes.Template:
        try:
            return _PAGES.parse(self.text)
        except jinja2.TemplateSyntaxError as error:
            raise InputError(f"{self.path}:{error.lineno}: {error.message}") from error

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(meta.find_undeclared_variables(self._tree))

    @property
    def personal(self) -> bool:
        """True if the template has the slot ``you``."""
        return "you" in self._names

    @property
    def slots(self) -> frozenset[str]:
        """Names of the slots that must be given; for ``you``, those that it is made of."""
        own = self._names - _PROVIDED
        return own | DEFINITION.slots if self.personal else own

    def render(self, slots: Mapping[str, Any]) -> str:
        """The text of the prompt.

        Args:
            slots: content by slot.

        Raises:
            PageError: a slot is missing, also where this question would not show it.
            InputError: the file is no template.
        """
        for name in sorted(self.slots - slots.keys()):
            raise self._missing(name, slots)
        if self.personal:
            slots = {"you": DEFINITION.render(slots), **slots}
        try:
            return self._template.render(slots).strip()
        except jinja2.UndefinedError as error:
            lines = [
                line
                for frame, line in traceback.walk_tb(error.__traceback__)
                if frame.f_code.co_filename == "<template>"
            ]
            raise PageError(f"{self.path}:{lines[-1] if lines else 1}: {error}") from error

    def _missing(self, name: str, slots: Mapping[str, Any]) -> PageError:
        used = self._tree.find_all(nodes.Name)
        line = next((node.lineno for node in used if node.name == name), 1)
        given = sorted(slots.keys() - DEFINITION.slots - _PROVIDED)
        return PageError(
            f"{self.path}:{line}: the slot {name!r} is undefined{did_you_mean(name, given)}; "
            f"given are {', '.join(given) or 'none'}"
        )


class Prompts:
    """The prompts of one folder, by name.

    Args:
        folder: its ``.txt`` files are the prompts.
        instead: prompts for those names for which the folder has no file; None: there are none.
    """

    def __init__(self, folder: Path, instead: Prompts | None = None) -> None:
        own = {path.stem: Prompt(path) for path in folder.glob("*.txt")}
        known = own if instead is None else instead._prompts | own
        # Sorted, because a folder lists its files in an order of its own (rule 12).
        self._prompts: dict[str, Prompt] = dict(sorted(known.items()))

    def __getitem__(self, name: str) -> Prompt:
        return self._prompts[name]

    def __iter__(self) -> Iterator[Prompt]:
        return iter(self._prompts.values())


EVERYBODY = Prompt(Path(__file__).with_name("everybody.txt"))
"""What every scientist is told first, in the same words."""
DEFINITION = Prompt(Path(__file__).with_name("definition.txt"))
"""Who is asked (Fig. 16): its name, role and profile, and what it recalls."""


# Without any slot: providers cache the beginning of a prompt only if it never differs.
_SYSTEM = EVERYBODY.render({})


def build_messages(
    prompt: Prompt, slots: Mapping[str, Any], answer_form: str = ""
) -> tuple[Message, Message]:
    """The messages for a prompt: first the text that is the same for everybody, then the prompt.

    Providers cache the beginning of a prompt. So the definition of the scientist stands where the
    template has the slot ``you``, behind everything that is shared; without that slot it stands at
    the end of the system message.

    Args:
        prompt: the prompt.
        slots: its slots, and ``me``, ``role``, ``year`` and ``memory``.
        answer_form: the JSON block that the reply has to fill (``render_skeleton``).

    Returns:
        A system message and a user message.

    Raises:
        PageError: a slot is missing.
    """
    slots = {**slots, "answer_form": answer_form}
    if prompt.system is not None:
        return Message("system", prompt.system), Message("user", prompt.render(slots))
    system = _SYSTEM
    if not prompt.personal:
        system = f"{system}\n\n{DEFINITION.render(slots)}"
    return Message("system", system), Message("user", prompt.render(slots))


def reask_messages(
    messages: tuple[Message, ...], reply: Reply, error: ReplyError
) -> tuple[Message, ...]:
    """The messages that ask once more, after a reply that could not be read.

    Args:
        messages: those of the first asking.
        reply: the unreadable reply.
        error: why it could not be read.
    """
    why = "it was cut off: be brief" if reply.cut else str(error)
    request = (
        f"That answer could not be read ({why}). Please give it once more, with the JSON "
        "block exactly in the format that was asked for."
    )
    return (*messages, Message("assistant", reply.text), Message("user", request))


LINES = (2000, 1000, 500, 250, 120)
"""Lengths, in characters, that long lines are cut to, one after another."""
CUT = " […]"


def trim_messages(messages: tuple[Message, ...], characters: int) -> tuple[Message, ...]:
    """The messages cut to a number of characters, or as near to it as keeps every message.

    Args:
        messages: messages of one request.
        characters: most characters of their contents together (> 0).
    """
    for longest in LINES:
        if total_characters(messages) <= characters:
            return messages
        messages = tuple(_with_lines_cut(message, longest) for message in messages)
    excess = total_characters(messages) - characters
    if excess <= 0:
        return messages
    # Of equally long messages the first: the same messages are always cut in the same way.
    index = max(range(len(messages)), key=lambda at: len(messages[at].content))
    shorter = _without_middle(messages[index], excess)
    return (*messages[:index], shorter, *messages[index + 1 :])


def total_characters(messages: tuple[Message, ...]) -> int:
    """Characters of the contents together."""
    return sum(len(message.content) for message in messages)


def _with_lines_cut(message: Message, longest: int) -> Message:
    lines = [
        line if len(line) <= longest else line[: longest - len(CUT)] + CUT
        for line in message.content.split("\n")
    ]
    return Message(message.role, "\n".join(lines))


def _without_middle(message: Message, excess: int) -> Message:
    """The message without its middle: its beginning says who and what, its end in which form."""
    text = message.content
    left = max(len(text) - excess - len(CUT) - 2, 0)
    head = left // 2
    return Message(message.role, f"{text[:head]}\n{CUT.strip()}\n{text[len(text) - left + head :]}")
