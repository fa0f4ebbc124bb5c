"""The command ``society facts``: which known facts of science do runs, and a real field, show?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from virsci_society.agents.errors import InputError
from virsci_society.agents.spelling import did_you_mean
from virsci_society.scenarios.runs.progress import make_progress
from virsci_society.scenarios.terminal.console import print_table
from virsci_society.scenarios.terminal.options import (
    Json,
    Trust,
    find_runs,
    guarded,
    tell,
    tell_json,
)

if TYPE_CHECKING:
    from virsci_society.metrics.facts.fact import Fact
    from virsci_society.metrics.facts.tables import FactTables

HEADS = ("fact", "value", "95 %", "published", "range", "chance", "size", "verdict", "why")


@guarded
def facts(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[RUN]...", help="Folders of runs, or of studies.", callback=find_runs
        ),
    ] = None,
    with_: Annotated[
        Path | None,
        typer.Option("--with", metavar="ECOSYSTEM", help="Ecosystem folder of the runs."),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="FACT", help="Test only this fact; can be repeated.")
    ] = None,
    draws: Annotated[int, typer.Option(min=3, help="Null draws per run.")] = 20,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Output folder (default runs/facts/NAME).")
    ] = None,
    json: Json = False,
    trust: Trust = False,
) -> None:
    """Test which known facts of science a run reproduces.

    Runs of one scenario are pooled; the arms of a study are tested separately, as is an ecosystem.
    `society list facts` lists all facts, `society list facts NAME` shows one. Your own fact:
    `--only package.module:Class --trust`.
    """
    given = [*(runs or ()), *([] if with_ is None else [with_])]
    if not given:
        raise InputError("nothing to test: give run folders, or --with ECOSYSTEM")
    tell(f"reading {', '.join(map(str, given))}", err=True)
    from virsci_society.metrics.facts.fact import judge_facts
    from virsci_society.scenarios.analysis.facts_page import Card, size_text, write_page

    chosen = chosen_facts(only or (), trust=trust)
    with make_progress() as progress:
        cards = []
        for name, sides in opened_sides(runs or (), with_):
            progress.begin(f"testing {name}")
            for one in sides:
                for title, fact in chosen.items() if only else ():
                    if missing := one.lacks(fact.needs):
                        raise InputError(
                            f"{one.name}: the fact {title!r} needs {' and '.join(missing)}, which "
                            f"is missing here; see 'society list facts {title}'"
                        )
            cards.append(Card(name, sides, tuple(judge_facts(chosen, sides, draws))))
    first = given[0]
    folder = out or Path("runs") / "facts" / first.resolve().name
    page = write_page(cards, folder)
    if json:
        listed = [{"name": one.name, "summary": one.summary, "facts": one.rows()} for one in cards]
        tell_json({"cards": listed})
        return
    for card in cards:
        tell(f"{card.name}: {card.summary}.")
        rows = [
            (
                *(row["fact"] + "*" * row["own_range"], row["value"], _range(row, "low", "high")),
                *(row["published"], _range(row, "from", "to"), row["chance"], size_text(row)),
                *(row["verdict"], row["why"]),
            )
            for row in card.rows()
            if row["value"] is not None
        ]
        if rows:
            print_table("facts with a value; * range from VIS or language technology", HEADS, rows)
    tell(f"report: {page}")


def _range(row: Mapping[str, Any], low: str, high: str) -> str:
    return "-" if row[low] is None else f"{row[low]:.3g} to {row[high]:.3g}"


def chosen_facts(names: Sequence[str], *, trust: bool = False) -> dict[str, Fact]:
    """The facts of these names, or all."""
    from virsci_society.metrics.facts.fact import Fact
    from virsci_society.metrics.registry import FACTS
    from virsci_society.scenarios.config.reader import import_class
    from virsci_society.scenarios.config.registry import find_code_here, require_trust

    find_code_here(trust)
    made = {}
    for name in dict.fromkeys(names) or FACTS:
        if ":" in name:
            require_trust(name, trust=trust)
        elif name not in FACTS:
            hint = did_you_mean(name, FACTS)
            raise InputError(f"no fact {name!r}; 'society list facts' lists all{hint}")
        cls = import_class(FACTS.get(name, name))
        if not issubclass(cls, Fact):
            raise InputError(f"{name!r} is not a subclass of Fact")
        made[name] = cls()
    return made


def opened_sides(
    runs: Sequence[Path], with_: Path | None
) -> list[tuple[str, tuple[FactTables, ...]]]:
    """Name and tables of each scenario or arm, then of the field."""
    from virsci_society.metrics.facts.tables import field_tables, run_tables
    from virsci_society.metrics.validation.dated_papers import real_papers
    from virsci_society.scenarios.analysis.compare_with_corpus import open_compared, require_fit
    from virsci_society.society.ecosystem.ecosystem import Ecosystem

    ecosystem = None if with_ is None else Ecosystem.load(with_)
    wrote = None
    if ecosystem is not None:
        people, papers = ecosystem.profiles, real_papers(ecosystem.past)
        known = {name for name, of in zip(people.names, people.papers, strict=True) if of}
        wrote = frozenset(known.union(*(one.authors for one in papers)))
    sides = []
    longest = 0
    for compared in open_compared(runs):
        for run in compared.runs:
            if ecosystem is not None:
                require_fit(run, ecosystem)
        tables = tuple(run_tables(run, wrote) for run in compared.runs)
        longest = max(longest, *(one.years for one in tables))
        sides.append((compared.name, tables))
    if ecosystem is not None and with_ is not None and wrote is not None:
        name = f"the field {with_.name}"
        field = field_tables(name, ecosystem.contemporary, wrote, longest)
        sides.append((name, (field,)))
    return sides
