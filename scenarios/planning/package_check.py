"""A check that the five packages of the project come from one installation.

They are imported by short names (``agents`` above all), and another installed package of the same
name would take their place unnoticed.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from agents.errors import InputError

PACKAGES = ("agents", "society", "protocols", "metrics", "scenarios")


def check_packages(names: Sequence[str] = PACKAGES) -> None:
    """Raise InputError if a package is missing or comes from elsewhere; imports none of them."""
    home = Path(__file__).resolve().parents[2]
    for name in names:
        spec = find_spec(name)
        places = list(spec.submodule_search_locations or ()) if spec else []
        found = Path(places[0]).resolve() if places else None
        if found != home / name:
            where = f"comes from {found}" if found else "cannot be found"
            raise InputError(
                f"the package {name!r} {where}, expected {home / name}; another installed package "
                "has the same name: install this project into a virtual environment of its own"
            )
