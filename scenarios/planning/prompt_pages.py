"""The folder of a listing, with one Markdown file per call and an index.

What a model is sent appears in fences, character by character. Everything else is ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import (
    holds_others,
    make_folder,
    remove_file,
    write_atomically,
)
from virsci_society.agents.files.json_files import read_json_object
from virsci_society.agents.spelling import plain_text
from virsci_society.metrics.report.templates import template_environment
from virsci_society.scenarios.planning.prompt_recording import (
    MOST,
    TOKENS,
    Listing,
    RecordedCall,
    tokenizer_name,
)

if TYPE_CHECKING:
    import pandas as pd

FORMAT = "society prompts 2"
"""Mark of a folder that was written here, in its ``INDEX``."""
INDEX, PAGES = "index.json", "pages"
MOST_CHARACTERS = 5_000_000
"""Characters of all pages up to which their texts appear in ``index.html``, too."""
NAME_LENGTH = 80
"""Most characters of a call id in the name of a file."""
RULES = "The words are those of rule-based scientists, not of a language model."


def write_pages(listing: Listing, out: Path) -> pd.DataFrame:
    """Write a listing into a folder, over an earlier one; returns the calls with their tokens."""
    require_place(out)
    table = listing.table()
    names = [safe_name(call.id) for call in listing.calls]
    table.insert(0, "file", [f"{PAGES}/{n:04d}-{name}.md" for n, name in enumerate(names, 1)])
    texts = [
        plain_text(render_call(listing, call, f"{number} of {len(names)}", tokens))
        for number, (call, tokens) in enumerate(
            zip(listing.calls, table[[*TOKENS]].itertuples(index=False), strict=True), 1
        )
    ]
    index = {
        "format": FORMAT,
        "title": listing.title,
        "words": whose_words(listing),
        "tokenizer": tokenizer_name(),
        "calls": json.loads(table.to_json(orient="records")),
    }
    page = template_environment("virsci_society.scenarios.planning").get_template(
        "prompt_index.html"
    )
    rows = table.assign(
        text=texts if sum(map(len, texts)) <= MOST_CHARACTERS else "",
        heading=[
            stage if visit == 1 else f"{stage}, visit {visit}"
            for stage, visit in table[["stage", "visit"]].itertuples(index=False)
        ],
    )
    html = page.render(
        title=listing.title,
        words=whose_words(listing),
        notes=notes(listing),
        totals={name: totals(table, name) for name in ("stage", "page")},
        teams={
            team: {
                heading: calls.to_dict("records")
                for heading, calls in of_team.groupby("heading", sort=False)
            }
            for team, of_team in rows.groupby("team", sort=False)
        },
    )
    try:
        for earlier in (out / PAGES).glob("[0-9][0-9][0-9][0-9]*-*.md"):
            remove_file(earlier)
        make_folder(out)
        # First of all, so that a folder that was left half written is known as ours.
        write_atomically(out / INDEX, json.dumps(index, indent=1) + "\n")
        make_folder(out / PAGES)
        for file, text in zip(table["file"], texts, strict=True):
            write_atomically(out / file, text)
        write_atomically(out / "index.html", plain_text(html))
    except OSError as error:
        raise InputError(
            f"{out}: cannot be written to ({error.strerror}); give another folder with --out"
        ) from error
    return table


def require_place(out: Path) -> None:
    """Refuse a folder with anything in it but an earlier listing."""
    if out.is_dir() and not (out / INDEX).exists() and not holds_others(out, INDEX):
        return
    if out.exists():
        try:
            ours = read_json_object(out / INDEX).get("format") == FORMAT
        except (InputError, OSError):
            ours = False
        if not ours:
            raise InputError(f"{out}: holds other files; give another folder with --out")


def whose_words(listing: Listing) -> str:
    """One sentence: who has written the replies, and what earlier replies appear in the prompts."""
    if listing.rehearsed:
        return f"A rehearsal. {RULES} The run itself would ask {listing.about}."
    return f"The words are those of {listing.about}."


def notes(listing: Listing) -> list[str]:
    """Sentences about what was counted and what is not listed."""
    said = [
        f"Tokens: {tokenizer_name()}. A prompt is all of its messages; the schema of the form is "
        "counted apart, because only some servers send it to the model."
    ]
    if listing.by_rules:
        said.append(f"Not listed: {listing.by_rules:,} calls that rules answer in the run too.")
    if listing.stopped:
        said.append(f"The rehearsal was stopped after {MOST:,} calls; choose teams with --teams.")
    return said


def totals(table: pd.DataFrame, name: str) -> list[tuple[str | int, ...]]:
    """Calls and tokens by a column of the calls, in order of first calls, then those of all."""
    sums = table.assign(calls=1).groupby(name, sort=False)[["calls", *TOKENS]].sum()
    sums.loc["all"] = sums.sum()
    return [tuple(row) for row in sums.itertuples(name=None)]


def render_call(listing: Listing, call: RecordedCall, place: str, tokens: Sequence[int]) -> str:
    """The text of one call: who is asked, the messages, the form, and the reply below a line."""
    row = call.row
    facts = {
        "call": f"`{call.id}`",
        "page": call.page or "-",
        "asked": row["scientist"],
        "team": row["team"],
        "stage": f"{row['stage']}, visit {row['visit']}, turn {row['turn']}, seat {row['seat']}",
        "act": row["act"],
        "day": f"{row['asked']:.2f}",
        "form": call.form,
        "tokens": ", ".join(f"{name} {n:,}" for name, n in zip(TOKENS, tokens, strict=True)),
    }
    if row["rung"]:
        facts["reply read"] = row["rung"]
    schema = json.dumps(json.loads(call.schema), indent=2, ensure_ascii=False)
    parts = [
        f"# Call {place}: {call.page or row['act']}, {row['scientist']}",
        whose_words(listing),
        "\n".join(f"- {name}: {value}" for name, value in facts.items()),
        *(f"## Message: {one.role}\n\n{fenced(one.content)}" for one in call.messages),
        f"## Form of the answer\n\n{fenced(schema, 'json')}",
        "---",
        "## Reply of the rehearsal" if listing.rehearsed else "## Reply",
        f"No words: {call.verdict}" if call.verdict else fenced(call.text),
    ]
    return "\n\n".join(parts) + "\n"


def safe_name(call: str) -> str:
    """A call id as a part of a file's name: letters, digits, dots, underscores and hyphens."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", call).strip("-.")[:NAME_LENGTH] or "call"


def fenced(text: str, language: str = "text") -> str:
    """A text in a fence of Markdown that is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
