"""The prompts of review before publication, one text file each."""

from __future__ import annotations

from pathlib import Path

from virsci_society.agents.prompts.prompt import Prompts

PROMPTS = Prompts(Path(__file__).parent)
