"""VirSci with a single scientist, the control without collaboration (n = 1).

It is a protocol of its own, so that teams and single scientists can stand side by side in one
mixture and are told apart in the tables.

Source: Su et al. 2025 (VirSci), Figure 4, n = 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import model_validator

from protocols.virsci.protocol import VirSci


class SoloVirSci(VirSci):
    """VirSci with a team of one, as a control (Su et al., 2025, n = 1)."""

    @model_validator(mode="before")
    @classmethod
    def _is_alone(cls, given: Any) -> Any:
        """Take one scientist for granted.

        Raises:
            ValueError: another size is given.
        """
        if not isinstance(given, Mapping):
            return given
        held = dict(given.get("settings", given) or {})
        if held.setdefault("team_size", 1) != 1:
            raise ValueError("solo_virsci is a team of one; use virsci for another team_size")
        return {"settings": held} if "settings" in given else held

    @property
    def name(self) -> str:
        """The name in the tables."""
        return "solo_virsci"
