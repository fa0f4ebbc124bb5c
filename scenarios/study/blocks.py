"""The blocks of a study, in each of which it has the same arms: models, for example, or budgets.

Within a block arms are compared and matched; blocks of one study share seeds and crossed values.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from virsci_society.scenarios.config.document import Document
from virsci_society.scenarios.study.design import Arm, arm_name, settings_document
from virsci_society.scenarios.study.study_file import StudyFile

BUDGET = "match.to"
"""What a block calls the budget of its adapted arms."""


def in_blocks(
    file: StudyFile, arms: list[tuple[Arm, Document]], study: Document
) -> list[tuple[Arm, Document]]:
    """Every arm in every block of a study, block by block.

    An arm that is not adapted is run once, beside all budgets.

    Args:
        file: the keys of the study.
        arms: as the file has them, with their settings.
        study: the file, whose lines messages name.
    """
    wanted, found = file.match, []
    budgets = wanted.to if wanted is not None and isinstance(wanted.to, tuple) else (None,)
    for budget, keys in itertools.product(budgets, settings_of_blocks(file)):
        for arm, document in arms:
            adapted = wanted is not None and arm.name in wanted.adapt
            if not adapted and budget != budgets[-1]:
                continue
            block = keys if budget is None or not adapted else {**keys, BUDGET: budget}
            if not block:
                found.append((arm, document))
                continue
            told = [arm_name(keys)] if keys else []
            told += [f"{budget:g} {wanted.by}"] if wanted is not None and BUDGET in block else []
            name = f"{arm.name} ({', '.join(told)})"
            placed = Arm(name, {**arm.settings, **keys}, arm.name, block)
            found.append((placed, document.merged_with(block_document(file, study, keys))))
    return found


def settings_of_blocks(file: StudyFile) -> Iterator[dict[str, Any]]:
    """The scenario keys of every block, the last key changing fastest."""
    for values in itertools.product(*file.each.values()):
        yield dict(zip(file.each, values, strict=True))


def block_document(file: StudyFile, study: Document, keys: Mapping[str, Any]) -> Document:
    """Scenario keys of a block as a document whose messages name the lines of the study's file."""
    document = Document()
    for key, value in keys.items():
        place = ("each", key, file.each[key].index(value))
        document = document.merged_with(settings_document(study, place, {key: value}))
    return document
