"""Rows of the people and papers of a run, and the reasons that scientists state for decisions.

A page shows few reasons: those of the topic, the ballots of the last round and the draft, of the
first teams that finished a paper. All are in the column ``reason`` of the table ``calls``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pandas as pd

from virsci_society.agents.spelling import cut_text
from virsci_society.metrics.novelty.novelty import COLUMNS
from virsci_society.metrics.population import LEFT, people_ever
from virsci_society.metrics.registry import measure
from virsci_society.metrics.report.templates import known_text, records
from virsci_society.society.results.dataframes import counts_of
from virsci_society.society.results.run import Run

PAPERS_SHOWN = 40
PEOPLE_SHOWN = 60
TEXT_SHOWN = 4000


def papers_section(run: Run) -> list[dict[str, Any]]:
    """The first papers by date, with authors, novelty and citations.

    ``cites_own`` are titles of papers of the run.
    """
    papers = run.table("papers").head(PAPERS_SHOWN)
    titles = dict(zip(papers["paper"], papers["title"], strict=True))
    by = run.table("authorships")
    writers = by[by["paper"].isin(papers["paper"])].groupby("paper")["scientist"].agg(list)
    cites = run.table("citations")
    inside = cites["inside"].fillna(False)
    own = cites[inside].groupby("citing")["cited"].agg(list)
    past = cites[~inside].groupby("citing").size()
    cited = cites[inside].groupby("cited").size()
    scores = measure(run, "novelty").set_index("paper")
    shown = []
    for number, row in enumerate(papers.to_dict("records"), 1):
        name = row["paper"]
        known = scores.loc[name] if name in scores.index else dict.fromkeys(COLUMNS)
        shown.append(
            {
                "id": name,
                "number": number,
                "title": known_text(row["title"]),
                "abstract": known_text(row["abstract"])[:TEXT_SHOWN],
                "topic": known_text(row["topic"]),
                "published": row["published"],
                "authors": ", ".join(writers.get(name, [])),
                **{part: known[part] for part in COLUMNS},
                "cites_past": int(past.get(name, 0)),
                "cites_own": [known_text(titles.get(one, one)) for one in own.get(name, [])],
                "cited": int(cited.get(name, 0)),
            }
        )
    return shown


def people_section(run: Run) -> dict[str, Any]:
    """The scientists with most teams and papers of the run.

    ``total`` counts all people, ``listed`` those in the table ``scientists``: in a large society
    who took part.
    """
    members, people = run.table("members"), run.table("scientists")
    names = people["scientist"]
    led = members[members["role"] == "leader"]["scientist"].value_counts()
    standing = measure(run, "standing").set_index("scientist")["citations"]
    wrote = run.table("authorships")["scientist"].value_counts()
    careers = run.table("careers")
    left = careers[careers["change"].isin(LEFT)]
    gone = dict(zip(left["scientist"], left["change"], strict=True))
    table = pd.DataFrame(
        {
            "scientist": names,
            "number": [str(name).removeprefix("Scientist") for name in names],
            "topic": people["topic"].fillna(""),
            "teams": counts_of(names, members["scientist"].value_counts()),
            "led": counts_of(names, led),
            "papers": counts_of(names, wrote),
            "cited": counts_of(names, standing),
            "before": people["papers"],
            "gone": [gone.get(name, "").replace("one_off", "came for one team") for name in names],
        }
    )
    # By name last, so that equal people stand in one order in every run of this page.
    order = table.sort_values(
        ["papers", "teams", "scientist"], ascending=[False, False, True], kind="stable"
    )
    counts = {"total": people_ever(run), "listed": len(table)}
    return {"rows": records(order.head(PEOPLE_SHOWN)), **counts}


TEAMS_SHOWN = 8
BALLOTS_SHOWN = 8
REASON_SHOWN = 280
"""Characters of a reason or of what was decided."""
STEPS = {
    "Topic": ("topic", "Selected Topic"),
    "Ballot": ("vote", "Decision Made"),
    "Draft": ("draft", "Title"),
}
"""By form: the name of the decision, and the field of the reply that holds it."""
LEFT_OUT = " […]"
USED = ("team", "form", "visit", "turn", "seat", "call", "scientist", "reply", "reason")


def decisions_section(run: Run) -> dict[str, Any] | None:
    """Decisions with their reasons, team by team; None where no reply states a reason."""
    calls = run.table("calls")
    stated = calls[calls["form"].isin(list(STEPS)) & (calls["reason"].fillna("") != "")]
    teams = run.table("teams").dropna(subset=["finished"])
    teams = teams[teams["state"].isin(["published", "finished"])]
    teams = teams[teams["team"].isin(stated["team"])].sort_values(["finished", "team"])
    if not len(teams):
        return None
    first = teams.head(TEAMS_SHOWN)
    told = stated.loc[stated["team"].isin(first["team"]), list(USED)]
    by_team: dict[str, list[dict[str, Any]]] = {team: [] for team in first["team"]}
    for call in records(told.sort_values(["visit", "turn", "seat", "call"])):
        by_team[call["team"]].append(call)
    shown = [
        {"team": str(team), "topic": _short(topic), "rows": list(_rows(by_team[team]))}
        for team, topic in zip(first["team"], first["topic"], strict=True)
    ]
    return {"teams": shown, "finished": len(teams)}


def _rows(calls: list[dict[str, Any]]) -> Iterator[dict[str, str]]:
    """One team's rows: of each step those of its last round, in the order of seats."""
    for form, (step, field) in STEPS.items():
        of_form = [call for call in calls if call["form"] == form]
        # Votes of earlier rounds were superseded.
        last = [(call["visit"], call["turn"]) for call in of_form[-1:]]
        here = [call for call in of_form if (call["visit"], call["turn"]) in last]
        for call in here[:BALLOTS_SHOWN]:
            yield {
                "step": step,
                "who": str(call["scientist"]),
                "decided": _short(_read_field(call["reply"], field)),
                "reason": _short(call["reason"]),
            }


def _read_field(reply: Any, field: str) -> str:
    """A field of an accepted reply; empty where there is none."""
    try:
        value = json.loads(reply)[field]
    except (TypeError, ValueError, KeyError):
        return ""
    return value if isinstance(value, str) else ""


def _short(text: Any) -> str:
    """A text on one line, cut where it is long; empty where it is missing."""
    return cut_text(" ".join(known_text(text).split()), REASON_SHOWN, LEFT_OUT)
