"""The oldest releases that ``pyproject.toml`` allows, as constraints for pip, on standard output.

``make versions`` installs them. Only the standard library is used: nothing else is installed yet.
"""

import re
import tomllib
from pathlib import Path

FLOOR = re.compile(r"([A-Za-z0-9_.-]+)(?:\[[^]]*\])?>=([^,]+)")
"""A requirement with a floor; what comes after it does not matter here."""


def constraints(text: str) -> list[str]:
    """One exact release for each requirement of the program and of the extra ``llm``.

    Args:
        text: of ``pyproject.toml``.
    """
    project = tomllib.loads(text)["project"]
    required = project["dependencies"] + project["optional-dependencies"]["llm"]
    return [f"{name}=={release}" for name, release in map(_floor, required)]


def _floor(requirement: str) -> tuple[str, str]:
    found = FLOOR.match(requirement)
    if found is None:
        raise ValueError(f"{requirement}: give the oldest release that is supported, NAME>=RELEASE")
    return found[1], found[2]


if __name__ == "__main__":
    root = Path(__file__).resolve().parents[1]
    print("\n".join(constraints((root / "pyproject.toml").read_text(encoding="utf-8"))))
