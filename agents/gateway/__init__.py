"""The way of every call to a backend.

Read ``backend`` for the base class of all backends, then ``gateway``, which takes a request through
journal, slot, budget and retries. ``endpoint_pool`` gives out the slots and keeps a circuit breaker
per endpoint, ``budget`` reserves what an attempt can cost, ``retry`` computes waits, and ``shared``
lets several runs share a pool.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from agents.gateway.budget import Budget as Budget
    from agents.gateway.endpoint_pool import EndpointPool as EndpointPool
    from agents.gateway.gateway import Gateway as Gateway
    from agents.gateway.retry import Retry as Retry
    from agents.gateway.shared import SharedEndpoints as SharedEndpoints

__all__ = ["Budget", "EndpointPool", "Gateway", "Retry", "SharedEndpoints"]

__getattr__ = lazy_exports(
    __name__,
    {
        "Budget": "agents.gateway.budget",
        "EndpointPool": "agents.gateway.endpoint_pool",
        "Gateway": "agents.gateway.gateway",
        "Retry": "agents.gateway.retry",
        "SharedEndpoints": "agents.gateway.shared",
    },
)
