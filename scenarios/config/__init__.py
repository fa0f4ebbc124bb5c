"""Scenario files in YAML, read into a checked ``Scenario`` or refused with every fault named.

Read ``yaml_io`` (text to data), ``document`` (``extends``, ``--set`` and the origin of each key),
``registry`` (names after ``use:``), ``reader`` (data to settings objects), ``diagnostics``
(messages) and then ``schema``, which holds every key of a scenario. ``key_reference`` prints the
same keys for editors and for people.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from scenarios.config.document import library as library
    from scenarios.config.registry import KINDS as KINDS
    from scenarios.config.schema import Scenario as Scenario
    from scenarios.config.schema import load_scenario as load_scenario

__all__ = ["KINDS", "Scenario", "library", "load_scenario"]

__getattr__ = lazy_exports(
    __name__,
    {
        "KINDS": "scenarios.config.registry",
        "Scenario": "scenarios.config.schema",
        "library": "scenarios.config.document",
        "load_scenario": "scenarios.config.schema",
    },
)
