"""Research systems written as cards: YAML files, read with file and line in every message."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.config.diagnostics import Diagnostics, describe_errors, unknown_key
from virsci_society.scenarios.config.document import single_document

if TYPE_CHECKING:
    from virsci_society.protocols.engines.research_system import ResearchSystem

CARDS = Path(__file__).parents[2]
"""The folder below which the paths of the project's own cards begin."""


@cache  # a run must not change its card when the file is edited meanwhile
def read_card(path: str) -> type[ResearchSystem]:
    """The class of the system that a card describes.

    Args:
        path: of the card; that of one of the project's own is relative to its packages.

    Raises:
        InputError: with file and line of every fault.
    """
    from virsci_society.protocols.engines.card import Card
    from virsci_society.protocols.engines.rounds import pages_beside, system_of

    file = CARDS / path
    if not file.is_file():
        raise InputError(f"{path}: there is no such card")
    document = single_document(file)
    diagnostics = Diagnostics(document)
    try:
        card = Card.model_validate(document.data)
    except ValidationError as error:
        for one in error.errors(include_url=False):
            place = one["loc"]
            if one["type"] == "extra_forbidden":
                known = [*Card.model_fields] if len(place) == 1 else []
                diagnostics.add(place, unknown_key(place[-1], known))
            elif one["type"] == "missing":
                diagnostics.add(place, "required, but not given")
            else:
                while place and place not in document.origins:
                    place = place[:-1]  # the names of types that a union tried
                diagnostics.add(place, describe_errors([one]))
        diagnostics.raise_faults()
        raise
    pages = pages_beside(file)
    for place, problem in card.faults(pages):
        diagnostics.add(place, problem)
    diagnostics.raise_faults()
    return system_of(card, pages, path)
