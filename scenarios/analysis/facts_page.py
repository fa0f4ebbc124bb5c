"""The card of known facts as a page and a table."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from virsci_society.metrics.facts.fact import VERDICTS, Judged
from virsci_society.metrics.facts.tables import FactTables
from virsci_society.metrics.report.templates import (
    count_of,
    style_sheet,
    template_environment,
    write_html,
)
from virsci_society.society.results.table_files import write_csv

TEXTS = ("society", "fact", "verdict", "why", "null", "size_is")


@dataclass(frozen=True)
class Card:
    """Facts of one society or field, judged."""

    name: str
    sides: tuple[FactTables, ...]
    judged: tuple[Judged, ...]

    def rows(self) -> list[dict[str, Any]]:
        """One for each fact: published ranges before our own, each by verdict."""
        order = sorted(self.judged, key=lambda one: (one.fact.own, VERDICTS.index(one.verdict)))
        return [
            {
                "society": self.name,
                "fact": one.name,
                **{key: _known(getattr(one.interval, key)) for key in ("value", "low", "high")},
                "runs": len(one.values),
                "published": one.fact.published,
                "from": one.fact.low,
                "to": one.fact.high,
                "null": one.fact.null,
                "own_range": one.fact.own,
                "chance": _known(one.chance),
                "size": _known(one.size),
                "size_is": "ratio" if one.fact.neutral is None else "difference",
                "verdict": one.verdict,
                "why": one.why,
            }
            for one in order
        ]

    @property
    def summary(self) -> str:
        """The number of facts with each verdict and the data they are based on, in a sentence."""
        years = min(one.years for one in self.sides)
        papers = sum(len(one.works) for one in self.sides)
        sizes = (len(self.sides), "run"), (years, "year"), (papers, "paper")
        size = ", ".join(count_of(number, what) for number, what in sizes)
        published = [one for one in self.judged if not one.fact.own]
        said = [f"{_counted(published)} ({size})"]
        if own := [one for one in self.judged if one.fact.own]:
            said.append(f"with ranges from VIS and language technology: {_counted(own)}")
        return "; ".join(said)


def _counted(judged: Sequence[Judged]) -> str:
    """A sentence with the number of facts by verdict."""
    counts = Counter(one.verdict for one in judged)
    parts = [f"{counts['reproduced']} of {count_of(len(judged), 'fact')} reproduced"]
    others = (one for one in VERDICTS if one != "reproduced" and counts[one])
    return ", ".join([*parts, *(f"{counts[one]} {one}" for one in others)])


def size_text(row: Mapping[str, Any]) -> str:
    """The size over chance of a row: ``x1.6`` for a ratio, ``+0.2`` for a difference."""
    if row["size"] is None or pd.isna(row["size"]):
        return "-"
    return f"x{row['size']:.3g}" if row["size_is"] == "ratio" else f"{row['size']:+.3g}"


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def write_page(cards: Sequence[Card], folder: Path) -> Path:
    """Write ``report.html`` and ``facts.csv``."""
    table = pd.DataFrame([row for card in cards for row in card.rows()])
    numbers = [name for name in table if name not in (*TEXTS, "runs", "own_range")]
    table = table.astype(dict.fromkeys(numbers, "Float64"))
    write_csv(folder, {"facts": table})
    shown = []
    for card in cards:
        rows = [
            row | {"fact": row["fact"] + "*" * row["own_range"], "over_chance": size_text(row)}
            for row in card.rows()
            if row["value"] is not None
        ]
        shown.append((card, rows))
    judged = [one for card in cards for one in card.judged]
    known = {one.name: one.fact for one in judged if math.isfinite(one.interval.value)}
    environment = template_environment(
        "virsci_society.scenarios.analysis", "virsci_society.metrics.report"
    )
    html = environment.get_template("facts.html").render(
        style=style_sheet(environment),
        cards=shown,
        facts=[(name, fact.card()) for name, fact in known.items()],
    )
    return write_html(folder / "report.html", html)
