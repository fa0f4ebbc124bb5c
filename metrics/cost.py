"""Calls and tokens, VirSci's inference cost, and the ledger of attempts and money.

Inference cost is one call per member and turn of four stages: four members and five turns cost 80.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Annotated

import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from virsci_society.agents.errors import InputError
from virsci_society.agents.journal.records import ANSWERED, IN_DOUBT
from virsci_society.agents.replies.text_checks import NOTICED, split_words
from virsci_society.metrics.population import teams_with_paper
from virsci_society.metrics.registry import NAN, measure, measures, metric
from virsci_society.metrics.summary_file import TEXT_COUNTS
from virsci_society.society.results.dataframes import typed_table
from virsci_society.society.results.run import Run
from virsci_society.society.results.tables import REPEATED_ACTS

ACTS = {
    "invite": "invitation",
    "utter": "utterance",
    "summarise": "summary",
    "agree": "agreement",
    "stay": "stay",
    "decide": "decision",
    "vote": "ballot",
    "critique": "critique",
    "guest": "guest",
    "review": "review",
    "re-ask": "re-ask",
    "trim": "trimmed asking",
}
"""The act of a call id and the noun under which it is counted."""

STAGES = ("topic", "ideas", "novelty", "abstract")
COUNTED = ("utter", "vote")
RUNGS = ("strict", "found", "repaired", "re-asked", "default", "unread")
"""The ladder by which replies are read, from the top; unread: no words, and no default either."""
VERDICTS = ("unreadable", "refused", "filtered", "overflow")
LEAST_EQUAL = 12
"""Words, names of fields included, of replies that can be equal by copying."""


@metric("cost")
def calls_by_act(run: Run) -> pd.DataFrame:
    """Calls by act, in nouns; the sum is the number of rows of ``calls`` (this project)."""
    return _counted(run, "act", ACTS)


@metric("cost")
def calls_by_stage(run: Run) -> pd.DataFrame:
    """Calls by stage; columns as in ``calls_by_act``. Source: this project."""
    return _counted(run, "stage", {})


@metric("cost")
def calls_by_rung(run: Run) -> pd.DataFrame:
    """How the reply to each question was read, by form and rung (this project)."""
    counts: dict[tuple[str | None, str | None], Counter[str | None]] = defaultdict(Counter)
    whole = Counter[str | None]()
    for act, form, rung, verdict, calls in run.counts("calls", "act", "form", "rung", "verdict"):
        if act not in REPEATED_ACTS:
            unread = rung is None and verdict is not None
            counts[form, "unread" if unread else rung].update({"": calls, verdict: calls})
            whole[form] += calls
    rows = []
    for form in sorted(whole, key=lambda form: (form is None, form)):
        own = dict.fromkeys(rung for of, rung in counts if of == form)
        for rung in dict.fromkeys([*(RUNGS if {*own} != {None} else ()), *own]):
            found = counts[form, rung]
            verdicts = [None if rung is None else found[one] for one in VERDICTS]
            rows.append((form, rung, found[""], found[""] / whole[form], *verdicts))
    kinds = {"form": "string", "rung": "string", "calls": "Int64", "share": "Float64"}
    return typed_table(rows, kinds | dict.fromkeys(VERDICTS, "Int64"))


@metric("cost")
def reply_texts(run: Run) -> pd.DataFrame:
    """What was noticed about the texts of a model's replies, by form (this project)."""
    calls = run.table("calls")
    sent = calls["rung"].notna() | calls["verdict"].notna()
    first = calls[~calls["act"].isin(REPEATED_ACTS) & sent & calls["live"].fillna(False)]
    noticed = first["noticed"].fillna("").str.split()
    table = pd.DataFrame({"form": first["form"], "asked": 1, "default": first["defaulted"]})
    for name in NOTICED:
        table[name] = [name in found for found in noticed]
    table["spoilt"] = table["echoed"] | table["default"]
    table["equal"] = _equal_to_others(first)
    counted = table.groupby("form", sort=True)[TEXT_COUNTS].sum().astype("Int64").reset_index()
    return counted.astype({"form": "string"})


def _equal_to_others(calls: pd.DataFrame) -> list[bool]:
    """Is a reply the same as an earlier one of another scientist? Few words say nothing."""
    said: dict[tuple[str, tuple[str, ...]], str] = {}
    equal = []
    for form, who, reply, defaulted in calls[
        ["form", "scientist", "reply", "defaulted"]
    ].itertuples(index=False, name=None):
        words = () if defaulted is True else split_words(str(reply))
        key = (form, words)
        equal.append(len(words) >= LEAST_EQUAL and said.setdefault(key, who) != who)
    return equal


def _counted(run: Run, key: str, names: Mapping[str, str]) -> pd.DataFrame:
    """Group the calls by one column, missing keys as one group, most calls first."""
    summed = ("prompt_tokens", "completion_tokens", "defaulted", "unruled")
    sums = [([], "count_all"), *((name, "sum") for name in summed)]
    groups = run.in_arrow("calls").group_by(key).aggregate(sums).to_pylist()
    rows = [
        (names.get(of[key], of[key]), of["count_all"], *(of[f"{name}_sum"] or 0 for name in summed))
        for of in groups
    ]
    in_order = sorted(rows, key=lambda row: (-row[1], row[0] is None, row[0]))
    return typed_table(in_order, {key: "string", **dict.fromkeys(("calls", *summed), "Int64")})


@measures(
    "cost",
    """
    inference_cost  calls  mean inference cost of a team: utterances and ballots of four stages;
        teams with a paper (VirSci, Table 9)
    turns  turns  mean number of turns in the longest stage: teams with a paper
    turns_topic  turns  mean number of turns in stage topic: first visit; teams with a paper
    turns_ideas  turns  mean number of turns in stage ideas: first visit; teams with a paper
    turns_novelty  turns  mean number of turns in stage novelty: first visit; teams with a paper
    turns_abstract  turns  mean number of turns in stage abstract: first visit; teams with a paper
    """,
    lambda run, table: table[table["team"].isin(teams_with_paper(run))],
)
@metric("cost")
def inference_cost(run: Run) -> pd.DataFrame:
    """Inference cost of each team (VirSci, Table 9), counted from utterances and ballots."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    turns: dict[str, dict[str, int]] = defaultdict(dict)
    columns = ("team", "act", "stage", "visit", "turn")
    for team, act, stage, visit, turn, calls in run.counts("calls", *columns):
        if act in COUNTED and stage in STAGES:
            counts[team][stage if visit == 1 else ""] += calls
            if visit == 1:
                turns[team][stage] = max(turn, turns[team].get(stage, 0))
    rows = []
    for team, size in run.rows("teams", "team", "size"):
        made, last = [counts[team][stage] for stage in STAGES], turns[team]
        most = max(last.values(), default=0)
        work = (size, most, None if size is None else size * most)
        by_stage = [last.get(stage) for stage in STAGES]
        rows.append((team, *made, sum(made), counts[team][""], *work, *by_stage))
    numbers = [*STAGES, "inference_cost", "extra_cost", "size", "turns", "size_x_turns"]
    numbers += [f"turns_{stage}" for stage in STAGES]
    return typed_table(rows, {"team": "string", **dict.fromkeys(numbers, "Int64")})


OUTCOMES = {
    ANSWERED: "words came",
    "refused": "the model declined",
    "filtered": "the provider’s content filter blocked the reply",
    "overflow": "the prompt was too long for the model",
    "timeout": "timeout",
    "connection": "connection failed or was closed",
    "redirect": "redirected to another address",
    "server": "the server failed",
    "garbled": "invalid response",
    "empty": "empty response",
    "withheld": "response without choices",
    "schema": "JSON Schema not supported; repeated without it",
    "rate": "rate limit",
    "key": "API key rejected",
    "credit": "no credit left",
    "request": "request rejected",
    IN_DOUBT: "in progress when the run was stopped",
}
"""Outcomes of an attempt and their meaning, in the order of printing."""

Count = Annotated[int, Field(ge=0)]
Money = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class LedgerRecord(BaseModel):
    """A record in a manifest; unknown keys, of a later release, are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Session(LedgerRecord):
    """One session of a run: the time from its start or continuation to its stop or end."""

    session: Count = 0
    release: str = ""
    changed: list[str] = Field(default_factory=list)


class Ledger(LedgerRecord):
    """Sums over all sessions of a run."""

    attempts: Count = 0
    outcomes: dict[str, Count] = Field(default_factory=dict)
    prompt_tokens: Count = 0
    completion_tokens: Count = 0
    cached_tokens: Count = 0
    estimated: Count = 0
    usd: Money = 0.0
    free: bool = False
    in_doubt: list[str] = Field(default_factory=list)
    in_doubt_tokens: Count = 0
    in_doubt_usd: Money = 0.0
    cut_off: Count = 0
    cut_off_tokens: Count = 0
    cut_off_usd: Money = 0.0
    sessions: list[Session] = Field(default_factory=list)
    parted: str | None = None

    def by_outcome(self) -> list[tuple[str, int]]:
        """Outcomes and their attempts, in the order of ``OUTCOMES``, unknown ones last."""
        known = [name for name in OUTCOMES if self.outcomes.get(name)]
        new = sorted(name for name, count in self.outcomes.items() if count and name not in known)
        return [(name, self.outcomes[name]) for name in (*known, *new)]


def read_ledger(run: Run) -> Ledger | None:
    """The ledger of a run; None where its manifest has none."""
    content = run.manifest.get("ledger")
    try:
        return None if content is None else Ledger.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in ("ledger", *first["loc"]))
        raise InputError(f"the run's manifest, {where}: {first['msg']}") from error


@measure("cost", "calls", "calls")
def calls_made(run: Run) -> float:
    """Number of calls: including re-asks."""
    return float(len(run.table("calls")))


STAGES_OF_IDEA = ("selection", "topic", "ideas", "novelty")
"""Stages up to the idea; an abstract, or reviews of it, come after them."""


@measure("cost", "calls")
def calls_after_idea(run: Run) -> float:
    """Mean number of calls after the idea stages: teams with a paper."""
    calls, written = run.table("calls"), teams_with_paper(run)
    after = calls["team"].isin(written) & ~calls["stage"].isin(STAGES_OF_IDEA)
    return float(after.sum()) / len(written) if len(written) else NAN


def _token_total(run: Run, *columns: str) -> float:
    """Tokens of all calls; NaN where the number of one is not known."""
    counted = run.table("calls")[list(columns)]
    return NAN if counted.isna().any(axis=None) else float(counted.sum().sum())


@measure("cost", "tokens")
def prompt_tokens(run: Run) -> float:
    """Number of prompt tokens."""
    return _token_total(run, "prompt_tokens")


@measure("cost", "tokens")
def completion_tokens(run: Run) -> float:
    """Number of completion tokens."""
    return _token_total(run, "completion_tokens")


@measure("cost", "tokens")
def tokens(run: Run) -> float:
    """Number of tokens: prompts and completions."""
    return _token_total(run, "prompt_tokens", "completion_tokens")


@measure("cost", "US_dollars")
def usd(run: Run) -> float:
    """Cost: where prices are known."""
    ledger = read_ledger(run)
    if ledger is None or (ledger.usd == 0 and ledger.attempts):
        return NAN
    return ledger.usd


@measure("cost", "share")
def defaulted(run: Run) -> float:
    """Share of questions answered by a default: of those sent."""
    known_calls = run.metric(calls_by_rung).dropna(subset=["rung"])
    asked = float(known_calls["calls"].sum())
    spoilt = float(known_calls.loc[known_calls["rung"] == "default", "calls"].sum())
    return spoilt / asked if asked else NAN


@measure("cost", "share")
def echoed(run: Run) -> float:
    """Share of replies that repeat the prompt: of those by a model."""
    counts = run.metric(reply_texts)
    asked = float(counts["asked"].sum())
    return float(counts["echoed"].sum()) / asked if asked else NAN
