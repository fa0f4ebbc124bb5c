"""The Markdown of a listing, with one text a call and the index.

What a model is sent stands in fences, character by character. Everything else is ours.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from virsci_society.agents.people.question import describe_form, describe_messages, fenced
from virsci_society.scenarios.planning.prompt_pages.recording import MOST, Listing, RecordedCall
from virsci_society.scenarios.planning.prompt_pages.tokens import (
    CountedCall,
    TokenCounts,
    totals_by,
)
from virsci_society.scenarios.planning.tokenizer import tokenizer_name

RULES = "The words are those of rule-based scientists, not of a language model."
HEADS = ("calls", "prompt", "of it system", "schema", "reply")


def whose_words(listing: Listing) -> str:
    """One sentence: who has written the replies, and what earlier replies stand in the prompts."""
    if listing.rehearsed:
        return f"A rehearsal. {RULES} The run itself would ask {listing.about}."
    return f"The words are those of {listing.about}."


def notes(listing: Listing) -> list[str]:
    """Sentences about what was counted and what is not listed."""
    counter = tokenizer_name()
    said = [
        f"Tokens: {counter}. A prompt is all of its messages; the schema of the form is counted "
        "apart, because only some servers send it to the model."
    ]
    if listing.by_rules:
        said.append(f"Not listed: {listing.by_rules:,} calls that rules answer in the run too.")
    if listing.stopped:
        said.append(f"The rehearsal was stopped after {MOST:,} calls; choose teams with --teams.")
    return said


def render_call(listing: Listing, counted: CountedCall, number: int, total: int) -> str:
    """The text of one call: who is asked, the messages, the form, and the reply below a line.

    Args:
        listing: to which it belongs.
        counted: the call and its tokens.
        number: its place, from 1.
        total: number of calls.
    """
    call, tokens, row = counted.call, counted.tokens, counted.call.row
    facts = {
        "call": f"`{call.id}`",
        "page": call.page or "-",
        "asked": row["scientist"],
        "team": row["team"],
        "stage": f"{row['stage']}, visit {row['visit']}, turn {row['turn']}, seat {row['seat']}",
        "act": row["act"],
        "day": f"{row['asked']:.2f}",
        "form": call.form.__name__,
        "tokens": f"prompt {tokens.prompt:,} (of it system {tokens.system:,}), "
        f"schema {tokens.schema:,}, reply {tokens.reply:,}; {tokenizer_name()}",
    }
    if not call.usage.estimated:
        counts = f"prompt {call.usage.prompt_tokens:,}, reply {call.usage.completion_tokens:,}"
        facts["counted by the provider"] = counts
    if row["rung"]:
        facts["reply read"] = row["rung"]
    parts = [
        f"# Call {number} of {total}: {call.page or row['act']}, {row['scientist']}",
        whose_words(listing),
        "\n".join(f"- {name}: {value}" for name, value in facts.items()),
        describe_messages(call.messages),
        "## Form of the answer",
        describe_form(json.loads(call.schema)),
        "---",
        "## Reply of the rehearsal" if listing.rehearsed else "## Reply",
        fenced(call.text) if not call.verdict else f"No words: {call.verdict}",
    ]
    return "\n\n".join(parts) + "\n"


def render_index(listing: Listing, calls: Sequence[CountedCall], files: Sequence[str]) -> str:
    """The index as Markdown: totals, then the calls by team, stage and turn.

    Args:
        listing: what is listed.
        calls: in their order, with their tokens.
        files: path of each call's page, relative to the index.
    """
    parts = [f"# Prompts of {listing.title}", whose_words(listing), *notes(listing)]
    for head, sums in totals(calls).items():
        parts += [f"## Tokens by {head}", _sums_table(head, sums)]
    file_of = {one.call.id: file for one, file in zip(calls, files, strict=True)}
    for team, of_team in groupby(calls, lambda one: str(one.call.row["team"])):
        parts.append(f"## Team {team}")
        for heading, group in groupby(of_team, stage_of):
            parts += [f"### {heading}", _calls_table(group, file_of)]
    return "\n\n".join(parts) + "\n"


def stage_of(counted: CountedCall) -> str:
    """The heading under which a call is listed: stage, with its visit from the second on."""
    row = counted.call.row
    return row["stage"] if row["visit"] == 1 else f"{row['stage']}, visit {row['visit']}"


def totals(calls: Sequence[CountedCall]) -> dict[str, dict[str, TokenCounts]]:
    """Token sums by stage and by page, each with a last row for all."""

    def stage(call: RecordedCall) -> str:
        return str(call.row["stage"])

    def page(call: RecordedCall) -> str:
        return call.page or "-"

    everything = totals_by(calls, lambda call: "all")
    return {
        "stage": totals_by(calls, stage) | everything,
        "page": totals_by(calls, page) | everything,
    }


def _sums_table(head: str, sums: Mapping[str, TokenCounts]) -> str:
    rows = [
        (name, one.calls, one.prompt, one.system, one.schema, one.reply)
        for name, one in sums.items()
    ]
    return _table((head, *HEADS), rows)


def _calls_table(calls: Iterable[CountedCall], file_of: Mapping[str, str]) -> str:
    rows = []
    for one in calls:
        row, file = one.call.row, file_of[one.call.id]
        link = f"[{file.partition('/')[2].partition('-')[0]}]({file})"
        rows.append(
            (
                *(link, row["turn"], row["scientist"], row["act"], one.call.page or "-"),
                *(one.call.form.__name__, one.tokens.prompt, one.tokens.schema, one.tokens.reply),
            )
        )
    heads = ("call", "turn", "asked", "act", "page", "form", "prompt", "schema", "reply")
    return _table(heads, rows)


def _table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table of Markdown; whole numbers are grouped and aligned to the right."""
    numbers = [
        bool(rows) and all(isinstance(row[place], int) for row in rows)
        for place in range(len(heads))
    ]
    rule = ["---:" if number else "---" for number in numbers]
    lines = [heads, rule, *([_cell(value) for value in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value).replace("|", "\\|")
