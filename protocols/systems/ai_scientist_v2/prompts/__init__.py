"""The prompts of AI Scientist-v2 alone; all others are shared (``protocols/parts/prompts``)."""

from __future__ import annotations

from pathlib import Path

from virsci_society.agents.prompts.prompt import Prompts
from virsci_society.protocols.parts.prompts import PAGES

PROMPTS = Prompts(Path(__file__).parent, PAGES)
