"""Entry point of the command ``society``, and the check of the files that were installed."""

from __future__ import annotations

import base64
import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path

DISTRIBUTION = "virsci-society"
BAD_INPUT, INTERRUPTED = 2, 130


def main() -> None:
    """Run the command; Ctrl-C and a missing package end it in one line."""
    # No child interpreter puts the current folder, which may be a stranger's, on its import path.
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        command = _load()
        # The command handles Ctrl-C itself as soon as it has read its arguments.
        command()
    except KeyboardInterrupt:
        print("interrupted before the command began", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None


def _load() -> Callable[[], None]:
    try:
        from virsci_society.scenarios.cli.app import main as command
    except ModuleNotFoundError as error:
        if str(error.name).split(".")[0] == "virsci_society":
            raise
        cure = f"install it with what it needs: pip install {DISTRIBUTION}"
        print(f"the package {error.name!r} is not installed; {cure}", file=sys.stderr)
        raise SystemExit(BAD_INPUT) from None
    return command


def changed_files() -> list[Path]:
    """Installed files that are missing, or whose sha256 is not the one that the installer recorded.

    A working copy of the source has no recorded hashes, so none of its files is named.
    """
    # Reading metadata takes longer than most commands, and ``doctor`` alone asks.
    import csv
    from importlib import metadata

    try:
        installed = metadata.distribution(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return []
    # Not its ``files``, which leaves out those that are missing from Python 3.12 on.
    rows = csv.reader((installed.read_text("RECORD") or "").splitlines())
    places = [
        (Path(str(installed.locate_file(name))), recorded.removeprefix("sha256="))
        for name, recorded, *_ in rows
        if recorded
    ]
    return [place for place, recorded in places if _sha256(place) != recorded]


def _sha256(path: Path) -> str | None:
    """The hash of a file as RECORD writes it; None where it cannot be read."""
    try:
        found = hashlib.sha256(path.read_bytes()).digest()
    except OSError:
        return None
    return base64.urlsafe_b64encode(found).rstrip(b"=").decode()
