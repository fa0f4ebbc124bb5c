"""The names under ``metrics``: families of measures, single measures, functions from outside."""

from __future__ import annotations

from typing import Any

from virsci_society.agents.errors import InputError
from virsci_society.agents.spelling import did_you_mean
from virsci_society.metrics.measure_names import FAMILY_MEASURES, measures_named
from virsci_society.scenarios.config.outside_code import import_member, installed_of
from virsci_society.scenarios.config.registry import require_trust


def check_metric_name(name: Any, *, trust: bool) -> None:
    """See that a name under ``metrics`` is a family, a measure or a function from outside.

    Args:
        name: as it was written.
        trust: dotted paths may be imported.

    Raises:
        InputError: it is none of them; the message says which is which.
    """
    if isinstance(name, str) and (measures_named(name) or name in installed_of("metrics")):
        return
    if isinstance(name, str) and ":" in name:
        require_trust(name, trust=trust)
        if not callable(import_member(name)):
            raise InputError(f"{name!r} is no function; a metric is a function of a Run")
        return
    measures = [measure for family in FAMILY_MEASURES.values() for measure in family]
    known = dict.fromkeys((*FAMILY_MEASURES, *measures, *installed_of("metrics")))
    listed = " or ".join(repr(one) for one in FAMILY_MEASURES)
    raise InputError(
        f"got {name!r}, expected {listed} (families), one of their measures ('society list "
        f"metrics') or package.module:function{did_you_mean(str(name), known)}"
    )


def outside_metric(name: str) -> tuple[str, Any] | None:
    """Name and function of a metric from outside; None for one of ours.

    Args:
        name: as a scenario names it; checked by ``check_metric_name`` before.
    """
    if measures_named(name):
        return None
    path = installed_of("metrics").get(name, name)
    short = path.partition(":")[2] if path == name else name
    if not short.isidentifier():
        raise InputError(f"metrics: {name!r}: {short!r} cannot be the name of a table")
    return short, import_member(path)
