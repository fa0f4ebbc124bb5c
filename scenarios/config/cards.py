"""Cards of research systems, read with file and line in every message."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.config.diagnostics import Diagnostics, describe_errors, unknown_key
from virsci_society.scenarios.config.document import single_document
from virsci_society.scenarios.config.yaml_io import KeyPath, display_path

if TYPE_CHECKING:
    from virsci_society.protocols.engines.research_system import ResearchSystem

CARDS = Path(__file__).parents[2]
"""The folder below which the paths of the project's own cards begin."""


@cache  # a run must not change its card when the file is edited meanwhile
def read_card(path: str) -> type[ResearchSystem]:
    """The class of the system that a card describes; InputError with every fault and its line.

    The path of one of the project's own cards is relative to its packages.
    """
    from virsci_society.protocols.engines.card import SECTIONS, SystemCard
    from virsci_society.protocols.engines.rounds import pages_beside, system_of

    file = CARDS / path
    if not file.is_file():
        raise InputError(f"{path}: there is no such card")
    document = single_document(file)
    diagnostics = Diagnostics(document)

    def note(error: ValidationError, at: KeyPath) -> None:
        """Note what pydantic found, each with its place in the card."""
        errors = error.errors(include_url=False)
        for one in errors:
            place: KeyPath = (*at, *one["loc"])
            problem = describe_errors([one])
            if one["type"] == "too_short" and len(errors) > 1:
                continue  # what failed in it is told by itself
            if one["type"] == "extra_forbidden":
                above = [str(step) for step in place[:-1] if step in SECTIONS]
                known = SECTIONS[above[-1]] if above else SystemCard
                problem = unknown_key(place[-1], [*known.model_fields])
            elif one["type"] == "missing":
                problem = "required, but not given"
                if len(place) == 1:
                    problem, place = f"{display_path(file)}: {place[0]}: {problem}", ()
            else:
                while place and place not in document.origins:
                    place = place[:-1]  # the names of types that a union tried
            diagnostics.add(place, problem)

    try:
        card = SystemCard.model_validate(document.data)
    except ValidationError as error:
        note(error, ())
        diagnostics.raise_faults()
        raise
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
            note(error, ("keys",))
    diagnostics.raise_faults()
    return made
