"""The prompts of VirSci, one text file each, in this project's own words."""

from __future__ import annotations

from pathlib import Path

from virsci_society.agents.prompts.prompt import Prompts

PROMPTS = Prompts(Path(__file__).parent)
