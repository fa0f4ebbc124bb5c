"""The prompts of AI Scientist alone; all others are shared (``protocols/parts/prompts``)."""

from __future__ import annotations

from pathlib import Path

from agents.prompts.prompt import Prompts
from protocols.parts.prompts import PAGES

PROMPTS = Prompts(Path(__file__).parent, PAGES)
