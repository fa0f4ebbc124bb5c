"""``society ecosystem audit``: does an ecosystem's past know of the future?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agents.errors import InputError
from scenarios.guard import guarded

if TYPE_CHECKING:
    from society.ecosystem.check import Check


@guarded
def audit(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="An ecosystem folder.")],
    path: Annotated[
        list[Path] | None, typer.Argument(metavar="[PATH...]", help="The source's files.")
    ] = None,
    source: Annotated[
        str | None, typer.Option(metavar="KIND", help="Compare with this kind of source, too.")
    ] = None,
) -> None:
    """Count everything of the past again from papers before the boundary, and compare.

    With --source KIND PATH... it is built again from the source's papers before the boundary.
    Exit code 2 where anything knows of the future.
    """
    from scenarios.overview import print_table
    from scenarios.progress import shown_progress
    from society.ecosystem.audit import audit as audit_folder

    if (source is None) != (not path):
        raise InputError("a source is given as --source KIND PATH...")
    with shown_progress() as progress:
        progress.begin(f"counting again what {folder} says of the past")
        checks = audit_folder(folder)
        if source is not None and path and not _leaks(checks):
            checks += _against(folder, source, path, progress)
    rows = [(check.name, check.state, check.told) for check in checks]
    print_table(f"audit of {folder}", ("check", "result", "what was compared"), rows)
    _judge(folder, checks)


def _against(folder: Path, kind: str, paths: list[Path], progress: Any) -> list[Check]:
    from society.ecosystem.audit_source import audit_source, reading_options
    from society.ecosystem.importers.table import open_source

    return audit_source(folder, open_source(kind, paths, **reading_options(folder)), progress)


def _leaks(checks: list[Check]) -> list[Check]:
    return [check for check in checks if check.state == "leaked"]


def _judge(folder: Path, checks: list[Check]) -> None:
    for check in _leaks(checks):
        for example in check.examples:
            typer.echo(f"{check.name}: {example}")
    leaks = _leaks(checks)
    if leaks:
        raise InputError(
            f"{folder}: {len(leaks)} of {len(checks)} checks found what papers before the "
            f"boundary do not give ({', '.join(check.name for check in leaks)}); build it again "
            "from its source"
        )
    unknown = sum(check.state == "cannot be told" for check in checks)
    untold = f"; {unknown} cannot be told" if unknown else ""
    typer.echo(f"{folder}: no leak found in {len(checks) - unknown} checks{untold}")
