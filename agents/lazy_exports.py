"""Exports of a package that are imported when they are first used (PEP 562).

Written by hand because ``lazy_loader`` imports ``ast`` and ``inspect``, which the start of the
command would feel, and leaves the types of the names to stub files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_exports(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package whose names live in its modules.

    The package says the same names once more under ``if TYPE_CHECKING:``, for type checkers and
    readers; a test holds the two lists equal.

    Args:
        package: ``__name__`` of the package.
        homes: the module that defines each exported name.

    Returns:
        A function of a name. It raises AttributeError for a name that is not exported.
    """

    def getattribute(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes[name]), name)

    return getattribute
