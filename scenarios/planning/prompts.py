"""Every prompt of a rehearsal by rules or of a finished run, recorded and written to be read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from virsci_society.agents.errors import InputError, Verdict
from virsci_society.agents.files.atomic_files import make_folder, write_atomically
from virsci_society.agents.gateway.backend import Backend
from virsci_society.agents.gateway.gateway import Gateway
from virsci_society.agents.journal.journal import Journal
from virsci_society.agents.journal.records import verdict_name
from virsci_society.agents.offline.backend import Offline
from virsci_society.agents.prompts.request import (
    Message,
    Reply,
    Request,
    estimate_tokens,
    total_characters,
)
from virsci_society.agents.spelling import plain_text
from virsci_society.scenarios.config.schema import Scenario, load_scenario
from virsci_society.scenarios.runs.rehearsal import StandIn, go_through
from virsci_society.scenarios.runs.run_folder import SCENARIO
from virsci_society.scenarios.runs.run_journal import JOURNAL
from virsci_society.scenarios.runs.run_state import MANIFEST
from virsci_society.society.results.folder_kinds import LOCK
from virsci_society.society.results.tables import table_rows

if TYPE_CHECKING:
    from virsci_society.society.model import Society

TITLE = "# Prompts of "
"""How a file begins that was written here, and may be written over."""
TOKENS = ("prompt", "schema", "reply")
"""Parts of a call whose tokens are counted; only some servers send the schema to the model."""


@dataclass(frozen=True)
class RecordedCall:
    """One request with its reply, or the verdict in its place; ``row`` is that of ``calls``."""

    id: str
    page: str
    messages: tuple[Message, ...]
    form: str
    schema: str
    text: str
    verdict: str
    row: Mapping[str, Any]

    @property
    def tokens(self) -> tuple[int, ...]:
        """The tokens of each part of ``TOKENS``."""
        lengths = (total_characters(self.messages), len(self.schema), len(self.text))
        return tuple(map(estimate_tokens, lengths))


@dataclass(frozen=True)
class Listing:
    """The calls of a rehearsal or a run, by team in the order of first questions."""

    title: str
    rehearsed: bool
    about: str
    calls: tuple[RecordedCall, ...]

    @property
    def words(self) -> str:
        """Who has written the replies, and with them what the prompts quote of earlier replies."""
        if not self.rehearsed:
            return f"Replies come from {self.about}."
        return (
            "A rehearsal. The replies come from rules, not from a language model. "
            f"The run itself would ask {self.about}."
        )

    def totals(self) -> list[tuple[str | int, ...]]:
        """Stage, page, calls and ``TOKENS``, in order of first calls; last the sums."""
        sums: dict[tuple[str, str], list[int]] = {}
        for call in self.calls:
            row = sums.setdefault((call.row["stage"], call.page), [0] * (1 + len(TOKENS)))
            for place, number in enumerate((1, *call.tokens)):
                row[place] += number
        total = [sum(column) for column in zip(*sums.values(), strict=True)]
        return [*((*names, *row) for names, row in sums.items()), ("all", "", *total)]


class RecordingGateway(Gateway):
    """A gateway that keeps each request with its outcome, and the ids of teams, as they ask."""

    def __init__(self, backend: Backend, journal: Journal | None = None) -> None:
        super().__init__(backend, 1, journal, strict=journal is not None)
        self.recorded: list[tuple[Request, Reply | Verdict]] = []
        self.teams: dict[str, None] = {}

    async def complete(self, request: Request) -> Reply:
        """Answer one request, and record it."""
        # Before it is answered: teams are listed in the order of their first questions.
        self.teams.setdefault("/".join(request.id.split("/", 2)[:2]))
        try:
            reply = await super().complete(request)
        except Verdict as verdict:
            # Without its traceback, which would keep everything alive that it passed.
            self.recorded.append((request, verdict.with_traceback(None)))
            raise
        self.recorded.append((request, reply))
        return reply


def rehearse_prompts(scenario: Scenario, first: int | None = None) -> Listing:
    """Rehearse a scenario and list what its model would be asked in all or the ``first`` teams."""
    backend = scenario.seeded_backend
    if isinstance(backend, Offline):
        speaking: Backend = backend.model_copy(update={"latency": 0.0})
    else:
        speaking = StandIn(model=backend)
    return _listing(scenario, RecordingGateway(speaking), first, rehearsed=True)


def replay_prompts(folder: Path, first: int | None = None, *, trust: bool = False) -> Listing:
    """Replay a finished run from its journal, and list what was asked and answered."""
    with replaying(folder, trust=trust) as (scenario, gateway):
        return _listing(scenario, gateway, first, rehearsed=False)


@contextmanager
def replaying(folder: Path, *, trust: bool = False) -> Iterator[tuple[Scenario, RecordingGateway]]:
    """The scenario of a finished run, and a gateway that answers from its journal in this block."""
    if not (folder / JOURNAL).is_file() or not (folder / SCENARIO).is_file():
        message = f"{folder}: contains no run with a journal"
        if (folder / LOCK).is_file():
            message = f"{folder}: a study; give one of its runs, such as {folder}/runs/0000"
        raise InputError(message)
    if not (folder / MANIFEST).is_file():
        raise InputError(
            f"{folder}: the run is not finished (no {MANIFEST}); its own command resumes it"
        )
    scenario = load_scenario(folder / SCENARIO, trust=trust)
    with Journal(folder / JOURNAL, frozen=True) as journal:
        yield scenario, RecordingGateway(scenario.seeded_backend, journal)


def _listing(
    scenario: Scenario, gateway: RecordingGateway, first: int | None, *, rehearsed: bool
) -> Listing:
    def enough(society: Society) -> bool:
        # Only at the end is it certain that the journal belongs to this run.
        if not rehearsed or first is None:
            return False
        ended = {row["team"] for row in table_rows(society.log.rows, "teams")}
        return len(gateway.teams) >= first and ended.issuperset([*gateway.teams][:first])

    society = go_through(scenario, gateway, enough)
    teams = [*gateway.teams][:first]
    if not teams:
        raise InputError("this scenario makes no call; raise until, or found more teams")
    rows = {str(row["call"]): row for row in table_rows(society.log.rows, "calls")}
    calls = []
    for request, outcome in gateway.recorded:
        row = rows.get(request.id)
        # Calls that the rules of a hybrid answer in the run too are not listed.
        by_model = row is not None and (gateway.backend.rule_based or row["live"])
        if row is None or not by_model or row["team"] not in teams:
            continue
        text, verdict = "", ""
        if isinstance(outcome, Reply):
            text = outcome.text
        else:
            verdict = f"{verdict_name(outcome)}: {outcome}"
        page, schema = getattr(request, "page", "") or "-", request.schema_text
        form = request.form.__name__
        made = RecordedCall(request.id, page, request.messages, form, schema, text, verdict, row)
        calls.append(made)
    # By the place among a team's acts: calls of several teams are asked in turn.
    calls.sort(key=lambda call: (teams.index(call.row["team"]), call.row["sequence"]))
    spoken = scenario.backend.backend
    return Listing(
        title=f"{scenario.name}, seed {scenario.seed}",
        rehearsed=rehearsed and not spoken.rule_based,
        about=spoken.about,
        calls=tuple(calls),
    )


def check_pages(scenario: Scenario) -> str | None:
    """Render every page of the first team; None without pages from outside the project."""
    parts = scenario.protocol.components
    pages = {page.name: page for part in parts for page in getattr(part, "pages", ())}
    ours = Path(__file__).parents[2]
    theirs = [name for name, page in pages.items() if not page.path.is_relative_to(ours)]
    if not theirs and all(type(part).__module__.startswith("virsci_society.") for part in parts):
        return None
    asked = sorted({call.page for call in rehearse_prompts(scenario, first=1).calls})
    message = f"every page of the first team has its slots: {', '.join(asked)}"
    unseen = [name for name in theirs if name not in asked]
    return f"{message}; not asked for: {', '.join(unseen)}" if unseen else message


def require_place(target: Path) -> None:
    """Refuse a file with anything in it but an earlier listing."""
    if target.is_dir():
        raise InputError(f"{target}: is a folder; give a file with --out, such as prompts.md")
    if target.is_file():
        with target.open(encoding="utf-8", errors="replace") as file:
            if file.read(len(TITLE)) != TITLE:
                raise InputError(f"{target}: is another file; give a new one with --out")


def write_prompts(listing: Listing, target: Path) -> None:
    """Write a listing as one Markdown file, over an earlier one."""
    require_place(target)
    lines = [
        f"{TITLE}{listing.title}",
        listing.words,
        "Tokens are estimated, one for four characters. A prompt is all of its messages; the "
        "schema of the form is counted apart, because only some servers send it to the model.",
    ]
    head = ("stage", "page", "calls", *TOKENS)
    table = [head, ("---",) * len(head), *listing.totals()]
    lines.append("\n".join(f"| {' | '.join(map(str, row))} |" for row in table))
    number = 0
    for team, calls in groupby(listing.calls, key=lambda call: call.row["team"]):
        lines.append(f"## Team {team}")
        for call in calls:
            number += 1
            lines += _call_text(listing, call, f"{number} of {len(listing.calls)}")
    make_folder(target.parent)
    write_atomically(target, plain_text("\n\n".join(lines) + "\n"))


def _call_text(listing: Listing, call: RecordedCall, place: str) -> Iterator[str]:
    """Who is asked what, the messages character by character, the form and the reply."""
    row = call.row
    yield f"### Call {place}: {row['stage']}, {call.page}, {row['scientist']}"
    counts = ", ".join(f"{name} {n:,}" for name, n in zip(TOKENS, call.tokens, strict=True))
    yield (
        f"`{call.id}`, {row['act']}, visit {row['visit']}, turn {row['turn']}, seat {row['seat']}, "
        f"day {row['asked']:.2f}; tokens: {counts}" + (f"; read: {row['rung']}" * bool(row["rung"]))
    )
    for message in call.messages:
        yield f"#### Message: {message.role}"
        yield _fenced(message.content)
    yield f"#### Form of the answer: {call.form}"
    yield _fenced(json.dumps(json.loads(call.schema), indent=2, ensure_ascii=False), "json")
    yield "#### Reply of the rehearsal" if listing.rehearsed else "#### Reply"
    yield f"No words: {call.verdict}" if call.verdict else _fenced(call.text)


def _fenced(text: str, language: str = "text") -> str:
    """A text in a fence of Markdown that is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
