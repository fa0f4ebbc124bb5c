"""Tables for a terminal with correlations, agreement, preferences and strengths of arms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from virsci_society.scenarios.terminal.console import cell, print_table

if TYPE_CHECKING:
    import pandas as pd

    from virsci_society.scenarios.judgement.ratings.bradley_terry import PairFit


def print_correlations(found: pd.DataFrame) -> None:
    """Print correlations over abstracts; a line where there are too few of them."""
    from virsci_society.scenarios.judgement.ratings.agreement import MIN_ABSTRACTS

    if not len(found):
        print(
            f"no correlations: fewer than {MIN_ABSTRACTS} abstracts have both a measure and a score"
        )
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


def print_strengths(fit: PairFit, alpha: float) -> None:
    """Print the strength of each arm, the effect of position and the agreement on pairs.

    Args:
        fit: of all answers.
        alpha: agreement of the answers to one pair.
    """
    rows = [
        (row["arm"], row["answers"], row["wins"], _within(row, "strength"), row["chance"])
        for row in fit.arms.to_dict("records")
    ]
    columns = ("arm", "answers", "wins", "strength [95 %]", "preferred to an average arm")
    print_table("strengths by pairs (Bradley and Terry 1952; ties count half)", columns, rows)
    first = f"{cell(fit.first)} [{cell(fit.first_low)}, {cell(fit.first_high)}]"
    typer.echo(
        f"position: the first of two was preferred in {cell(fit.first_share)} of the decided "
        f"answers; effect on the logit {first}, 0 where it does not matter"
    )
    if alpha == alpha:
        typer.echo(f"agreement on pairs answered more than once: alpha {cell(alpha)}")


def _within(row: Any, name: str) -> str:
    """A value with its interval, whose columns are ``low`` and ``high``, or have its name first."""
    prefix = f"{name}_" if f"{name}_low" in row else ""
    low, high = row[f"{prefix}low"], row[f"{prefix}high"]
    return f"{cell(float(row[name]))} [{cell(float(low))}, {cell(float(high))}]"
