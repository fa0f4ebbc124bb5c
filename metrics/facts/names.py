"""The table of all facts, from their names to ``module:Class``.

To add one: write the class in a file of its own and add one line here (docs/extend.md).
"""

from __future__ import annotations

from collections.abc import Mapping

_ROOM = "virsci_society.metrics.facts"

FACTS: Mapping[str, str] = {
    "densification": f"{_ROOM}.structure.densification:Densification",
    "giant_component": f"{_ROOM}.structure.five_years:GiantComponent",
    "clustering": f"{_ROOM}.structure.five_years:Clustering",
}
