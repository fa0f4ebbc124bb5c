"""The calls of a run as OpenTelemetry spans: python examples/recipes/opentelemetry.py RUN."""

import hashlib
import json
import sys
from pathlib import Path

import virsci_society as vs

run, day, spans = vs.Run.open(sys.argv[1]), 86_400 * 10**9, []
start = 946_684_800 * 10**9  # dates are simulated: day 0 is 1 January 2000
names = {"model": "gen_ai.request.model", "scientist": "gen_ai.agent.name"}
for call in run.table("calls").itertuples():
    span = {"traceId": run.digest[:32], "name": f"chat {call.model}", "kind": 3}
    span["spanId"] = hashlib.sha256(str(call.call).encode()).hexdigest()[:16]
    span["startTimeUnixNano"] = str(start + round(call.asked * day))
    span["endTimeUnixNano"] = str(start + round(call.due * day))
    texts = {key: {"stringValue": getattr(call, column)} for column, key in names.items()}
    span["attributes"] = [{"key": key, "value": text} for key, text in texts.items()]
    spans.append(span)
scope = {"scope": {"name": "virsci-society"}, "spans": spans}
Path("traces.json").write_text(json.dumps({"resourceSpans": [{"scopeSpans": [scope]}]}))
