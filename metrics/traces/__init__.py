"""Runs as traces for observability programs such as Phoenix, Langfuse or Jaeger.

``otlp`` writes OpenTelemetry spans as OTLP JSON.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from metrics.traces.otlp import write_traces as write_traces

__all__ = ["write_traces"]
__getattr__ = lazy_exports(__name__, {"write_traces": "metrics.traces.otlp"})
