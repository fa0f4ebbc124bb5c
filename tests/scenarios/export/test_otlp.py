"""Spans of a run: their tree, their dates, and the names of the conventions."""

import json
from itertools import pairwise

import pytest

from virsci_society.agents.journal.records import Attempt
from virsci_society.scenarios.explorer.conversations import PromptBook, ShownPrompt
from virsci_society.scenarios.export.otlp import (
    CLIENT,
    DAY,
    INTERNAL,
    provider_of,
    spans_of,
    write_traces,
)


def facts(span):
    """The attributes of a span, whole numbers as numbers."""
    found = {}
    for entry in span["attributes"]:
        (kind, value), *_ = entry["value"].items()
        found[entry["key"]] = int(value) if kind == "intValue" else value
    return found


def test_the_tree_is_run_team_stage_call(run):
    spans = spans_of(run)
    by_id = {span["spanId"]: span for span in spans}
    assert len(by_id) == len(spans)
    assert len({span["traceId"] for span in spans}) == 1
    assert all(len(span["spanId"]) == 16 and len(span["traceId"]) == 32 for span in spans)
    calls = [span for span in spans if span["kind"] == CLIENT]
    assert len(calls) == len(run.table("calls"))
    for call in calls:
        chain = [call]
        while "parentSpanId" in chain[-1]:
            chain.append(by_id[chain[-1]["parentSpanId"]])
        assert [span["name"].split()[0] for span in chain] == ["chat", "stage", "team", "run"]
        for span, parent in pairwise(chain):
            assert int(span["startTimeUnixNano"]) >= int(parent["startTimeUnixNano"])
    assert [span["kind"] for span in spans[:4]] == [INTERNAL] * 4


def test_spans_lie_on_simulated_dates(run):
    spans = spans_of(run)
    start = int(spans[0]["startTimeUnixNano"])
    assert start == 1420070400 * 10**9  # 1 January 2015, the boundary year
    assert int(spans[0]["endTimeUnixNano"]) - start == 100 * DAY
    team = next(span for span in spans if span["name"] == "team S1/1")
    assert int(team["startTimeUnixNano"]) - start == 2 * DAY


def test_calls_bear_the_names_of_the_conventions(run):
    call = next(span for span in spans_of(run) if span["kind"] == CLIENT)
    told = facts(call)
    assert call["name"] == "chat rule-based"
    assert told["gen_ai.operation.name"] == "chat"
    assert told["gen_ai.provider.name"] == "virsci-society"
    assert told["gen_ai.usage.input_tokens"] == 100
    assert told["gen_ai.usage.output_tokens"] == 20
    assert told["gen_ai.conversation.id"] in set(run.table("teams")["team"])
    assert not [name for name in told if name.endswith("messages")]


def test_words_are_there_only_when_asked_for(run):
    first = str(run.table("calls")["call"].iloc[0])
    book = PromptBook({first: ShownPrompt((("user", "what now?"),))})
    spans = spans_of(run, words=True, book=book)
    told = next(facts(span) for span in spans if facts(span).get("society.call") == first)
    (asked,) = json.loads(told["gen_ai.input.messages"])
    assert asked == {"role": "user", "parts": [{"type": "text", "content": "what now?"}]}
    (said,) = json.loads(told["gen_ai.output.messages"])
    assert said["parts"][0]["content"] == '{"Response": "hm"}'


def test_attempts_are_events_and_verdicts_are_errors(make_run, rows):
    rows["calls"] = [(*row[:19], "refused") for row in rows["calls"]]
    run = make_run(rows)
    first = str(run.table("calls")["call"].iloc[0])
    tries = [Attempt(first, 0, outcome="timeout", seconds=60.0), Attempt(first, 1, status=429)]
    spans = [span for span in spans_of(run, tries) if span["kind"] == CLIENT]
    assert [len(span["events"]) for span in spans].count(2) == 1
    assert sum(len(span["events"]) for span in spans) == 2
    event = next(span for span in spans if span["events"])["events"][0]
    assert facts(event)["society.attempt.seconds"] == 60.0
    assert all(facts(span)["error.type"] == "refused" for span in spans)
    assert all(span["status"]["code"] == 2 for span in spans)


def test_one_team_alone(run):
    names = {span["name"] for span in spans_of(run, team="S5/1")}
    assert "team S5/1" in names
    assert "team S1/1" not in names


def test_the_file_is_otlp_and_says_what_it_is(run, tmp_path):
    path = tmp_path / "new" / "traces.json"
    spans = spans_of(run)
    write_traces(path, run, spans)
    (resource,) = json.loads(path.read_text())["resourceSpans"]
    (scope,) = resource["scopeSpans"]
    assert len(scope["spans"]) == len(spans)
    assert scope["schemaUrl"].endswith("/1.37.0")
    told = facts(resource["resource"])
    assert told["society.machine_generated"] is True
    assert told["society.speaker"].startswith("rule-based scientists")
    before = path.read_bytes()
    write_traces(path, run, spans_of(run))
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("backend", "provider"),
    [
        ({"use": "litellm", "model": "anthropic/claude"}, "anthropic"),
        ({"use": "openai", "model": "org/model"}, "openai"),
        ({"use": None}, "unknown"),
    ],
)
def test_the_provider(backend, provider):
    assert provider_of(backend) == provider
