"""Cards of research systems, read with file and line in every message."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.config.diagnostics import describe_errors
from virsci_society.scenarios.config.document import Origin, single_document
from virsci_society.scenarios.config.reader import Reader
from virsci_society.scenarios.config.yaml_io import display_path

if TYPE_CHECKING:
    from virsci_society.protocols.engines.research_system import ResearchSystem

CARDS = Path(__file__).parents[2]
"""The folder below which the paths of the project's own cards begin."""


@cache  # a run must not change its card when the file is edited meanwhile
def read_card(path: str) -> type[ResearchSystem]:
    """The class of the system that a card describes; InputError with every fault and its line.

    The path of one of the project's own cards is relative to its packages.
    """
    from virsci_society.protocols.engines.card import SystemCard
    from virsci_society.protocols.engines.rounds import pages_beside, system_of

    file = CARDS / path
    if not file.is_file():
        raise InputError(f"{path}: there is no such card")
    document = single_document(file)
    document.origins[()] = Origin(display_path(file), file.parent)  # of a key that is not there
    reader = Reader(document, trust=False)
    diagnostics = reader.diagnostics
    card = reader.read(SystemCard)
    pages = pages_beside(file)
    for place, problem in card.faults(pages):
        diagnostics.add(place, problem)
    diagnostics.raise_faults()
    made = system_of(card, pages, path)
    usual = {name: key.default for name, key in card.own_keys}
    for values in (usual, made.published, made.matched):
        try:
            made.model_validate(values)
        except ValidationError as error:
            for one in error.errors(include_url=False):
                diagnostics.add(("keys", *one["loc"][:1]), describe_errors([one]))
    diagnostics.raise_faults()
    return made
