"""The prompts of a finished run, by going through it again from its journal.

The tables of a run hold the hash of each prompt and not its text. A replay makes every prompt anew
and asks no model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from virsci_society.agents.errors import Diverged, InputError
from virsci_society.agents.prompts.slots import Reference
from virsci_society.protocols.ideas import CandidateIdea
from virsci_society.scenarios.explorer.conversations import AskedIdea, PromptBook, ShownPrompt
from virsci_society.scenarios.planning.prompt_recording import replaying
from virsci_society.scenarios.runs.rehearsal import go_through

MOST_CALLS = 10_000
"""Calls of a run up to which its prompts are made anew without being asked for."""


def read_prompts(
    folder: Path, calls: int, wanted: bool | None, *, trust: bool = False
) -> PromptBook:
    """The prompts of a run, or why there are none.

    Args:
        folder: of the run.
        calls: number of its calls.
        wanted: None: where the run has finished and has at most ``MOST_CALLS`` calls.
        trust: let dotted paths in its scenario be imported.

    Raises:
        InputError: they are wanted, and the run cannot be gone through again.
        Diverged: they are wanted, and prompts or code have changed since.
    """
    if wanted is False:
        return PromptBook(missing="not asked for")
    if not calls:
        return PromptBook()
    if wanted is None and calls > MOST_CALLS:
        return PromptBook(missing=f"the run has more than {MOST_CALLS:,} calls; give --prompts")
    try:
        return _replay(folder, trust=trust)
    except (InputError, Diverged) as error:
        if wanted:
            raise
        return PromptBook(missing=str(error))


def _replay(folder: Path, *, trust: bool) -> PromptBook:
    with replaying(folder, trust=trust) as (scenario, gateway):
        go_through(scenario, gateway, lambda society: False)
    questions: dict[str, ShownPrompt] = {}
    titles: dict[str, str] = {}
    for request, _ in gateway.recorded:
        messages = tuple((message.role, message.content) for message in request.messages)
        questions[request.id] = ShownPrompt(messages, tuple(map(_asked, _ideas(request.slots))))
        for paper in _references(tuple(request.slots.values())):
            titles.setdefault(paper.id, paper.title)
    return PromptBook(questions, titles)


def _ideas(slots: Mapping[str, Any]) -> Iterator[CandidateIdea]:
    """The ideas on a ballot, the one to be written up, or the one on the table."""
    for name in ("ideas", "idea", "previous"):
        held = slots.get(name)
        for value in held if isinstance(held, tuple) else (held,):
            if isinstance(value, CandidateIdea):
                yield value


def _asked(idea: CandidateIdea) -> AskedIdea:
    return AskedIdea(idea.author, idea.idea.title, idea.used, idea.retrieved)


def _references(values: tuple[Any, ...]) -> Iterator[Reference]:
    """All references in slots: alone, in tuples, and those of ideas."""
    for value in values:
        if isinstance(value, Reference):
            yield value
        elif isinstance(value, CandidateIdea):
            yield from (*value.references, *value.builds_on)
        elif isinstance(value, tuple):
            yield from _references(value)
