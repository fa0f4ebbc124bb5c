"""The check of the papers that a proposal cites against those that its team has retrieved.

A reference that no search of the team has found is removed and counted (Chen et al. 2025 ask their
agents to cite only what was retrieved; here it is enforced).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from virsci_society.agents.prompts.paper_lists import paper_key

if TYPE_CHECKING:
    from virsci_society.agents.reference import Reference
    from virsci_society.protocols.parts.forms import Proposal

_KEY_IN_TEXT = re.compile(r"\[P0*(\d{1,9})\]")
_LEFT_BLANK = re.compile(r" +(?=[ .,;:)])")
"""Blanks that a removed key leaves behind."""


@dataclass(frozen=True, slots=True)
class CheckedProposal:
    """A proposal without references that were never retrieved.

    Attributes:
        title: its title.
        abstract: its other parts, without keys of papers that were never retrieved.
        cites: ids of the papers that it cites and that were retrieved, each once.
        removed: keys that were removed, in the order of being listed, then as the text has them.
    """

    title: str
    abstract: str
    cites: tuple[str, ...]
    removed: tuple[str, ...]

    def words(self) -> str:
        """Title and all parts."""
        return f"{self.title}\n{self.abstract}"


def check_references(proposal: Proposal, *found: tuple[Reference, ...]) -> CheckedProposal:
    """Remove the references of a proposal that no search has found.

    Args:
        proposal: as it was written; its text may name keys in square brackets.
        found: the results of the team's searches.
    """
    known = {paper_key(paper, n): paper.id for papers in found for n, paper in enumerate(papers, 1)}
    text = proposal.abstract
    in_text = [f"P{int(number)}" for number in _KEY_IN_TEXT.findall(text)]
    named = list(dict.fromkeys([*proposal.cited, *in_text]))
    kept = _KEY_IN_TEXT.sub(lambda key: key[0] if f"P{int(key[1])}" in known else "", text)
    return CheckedProposal(
        title=proposal.title,
        abstract=_LEFT_BLANK.sub("", kept) if kept != text else text,
        cites=tuple(dict.fromkeys(known[key] for key in named if key in known)),
        removed=tuple(key for key in named if key not in known),
    )


def cited_ids(checked: CheckedProposal) -> tuple[str, ...]:
    """Ids of the papers that a checked proposal cites."""
    return checked.cites


def count_removed(checked: CheckedProposal) -> int:
    """Number of references that were removed."""
    return len(checked.removed)
