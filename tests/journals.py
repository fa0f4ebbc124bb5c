"""Changes to a journal that its hashes must not notice, for tests of what comes after them."""

import sqlite3
from contextlib import closing


def unseal(path):
    """Turn a journal into one of the first format, whose rows have no hashes."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("DROP TABLE seals")
        database.execute("UPDATE meta SET value = '1' WHERE key = 'format'")
