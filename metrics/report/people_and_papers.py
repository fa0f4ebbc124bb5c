"""Rows of the people and of the papers of a run, for its page."""

from __future__ import annotations

from typing import Any

import pandas as pd

from metrics.novelty.novelty import COLUMNS
from metrics.population import LEFT
from metrics.registry import measure
from metrics.report.templates import records
from society.results.run import Run

PAPERS_SHOWN = 40
PEOPLE_SHOWN = 60
TEXT_SHOWN = 4000
GONE = {
    "retired": "retired",
    "inactive": "inactive",
    "one_off": "came for one team",
    "removed": "removed",
}


def papers_section(run: Run) -> list[dict[str, Any]]:
    """The first papers by date, with authors, novelty and citations.

    Args:
        run: the run.

    Returns:
        Rows with ``id``, ``number`` (from 1), ``title``, ``abstract``, ``topic``, ``published``
        (day), ``authors``, HD, CD, CI and ON, ``cites_past``, ``cites_own`` (titles) and ``cited``.
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
                "title": _text(row["title"]),
                "abstract": _text(row["abstract"])[:TEXT_SHOWN],
                "topic": _text(row["topic"]),
                "published": row["published"],
                "authors": ", ".join(writers.get(name, [])),
                **{part: known[part] for part in COLUMNS},
                "cites_past": int(past.get(name, 0)),
                "cites_own": [_text(titles.get(one, one)) for one in own.get(name, [])],
                "cited": int(cited.get(name, 0)),
            }
        )
    return shown


def people_section(run: Run) -> dict[str, Any]:
    """The scientists with most teams and papers of the run.

    Args:
        run: the run.

    Returns:
        ``rows`` (``scientist``, ``topic``, ``teams``, ``led``, ``papers``, ``cited``, ``before``
        and ``gone``: papers before day 0, and how somebody left) and ``total``, the number of all.
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
            "topic": people["topic"].fillna(""),
            "teams": _counts(names, members["scientist"].value_counts()),
            "led": _counts(names, led),
            "papers": _counts(names, wrote),
            "cited": _counts(names, standing),
            "before": people["papers"],
            "gone": [GONE.get(gone.get(name, ""), "") for name in names],
        }
    )
    order = table.sort_values(
        ["papers", "teams", "scientist"], ascending=[False, False, True], kind="stable"
    )
    return {"rows": records(order.head(PEOPLE_SHOWN)), "total": len(table)}


def _counts(names: pd.Series, counts: pd.Series) -> pd.Series:
    return names.map(counts).fillna(0).astype(int)


def _text(value: Any) -> str:
    return "" if value is None or pd.isna(value) else str(value)
