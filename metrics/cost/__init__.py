"""Calls, tokens, money, and the critical path of the calls of a run.

Read ``call_counts`` (VirSci's inference cost, calls by act, stage and team), then ``ledger`` (what
the backend was asked and paid), then ``critical_path`` (the shortest time any scheduler can reach).
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from metrics.cost.call_counts import calls_by_act as calls_by_act
    from metrics.cost.call_counts import calls_by_stage as calls_by_stage
    from metrics.cost.call_counts import inference_cost as inference_cost
    from metrics.cost.critical_path import CriticalPath as CriticalPath
    from metrics.cost.critical_path import lower_bound as lower_bound
    from metrics.cost.ledger import Ledger as Ledger
    from metrics.cost.ledger import read_ledger as read_ledger

__all__ = [
    "CriticalPath",
    "Ledger",
    "calls_by_act",
    "calls_by_stage",
    "inference_cost",
    "lower_bound",
    "read_ledger",
]
__getattr__ = lazy_exports(
    __name__,
    {
        "CriticalPath": "metrics.cost.critical_path",
        "Ledger": "metrics.cost.ledger",
        "calls_by_act": "metrics.cost.call_counts",
        "calls_by_stage": "metrics.cost.call_counts",
        "inference_cost": "metrics.cost.call_counts",
        "lower_bound": "metrics.cost.critical_path",
        "read_ledger": "metrics.cost.ledger",
    },
)
