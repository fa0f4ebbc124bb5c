"""Who contributed what to each paper, counted from what was said and not told by the authors."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from virsci_society.society.results.dataframes import typed_table
from virsci_society.society.results.run import Run
from virsci_society.society.results.tables import PUBLICATION_STAGE

KINDS = ("idea", "discussion", "criticism", "draft", "revision", "advice", "coordination")
LEADING = ("idea", "draft", "coordination")
"""Kinds that direct or present the research; the others support it."""
ACTS: Mapping[str, str] = {
    "utter": "discussion",
    "vote": "criticism",
    "critique": "criticism",
    "review": "criticism",
    "guest": "advice",
    "summarise": "coordination",
    "decide": "coordination",
}
"""The kind of each act of ``calls``; what somebody says only of itself (to join, to stay, to
agree) is none, and an utterance that is a text is a draft or a revision."""
TEXT_FIELDS = {"abstract", "proposed method"}
"""A reply with one of these fields is a text of the paper."""
UNSAID = "not measurable: nothing was said"

COLUMNS: Mapping[str, str] = {
    **dict.fromkeys(("team", "paper", "scientist"), "string"),
    **{"position": "Int64", "member": "boolean"},
    **dict.fromkeys(KINDS, "Int64"),
    "leads": "boolean",
}


def contributions(run: Run) -> pd.DataFrame:
    """Contributions of each person to each paper or team (Xu et al. 2022; this project)."""
    said = _counts(run)
    papers = _texts(run.table("papers"), "team", "paper")
    places: dict[str, dict[str, int]] = {}
    for paper, who, place in _rows(run.table("authorships"), "paper", "scientist", "position"):
        places.setdefault(paper, {})[who] = place
    members: dict[str, dict[str, None]] = {}
    for team, who in _rows(run.table("members"), "team", "scientist"):
        members.setdefault(team, {})[who] = None
    rows: list[tuple[Any, ...]] = []
    for team in run.table("teams")["team"]:
        counts, paper = said.get(team), papers.get(team)
        if counts is None:
            continue
        authors, inside = places.get(paper or "", {}), members.get(team, {})
        for who in dict.fromkeys((*authors, *inside, *counts)):
            own = counts.get(who, Counter())
            leads = any(own[kind] for kind in LEADING)
            about = (team, paper, who, authors.get(who), who in inside)
            rows.append((*about, *(own[kind] for kind in KINDS), leads))
    return typed_table(rows, COLUMNS)


def team_roles(run: Run) -> pd.DataFrame:
    """How flat each team was (Xu et al. 2022; this project)."""
    table = run.metric(contributions)
    # Of a team without a paper the members are looked at.
    author = table["position"].notna()
    inside = author.where(table["paper"].notna(), table["member"]).astype(bool)
    counts = pd.DataFrame({"people": inside, "leads": table["leads"] & inside}).astype("Int64")
    found = run.table("teams")[["team"]].join(counts.groupby(table["team"]).sum(), on="team")
    found["lead_ratio"] = (found["leads"] / found["people"]).where(found["people"] > 0)
    found["tall"] = found["lead_ratio"] < 0.5
    found["paper"] = found["team"].map(_texts(run.table("papers"), "team", "paper"))
    found["why"] = pd.Series(UNSAID, found.index).where(~found["team"].isin(table["team"]))
    kinds = {"team": "string", "paper": "string", "people": "Int64", "leads": "Int64"}
    kinds |= {"lead_ratio": "Float64", "tall": "boolean", "why": "string"}
    return found[list(kinds)].astype(kinds)


def _counts(run: Run) -> dict[str, dict[str, Counter[str]]]:
    """What each person contributed, by team; only who contributed anything is there."""
    counts: dict[str, dict[str, Counter[str]]] = {}
    form_of_draft: dict[str, str] = {}
    calls = run.table("calls").sort_values("sequence", kind="stable")
    columns = ("team", "scientist", "stage", "act", "form", "reply", "defaulted")
    for team, who, stage, act, form, reply, defaulted in _rows(calls, *columns):
        fields = {} if defaulted is True else _fields(reply)
        kind = ACTS.get(act) if any(map(_says, fields.values())) else None
        text = kind == "discussion" and not TEXT_FIELDS.isdisjoint(fields)
        # Reviewers of a submitted manuscript are no contributors; its authors still revise it.
        if kind is None or (stage == PUBLICATION_STAGE and not text):
            continue
        if text:
            kind = "draft" if form_of_draft.setdefault(team, form) == form else "revision"
        counts.setdefault(team, {}).setdefault(who, Counter())[kind] += 1
    for team, who in _texts(run.table("teams"), "team", "idea_by").items():
        counts.setdefault(team, {}).setdefault(who, Counter())["idea"] += 1
    return counts


def _rows(table: pd.DataFrame, *columns: str) -> Iterator[tuple[Any, ...]]:
    return zip(*(table[column].tolist() for column in columns), strict=True)


def _texts(table: pd.DataFrame, key: str, value: str) -> dict[str, str]:
    """Two columns of a table as a dict, without missing values."""
    known = table[[key, value]].dropna()
    return dict(zip(known[key].tolist(), known[value].tolist(), strict=True))


def _fields(reply: object) -> dict[str, Any]:
    """The fields of an accepted form, by name in lower case; none where nothing was read."""
    try:
        content = json.loads(reply) if isinstance(reply, str) else {}
    # A model can nest brackets deeper than Python's parser goes.
    except (ValueError, RecursionError):
        return {}
    return (
        {str(name).casefold(): one for name, one in content.items()}
        if isinstance(content, dict)
        else {}
    )


def _says(value: object) -> bool:
    """Whether a field of a form holds anything."""
    return bool(value.strip()) if isinstance(value, str) else value not in (None, [], {})
