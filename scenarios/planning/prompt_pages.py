"""The folder of a listing, with one Markdown file a call and an index in three formats.

What a model is sent stands in fences, character by character. Everything else is ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import (
    holds_others,
    make_folder,
    remove_file,
    write_atomically,
)
from virsci_society.agents.files.json_files import read_json_object
from virsci_society.agents.prompts.request import Message
from virsci_society.agents.spelling import plain_text
from virsci_society.metrics.report.templates import template_environment
from virsci_society.scenarios.planning.prompt_recording import (
    MOST,
    Listing,
    RecordedCall,
    TokenCounts,
    tokenizer_name,
)

FORMAT = "society prompts 1"
"""Mark of a folder that was written here, in its ``INDEX``."""
INDEX, PAGES = "index.json", "pages"
MOST_CHARACTERS = 5_000_000
"""Characters of all pages up to which their texts stand in ``index.html`` too."""

NAME_LENGTH = 80
"""Most characters of a call id in the name of a file."""
TYPES = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "array": "list",
    "object": "object",
    "null": "null",
}
"""Types of JSON Schema in words."""

_FILE = re.compile(rf"{PAGES}/\d{{4,}}-[A-Za-z0-9._-]+\.md")
RULES = "The words are those of rule-based scientists, not of a language model."
HEADS = ("calls", "prompt", "of it system", "schema", "reply")


class Page(NamedTuple):
    """One call with its text and the path of its file, relative to the index."""

    file: str
    text: str
    call: RecordedCall


def write_pages(listing: Listing, out: Path) -> None:
    """Write a listing into a folder; one that an earlier listing was written to is written anew."""
    pages = [
        Page(
            f"{PAGES}/{number:04d}-{safe_name(call.id)}.md",
            plain_text(render_call(listing, call, number)),
            call,
        )
        for number, call in enumerate(listing.calls, 1)
    ]
    earlier = files_of_earlier_listing(out)
    try:
        for file in earlier:
            remove_file(out / file)
        make_folder(out)
        # First of all, so that a folder that was left half written is known as ours.
        write_atomically(out / INDEX, _index_json(listing, pages))
        make_folder(out / PAGES)
        for page in pages:
            write_atomically(out / page.file, page.text)
        write_atomically(out / "index.md", plain_text(render_index(listing, pages)))
        write_atomically(out / "index.html", plain_text(_index_html(listing, pages)))
    except OSError as error:
        raise InputError(
            f"{out}: cannot be written to ({error.strerror}); give another folder with --out"
        ) from error


def files_of_earlier_listing(out: Path) -> list[str]:
    """Pages that an earlier listing has left in this folder, which may be removed."""
    refusal = InputError(f"{out}: holds other files; give another folder with --out")
    if not (out / INDEX).exists() and not holds_others(out, INDEX):
        if out.exists() and not out.is_dir():
            raise refusal
        return []
    try:
        held = read_json_object(out / INDEX)
        if held["format"] != FORMAT:
            raise refusal
        files = [str(one["file"]) for one in held["calls"]]
    except (InputError, OSError, KeyError, TypeError):
        raise refusal from None
    # Whoever may have written that file: nothing but pages is removed.
    return [file for file in files if _FILE.fullmatch(file)]


def _index_json(listing: Listing, pages: Sequence[Page]) -> str:
    sums = {
        head: {name: asdict(one) for name, one in by.items()}
        for head, by in totals(listing.calls).items()
    }
    data = {
        "format": FORMAT,
        "title": listing.title,
        "words": whose_words(listing),
        "tokenizer": tokenizer_name(),
        "calls": [{"file": page.file, **_facts(page.call)} for page in pages],
        "totals": sums,
    }
    return json.dumps(data, indent=1) + "\n"


def _facts(call: RecordedCall) -> dict[str, Any]:
    names = ("team", "stage", "visit", "turn", "seat", "act", "scientist", "asked", "rung")
    tokens = asdict(call.tokens)
    del tokens["calls"]
    return {
        "call": call.id,
        "page": call.page,
        "form": call.form.__name__,
        **{name: call.row[name] for name in names},
        "verdict": call.verdict,
        "tokens": tokens,
    }


def _index_html(listing: Listing, pages: Sequence[Page]) -> str:
    teams = [
        (team, [(stage, list(group)) for stage, group in groupby(of_team, stage_of)])
        for team, of_team in groupby(pages, team_of)
    ]
    environment = template_environment("virsci_society.scenarios.planning")
    return environment.get_template("prompt_index.html").render(
        listing=listing,
        words=whose_words(listing),
        notes=notes(listing),
        totals=totals(listing.calls),
        teams=teams,
        whole=sum(len(page.text) for page in pages) <= MOST_CHARACTERS,
    )


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


def render_call(listing: Listing, call: RecordedCall, number: int) -> str:
    """The text of one call: who is asked, the messages, the form, and the reply below a line.

    The number is its place in the listing, from 1.
    """
    tokens, row = call.tokens, call.row
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
        f"# Call {number} of {len(listing.calls)}: {call.page or row['act']}, {row['scientist']}",
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


def render_index(listing: Listing, pages: Sequence[Page]) -> str:
    """The index as Markdown: totals, then the calls by team, stage and turn."""
    parts = [f"# Prompts of {listing.title}", whose_words(listing), *notes(listing)]
    for head, sums in totals(listing.calls).items():
        parts += [f"## Tokens by {head}", _table((head, *HEADS), sum_rows(sums))]
    for team, of_team in groupby(pages, team_of):
        parts.append(f"## Team {team}")
        for heading, group in groupby(of_team, stage_of):
            parts += [f"### {heading}", _calls_table(group)]
    return "\n\n".join(parts) + "\n"


def team_of(page: Page) -> str:
    """Id of the team under which a call is listed."""
    return str(page.call.row["team"])


def stage_of(page: Page) -> str:
    """The heading under which a call is listed: stage, with its visit from the second on."""
    row = page.call.row
    return row["stage"] if row["visit"] == 1 else f"{row['stage']}, visit {row['visit']}"


def totals(calls: Sequence[RecordedCall]) -> dict[str, dict[str, TokenCounts]]:
    """Token sums by stage and by page, each with a last row for all."""
    everything = totals_by(calls, lambda _: "all")
    return {
        "stage": totals_by(calls, lambda call: str(call.row["stage"])) | everything,
        "page": totals_by(calls, lambda call: call.page or "-") | everything,
    }


def totals_by(
    calls: Sequence[RecordedCall], name: Callable[[RecordedCall], str]
) -> dict[str, TokenCounts]:
    """Sums of the tokens by a name of each call, in the order of the names' first calls."""
    sums: dict[str, TokenCounts] = {}
    for call in calls:
        sums[name(call)] = sums.get(name(call), TokenCounts()).plus(call.tokens)
    return sums


def sum_rows(sums: Mapping[str, TokenCounts]) -> list[tuple[str, int, int, int, int, int]]:
    """The rows of a table of sums, under ``HEADS``."""
    return [
        (name, one.calls, one.prompt, one.system, one.schema, one.reply)
        for name, one in sums.items()
    ]


def _calls_table(pages: Iterable[Page]) -> str:
    rows = []
    for file, _, call in pages:
        row, tokens = call.row, call.tokens
        link = f"[{file.partition('/')[2].partition('-')[0]}]({file})"
        asked = (row["turn"], row["scientist"], row["act"], call.page or "-", call.form.__name__)
        rows.append((link, *asked, tokens.prompt, tokens.schema, tokens.reply))
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


def safe_name(call: str) -> str:
    """A call id as a part of a file's name: letters, digits, dots, underscores and hyphens."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", call).strip("-.")[:NAME_LENGTH] or "call"


def describe_messages(messages: Sequence[Message]) -> str:
    """The messages of a request as Markdown, each with a heading and in a fence."""
    return "\n\n".join(
        f"## Message {number} of {len(messages)}: {message.role}\n\n{fenced(message.content)}"
        for number, message in enumerate(messages, 1)
    )


def describe_form(schema: Mapping[str, Any]) -> str:
    """The fields of a reply as a list in their order, and its JSON Schema in a fence."""
    required = schema.get("required", ())
    lines = []
    for name, field in schema.get("properties", {}).items():
        optional = "" if name in required else ", may be left out"
        lines.append(f"- `{name}`: {describe_type(field)}{optional}")
    text = json.dumps(schema, indent=2, ensure_ascii=False)
    return "\n".join([*lines, "", "As JSON Schema:", "", fenced(text, "json")])


def describe_type(schema: Mapping[str, Any]) -> str:
    """The type of a field in a few words, such as ``one of "a", "b"``."""
    if "enum" in schema or "const" in schema:
        values = schema.get("enum") or [schema["const"]]
        written = ", ".join(json.dumps(value, ensure_ascii=False) for value in values)
        return written if len(values) == 1 else f"one of {written}"
    either = schema.get("anyOf") or schema.get("oneOf")
    if either:
        return " or ".join(dict.fromkeys(describe_type(one) for one in either))
    kind = schema.get("type")
    if kind == "array" and isinstance(schema.get("items"), Mapping):
        return f"list of {describe_type(schema['items'])}"
    if kind == "object" and schema.get("properties"):
        return f"object with {', '.join(f'`{name}`' for name in schema['properties'])}"
    return TYPES.get(str(kind), "any value")


def fenced(text: str, language: str = "text") -> str:
    """A text in a fence of Markdown that is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
