"""Runs as traces for observability programs such as Phoenix, Langfuse or Jaeger.

``otlp`` writes OpenTelemetry spans as OTLP JSON.
"""
