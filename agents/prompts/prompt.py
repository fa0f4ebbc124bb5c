"""Prompt templates with slots, and the messages that they become.

Besides plain slots a prompt file knows these filters: ``introduce`` and ``brief`` (a Profile),
``transcript`` (who said what), ``quote`` (a text that others wrote), ``flatten`` (the same on one
line), ``words`` (a form or a text as text), ``listed``, ``titles``, ``lettered`` and ``keys``
(References), ``outside`` (Profiles of people outside the team), ``place`` (a TurnPosition as a
sentence), ``team`` (names of members), ``name``, and ``fitting`` (a number of words, or fewer where
replies are shorter). Quotations, transcripts and lists of papers mark every line that others wrote.
The slot ``you`` is where a prompt tells the scientist who it is, ``answer_form`` the list of the
fields that it asks for.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Any

import jinja2
from jinja2 import meta, nodes

from virsci_society.agents.errors import InputError
from virsci_society.agents.prompts.request import Message
from virsci_society.agents.prompts.slots import (
    describe_position,
    fit_words,
    flatten,
    introduce,
    introduce_briefly,
    introduce_outsiders,
    list_keys,
    list_lettered,
    list_names,
    list_references,
    list_titles,
    name_of,
    people_listed,
    quote,
    words_of,
    write_transcript,
)
from virsci_society.agents.spelling import did_you_mean

_PAGES = jinja2.Environment(
    optimized=False,  # it takes longer than it saves
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    autoescape=False,  # noqa: S701 - prompts are plain text, not HTML
)
_PAGES.filters |= {
    "introduce": jinja2.pass_context(introduce),
    "brief": jinja2.pass_context(introduce_briefly),
    "fitting": jinja2.pass_context(fit_words),
    "quote": quote,
    "flatten": flatten,
    "transcript": write_transcript,
    "place": describe_position,
    "team": list_names,
    "name": name_of,
    "listed": jinja2.pass_context(list_references),
    "titles": jinja2.pass_context(list_titles),
    "outside": jinja2.pass_context(introduce_outsiders),
    "lettered": list_lettered,
    "keys": list_keys,
    "words": words_of,
}
_PROVIDED = frozenset({"you", "answer_form", "people_listed"})
"""Slots that are filled in by ``build_messages``."""


class Prompt:
    """One prompt of a protocol; a missing slot is an error, never a blank.

    The slot ``you``, unless it is given, is filled with the definition of the scientist asked, made
    of the slots ``me``, ``role``, ``year`` and ``memory``.

    Args:
        system: a system message in place of the one that scientists get, for prompts to somebody
            outside the society; None: the usual one.

    Attributes:
        temperature: of the replies to it, in place of the model's; None: the model's.

    Example:
        >>> from pathlib import Path
        >>> page = Path("essay.txt")
        >>> _ = page.write_text("Write about {{ topic }} in {{ words }} words.")
        >>> prompt = vs.Prompt(page)
        >>> sorted(prompt.slots), prompt.render({"topic": "networks", "words": 100})
        (['topic', 'words'], 'Write about networks in 100 words.')
    """

    temperature: float | None = None

    def __init__(self, path: Path, system: str | None = None) -> None:
        self.name, self.path = path.stem, path
        self.text = path.read_text(encoding="utf-8")
        self.system = system

    @cached_property
    def _template(self) -> jinja2.Template:
        # Without globals of its own: ``render`` adds them to the slots.
        return jinja2.Template.from_code(_PAGES, _PAGES.compile(self._tree), {})

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(meta.find_undeclared_variables(self._tree))

    @cached_property
    def _tree(self) -> nodes.Template:
        try:
            return _PAGES.parse(self.text)
        except jinja2.TemplateSyntaxError as error:
            raise InputError(f"{self.path}:{error.lineno}: {error.message}") from error

    @cached_property
    def instructions(self) -> str:
        """The words of the file itself, without what its slots are filled with."""
        texts = (str(node.data) for node in self._tree.find_all(nodes.TemplateData))
        choices = (str(node.value) for node in self._tree.find_all(nodes.Const))
        return "\n".join((*texts, *choices, EVERYBODY.text))

    def at_temperature(self, temperature: float | None) -> Prompt:
        """The same prompt with another temperature; None: unchanged."""
        if temperature is None:
            return self
        made = copy(self)
        made.temperature = temperature
        return made

    @cached_property
    def personal(self) -> bool:
        """True if the template has the slot ``you``."""
        return "you" in self._names

    @cached_property
    def slots(self) -> frozenset[str]:
        """Names of the slots that must be given; for ``you``, those that it is made of."""
        own = self._names - _PROVIDED
        return own | DEFINITION.slots if self.personal else own

    def render(self, slots: Mapping[str, Any]) -> str:
        """The text of the prompt."""
        if not self.slots <= slots.keys():
            # The first by name, so that the message is always the same.
            name = min(self.slots - slots.keys())
            names = sorted(slots.keys() - DEFINITION.slots - _PROVIDED)
            raise InputError(
                f"{self.path}:{self.line_of(name)}: the slot {name!r} is undefined"
                f"{did_you_mean(name, names)}; given are {', '.join(names) or 'none'}"
            )
        return self._text({**_PAGES.globals, "people_listed": people_listed(slots), **slots})

    def _text(self, page: dict[str, Any]) -> str:
        if self.personal and "you" not in page:
            page["you"] = DEFINITION._text(page)
        template = self._template
        try:
            # ``render`` would copy the slots twice.
            context = template.new_context(page, shared=True)
            return "".join(template.root_render_func(context)).strip()
        except jinja2.UndefinedError as error:
            lines = [
                template.get_corresponding_lineno(line)
                for frame, line in traceback.walk_tb(error.__traceback__)
                if frame.f_code.co_filename == "<template>"
            ]
            raise InputError(f"{self.path}:{lines[-1] if lines else 1}: {error}") from error

    def line_of(self, slot: str) -> int:
        """Number of the first line that uses a slot, from 1; also 1 where none does."""
        return next(
            (name.lineno for name in self._tree.find_all(nodes.Name) if name.name == slot), 1
        )


class Prompts:
    """The prompts of one folder, by name."""

    def __init__(self, folder: Path, instead: Prompts | None = None) -> None:
        self._folder = folder
        own = {path.stem: Prompt(path) for path in folder.glob("*.txt")}
        pages = own if instead is None else instead._prompts | own
        # Sorted, because a folder lists its files in an order of its own (rule 12).
        self._prompts: dict[str, Prompt] = dict(sorted(pages.items()))

    def __getitem__(self, name: str) -> Prompt:
        if name not in self._prompts:
            raise InputError(
                f"no prompt is called {name!r}{did_you_mean(name, self._prompts)}; write it as "
                f"{self._folder / name}.txt, or name an existing prompt"
            )
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
    """The messages for a prompt; first what is the same for everybody, which providers cache."""
    slots = {**slots, "answer_form": answer_form}
    if prompt.system is not None:
        return Message("system", prompt.system), Message("user", prompt.render(slots))
    system = _SYSTEM
    if not prompt.personal:
        system = f"{system}\n\n{DEFINITION.render(slots)}"
    return Message("system", system), Message("user", prompt.render(slots))
