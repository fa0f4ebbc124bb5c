"""Peer review as a publication part, which submits a manuscript until it is accepted.

In a scenario all rules stand directly under ``publication``. Here they are one object,
``PeerReview.rules``, which the editor is handed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field, model_validator

from virsci_society.agents.config import nest_inlined_keys
from virsci_society.agents.errors import Dissolved
from virsci_society.protocols.peer_review.editor import Editor
from virsci_society.protocols.peer_review.rules import ReviewRules
from virsci_society.society.kernel.durations import Process
from virsci_society.society.results.tables import PUBLICATION_STAGE
from virsci_society.society.teams.contracts import Manuscript, Publication
from virsci_society.society.teams.publication import REJECTED

if TYPE_CHECKING:
    from virsci_society.society.teams.lab import Lab
    from virsci_society.society.teams.team import Team


class PeerReview(Publication):
    """Reviewers from the population are invited, work at their desks, and recommend.

    An editor, who is no scientist of the society and spends no attention, goes by stated rules.
    """

    inlined: ClassVar[str] = "rules"

    rules: ReviewRules = Field(default_factory=ReviewRules)
    """All rules; their keys stand beside ``use`` in a scenario."""

    @model_validator(mode="before")
    @classmethod
    def _take_keys_of_rules(cls, given: Any) -> Any:
        """Let ``PeerReview(rounds=1)`` stand for ``PeerReview(rules={"rounds": 1})``."""
        return nest_inlined_keys(cls, given)

    @property
    def windows(self) -> Mapping[str, float]:
        """Days, by key, after which manuscript, answers and reviews are read."""
        rules = self.rules
        return {
            "publication.screening": float(rules.screening),
            "publication.answer": float(rules.answer),
            "publication.deciding": float(rules.deciding),
        }

    def consider(self, team: Team, lab: Lab, manuscript: Manuscript) -> Process[Manuscript]:
        """Submit the manuscript, and where it is rejected submit it elsewhere."""
        rules = self.rules
        for number in range(1, rules.submissions + 1):
            if number > 1:
                yield from lab.wait(rules.resubmission)
            editor = Editor(rules, team, lab, number)
            accepted, manuscript = yield from lab.stage(PUBLICATION_STAGE, editor.judge(manuscript))
            if accepted:
                return manuscript
        raise Dissolved(REJECTED)
