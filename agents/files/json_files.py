"""JSON files, which may be a stranger's: damaged, of another encoding, or nested without end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import read_plain_text


def parse_json(text: str | bytes, where: object) -> Any:
    """Parse a JSON text."""
    try:
        return json.loads(text)
    except RecursionError:
        raise InputError(f"{where}: cannot be read: it is nested too deeply") from None
    except ValueError as error:
        raise InputError(f"{where}: cannot be read: not JSON: {error}") from error


def read_json(path: Path) -> Any:
    """Read a JSON file."""
    try:
        return parse_json(read_plain_text(path), path)
    except FileNotFoundError:
        raise
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: cannot be read: not UTF-8: {error}") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error


def read_json_object(path: Path) -> dict[str, Any]:
    """Read a JSON file with an object; raises as ``read_json``."""
    data = read_json(path)
    if not isinstance(data, dict):
        raise InputError(f"{path}: cannot be read: not a JSON object")
    return data
