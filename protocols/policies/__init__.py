"""Selection policies, which say whom a leader asks next, one per file.

Each file gives the definition with its source, the way to draw by it, and the weights against
which a test compares the draws. Read ``uniform`` and ``two_step`` first, ``coauthorship`` (the
rule of VirSci) last. The base class is ``society.formation.selection.SelectionPolicy``.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from protocols.policies.coauthorship import Coauthorship as Coauthorship
    from protocols.policies.coauthorship import HalfNormal as HalfNormal
    from protocols.policies.coauthorship import Share as Share
    from protocols.policies.fixed import FixedTeam as FixedTeam
    from protocols.policies.guimera import Guimera as Guimera
    from protocols.policies.nearest_topics import NearestTopics as NearestTopics
    from protocols.policies.preferential_attachment import (
        PreferentialAttachment as PreferentialAttachment,
    )
    from protocols.policies.two_step import TwoStep as TwoStep
    from protocols.policies.uniform import Uniform as Uniform

__all__ = [
    "Coauthorship",
    "FixedTeam",
    "Guimera",
    "HalfNormal",
    "NearestTopics",
    "PreferentialAttachment",
    "Share",
    "TwoStep",
    "Uniform",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Coauthorship": "protocols.policies.coauthorship",
        "FixedTeam": "protocols.policies.fixed",
        "Guimera": "protocols.policies.guimera",
        "HalfNormal": "protocols.policies.coauthorship",
        "NearestTopics": "protocols.policies.nearest_topics",
        "PreferentialAttachment": "protocols.policies.preferential_attachment",
        "Share": "protocols.policies.coauthorship",
        "TwoStep": "protocols.policies.two_step",
        "Uniform": "protocols.policies.uniform",
    },
)
