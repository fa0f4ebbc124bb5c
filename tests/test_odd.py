"""The ODD page: its elements in order, and its constants as the code has them."""

import importlib
import re
from itertools import takewhile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "odd.md").read_text(encoding="utf-8")


def cells_of(line):
    """The cells of one line of a Markdown table; a bar within a cell is written ``\\|``."""
    parts = re.split(r"(?<!\\)\|", line.strip())[1:-1]
    return [part.strip().replace("\\|", "|") for part in parts]


def rows(text, first):
    """Rows of the tables whose first column is called ``first``, by heading and first cell."""
    found, heading, lines = {}, "", iter(text.splitlines())
    for line in lines:
        if line.startswith("#"):
            heading = line.lstrip("# ").strip("`")
        elif line.startswith("|") and cells_of(line)[0] == first:
            for row in takewhile(lambda one: one.startswith("|"), lines):
                cells = cells_of(row)
                if not set(row) <= set("|- "):
                    name = heading, cells[0].strip("`")
                    assert name not in found, f"{name} appears twice"
                    found[name] = cells[1:]
    return found


CONSTANTS = rows(PAGE, "constant")


def test_every_constant_names_its_unit_and_its_source():
    for (heading, name), row in CONSTANTS.items():
        assert re.search(r"\w", row[-1]), f"{heading}: {name} has no source; say assumed if so"
        assert row[1], f"{heading}: {name} has no unit; a dash where it has none"


def test_constants_have_the_values_of_the_code():
    assert CONSTANTS
    for (_, path), row in CONSTANTS.items():
        module, name = path.split(":")
        assert row[0] == f"`{getattr(importlib.import_module(module), name)}`", path


def test_the_seven_elements_of_the_protocol_stand_in_order():
    elements = [
        *("Purpose and patterns", "Entities, state variables, scales"),
        *("Process overview and scheduling", "Design concepts", "Initialization"),
        *("Input data", "Submodels"),
    ]
    assert re.findall(r"^## \d\. (.*)$", PAGE, re.MULTILINE) == elements


def test_every_design_concept_is_told():
    section = PAGE.split("## 4. Design concepts")[1].split("\n## ")[0]
    assert re.findall(r"^\*\*(.+?)\.\*\*", section, re.MULTILINE) == [
        *("Basic principles", "Emergence", "Adaptation", "Objectives", "Learning", "Prediction"),
        *("Sensing", "Interaction", "Stochasticity", "Collectives", "Observation"),
    ]


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`((?:tests|benchmarks)/[\w/.]+)`", PAGE))))
def test_what_the_page_names_as_evidence_is_there(name):
    assert (ROOT / name).exists()
