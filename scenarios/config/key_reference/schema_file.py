"""The JSON Schema of scenario files as a generated file, which every run folder gets a copy of.

To make it from the settings classes takes a tenth of the time of a short run. The file is printed
by ``python -m virsci_society.scenarios.config.key_reference.schema_file``; a test
fails when it is not current.
"""

from __future__ import annotations

import json
from pathlib import Path

FILE = Path(__file__).with_name("scenario.schema.json")


def schema_text() -> str:
    """The text of the file."""
    return FILE.read_text(encoding="utf-8")


def render_schema() -> str:
    """The same text, made from the settings classes as they are now."""
    from virsci_society.scenarios.config.key_reference.json_schema import json_schema
    from virsci_society.scenarios.config.schema import Scenario

    return json.dumps(json_schema(Scenario), indent=1) + "\n"


if __name__ == "__main__":
    print(render_schema(), end="")
