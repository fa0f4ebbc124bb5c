"""The card of known facts as a page and a table."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from virsci_society.metrics.facts.fact import RULE, VERDICTS, Judged
from virsci_society.metrics.facts.tables import FactTables
from virsci_society.metrics.report.templates import (
    count_of,
    style_sheet,
    template_environment,
    write_html,
)
from virsci_society.society.results.table_files import write_csv

TEXTS = ("society", "fact", "verdict", "why", "null")
SHOWN = {"not": "not reproduced"}
"""Verdicts as the page prints them, where that is more than their name."""
TOLD = ("not", "reproduced")
"""Verdicts whose facts are told in a sentence each."""


@dataclass(frozen=True)
class Card:
    """Facts of one society or field, judged."""

    name: str
    sides: tuple[FactTables, ...]
    judged: tuple[Judged, ...]

    def rows(self) -> list[dict[str, Any]]:
        """One for each fact, those that are not reproduced first."""
        order = sorted(self.judged, key=lambda one: VERDICTS.index(one.verdict))
        return [
            {
                "society": self.name,
                "fact": one.name,
                "value": _known(one.interval.value),
                "low": _known(one.interval.low),
                "high": _known(one.interval.high),
                "runs": len(one.values),
                "published": one.fact.published,
                "from": one.fact.low,
                "to": one.fact.high,
                "null": one.fact.null,
                "chance": _known(one.chance.mean),
                "chance_sd": _known(one.chance.sd),
                "verdict": one.verdict,
                "why": one.why,
            }
            for one in order
        ]

    @property
    def told(self) -> str:
        """The number of facts with each verdict and the data they are based on, in a sentence."""
        years = min(one.years for one in self.sides)
        papers = sum(len(one.works) for one in self.sides)
        size = (
            count_of(len(self.sides), "run"),
            count_of(years, "year"),
            count_of(papers, "paper"),
        )
        counts = Counter(str(one.verdict) for one in self.judged)
        reproduced, failed = counts["reproduced"], counts["not"]
        facts = count_of(len(self.judged), "fact")
        tested = f"{reproduced} of {facts} reproduced, {failed} not reproduced"
        if not reproduced + failed:
            tested = f"none of {facts} could be tested"
        rest = "".join(
            f"; {counts[word]} {what}"
            for word, what in (
                ("too short to tell", "undecided (too few years or runs)"),
                ("not measurable", "not measurable (other data needed)"),
            )
            if counts[word]
        )
        return f"{tested}{rest}. Data: {', '.join(size)}"

    @property
    def unmeasured(self) -> str:
        """The facts without a value, counted by what they lack."""
        lacking = [one for one in self.judged if not math.isfinite(one.interval.value)]
        short = sorted(
            one.fact.least_years for one in lacking if one.verdict == "too short to tell"
        )
        told = []
        if short:
            span = " to ".join(map(str, dict.fromkeys((short[0], short[-1]))))
            told.append(f"{count_of(len(short), 'fact')} that need {span} years")
        if other := len(lacking) - len(short):
            told.append(f"{count_of(other, 'fact')} that need other data or are undefined")
        return f"not shown: {', '.join(told)}" if told else ""


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def write_page(cards: Sequence[Card], folder: Path) -> Path:
    """Write ``report.html`` and ``facts.csv``."""
    table = pd.DataFrame([row for card in cards for row in card.rows()])
    numbers = [name for name in table if name not in (*TEXTS, "runs")]
    table = table.astype(dict.fromkeys(numbers, "Float64"))
    write_csv(folder, {"facts": table})
    shown = []
    for card in cards:
        rows = [
            row | {"verdict": SHOWN.get(row["verdict"], row["verdict"])}
            for row in card.rows()
            if row["value"] is not None
        ]
        # What is not reproduced first; sentences of that and of what is, of the others names.
        summary = []
        for word in VERDICTS:
            of_word = [one for one in card.judged if one.verdict == word]
            if said := [(one.name, dict(one.fact.card())["fact"]) for one in of_word]:
                summary.append((SHOWN.get(word, word), said, word in TOLD))
        shown.append((card, rows, summary))
    judged = [one for card in cards for one in card.judged]
    known = {one.name: one.fact for one in judged if math.isfinite(one.interval.value)}
    environment = template_environment(
        "virsci_society.scenarios.analysis", "virsci_society.metrics.report"
    )
    html = environment.get_template("facts.html").render(
        style=style_sheet(environment),
        cards=shown,
        rule=RULE,
        facts=[(name, fact.card()) for name, fact in known.items()],
    )
    return write_html(folder / "report.html", html)
