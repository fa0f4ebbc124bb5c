"""The type of SimPy processes, generators that return a value.

A process yields SimPy events and is resumed when they have happened. A part of a process is
delegated to with ``yield from`` and gives its result to the caller.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")

Process: TypeAlias = Generator[Any, Any, T]
"""A generator of SimPy events whose ``return`` value is a ``T``, e.g. ``Process[Answer[Idea]]``."""
