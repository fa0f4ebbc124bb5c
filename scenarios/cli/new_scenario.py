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

    Beside it goes the schema of all keys, by which an editor completes and checks them. No file
    that is there already is written over.
    """
    from virsci_society.agents.files.atomic_files import make_folder, write_atomically
    from virsci_society.scenarios.config.document import SUFFIXES
    from virsci_society.scenarios.config.keys import schema_text
    from virsci_society.scenarios.config.schema import Scenario

    target = Path(name) if Path(name).suffix in SUFFIXES else Path(f"{name}.yaml")
    if target.exists() or target.is_symlink():
        raise InputError(f"{target}: exists already; give another name")
    text = scenario_text(target.stem, from_)
    with disk_errors_as(InputError, f"{target}: cannot be written"):
        make_folder(target.parent)
        # Before the scenario, whose first line names it.
        schema = write_schema(target, schema_text(Scenario))
        write_atomically(target, f"# yaml-language-server: $schema={schema.name}\n{text}")
    if schema.name != SCHEMA:
        tell(f"{schema.with_name(SCHEMA)}: is another file, and stays; the keys are in {schema}")
    tell(f"{target}: edit it, then")
    tell(f"  society check {target}")
    tell(f"  society run {target}")


def write_schema(target: Path, text: str) -> Path:
    """Write the schema beside a new scenario, and over no other file; returns where it stands."""
    from virsci_society.agents.files.atomic_files import write_atomically

    # The second name for a folder with the schema of another release, or a file of the user's own.
    for schema in (target.with_name(SCHEMA), target.with_suffix(".schema.json")):
        if not (schema.exists() or schema.is_symlink()):
            write_atomically(schema, text)
            return schema
        if schema.is_file() and schema.read_bytes() == text.encode():
            return schema
    raise InputError(f"{schema}: is another file than the schema; move it, or give another name")


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
