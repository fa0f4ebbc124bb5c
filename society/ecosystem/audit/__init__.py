"""The audit of ecosystems, which looks for knowledge of papers from after the boundary.

Read ``audit`` (all checks of a folder by itself) first; ``checks`` (the result of a check, and the
checks of vectors), ``recount`` (figures counted again, without the code of the build) and
``rebuild`` (the same against the source).
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from society.ecosystem.audit.checks import Check as Check
    from society.ecosystem.audit.rebuild import audit_source as audit_source

__all__ = [
    "Check",
    "audit_source",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Check": "society.ecosystem.audit.checks",
        "audit_source": "society.ecosystem.audit.rebuild",
    },
)
