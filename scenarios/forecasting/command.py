"""The commands ``society forecast``: forecast the papers of a field, and score a forecast."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.terminal.arguments import Json, guarded, tell, tell_json, writing

if TYPE_CHECKING:
    import pandas as pd

    from virsci_society.scenarios.forecasting.forecast import FieldForecast


class ForecastGroup(TyperGroup):
    """``society forecast ECOSYSTEM`` is short for ``society forecast make ECOSYSTEM``."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is asked for, or ``make`` where the first word is none."""
        if args and args[0] not in self.commands:
            args = ["make", *args]
        return super().resolve_command(ctx, args)


forecast = typer.Typer(
    help="Forecast a field's coming papers, register the forecast, and score it.",
    cls=ForecastGroup,
    no_args_is_help=True,
    rich_markup_mode=None,
)


@forecast.command()
@guarded
def make(
    ecosystem: Annotated[
        Path, typer.Argument(metavar="ECOSYSTEM", help="The folder of an ecosystem.")
    ],
    until: Annotated[
        int, typer.Option("--until", metavar="YEAR", help="The last year that is forecast.")
    ],
    register: Annotated[
        bool, typer.Option("--register", help="Seal the forecast in a dated file.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="That file (default runs/forecasts/...json)."),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes; results stay the same.")] = 1,
) -> None:
    """Forecast the papers of a field from the boundary of its ecosystem on.

    Its papers before the boundary alone are used. The command may be left out: society forecast
    ECOSYSTEM --until YEAR.
    """
    from virsci_society.scenarios.forecasting.forecast import forecast_ecosystem
    from virsci_society.scenarios.forecasting.sealed_file import sealed, write_sealed
    from virsci_society.scenarios.runs.progress import make_progress

    if out is not None and not register:
        raise InputError("--out names the file of a registered forecast; give --register as well")
    place = None
    if register:
        place = out or Path("runs/forecasts") / f"{ecosystem.resolve().name}-until-{until}.json"
        if place.exists():
            raise InputError(
                f"{place}: is there already, and a registered forecast is not written over; give "
                "another file with --out"
            )
    with make_progress() as progress:
        progress.begin(f"reading {ecosystem}")
        found = forecast_ecosystem(ecosystem, until, workers=workers, tell=progress.begin)
    _print_forecast(found)
    if place is not None:
        with writing(place):
            write_sealed(place, data := sealed(found, _today()))
        tell(f"registered {data['registered']}: {place}", f"sha256 of all it says: {data['hash']}")


def _today() -> str:
    from datetime import UTC, datetime

    # The date of a registration decides nothing of what is registered.
    return datetime.now(UTC).date().isoformat()


def _print_forecast(found: FieldForecast) -> None:
    from virsci_society.scenarios.forecasting.forecast import rows_of
    from virsci_society.scenarios.terminal.console import print_table

    rows = [
        (name, last, median, f"{a:.3g} to {b:.3g}", f"{c:.3g} to {d:.3g}")
        for name, (last, median, a, b, c, d) in rows_of(found)
    ]
    heads = ("quantity", "years before", "median", "80 %", "90 %")
    print_table(f"forecast of {found.field}, {found.window.name}", heads, rows)


@forecast.command()
@guarded
def score(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A registered forecast.")],
    with_: Annotated[
        Path,
        typer.Option("--with", metavar="ECOSYSTEM", help="One that has the papers that came."),
    ],
    json: Json = False,
) -> None:
    """Score a registered forecast and its rivals against the papers that came."""
    from virsci_society.scenarios.forecasting.scoring import (
        papers_that_came,
        scores_of,
        summary_of,
    )
    from virsci_society.scenarios.forecasting.sealed_file import read_sealed

    data = read_sealed(file)
    observed, warning = papers_that_came(data, with_)
    table = scores_of(data, observed)
    summary = summary_of(data, table, observed)
    if warning:
        tell(f"warning: {warning}", err=True)
    if json:
        facts = {key: value for key, value in data.items() if key != "forecasters"}
        quantities, forecasters = (one.to_dict("records") for one in (table, summary))
        tell_json({**facts, "scores": quantities, "summary": forecasters})
        return
    tell(f"{file}: as it was sealed on {data['registered']}")
    _print_scores(data, table, summary)


def _print_scores(data: dict[str, Any], table: pd.DataFrame, summary: pd.DataFrame) -> None:
    """Print quantities beside what came, and forecasters beside one another."""
    from virsci_society.scenarios.terminal.console import print_table

    years = f"{data['field']}, {data['first_year']}-{data['last_year']}"
    own = table[table["forecaster"] == "forecast"]
    shown = own[["quantity", "observed", "median", "low", "high", "pit", "crps"]]
    rows = list(shown.itertuples(index=False, name=None))
    heads = ("quantity", "observed", "median", "5 %", "95 %", "below", "CRPS")
    print_table(f"forecast of {years}", heads, rows)
    rows = list(summary.itertuples(index=False, name=None))
    heads = ("by", "score", "within of 14", "CRPS", "in 80 %", "in 90 %", "quantities")
    print_table(f"scores, {years}", heads, rows)
    tell(
        "below: share of the distribution below what was observed; score: root mean square of the "
        "errors of the medians of fourteen quantities in tolerances; CRPS below: mean over "
        "quantities, each in its root mean square change from window to window."
    )
