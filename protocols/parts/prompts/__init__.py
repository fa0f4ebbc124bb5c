"""The prompts that several research systems share, in this project's own words.

Pages that are not here are VirSci's: the invitation, the draft, the ballot, the summary.
"""

from __future__ import annotations

from pathlib import Path

from virsci_society.agents.prompts.prompt import Prompts
from virsci_society.protocols.virsci.prompts import PROMPTS as VIRSCI_PROMPTS

PAGES = Prompts(Path(__file__).parent, VIRSCI_PROMPTS)
