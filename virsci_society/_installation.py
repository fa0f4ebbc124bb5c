"""Entry point of the command ``society``."""

from __future__ import annotations

import os
import sys

BAD_INPUT, INTERRUPTED = 2, 130


def main() -> None:
    """Run the command; Ctrl-C and a missing package end it in one line."""
    # No child interpreter puts the current folder, which may be a stranger's, on its import path.
    os.environ["PYTHONSAFEPATH"] = "1"
    words = " ".join(sys.argv[1:])
    if words.encode("utf-8", "replace") != os.fsencode(words):
        print(f"not UTF-8: {words!a}; rename that file or folder", file=sys.stderr)
        raise SystemExit(2)
    try:
        from virsci_society.scenarios.cli.app import main as command

        # The command handles Ctrl-C itself as soon as it has read its arguments.
        command()
    except KeyboardInterrupt:
        print("interrupted before the command began", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None
    except ModuleNotFoundError as error:
        if str(error.name).split(".")[0] == "virsci_society":
            raise
        cure = "install it with what it needs: pip install virsci-society"
        print(f"the package {error.name!r} is not installed; {cure}", file=sys.stderr)
        raise SystemExit(BAD_INPUT) from None
