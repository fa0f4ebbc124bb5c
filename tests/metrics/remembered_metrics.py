"""Tables and metrics of hand-made runs, built once for runs of the same rows."""

import hashlib
import pickle
from functools import wraps

from virsci_society.society.results.dataframes import build_tables
from virsci_society.society.results.run import Run

NO_INPUT_OF_METRICS = {"ledger", "notes", "backend"}
"""Parts of the manifest that no metric reads."""
_tables, _metrics = {}, {}


class HandRun(Run):
    """A run in memory that knows which other runs have the same rows."""

    def __init__(self, rows, manifest, scenario, **more):
        sources = {name: repr(listed) for name, listed in rows.items()}
        for name, source in sources.items():
            if (name, source) not in _tables:
                _tables[name, source] = build_tables({name: rows[name]})[name]
        tables = {name: _tables[name, source] for name, source in sources.items()}
        super().__init__(tables, manifest, scenario, **more)
        self.sources = tuple(sorted(sources.items()))
        self.taken, self.touched = [], "metrics" in more

    def add_metric(self, name, table):
        """See ``Run``; after a table of a test's own nothing is remembered."""
        self.touched |= all(table is not one for one in self.taken)
        return super().add_metric(name, table)

    def metric(self, what, *, plain=False):
        """See ``Run``; what it computes is no table of a test's own."""
        before = self.touched
        found = super().metric(what, plain=plain)
        self.touched = before
        return found

    def key(self):
        """What all metrics of a run follow from; None: it cannot be told."""
        told = {key: it for key, it in self.manifest.items() if key not in NO_INPUT_OF_METRICS}
        try:
            whole = pickle.dumps((told, self.scenario, self.vectors, self.databases))
        except (AttributeError, TypeError, pickle.PicklingError):
            return None
        return self.sources, hashlib.sha256(whole).hexdigest()


def remembered(name, metric):
    """A metric that is taken once for runs of the same rows."""

    @wraps(metric)
    def taken(run):
        key = run.key() if isinstance(run, HandRun) and not run.touched else None
        if key is None:
            return metric(run)
        if (name, key) not in _metrics:
            _metrics[name, key] = metric(run)
        run.taken.append(_metrics[name, key].copy())
        return run.taken[-1]

    return taken
