"""Changes to finished folders that their hashes do not notice, for tests of what comes after."""

import json
import sqlite3
from contextlib import closing

from virsci_society.agents.files.file_hashes import update_hashes
from virsci_society.agents.journal.database import seal_all


def reseal(journal):
    """Seal the rows of a journal as they are now."""
    with closing(sqlite3.connect(journal, isolation_level=None)) as database:
        database.execute("DELETE FROM seals")
        seal_all(database)


def edit_manifest(folder, **changes):
    """Change keys of a run's manifest."""
    manifest = folder / "manifest.json"
    told = json.loads(manifest.read_text(encoding="utf-8")) | changes
    manifest.write_text(json.dumps(told), encoding="utf-8")
    update_hashes(folder, [manifest])
