"""Steps: a SimPy process, or a part of one."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

Steps = Generator[Any, Any, Any]
"""A generator of events; what it returns is what delegating to it gives."""
