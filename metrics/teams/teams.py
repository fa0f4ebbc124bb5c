"""Composition, work and outcome of each team, and outcomes without teams with defaults."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from virsci_society.metrics.cost import inference_cost
from virsci_society.metrics.impact import inside_citations
from virsci_society.metrics.novelty import novelty
from virsci_society.metrics.population import TopicHistory, teams_with_paper
from virsci_society.metrics.registry import mean, measure, measures, metric
from virsci_society.metrics.teams.concurrency import days_held_up
from virsci_society.metrics.teams.peer_review import unended
from virsci_society.society.literature.papers import DAYS_PER_YEAR
from virsci_society.society.results.dataframes import counts_of, known_numbers
from virsci_society.society.results.run import Run

BUILT = {
    "size": "Int64",
    "freshness": "Float64",
    "diversity": "Float64",
    "unique": "Float64",
    "leader_papers": "Int64",
    "leader_years": "Float64",
    "newcomers": "Float64",
    "elsewhere": "Float64",
}
"""Columns about the composition of a team, and their dtypes."""


def freshness(members: Sequence[str], pairs: set[tuple[str, str]]) -> float:
    """Share of members with no earlier joint paper with any other member (VirSci, Fig. 5)."""
    known = set()
    for first, second in combinations(sorted(members), 2):
        if (first, second) in pairs:
            known |= {first, second}
    return 1.0 - len(known) / len(members)


def diversity(topics: Sequence[str]) -> float:
    """Number of distinct main topics over the number of members (VirSci, Fig. 6)."""
    return len(set(topics)) / len(topics)


def unique(topics: Sequence[str]) -> float:
    """Share of members whose main topic no other member has (a variant of diversity)."""
    return sum(topics.count(topic) == 1 for topic in topics) / len(topics)


class _Record:
    """Publications of each scientist before a date."""

    def __init__(self, run: Run) -> None:
        people = run.table("scientists")
        self.before = dict(zip(people["scientist"], people["papers"].fillna(0), strict=True))
        starts = people.dropna(subset=["career_start"])
        self.start = dict(zip(starts["scientist"], starts["career_start"], strict=True))
        self.boundary = run.boundary
        self.dates: dict[str, list[float]] = defaultdict(list)
        papers, by = (run.table(one, plain=True) for one in ("papers", "authorships"))
        dated = dict(zip(papers["paper"], papers["published"], strict=True))
        for paper, who in zip(by["paper"], by["scientist"], strict=True):
            self.dates[who].append(float(dated.get(paper, np.inf)))
        for dates in self.dates.values():
            dates.sort()

    def papers(self, who: str, date: float) -> int:
        """Papers before the date, those before day 0 included."""
        return int(self.before.get(who, 0)) + bisect_left(self.dates.get(who, ()), date)

    def years(self, who: str, date: float) -> float | None:
        """Years since the first paper, or None where it is not known."""
        if self.boundary is None or who not in self.start:
            return None
        return self.boundary + date / DAYS_PER_YEAR - float(self.start[who])


def _elsewhere(run: Run) -> set[tuple[str, str]]:
    """(team, scientist) of memberships that overlap another one of the same scientist."""
    rows = run.table("members")
    spans: dict[str, list[tuple[float, float, str]]] = defaultdict(list)
    left = rows["left"].fillna(np.inf)
    for team, who, start, end in zip(
        rows["team"], rows["scientist"], rows["joined"], left, strict=True
    ):
        spans[who].append((start, end, team))
    busy = set()
    for who, held in spans.items():
        # In order of start, compared only with memberships that have not ended.
        going: list[tuple[float, float, str]] = []
        for one in sorted(held):
            going = [other for other in going if one[0] < other[1]]
            for other in going:
                if other[0] < one[1] and one[2] != other[2]:
                    busy |= {(one[2], who), (other[2], who)}
            going.append(one)
    return busy


OUTCOMES = ("accepted", "declined", "full")
IDEAS_KEPT = 3


@measures(
    "teams",
    """
    team_size=size  people  mean team size: members at the end; teams with a paper
    days_to_paper  days  mean time from founding to paper: until the paper is visible
    freshness  share  mean freshness of a team: share of members without an earlier joint paper with
        another member; teams with a paper (VirSci, Fig. 5)
    diversity  index  mean diversity of a team: distinct main topics divided by members; teams with
        a paper (VirSci, Fig. 6)
    newcomers  share  mean share of newcomers in a team: without a paper when it was founded; teams
        with a paper (Guimera et al. 2005)
    members_elsewhere=elsewhere  share  mean share of members who are also in another team: teams
        with a paper
    """,
    lambda run, table: table[table["team"].isin(teams_with_paper(run))],
)
@measures("concurrency", "waiting  days  mean time that a team waits for its members: all teams")
@metric("teams")
def teams(run: Run) -> pd.DataFrame:
    """Composition and work of each team (VirSci, Figs 5 and 6; Guimera et al. 2005)."""
    founded = run.table("teams")
    cast, topics, record = members_at_end(run), TopicHistory(run), _Record(run)
    busy = _elsewhere(run)
    first_tie: dict[tuple[str, str], float] = {}
    ties = run.table("ties", plain=True)
    for source, target, date in zip(ties["source"], ties["target"], ties["date"], strict=True):
        tied = (min(source, target), max(source, target))
        first_tie[tied] = min(date, first_tie.get(tied, np.inf))
    rows: list[dict[str, float | None]] = []
    complete = founded["formed"].fillna(founded["founded"])
    for team, leader, date, formed in zip(
        founded["team"], founded["leader"], founded["founded"], complete, strict=True
    ):
        members = cast[team] or [leader]
        pairs = {
            pair for pair in combinations(sorted(members), 2) if first_tie.get(pair, np.inf) < date
        }
        main = [topics.as_of(who, formed) for who in members]
        known = [topic for topic in main if topic is not None]
        rows.append(
            {
                "size": len(members),
                "freshness": freshness(members, pairs),
                "diversity": diversity(known) if known else None,
                "unique": unique(known) if known else None,
                "leader_papers": record.papers(leader, date),
                "leader_years": record.years(leader, date),
                "newcomers": float(np.mean([record.papers(who, date) == 0 for who in members])),
                "elsewhere": float(np.mean([(team, who) in busy for who in members])),
            }
        )
    built = pd.DataFrame(rows, founded.index, list(BUILT)).astype(BUILT)
    table = pd.concat([founded[["team", "state"]], built], axis=1)
    table["days_to_paper"] = founded["published"] - founded["founded"]
    meetings = run.table("meetings")
    late = (meetings["held"] - meetings["due"]).groupby(meetings["team"])
    table["meetings"] = counts_of(table["team"], late.size())
    # By reindex, because mapping an empty column gives texts, which cannot be added.
    sums = [one.reindex(table["team"]).fillna(0.0) for one in (late.sum(), days_held_up(run))]
    table["waiting"] = (sums[0] + sums[1]).astype("Float64").array
    asked = run.table("invitations")
    chosen = {"invited": asked}
    chosen |= {outcome: asked[asked["outcome"] == outcome] for outcome in OUTCOMES}
    # The invitee left, or the team or the run ended first.
    chosen["unanswered"] = asked[~asked["outcome"].isin(OUTCOMES)]
    chosen["consultations"] = run.table("consultations")
    for name, part in chosen.items():
        table[name] = counts_of(table["team"], part.groupby("team").size())
    # How often members of the team were guests of another team during their membership.
    spells = run.table("members")[["team", "scientist", "joined", "left"]]
    guests = run.table("consultations")[["guest", "date"]]
    both = guests.merge(spells, left_on="guest", right_on="scientist")
    # A membership includes its first day and excludes its last.
    within = (both["joined"] <= both["date"]) & (both["date"] < both["left"].fillna(np.inf))
    table["consulted"] = counts_of(table["team"], both[within].groupby("team").size())
    table["tied"] = founded["ties"] / IDEAS_KEPT
    return table


def members_at_end(run: Run) -> dict[str, list[str]]:
    """Members of each team who did not leave before its end, in the order of the table."""
    rows = run.table("members")
    staying = rows[rows["stayed"].fillna(True)]
    cast: dict[str, list[str]] = {team: [] for team in run.table("teams")["team"]}
    for team, who in zip(staying["team"], staying["scientist"], strict=True):
        cast.setdefault(team, []).append(who)
    return cast


@measure("teams", "papers")
def papers(run: Run) -> float:
    """Number of papers: published and visible."""
    return float(len(run.table("papers")))


@measure("teams", "teams", "teams")
def teams_founded(run: Run) -> float:
    """Number of teams founded."""
    return float(len(run.table("teams")))


@measure("teams", "share", "teams_with_paper")
def share_with_paper(run: Run) -> float:
    """Share of teams with a paper: of teams that have ended."""
    states = run.table("teams")["state"]
    return mean(known_numbers(states[~unended(run)].isin(["published", "finished"])))


@measure("teams", "invitations")
def invitations(run: Run) -> float:
    """Number of invitations sent."""
    return float(len(run.table("invitations")))


@measure("teams", "share")
def acceptance(run: Run) -> float:
    """Share of invitations accepted: of those accepted or declined."""
    outcomes = run.table("invitations")["outcome"]
    return mean(known_numbers(outcomes[outcomes.isin(["accepted", "declined"])] == "accepted"))


@measure("teams", "share")
def cross_team(run: Run) -> float:
    """Share of invitations to members of other teams."""
    return mean(known_numbers(run.table("invitations")["cross_team"]))


@measure("teams", "questions")
def consultations(run: Run) -> float:
    """Number of consultations: questions of teams to scientists outside."""
    return float(len(run.table("consultations")))


@metric("teams")
def outcomes_without_defaults(run: Run) -> pd.DataFrame:
    """Outcomes of all teams, and of those none of whose replies was a default (this project)."""
    calls = run.table("calls")
    # Where it is not known whether a reply is a default, the team is not called clean.
    spoilt = set(calls.loc[calls["defaulted"].fillna(True).astype(bool), "team"])
    rows = []
    for outcome, of, values in _outcomes(run):
        known = values.dropna()
        kept = known[~known.index.isin(spoilt)]
        rows.append((outcome, of, len(known), known.mean(), len(kept), kept.mean()))
    columns = ["outcome", "of", "n", "mean", "n_without", "mean_without"]
    table = pd.DataFrame(rows, columns=columns)
    kinds = ("string", "string", "Int64", "Float64", "Int64", "Float64")
    table = table.astype(dict(zip(columns, kinds, strict=True)))
    table["difference"] = table["mean_without"] - table["mean"]
    return table


def _outcomes(run: Run) -> Iterator[tuple[str, str, pd.Series]]:
    """Name, what it is counted over, and its values by team."""
    ended = run.table("teams")[~unended(run)].set_index("team")
    wrote = ended["state"].isin(["published", "finished"])
    yield "with a paper", "teams", wrote.astype("Float64")
    papers = run.table("papers")
    team_of = dict(zip(papers["paper"], papers["team"], strict=True))
    scores = run.add_metric("novelty", novelty.run_novelty(run))
    for name in novelty.COLUMNS:
        yield name, "papers", scores[name].set_axis(scores["paper"].map(team_of))
    built = ended[wrote]
    yield "size", "teams", built["size"]
    yield "days to paper", "teams", built["published"] - built["founded"]
    cost = run.metric(inference_cost).set_index("team")["inference_cost"]
    yield "inference cost", "teams", cost[cost.index.isin(built.index)]
    asked = run.table("invitations").set_index("team")["outcome"]
    answers = asked[asked.isin(["accepted", "declined"])]
    yield "acceptance", "invitations", (answers == "accepted").astype("Float64")


OF_TEAMS = ("size", "freshness", "diversity", "newcomers", "elsewhere", "waiting", "days_to_paper")
COUNTS = ("teams", "ended", "papers")
COLUMNS = (*COUNTS, *("with_paper", *OF_TEAMS, "inference_cost", "cited"), *novelty.COLUMNS)


@metric("teams")
def by_protocol(run: Run) -> pd.DataFrame:
    """Means over the teams of each protocol, or of each component of a mixture (this project)."""
    founded = run.table("teams").set_index("team")
    ended = pd.Series(~unended(run).to_numpy(), index=founded.index)
    wrote = founded["state"].isin(["published", "finished"])
    cost = run.metric(inference_cost).set_index("team")["inference_cost"]
    values = pd.DataFrame({"protocol": founded["protocol"], "teams": 1})
    values["ended"] = ended.astype("Int64")
    # Teams at work have neither written nor failed.
    values["with_paper"] = wrote.astype("Float64").where(ended)
    built = run.metric(teams).set_index("team")[list(OF_TEAMS)].astype("Float64")
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
    inside = inside_citations(run)["cited"].value_counts()
    table = pd.DataFrame({"protocol": papers["team"].map(protocol)}, index=papers.index)
    table["cited"] = inside.reindex(table.index).fillna(0).astype("Float64")
    scores = run.add_metric("novelty", novelty.run_novelty(run)).set_index("paper")
    return table.join(scores[list(novelty.COLUMNS)].astype("Float64"))
