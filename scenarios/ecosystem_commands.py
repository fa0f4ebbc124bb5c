"""``society ecosystem``: build the data a society starts from, look at it, and audit it."""

from __future__ import annotations

from typing import Annotated

import typer

from scenarios.ecosystem_audit import audit
from scenarios.ecosystem_build import build, invented
from scenarios.guard import guarded

ecosystem = typer.Typer(
    help="Build, describe and audit the data a society starts from.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
ecosystem.add_typer(build, name="build")
ecosystem.command()(audit)


@ecosystem.command()
@guarded
def info(
    source: Annotated[str, typer.Argument(metavar="DIR|synthetic")],
    scientists: Annotated[int, typer.Option(min=1, help="Of synthetic.")] = 300,
    papers: Annotated[int, typer.Option(min=2, help="Of synthetic.")] = 4000,
    seed: Annotated[int, typer.Option(min=0, help="Of synthetic.")] = 1,
) -> None:
    """Describe an ecosystem in figures, beside those of a real community (IEEE VIS)."""
    from scenarios.overview import print_table
    from scenarios.progress import shown_progress
    from society.ecosystem.ecosystem import Ecosystem
    from society.ecosystem.info import describe

    with shown_progress() as progress:
        progress.begin("preparing the ecosystem")
        made = (
            invented(scientists, papers, seed) if source == "synthetic" else Ecosystem.load(source)
        )
        table = describe(made)
    rows = [tuple(row) for row in table.itertuples(index=False)]
    print_table(source, tuple(table.columns), rows)
