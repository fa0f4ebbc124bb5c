"""Writes a run as OpenTelemetry spans of itself, its teams, stages and calls, in OTLP JSON.

A journal holds no wall-clock times, so spans begin and end on simulated dates; day 0 is 1 January
of the boundary year. The real seconds of each attempt at a call are in its span events. Span and
trace ids are hashes of the run and of the ids of its parts: the same run gives the same file.

Source: OTLP 1 in its JSON encoding (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding)
and the semantic conventions for generative AI (https://opentelemetry.io/docs/specs/semconv/gen-ai/).
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from virsci_society.agents.files.atomic_files import make_folder, write_atomically
from virsci_society.agents.journal.records import Attempt
from virsci_society.scenarios.explorer.conversations import PromptBook
from virsci_society.society.results.run import Run
from virsci_society.society.results.speaker import WRITTEN_BY, asks_people, person_marks, speaker_of

CONVENTIONS = "1.37.0"
"""Version of the semantic conventions of which the names of attributes are."""
SCOPE = "virsci-society"
INTERNAL, CLIENT = 1, 3
"""Kinds of spans: work inside the simulator, and calls to a model."""
FAILED = 2
DAY = 86_400 * 10**9
YEAR_ZERO = 2000
"""The year of day 0 where a run does not state one."""
Attributes = Mapping[str, Any]


def write_traces(path: Path, run: Run, spans: Sequence[Mapping[str, Any]]) -> None:
    """Write a run as one trace."""
    versions = run.manifest.get("versions")
    release = versions.get(SCOPE) if isinstance(versions, dict) else None
    resource = {
        "service.name": SCOPE,
        "service.version": release,
        "society.scenario": run.name,
        "society.seed": run.seed,
        "society.digest": run.digest,
        "society.speaker": speaker_of(run.manifest),
        "society.machine_generated": not asks_people(run.scenario),
        # Viewers take dates for real ones unless something in the trace says otherwise.
        "society.dates": "simulated",
    }
    scope = {
        "scope": {"name": SCOPE, "version": str(release or "")},
        "schemaUrl": f"https://opentelemetry.io/schemas/{CONVENTIONS}",
        "spans": spans,
    }
    whole = {"resource": {"attributes": _attributes(resource)}, "scopeSpans": [scope]}
    make_folder(path.parent)
    write_atomically(path, json.dumps({"resourceSpans": [whole]}) + "\n")


def spans_of(
    run: Run,
    attempts: Iterable[Attempt] = (),
    *,
    team: str | None = None,
    words: bool = False,
    book: PromptBook | None = None,
) -> list[dict[str, Any]]:
    """The spans of a run: itself, then its teams, their stages and their calls.

    Args:
        run: the run.
        attempts: the ledger of its journal.
        team: the only team that is written; None: all.
        words: with prompts and replies, which the conventions leave out by default.
        book: the prompts, where they are wanted.
    """
    maker = _Spans(run)
    spans = [maker.run()]
    teams, calls = run.table("teams"), run.table("calls")
    if team is not None:
        teams, calls = (table[table["team"] == team] for table in (teams, calls))
    spans += [maker.team(row) for row in teams.to_dict("records")]
    grouped = calls.groupby(["team", "stage", "visit"], sort=False)
    spans += [maker.stage(key, rows) for key, rows in grouped]
    tried: dict[str, list[Attempt]] = defaultdict(list)
    for attempt in attempts:
        tried[attempt.call].append(attempt)
    marks = person_marks(run.scenario, calls)
    for row, mark in zip(calls.to_dict("records"), marks, strict=True):
        said: dict[str, Any] = dict(_words(row, book)) if words else {}
        if mark.startswith(WRITTEN_BY):
            said["society.written_by_person"] = True
        spans.append(maker.call(row, tried[str(row["call"])], said))
    return spans


class _Spans:
    """Makes the spans of one run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        backend = run.manifest.get("backend")
        self._backend = backend if isinstance(backend, dict) else {"use": backend}
        identity = run.manifest.get("identity") or run.digest or run.name
        self._trace = _id(32, identity, run.seed)
        year = run.boundary or YEAR_ZERO
        self._start = int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) * 10**9

    def run(self) -> dict[str, Any]:
        run = self._run
        facts = {"society.scientists": len(run.table("scientists"))}
        return self._span(("run",), None, f"run {run.name}", (0.0, run.days), facts)

    def team(self, row: Mapping[Any, Any]) -> dict[str, Any]:
        keys = ("team", "leader", "protocol", "state", "reason", "topic", "size", "published")
        facts = {f"society.team.{key}": row[key] for key in keys}
        facts["gen_ai.conversation.id"] = row["team"]
        dates = (row["founded"], _first_known(row["finished"], self._run.days))
        return self._span(("team", row["team"]), ("run",), f"team {row['team']}", dates, facts)

    def stage(self, key: Any, calls: pd.DataFrame) -> dict[str, Any]:
        team, stage, visit = key
        dates = (float(calls["asked"].min()), float(calls["due"].max()))
        facts = {"society.stage": stage, "society.visit": visit, "gen_ai.conversation.id": team}
        return self._span(("stage", *key), ("team", team), f"stage {stage}", dates, facts)

    def call(
        self, row: Mapping[Any, Any], attempts: list[Attempt], words: Attributes
    ) -> dict[str, Any]:
        """One call as a client span of the conventions."""
        asked = str(self._backend.get("model") or self._backend.get("use") or "unknown")
        rules = not row["live"]
        model = "rule-based" if rules else asked
        keys = ("act", "form", "turn", "seat", "rung", "defaulted", "prompt_hash")
        facts: dict[str, Any] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": SCOPE if rules else provider_of(self._backend),
            "gen_ai.request.model": model,
            "gen_ai.response.model": row["model"],
            "gen_ai.usage.input_tokens": row["prompt_tokens"],
            "gen_ai.usage.output_tokens": row["completion_tokens"],
            "gen_ai.output.type": "json",
            "gen_ai.conversation.id": row["team"],
            "gen_ai.agent.name": row["scientist"],
            "society.call": row["call"],
            **{f"society.{key}": row[key] for key in keys},
            **words,
        }
        verdict = None if pd.isna(row["verdict"]) else str(row["verdict"])
        if verdict:
            facts["error.type"] = verdict
        parent = ("stage", row["team"], row["stage"], row["visit"])
        dates = (row["asked"], _first_known(row["due"], row["asked"]))
        span = self._span(("call", row["call"]), parent, f"chat {model}", dates, facts, CLIENT)
        span["events"] = [self._attempt(attempt, float(row["asked"])) for attempt in attempts]
        if verdict:
            span["status"] = {"code": FAILED, "message": verdict}
        return span

    def _attempt(self, attempt: Attempt, asked: float) -> dict[str, Any]:
        facts = {
            "society.attempt.number": attempt.number,
            "society.attempt.endpoint": attempt.endpoint,
            "society.attempt.outcome": attempt.outcome,
            "society.attempt.seconds": attempt.seconds,
            "society.attempt.usd": attempt.usd,
            "http.response.status_code": attempt.status,
        }
        when = self._nanoseconds(asked)
        return {"timeUnixNano": when, "name": "attempt", "attributes": _attributes(facts)}

    def _span(
        self,
        key: tuple[Any, ...],
        parent: tuple[Any, ...] | None,
        name: str,
        dates: tuple[Any, Any],
        facts: Attributes,
        kind: int = INTERNAL,
    ) -> dict[str, Any]:
        start, end = (float(date) for date in dates)
        return {
            "traceId": self._trace,
            "spanId": _id(16, self._trace, *key),
            **({"parentSpanId": _id(16, self._trace, *parent)} if parent else {}),
            "name": name,
            "kind": kind,
            "startTimeUnixNano": self._nanoseconds(start),
            # No span ends before it begins, which viewers refuse.
            "endTimeUnixNano": self._nanoseconds(max(start, end)),
            "attributes": _attributes(facts),
        }

    def _nanoseconds(self, day: float) -> str:
        return str(self._start + round(day * DAY))


def provider_of(backend: Mapping[str, Any]) -> str:
    """The provider as the conventions name it: the prefix of litellm's model, else the backend."""
    model, use = str(backend.get("model") or ""), str(backend.get("use") or "unknown")
    return model.split("/")[0] if use == "litellm" and "/" in model else use


def _words(row: Mapping[Any, Any], book: PromptBook | None) -> dict[str, str]:
    """Prompt and reply of a call as the conventions write messages."""
    asked = None if book is None else book.questions.get(str(row["call"]))
    texts = {"gen_ai.input.messages": () if asked is None else asked.messages}
    if not pd.isna(row["reply"]):
        texts["gen_ai.output.messages"] = (("assistant", str(row["reply"])),)
    return {
        name: json.dumps(
            [
                {"role": role, "parts": [{"type": "text", "content": text}]}
                | ({"finish_reason": "stop"} if name == "gen_ai.output.messages" else {})
                for role, text in messages
            ],
            ensure_ascii=False,
        )
        for name, messages in texts.items()
        if messages
    }


def _attributes(given: Attributes) -> list[dict[str, Any]]:
    """Attributes in OTLP JSON, which writes whole numbers as text; missing values are left out."""
    known = (
        (key, value) for key, value in given.items() if value is not None and not pd.isna(value)
    )
    return [{"key": key, "value": _typed(value)} for key, value in known]


def _typed(value: Any) -> dict[str, Any]:
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, float):
        return {"doubleValue": value}
    return {"intValue" if isinstance(value, int) else "stringValue": str(value)}


def _first_known(*dates: Any) -> float:
    return next(float(date) for date in dates if not pd.isna(date))


def _id(digits: int, *parts: Any) -> str:
    # As a list: joined texts of different parts could be the same.
    text = json.dumps([str(part) for part in parts])
    return hashlib.sha256(text.encode()).hexdigest()[:digits]
