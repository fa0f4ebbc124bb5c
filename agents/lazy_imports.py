"""Table and matrix libraries under their usual names, each imported when it is first used.

``society --help`` and the check of a scenario import most of this package and need no table: they
must not wait a fifth of a second for pyarrow, pandas and scipy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["LazyModule", "pa", "pc", "pd", "pq", "sparse"]


class LazyModule:
    """Stands for a module, which is imported when one of its names is first asked for."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self._module), name)
        # Kept here, so that a later use of the name costs no more than with the module itself.
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
    from scipy import sparse
else:
    pa, pc, pq = map(LazyModule, ("pyarrow", "pyarrow.compute", "pyarrow.parquet"))
    pd, sparse = map(LazyModule, ("pandas", "scipy.sparse"))
