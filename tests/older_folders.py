"""Changes to a run folder that its hashes must not notice, for tests of what comes after them."""

import json
import sqlite3
from contextlib import closing


def unseal(path):
    """Turn a journal into one of the first format, whose rows have no hashes."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("DROP TABLE seals")
        database.execute("UPDATE meta SET value = '1' WHERE key = 'format'")


def unlist(folder):
    """Turn a run folder into one of an earlier release, whose files have no listed hashes."""
    manifest = folder / "manifest.json"
    told = json.loads(manifest.read_text(encoding="utf-8"))
    told.pop("hashes", None)
    (folder / "hashes.json").unlink(missing_ok=True)
    manifest.write_text(json.dumps(told), encoding="utf-8")


def unnumber(folder):
    """Turn a run folder into one of identity 1: no number, another hash, all files as they are."""
    unlist(folder)
    manifest = folder / "manifest.json"
    told = json.loads(manifest.read_text(encoding="utf-8"))
    del told["identity_number"]
    told["identity"] = "0" * 64
    manifest.write_text(json.dumps(told), encoding="utf-8")
    unseal(folder / "journal.sqlite")
    with closing(sqlite3.connect(folder / "journal.sqlite", isolation_level=None)) as database:
        database.execute("DELETE FROM meta WHERE key = 'identity_number'")
