"""Arguments: what several commands take, named and explained once."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

ScenarioName = Annotated[str, typer.Argument(metavar="SCENARIO", help="A name or a file.")]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change one key; can be repeated."),
]
Seed = Annotated[int | None, typer.Option("--seed", help="The scenario's seed.")]
Trust = Annotated[
    bool, typer.Option("--trust", help="Import the classes that the scenario names by path.")
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object.")]


def with_seed(settings: list[str] | None, seed: int | None) -> list[str]:
    """The settings, the seed among them."""
    return [*(settings or []), *([] if seed is None else [f"seed={seed}"])]


def find_code_here(trust: bool) -> None:
    """Let a trusted dotted path name a module of the current folder, shadowing nothing."""
    if trust:
        sys.path.append(str(Path.cwd()))
