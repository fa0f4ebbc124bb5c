"""Table and matrix libraries, imported at their first use, and the check for optional ones."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from virsci_society.agents.errors import InputError

__all__ = ["LazyModule", "nx", "pa", "pc", "pd", "pq", "require_extra"]
__all__ += ["scipy", "sparse", "special"]


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
    import networkx as nx
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
    import scipy
    from scipy import sparse, special
else:
    pa, pc, pq = map(LazyModule, ("pyarrow", "pyarrow.compute", "pyarrow.parquet"))
    nx, pd, scipy = map(LazyModule, ("networkx", "pandas", "scipy"))
    sparse, special = map(LazyModule, ("scipy.sparse", "scipy.special"))


def require_extra(extra: str, module: str, need: str) -> None:
    """Check that the package of an optional dependency is installed."""
    if find_spec(module) is None:
        raise InputError(f"{need}: {install_line(extra)}")


def install_line(extra: str) -> str:
    """What to type to install an optional dependency, also where the program is a checkout."""
    root = Path(__file__).resolve().parents[1]
    if (root / "pyproject.toml").is_file():
        return f"{sys.executable} -m pip install -e '{root}[{extra}]'"
    return f"pip install 'virsci-society[{extra}]'"
