"""The rules by which a rule-based scientist accepts an invitation (``backend.acceptance``)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pydantic import Field

from virsci_society.agents.config import Part
from virsci_society.agents.offline.constants import RULES
from virsci_society.agents.offline.text import finite_number, sigmoid
from virsci_society.agents.profile import Profile


@dataclass(frozen=True, slots=True)
class InvitationFacts:
    """What is known of an invitation when it is answered; similarity is a cosine, 0: not known."""

    load: float
    joint_papers: float
    similarity: float
    inviter: Profile | None = None
    invitee: Profile | None = None


class Acceptance(Part):
    """Subclass it and write ``probability``; its fields are keys under ``backend.acceptance``.

    Example:
        >>> class Friends(vs.Acceptance):
        ...     stranger: float = 0.2
        ...     def probability(self, invitation):
        ...         return 1.0 if invitation.joint_papers else self.stranger
        >>> vs.Offline(acceptance=Friends(stranger=0.5)).acceptance
        Friends(stranger=0.5)
    """

    def probability(self, invitation: InvitationFacts) -> float:
        """The probability, 0 to 1, that this invitation is accepted.

        It must depend on its argument and on the fields alone, so that a run can be repeated. The
        limit of teams is not its business: somebody at the limit who accepts is ``full``.
        """
        raise NotImplementedError


class LogisticAcceptance(Acceptance):
    """Likelier with similarity, joint papers and the inviter's standing, less likely with load.

    p = floor + (1 - floor) s(base + similarity * cosine + ties * log(1 + joint papers)
    + papers * log(1 + inviter's papers) + citations * log(1 + inviter's citations)
    - load * teams) with s(x) = 1 / (1 + exp(-x)). The coefficients are assumed: a free invitee of
    similarity 0.6 accepts about three times in four.
    """

    base: float = Field(default=RULES.invite_base, ge=-1000, le=1000)
    """Log odds at zero of everything. Unit: log odds. Source: assumed."""
    similarity: float = Field(default=RULES.invite_similarity, ge=-1000, le=1000)
    """Log odds per unit of the cosine of the two profiles. Unit: log odds. Source: assumed."""
    ties: float = Field(default=RULES.invite_ties, ge=-1000, le=1000)
    """Log odds per log(1 + joint papers). Unit: log odds. Source: assumed."""
    papers: float = Field(default=RULES.invite_papers, ge=-1000, le=1000)
    """Log odds per log(1 + the inviter's papers). Unit: log odds. Source: assumed."""
    citations: float = Field(default=RULES.invite_citations, ge=-1000, le=1000)
    """Log odds per log(1 + the inviter's citations); unknown citations count as none. Unit: log
    odds. Source: assumed."""
    load: float = Field(default=RULES.invite_load, ge=-1000, le=1000)
    """Log odds lost per team that the invitee is working in. Unit: log odds. Source: assumed."""
    floor: float = Field(default=RULES.invite_floor, ge=0, le=1)
    """Least probability of accepting. Unit: probability. Source: assumed."""

    def probability(self, invitation: InvitationFacts) -> float:
        """The logistic probability above the floor."""
        papers = max(0.0, finite_number(getattr(invitation.inviter, "papers", 0)))
        # Where a corpus knows no citations, papers alone speak for the inviter.
        citations = max(0.0, finite_number(getattr(invitation.inviter, "citations", None)))
        odds = (
            self.base
            + self.similarity * invitation.similarity
            + self.ties * math.log1p(invitation.joint_papers)
            + self.papers * math.log1p(papers)
            + self.citations * math.log1p(citations)
            - self.load * invitation.load
        )
        return self.floor + (1.0 - self.floor) * sigmoid(odds)


class AlwaysAccept(Acceptance):
    """Every invitation is accepted, up to the limit of teams: the control without choice."""

    def probability(self, invitation: InvitationFacts) -> float:
        """One."""
        return 1.0


class ConstantAcceptance(Acceptance):
    """The same probability for every invitation: the null model of acceptance."""

    p: float = Field(default=0.5, ge=0, le=1)
    """Probability of accepting. Unit: probability. Source: assumed."""

    def probability(self, invitation: InvitationFacts) -> float:
        """``p``."""
        return self.p


DEFAULT_ACCEPTANCE = LogisticAcceptance()
"""The rule where a scenario names none."""
