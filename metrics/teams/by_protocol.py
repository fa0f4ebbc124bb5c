"""Main measures of teams by protocol, for a society that mixes protocols."""

from __future__ import annotations

import pandas as pd

from virsci_society.metrics.cost.call_counts import inference_cost
from virsci_society.metrics.novelty import novelty
from virsci_society.metrics.teams.peer_review import unended
from virsci_society.metrics.teams.teams import teams
from virsci_society.society.results.run import Run

OF_TEAMS = ("size", "freshness", "diversity", "newcomers", "elsewhere", "waiting", "days_to_paper")
COUNTS = ("teams", "ended", "papers")
COLUMNS = (
    *COUNTS,
    *("with_paper", *OF_TEAMS, "inference_cost", "cited"),
    *novelty.COLUMNS,
)


def by_protocol(run: Run) -> pd.DataFrame:
    """Means over the teams of each protocol, or of each component of a mixture (this project).

    Teams of all protocols live in one society, so what the others do is the same for each; what
    they do to one another (who is busy, what is published) is not taken out.

    Returns:
        One row per ``protocol``, by name: ``teams`` founded, of them ``ended``, their ``papers``;
        ``with_paper`` (share of the teams that have ended, 0..1; one with a manuscript in review
        has not); means over all teams of
        ``size``, ``freshness``, ``diversity``, ``newcomers``, ``elsewhere``, ``waiting`` and
        ``days_to_paper`` as in ``teams``; over the teams with a paper ``inference_cost``
        (calls); over papers ``cited`` (citations by papers of this society) and ``HD``, ``CD``,
        ``CI``, ``ON``. Missing where there is nothing to average.
    """
    founded = run.table("teams").set_index("team")
    ended = pd.Series(~unended(run).to_numpy(), index=founded.index)
    wrote = founded["state"].isin(["published", "finished"])
    cost = run.measure(inference_cost).set_index("team")["inference_cost"]
    values = pd.DataFrame({"protocol": founded["protocol"], "teams": 1})
    values["ended"] = ended.astype("Int64")
    values["with_paper"] = wrote.astype("Float64").where(ended)
    built = run.measure(teams).set_index("team")[list(OF_TEAMS)].astype("Float64")
    values = values.join(built)
    values["inference_cost"] = cost.reindex(values.index).astype("Float64").where(wrote)
    by = _of_papers(run)
    table = values.groupby("protocol").mean(numeric_only=True)
    table[["teams", "ended"]] = values.groupby("protocol")[["teams", "ended"]].sum()
    of_papers = by.groupby("protocol")
    table = table.join(of_papers.mean(numeric_only=True))
    table["papers"] = of_papers.size().reindex(table.index).fillna(0)
    types = {name: "Int64" if name in COUNTS else "Float64" for name in COLUMNS}
    typed = table[list(COLUMNS)].astype(types).reset_index()
    return typed.astype({"protocol": "string"})


def _of_papers(run: Run) -> pd.DataFrame:
    """One row per paper: the protocol of its team, citations from inside, and its novelty."""
    papers = run.table("papers").set_index("paper")
    protocol = run.table("teams").set_index("team")["protocol"]
    cites = run.table("citations")
    inside = cites.loc[cites["inside"].fillna(False).astype(bool), "cited"].value_counts()
    table = pd.DataFrame({"protocol": papers["team"].map(protocol)}, index=papers.index)
    table["cited"] = inside.reindex(table.index).fillna(0).astype("Float64")
    scores = run.add_measure("novelty", novelty.run_novelty(run)).set_index("paper")
    return table.join(scores[list(novelty.COLUMNS)].astype("Float64"))
