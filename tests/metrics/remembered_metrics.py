"""Measures of hand-made runs that are taken once for all runs whose rows agree.

A measure is a function of the tables that it reads and of what else a run says. Which tables these
are is noted while it is taken; another run that has the same rows in them, in the same order, and
says the same, has the same measure. A test that changes the calls of a run so waits only for the
measures that read them.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps

import pandas as pd

from virsci_society.society.results.dataframes import build_tables
from virsci_society.society.results.run import Run

NO_INPUT_OF_MEASURES = {"ledger", "notes", "backend"}
"""Parts of the manifest that no measure reads."""
UNKNOWN = "a measure of which nobody knows what it read"
EMPTY = repr([])

_built: dict[tuple[str, str], pd.DataFrame] = {}


class TracedRun(Run):
    """A run in memory that notes which of its tables are read.

    Args:
        rows: of its tables, by name; complete.
        manifest: see ``Run``.
        scenario: see ``Run``.
        more: further arguments of ``Run``.
    """

    def __init__(self, rows, manifest, scenario, **more):
        self.sources = {name: repr(listed) for name, listed in rows.items()}
        super().__init__(tables_of(rows, self.sources), manifest, scenario, **more)
        self.read_for: dict[str, set[str]] = {}
        self._notes: list[set[str]] = []

    def rest(self):
        """A hash of what a measure may read besides tables; None: it cannot be told."""
        told = {key: it for key, it in self.manifest.items() if key not in NO_INPUT_OF_MEASURES}
        try:
            whole = pickle.dumps((told, self.scenario, self.vectors, self.databases))
        except (AttributeError, TypeError, pickle.PicklingError):
            return None
        return hashlib.sha256(whole).hexdigest()

    @contextmanager
    def noting(self) -> Iterator[set[str]]:
        """Note the tables that are read meanwhile."""
        self._notes.append(set())
        try:
            yield self._notes[-1]
        finally:
            self.note(self._notes.pop())

    def note(self, tables):
        """These tables have been read."""
        for one in self._notes:
            one |= tables

    def table(self, name, *, plain=False):
        """See ``Run``."""
        self.note({name})
        return super().table(name, plain=plain)

    def metric(self, what, *, plain=False):
        """See ``Run``; a measure that is taken within another one reads its tables for both."""
        name = what if isinstance(what, str) else what.__name__
        if name in self._metrics:
            self.note(self.read_for.get(name, {UNKNOWN}))
        elif not isinstance(what, str):
            with self.noting() as noted:
                found = super().metric(what, plain=plain)
            self.read_for[name] = set(noted)
            return found
        return super().metric(what, plain=plain)


def tables_of(rows, sources):
    """All tables, each built once for the same rows and copied for each run."""
    new = {name: listed for name, listed in rows.items() if (name, sources[name]) not in _built}
    tables = build_tables(new)
    _built.update({(name, sources[name]): tables[name].copy() for name in new})
    known = {name: _built[name, sources[name]].copy() for name in rows if name not in new}
    return tables | known


def remembered(name, metric):
    """A measure that is taken once for the same rows of the tables that it reads."""
    known: list[tuple[dict[str, str], str, pd.DataFrame]] = []

    @wraps(metric)
    def taken(run):
        if not isinstance(run, TracedRun):
            return metric(run)
        now = run.rest()
        for reads, rest, table in known:
            same = all(run.sources.get(one, EMPTY) == source for one, source in reads.items())
            if same and rest == now:
                run.read_for[name] = set(reads)
                run.note(set(reads))
                return table.copy()
        with run.noting() as noted:
            table = metric(run)
        run.read_for[name] = set(noted)
        if now is not None and UNKNOWN not in noted:
            sources = {one: run.sources.get(one, EMPTY) for one in noted}
            known.append((sources, now, table.copy()))
        return table

    return taken
