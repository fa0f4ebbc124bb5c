"""The command ``society new``, which writes a commented scenario file to be edited."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from virsci_society.agents.errors import InputError, disk_errors_as
from virsci_society.scenarios.terminal.arguments import complete_scenario, guarded, tell

SCHEMA = "scenario.schema.json"
TEMPLATE = Path(__file__).with_name("new_scenario.yaml")


@guarded
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the new file.")],
    from_: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="SCENARIO",
            help="Extend this scenario; by default all keys are written out.",
            autocompletion=complete_scenario,
        ),
    ] = None,
) -> None:
    """Write a commented scenario file.

    It is valid as written. The schema of all keys is written beside it, so that an editor can
    complete and check them. No existing file is overwritten.
    """
    from virsci_society.agents.files.atomic_files import make_folder, write_atomically
    from virsci_society.scenarios.config.document import SUFFIXES
    from virsci_society.scenarios.config.keys import schema_text
    from virsci_society.scenarios.config.schema import Scenario

    target = Path(name) if Path(name).suffix in SUFFIXES else Path(f"{name}.yaml")
    if target.exists() or target.is_symlink():
        raise InputError(f"{target}: exists already; give another name")
    text, schema = scenario_text(target.stem, from_), target.with_name(SCHEMA)
    with disk_errors_as(InputError, f"{target}: cannot be written"):
        make_folder(target.parent)
        # Before the scenario, whose first line names it.
        if schema.exists() or schema.is_symlink():
            tell(f"{schema}: exists already, and is not changed")
        else:
            write_atomically(schema, schema_text(Scenario))
        write_atomically(target, f"# yaml-language-server: $schema={SCHEMA}\n{text}")
    tell(f"{target}: edit it, then")
    tell(f"  society check {target}")
    tell(f"  society run {target}")


def scenario_text(name: str, parent: str | None) -> str:
    """The text of a new scenario."""
    from virsci_society.scenarios.config.yaml_io import write_yaml

    title = write_yaml({"name": name})
    if parent is None:
        return TEMPLATE.read_text(encoding="utf-8").replace("name: NAME\n", title)
    from virsci_society.scenarios.config.document import find_scenario, library

    found = find_scenario(parent)
    above = parent if parent in library() else str(found.resolve())
    return (
        f"# {name}: {parent}, with the keys below changed. What each key means:\n"
        "# docs/scenarios.md, or 'society list keys'.\n"
        f"{write_yaml({'extends': above})}{title}seed: 1\n\n"
        "# For example:\n"
        "# until: 2y\n"
        "# protocol:\n"
        "#   turns: 5\n"
    )
