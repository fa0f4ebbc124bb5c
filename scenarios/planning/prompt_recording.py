"""Requests with their replies, recorded while a scenario is rehearsed or a run is replayed.

A rehearsal asks no language model: rule-based scientists answer in its place. A finished run is
gone through again from its journal alone, so its prompts and replies are those that were sent and
that came.

Tokens are counted by a public tokenizer. The vocabulary of cl100k_base is a file of litellm's,
which every installation has, so no network is needed. Models split text in other ways: the counts
compare pages and runs with each other, and what a provider bills is its own count. Counted are the
texts alone: what a chat template of a model adds, a few tokens for each message, is not among them.
The schema of the form is counted apart, because only some servers send it on.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from functools import cache, cached_property
from hashlib import sha1
from importlib.util import find_spec
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Any

from virsci_society.agents.errors import InputError, Verdict
from virsci_society.agents.gateway.backend import Backend
from virsci_society.agents.gateway.gateway import Gateway
from virsci_society.agents.journal.journal import Journal
from virsci_society.agents.journal.records import verdict_name
from virsci_society.agents.offline.backend import Offline
from virsci_society.agents.prompts.request import Message, Reply, Request, Usage, estimate_tokens
from virsci_society.agents.replies.form import Form
from virsci_society.scenarios.config.schema import Scenario, load_scenario
from virsci_society.scenarios.runs.rehearsal import StandIn, go_through
from virsci_society.scenarios.runs.run_folder import SCENARIO
from virsci_society.scenarios.runs.run_journal import JOURNAL
from virsci_society.scenarios.runs.run_state import MANIFEST
from virsci_society.society.results.folder_kinds import LOCK
from virsci_society.society.results.tables import table_rows

if TYPE_CHECKING:
    from virsci_society.society.model import Society

TOKENIZER = "cl100k_base"
VOCABULARY = "https://openaipublic.blob.core.windows.net/encodings/cl100k_base.tiktoken"
"""Address of the vocabulary, which is never asked: tiktoken names its cached file by it."""
FOLDER = "litellm_core_utils/tokenizers"
"""Folder of litellm that holds it."""
CACHE_VARIABLE = "TIKTOKEN_CACHE_DIR"


def count_tokens(text: str) -> int:
    """Tokens of a text; special tokens in it count as the plain text that they are."""
    encoding = _encoding()
    if encoding is None:
        return estimate_tokens(len(text))
    # Halves of surrogate pairs, which no tokenizer takes, count as question marks.
    return len(encoding.encode_ordinary(text.encode("utf-8", "replace").decode()))


def tokenizer_name() -> str:
    """What counts the tokens, in words: the tokenizer, or the estimate in its place."""
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


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """Tokens of one call, or of several; those of system messages are part of the prompts."""

    calls: int = 0
    system: int = 0
    prompt: int = 0
    schema: int = 0
    reply: int = 0

    def plus(self, other: TokenCounts) -> TokenCounts:
        """The sum of both, field by field."""
        return TokenCounts(*map(add, astuple(self), astuple(other)))


def count_parts(messages: Sequence[Message], schema: str, reply: str) -> TokenCounts:
    """Tokens of one call, from its texts."""
    lengths = [(message.role, count_tokens(message.content)) for message in messages]
    return TokenCounts(
        calls=1,
        system=sum(length for role, length in lengths if role == "system"),
        prompt=sum(length for _, length in lengths),
        schema=count_tokens(schema),
        reply=count_tokens(reply),
    )


MOST = 10_000
"""Requests after which a rehearsal stops: more pages than that are read by nobody."""
NAMED = 5
"""Teams that a message names where another one was asked for."""


@dataclass(frozen=True, slots=True)
class TeamChoice:
    """Which teams are listed: one by its id, or the first so many (>= 1); without a choice, all."""

    team: str | None = None
    first: int | None = None

    def of(self, teams: Sequence[str]) -> list[str]:
        """Those that are listed, of teams in the order of their first questions."""
        chosen = [team for team in teams if self.team in (None, team)]
        return chosen[: self.first]

    def is_met(self, teams: Sequence[str], ended: set[str]) -> bool:
        """Have all ended that are to be listed? ``teams`` are in the order of first questions."""
        if self.team is not None:
            return self.team in ended
        chosen = self.of(teams)
        return self.first is not None and len(chosen) == self.first and set(chosen) <= ended


@dataclass(frozen=True)
class RecordedCall:
    """One request with its reply.

    Attributes:
        usage: tokens as whoever answered counted them.
        row: the call's row of the table ``calls``.
    """

    id: str
    page: str
    messages: tuple[Message, ...]
    form: type[Form]
    schema: str
    text: str
    verdict: str
    usage: Usage
    row: Mapping[str, Any]

    @cached_property
    def tokens(self) -> TokenCounts:
        """Tokens of its parts by the tokenizer; a transcript, which shows none, counts none."""
        return count_parts(self.messages, self.schema, self.text)


@dataclass(frozen=True)
class Listing:
    """The calls of a rehearsal or a run, in the order in which they are listed."""

    title: str
    rehearsed: bool
    about: str
    calls: tuple[RecordedCall, ...]
    by_rules: int
    stopped: bool


class RecordingGateway(Gateway):
    """A gateway that keeps each request with its outcome, and the ids of teams, as they ask."""

    def __init__(self, backend: Backend, journal: Journal | None = None) -> None:
        super().__init__(backend, 1, journal, strict=journal is not None)
        self.recorded: list[tuple[Request, Reply | Verdict]] = []
        self.teams: dict[str, None] = {}

    async def complete(self, request: Request) -> Reply:
        """Answer one request, and record it."""
        # Before it is answered: teams are listed in the order of their first questions.
        self.teams.setdefault(team_of(request.id))
        try:
            reply = await super().complete(request)
        except Verdict as verdict:
            # Without its traceback, which would keep everything alive that it passed.
            self.recorded.append((request, verdict.with_traceback(None)))
            raise
        self.recorded.append((request, reply))
        return reply


def rehearse_pages(scenario: Scenario, choice: TeamChoice | None = None) -> Listing:
    """Rehearse a scenario with rule-based scientists, and list what its model would be asked."""
    backend = scenario.seeded_backend
    if isinstance(backend, Offline):
        speaking: Backend = backend.model_copy(update={"latency": 0.0})
    else:
        speaking = StandIn(model=backend)
    return _listing(scenario, RecordingGateway(speaking), choice or TeamChoice(), rehearsed=True)


def check_pages(scenario: Scenario) -> str | None:
    """Render every page of the first team; None without pages from outside the project."""
    parts = scenario.protocol.components
    pages = {one.name: one for part in parts for one in getattr(part, "pages", ())}
    ours = Path(__file__).parents[2]
    theirs = [name for name, page in pages.items() if not page.path.is_relative_to(ours)]
    if not theirs and all(type(part).__module__.startswith("virsci_society.") for part in parts):
        return None
    asked = sorted({call.page for call in rehearse_pages(scenario, TeamChoice(first=1)).calls})
    told = f"every page of the first team has its slots: {', '.join(asked)}"
    unseen = [name for name in theirs if name not in asked]
    return f"{told}; not asked for: {', '.join(unseen)}" if unseen else told


def replay_pages(folder: Path, choice: TeamChoice | None = None, *, trust: bool = False) -> Listing:
    """Go through a finished run again from its journal, and list what was asked and answered."""
    with replaying(folder, trust=trust) as (scenario, gateway):
        return _listing(scenario, gateway, choice or TeamChoice(), rehearsed=False)


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
    with Journal.open(folder / JOURNAL, frozen=True) as journal:
        yield scenario, RecordingGateway(scenario.seeded_backend, journal)


def is_run(folder: Path) -> bool:
    """Is this the folder of a run, and not the name or the file of a scenario?"""
    return folder.is_dir() and (folder / JOURNAL).is_file()


def team_of(call: str) -> str:
    """Id of the team, leader and ordinal, from a call id."""
    return "/".join(call.split("/", 2)[:2])


def _listing(
    scenario: Scenario, gateway: RecordingGateway, choice: TeamChoice, *, rehearsed: bool
) -> Listing:
    # A replay goes to its end: only there it is certain that the journal holds this very run.
    society = go_through(
        scenario, gateway, lambda now: rehearsed and _is_enough(now, gateway, choice)
    )
    chosen = choice.of(list(gateway.teams))
    if not chosen:
        raise InputError(_nothing(choice, list(gateway.teams)))
    calls, by_rules = _calls(society, gateway, chosen)
    spoken = scenario.backend.backend
    return Listing(
        title=f"{scenario.name}, seed {scenario.seed}",
        rehearsed=rehearsed and not spoken.rule_based,
        about=spoken.about,
        calls=calls,
        by_rules=by_rules,
        stopped=rehearsed and society.day < scenario.until and len(gateway.recorded) >= MOST,
    )


def _is_enough(society: Society, gateway: RecordingGateway, choice: TeamChoice) -> bool:
    if len(gateway.recorded) >= MOST:
        return True
    ended = {str(row["team"]) for row in table_rows(society.log.rows, "teams")}
    return choice.is_met(list(gateway.teams), ended)


def _calls(
    society: Society, gateway: RecordingGateway, chosen: Sequence[str]
) -> tuple[tuple[RecordedCall, ...], int]:
    """The calls of the chosen teams in the order of the list, and how many rules answered."""
    rows = {str(row["call"]): row for row in table_rows(society.log.rows, "calls")}
    place = {team: number for number, team in enumerate(chosen)}
    rules = gateway.backend.rule_based
    listed, by_rules = [], 0
    for order, (request, outcome) in enumerate(gateway.recorded):
        row = rows.get(request.id)
        if row is None or row["team"] not in place:
            continue
        if not (rules or row["live"]):
            by_rules += 1
            continue
        # By the place among a team's acts: calls of several teams are asked in turn.
        key = place[row["team"]], row["sequence"], order
        listed.append((key, _recorded(request, outcome, row)))
    return tuple(call for _, call in sorted(listed, key=lambda one: one[0])), by_rules


def _recorded(request: Request, outcome: Reply | Verdict, row: Mapping[str, Any]) -> RecordedCall:
    if isinstance(outcome, Reply):
        text, verdict, usage = outcome.text, "", outcome.usage
    else:
        text, verdict, usage = "", f"{verdict_name(outcome)}: {outcome}", Usage()
    return RecordedCall(
        id=request.id,
        page=getattr(request, "page", ""),
        messages=request.messages,
        form=request.form,
        schema=request.schema_text,
        text=text,
        verdict=verdict,
        usage=usage,
        row=row,
    )


def _nothing(choice: TeamChoice, teams: Sequence[str]) -> str:
    if choice.team is None or not teams:
        return "nothing is asked in this scenario; raise until, or found more teams"
    named = ", ".join(teams[:NAMED]) + (", ..." if len(teams) > NAMED else "")
    return f"--team: no team {choice.team} asks anything; there are {named}"
