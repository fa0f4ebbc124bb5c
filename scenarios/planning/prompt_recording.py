"""Requests with their replies, recorded while a scenario is rehearsed or a run is replayed.

A rehearsal asks no language model: rule-based scientists answer in its place. A finished run is
replayed from its journal alone, so its prompts and replies are those that were sent and received.

Tokens are counted with a public tokenizer, cl100k_base, whose vocabulary is a file of litellm's, so
no network is needed. Models split text in other ways, and their chat templates add a few tokens to
each message: the counts compare pages and runs, and what a provider bills is its own count.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from hashlib import sha1
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from virsci_society.agents.errors import InputError, Verdict
from virsci_society.agents.gateway.backend import Backend
from virsci_society.agents.gateway.gateway import Gateway
from virsci_society.agents.journal.journal import Journal
from virsci_society.agents.journal.records import verdict_name
from virsci_society.agents.offline.backend import Offline
from virsci_society.agents.prompts.request import Message, Reply, Request, estimate_tokens
from virsci_society.scenarios.config.schema import Scenario, load_scenario
from virsci_society.scenarios.runs.rehearsal import StandIn, go_through
from virsci_society.scenarios.runs.run_folder import SCENARIO
from virsci_society.scenarios.runs.run_journal import JOURNAL
from virsci_society.scenarios.runs.run_state import MANIFEST
from virsci_society.society.results.folder_kinds import LOCK
from virsci_society.society.results.tables import table_rows

if TYPE_CHECKING:
    import pandas as pd

    from virsci_society.society.model import Society

TOKENIZER = "cl100k_base"
VOCABULARY = "https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken"
"""Address of the vocabulary, which is never asked: tiktoken names its cached file by it."""
FOLDER = "litellm_core_utils/tokenizers"
"""Folder of litellm that holds it."""
CACHE_VARIABLE = "TIKTOKEN_CACHE_DIR"
MOST = 10_000
"""Requests after which a rehearsal stops: more pages than that are read by nobody."""
NAMED = 5
"""Teams that a message names where another one was asked for."""
TOKENS = ("prompt", "schema", "reply")
"""Parts of a call whose tokens are counted; only some servers send the schema to the model."""


def count_tokens(text: str) -> int:
    """Count the tokens of a text; special tokens in it count as the plain text that they are."""
    encoding = _encoding()
    if encoding is None:
        return estimate_tokens(len(text))
    # Halves of surrogate pairs, which no tokenizer takes, count as question marks.
    return len(encoding.encode_ordinary(text.encode("utf-8", "replace").decode()))


def tokenizer_name() -> str:
    """The tokenizer that counts the tokens, or the estimate in its place."""
    return TOKENIZER if _encoding() is not None else "estimated, one token per four characters"


@cache
def _encoding() -> Any:
    """The tokenizer; None where its vocabulary is not installed."""
    found = find_spec("litellm")
    folder = Path(found.origin).parent / FOLDER if found is not None and found.origin else None
    # Without the file tiktoken would ask the network for it.
    if folder is None or not (folder / sha1(VOCABULARY.encode()).hexdigest()).is_file():  # noqa: S324
        return None
    import tiktoken

    before = os.environ.get(CACHE_VARIABLE)
    os.environ[CACHE_VARIABLE] = str(folder)
    try:
        return tiktoken.get_encoding(TOKENIZER)
    finally:
        if before is None:
            del os.environ[CACHE_VARIABLE]
        else:
            os.environ[CACHE_VARIABLE] = before


@dataclass(frozen=True)
class RecordedCall:
    """One request with its reply, or with the verdict in its place.

    Attributes:
        row: the call's row of the table ``calls``.
    """

    id: str
    page: str
    messages: tuple[Message, ...]
    form: str
    schema: str
    text: str
    verdict: str
    row: Mapping[str, Any]


@dataclass(frozen=True)
class Listing:
    """The calls of a rehearsal or a run, by team in the order of first questions."""

    title: str
    rehearsed: bool
    about: str
    calls: tuple[RecordedCall, ...]
    by_rules: int
    stopped: bool

    def table(self) -> pd.DataFrame:
        """One row per call: who was asked what, and the tokens of each part of ``TOKENS``."""
        import pandas as pd

        shown = ("team", "stage", "visit", "turn", "seat", "act", "scientist", "asked", "rung")
        return pd.DataFrame(
            {
                "call": call.id,
                "page": call.page or "-",
                "form": call.form,
                **{name: call.row[name] for name in shown},
                "verdict": call.verdict,
                "prompt": sum(count_tokens(message.content) for message in call.messages),
                "schema": count_tokens(call.schema),
                "reply": count_tokens(call.text),
            }
            for call in self.calls
        )


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


def rehearse_pages(
    scenario: Scenario, team: str | None = None, first: int | None = None
) -> Listing:
    """Rehearse a scenario with rule-based scientists, and list what its model would be asked.

    Args:
        team: list this team only.
        first: list only the first teams, at most this number (>= 1).
    """
    backend = scenario.seeded_backend
    if isinstance(backend, Offline):
        speaking: Backend = backend.model_copy(update={"latency": 0.0})
    else:
        speaking = StandIn(model=backend)
    return _listing(scenario, RecordingGateway(speaking), team, first, rehearsed=True)


def replay_pages(
    folder: Path, team: str | None = None, first: int | None = None, *, trust: bool = False
) -> Listing:
    """Replay a finished run from its journal, and list what was asked and answered."""
    with replaying(folder, trust=trust) as (scenario, gateway):
        return _listing(scenario, gateway, team, first, rehearsed=False)


def check_pages(scenario: Scenario) -> str | None:
    """Render every page of the first team; None without pages from outside the project."""
    parts = scenario.protocol.components
    pages = {one.name: one for part in parts for one in getattr(part, "pages", ())}
    ours = Path(__file__).parents[2]
    theirs = [name for name, page in pages.items() if not page.path.is_relative_to(ours)]
    if not theirs and all(type(part).__module__.startswith("virsci_society.") for part in parts):
        return None
    asked = sorted({call.page for call in rehearse_pages(scenario, first=1).calls})
    told = f"every page of the first team has its slots: {', '.join(asked)}"
    unseen = [name for name in theirs if name not in asked]
    return f"{told}; not asked for: {', '.join(unseen)}" if unseen else told


@contextmanager
def replaying(folder: Path, *, trust: bool = False) -> Iterator[tuple[Scenario, RecordingGateway]]:
    """The scenario of a finished run, and a gateway that answers from its journal in this block."""
    if not (folder / JOURNAL).is_file() or not (folder / SCENARIO).is_file():
        told = f"{folder}: holds no run with a journal"
        if (folder / LOCK).is_file():
            told = f"{folder}: a study; give one of its runs, such as {folder}/runs/0000"
        raise InputError(told)
    if not (folder / MANIFEST).is_file():
        raise InputError(
            f"{folder}: the run is not finished (no {MANIFEST}); its own command resumes it"
        )
    scenario = load_scenario(folder / SCENARIO, trust=trust)
    with Journal(folder / JOURNAL, frozen=True) as journal:
        yield scenario, RecordingGateway(scenario.seeded_backend, journal)


def _listing(
    scenario: Scenario,
    gateway: RecordingGateway,
    team: str | None,
    first: int | None,
    *,
    rehearsed: bool,
) -> Listing:
    def chosen() -> list[str]:
        return [one for one in gateway.teams if team in (None, one)][:first]

    def enough(society: Society) -> bool:
        if not rehearsed:  # only at its end is it certain that the journal holds this very run
            return False
        if len(gateway.recorded) >= MOST or (team is None and first is None):
            return len(gateway.recorded) >= MOST
        ended = {row["team"] for row in table_rows(society.log.rows, "teams")}
        return len(chosen()) == (first or 1) and ended.issuperset(chosen())

    society = go_through(scenario, gateway, enough)
    listed = chosen()
    if not listed:
        raise InputError(_nothing(team, list(gateway.teams)))
    rows = {str(row["call"]): row for row in table_rows(society.log.rows, "calls")}
    calls, by_rules = [], 0
    for request, outcome in gateway.recorded:
        row = rows.get(request.id)
        if row is None or row["team"] not in listed:
            continue
        if not (gateway.backend.rule_based or row["live"]):
            by_rules += 1
            continue
        text, verdict = (
            (outcome.text, "")
            if isinstance(outcome, Reply)
            else ("", f"{verdict_name(outcome)}: {outcome}")
        )
        calls.append(
            RecordedCall(
                id=request.id,
                page=getattr(request, "page", ""),
                messages=request.messages,
                form=request.form.__name__,
                schema=request.schema_text,
                text=text,
                verdict=verdict,
                row=row,
            )
        )
    # By the place among a team's acts: calls of several teams are asked in turn.
    calls.sort(key=lambda call: (listed.index(call.row["team"]), call.row["sequence"]))
    spoken = scenario.backend.backend
    return Listing(
        title=f"{scenario.name}, seed {scenario.seed}",
        rehearsed=rehearsed and not spoken.rule_based,
        about=spoken.about,
        calls=tuple(calls),
        by_rules=by_rules,
        stopped=rehearsed and society.day < scenario.until and len(gateway.recorded) >= MOST,
    )


def _nothing(team: str | None, teams: Sequence[str]) -> str:
    """The message where no call is listed."""
    if team is None or not teams:
        return "nothing is asked in this scenario; raise until, or found more teams"
    named = ", ".join(teams[:NAMED]) + (", ..." if len(teams) > NAMED else "")
    return f"--team: no team {team} asks anything; there are {named}"
