"""Tables for a terminal: correlations and agreement, each number with its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scenarios.overview import cell, print_table

if TYPE_CHECKING:
    import pandas as pd


def print_correlations(found: pd.DataFrame) -> None:
    """Print correlations over abstracts; a line where there are too few of them."""
    from metrics.ratings import FEWEST

    if not len(found):
        print(f"no correlations: fewer than {FEWEST} abstracts have both a measure and a score")
        return
    rows = [
        (row["measure"], row["rating"], row["n"], _within(row, "pearson"), _within(row, "spearman"))
        for row in found.to_dict("records")
    ]
    columns = ("measure", "against", "n", "Pearson [95 %]", "Spearman [95 %]")
    print_table("correlation over abstracts", columns, rows)


def print_agreements(found: pd.DataFrame) -> None:
    """Print Krippendorff's alpha of every dimension."""
    rows = [
        (row["dimension"], row["level"], _within(row, "alpha"), row["abstracts"], row["raters"])
        for row in found.to_dict("records")
    ]
    columns = ("rating", "taken as", "alpha [95 %]", "abstracts", "raters")
    print_table("agreement between raters (Krippendorff's alpha)", columns, rows)


def print_preferences(found: pd.DataFrame) -> None:
    """Print how often each arm is preferred."""
    rows = [
        (row["arm"], row["other"], row["n"], row["ties"], _within(row, "preferred"), row["p"])
        for row in found.to_dict("records")
    ]
    columns = ("arm", "against", "decided", "ties", "preferred [95 %]", "p")
    print_table("which is preferred (exact interval, binomial test)", columns, rows)


def _within(row: Any, name: str) -> str:
    """A value with its interval, whose columns are ``low`` and ``high``, or have its name first."""
    prefix = f"{name}_" if f"{name}_low" in row else ""
    low, high = row[f"{prefix}low"], row[f"{prefix}high"]
    return f"{cell(float(row[name]))} [{cell(float(low))}, {cell(float(high))}]"
