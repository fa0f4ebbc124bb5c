"""The results of a run, with its tables, log and digest, and the run as it is read back.

Read ``tables`` first (the columns of every table), then ``run`` (a run folder as an object).
While a society lives, ``run_log`` collects events and rows and ``initial_tables`` adds day 0.
``dataframes`` turns rows into typed frames, ``table_files`` writes and reads them, with
``csv_cells`` for text in CSV; ``vectors`` holds embeddings, ``digest`` hashes a run, and
``run_prefix`` hashes its beginning.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from society.results.digest import digest_content as digest_content
    from society.results.digest import digest_tables as digest_tables
    from society.results.run import Run as Run
    from society.results.run import resolve_run_folder as resolve_run_folder
    from society.results.run_prefix import RunPrefix as RunPrefix
    from society.results.run_prefix import compute_run_prefix as compute_run_prefix
    from society.results.tables import TABLES as TABLES
    from society.results.tables import Column as Column
    from society.results.vectors import Vectors as Vectors

__all__ = [
    "TABLES",
    "Column",
    "Run",
    "RunPrefix",
    "Vectors",
    "compute_run_prefix",
    "digest_content",
    "digest_tables",
    "resolve_run_folder",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "TABLES": "society.results.tables",
        "Column": "society.results.tables",
        "Run": "society.results.run",
        "RunPrefix": "society.results.run_prefix",
        "Vectors": "society.results.vectors",
        "compute_run_prefix": "society.results.run_prefix",
        "digest_content": "society.results.digest",
        "digest_tables": "society.results.digest",
        "resolve_run_folder": "society.results.run",
    },
)
