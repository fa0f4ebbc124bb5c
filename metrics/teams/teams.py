"""Composition, work and outcome of each team, and outcomes without teams with defaults."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from virsci_society.metrics.cost import inference_cost
from virsci_society.metrics.impact import inside_citations
from virsci_society.metrics.novelty import novelty
from virsci_society.metrics.population import TopicHistory, teams_with_paper
from virsci_society.metrics.registry import mean, measure, measures, metric
from virsci_society.metrics.teams.concurrency import days_held_up, spells_of
from virsci_society.metrics.teams.peer_review import unended
from virsci_society.society.literature.papers import DAYS_PER_YEAR
from virsci_society.society.results.dataframes import known_numbers, typed_table
from virsci_society.society.results.run import Run

OUTCOMES = ("accepted", "declined", "full")
WHOLE = ("invited", *OUTCOMES, "unanswered", "consultations", "consulted")
TEAM = {
    **{"team": "string", "state": "string", "size": "Int64", "freshness": "Float64"},
    **{"diversity": "Float64", "unique": "Float64", "leader_papers": "Int64"},
    **{"leader_years": "Float64", "newcomers": "Float64", "elsewhere": "Float64"},
    **{"days_to_paper": "Float64", "meetings": "Int64", "waiting": "Float64"},
    **dict.fromkeys(WHOLE, "Int64"),
    "tied": "Float64",
}
"""Columns of ``teams`` and their dtypes."""


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
        people = run.rows("scientists", "scientist", "papers", "career_start")
        self.before = {who: papers or 0 for who, papers, _ in people}
        self.start = {who: start for who, _, start in people if start is not None}
        self.boundary = run.boundary
        self.dates: dict[str, list[float]] = defaultdict(list)
        dated = dict(run.rows("papers", "paper", "published"))
        for paper, who in run.rows("authorships", "paper", "scientist"):
            date = dated.get(paper)
            self.dates[who].append(np.inf if date is None else date)
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


def _elsewhere(spells: dict[str, list[tuple[float, float, str]]]) -> set[tuple[str, str]]:
    """(team, scientist) of memberships that overlap another one of the same scientist."""
    busy = set()
    for who, held in spells.items():
        # In order of start, compared only with memberships that have not ended.
        going: list[tuple[float, float, str]] = []
        for one in sorted(held):
            going = [other for other in going if one[0] < other[1]]
            for other in going:
                if other[0] < one[1] and one[2] != other[2]:
                    busy |= {(one[2], who), (other[2], who)}
            going.append(one)
    return busy


IDEAS_KEPT = 3
WROTE = ("published", "finished")
"""States of teams with a paper, also one that is not visible yet."""


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
    cast, topics, record = members_at_end(run), TopicHistory(run), _Record(run)
    spells = run.once(spells_of)
    busy = _elsewhere(spells)
    first_tie: dict[tuple[str, str], float] = {}
    for source, target, date in run.rows("ties", "source", "target", "date"):
        tied = (min(source, target), max(source, target))
        first_tie[tied] = min(date, first_tie.get(tied, np.inf))
    met, waited = Counter[str](), days_held_up(run)
    for team, due, held in run.rows("meetings", "team", "due", "held"):
        met[team] += 1
        waited[team] += 0.0 if held is None else held - due
    asked = defaultdict[str, Counter[str]](Counter)
    for team, outcome in run.rows("invitations", "team", "outcome"):
        # The invitee left, or the team or the run ended first.
        asked[team][outcome if outcome in OUTCOMES else "unanswered"] += 1
    # How often members of the team were guests of another team during their membership.
    questions, guests = Counter[str](), Counter[str]()
    for team, guest, date in run.rows("consultations", "team", "guest", "date"):
        questions[team] += 1
        # A membership includes its first day and excludes its last.
        guests.update(of for start, end, of in spells.get(guest, ()) if start <= date < end)
    rows = []
    columns = ("team", "leader", "state", "founded", "formed", "published", "ties")
    for team, leader, state, date, formed, published, ties in run.rows("teams", *columns):
        members = cast[team] or [leader]
        pairs = {
            pair for pair in combinations(sorted(members), 2) if first_tie.get(pair, np.inf) < date
        }
        main = [topics.as_of(who, date if formed is None else formed) for who in members]
        known = [topic for topic in main if topic is not None]
        answers = asked[team]
        rows.append(
            (
                *(team, state, len(members), freshness(members, pairs)),
                diversity(known) if known else None,
                unique(known) if known else None,
                *(record.papers(leader, date), record.years(leader, date)),
                sum(record.papers(who, date) == 0 for who in members) / len(members),
                sum((team, who) in busy for who in members) / len(members),
                None if published is None else published - date,
                *(met[team], waited[team], answers.total()),
                *(answers[one] for one in (*OUTCOMES, "unanswered")),
                *(questions[team], guests[team], None if ties is None else ties / IDEAS_KEPT),
            )
        )
    return typed_table(rows, TEAM)


def members_at_end(run: Run) -> dict[str, list[str]]:
    """Members of each team who did not leave before its end, in the order of the table."""
    cast: dict[str, list[str]] = {team: [] for (team,) in run.rows("teams", "team")}
    for team, who, stayed in run.rows("members", "team", "scientist", "stayed"):
        if stayed is not False:
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
    return mean(known_numbers(states[~unended(run)].isin(WROTE)))


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
    # Where it is not known whether a reply is a default, the team is not called clean.
    calls = run.counts("calls", "team", "defaulted")
    spoilt = {team for team, defaulted, _ in calls if defaulted is not False}
    rows = []
    for outcome, of, values in _outcomes(run):
        known = [(team, float(value)) for team, value in values if value is not None]
        both = [value for _, value in known], [value for team, value in known if team not in spoilt]
        (n, of_all), (clean, of_clean) = ((len(one), mean(np.array(one))) for one in both)
        rows.append((outcome, of, n, of_all, clean, of_clean, of_clean - of_all))
    whole, numbers = ("Int64", "Float64"), ("n", "mean", "n_without", "mean_without")
    columns = {"outcome": "string", "of": "string", **dict(zip(numbers, whole * 2, strict=True))}
    return typed_table(rows, {**columns, "difference": "Float64"})


def _outcomes(run: Run) -> Iterator[tuple[str, str, Iterable[tuple[str | None, float | None]]]]:
    """Name, what it is counted over, and its values by team."""
    working = set(run.table("teams")["team"][unended(run)])
    rows = run.rows("teams", "team", "state", "size", "founded", "published")
    ended = [row for row in rows if row[0] not in working]
    yield "with a paper", "teams", [(team, state in WROTE) for team, state, *_ in ended]
    team_of = dict(run.rows("papers", "paper", "team"))
    scores = run.add_metric("novelty", novelty.run_novelty(run))
    teams_of = [team_of.get(paper) for paper in scores["paper"]]
    for name in novelty.COLUMNS:
        values = (None if pd.isna(value) else value for value in scores[name])
        yield name, "papers", zip(teams_of, values, strict=True)
    built = [row for row in ended if row[1] in WROTE]
    yield "size", "teams", [(team, size) for team, _, size, *_ in built]
    days = [(team, None if end is None else end - start) for team, *_, start, end in built]
    yield "days to paper", "teams", days
    written = {team for team, *_ in built}
    cost = run.metric(inference_cost)[["team", "inference_cost"]].itertuples(index=False)
    yield "inference cost", "teams", [(team, calls) for team, calls in cost if team in written]
    asked = run.rows("invitations", "team", "outcome")
    answers = [row for row in asked if row[1] in ("accepted", "declined")]
    yield "acceptance", "invitations", [(team, said == "accepted") for team, said in answers]


OF_TEAMS = ("size", "freshness", "diversity", "newcomers", "elsewhere", "waiting", "days_to_paper")
COUNTS = ("teams", "ended", "papers")
COLUMNS = (*COUNTS, *("with_paper", *OF_TEAMS, "inference_cost", "cited"), *novelty.COLUMNS)


@metric("teams")
def by_protocol(run: Run) -> pd.DataFrame:
    """Means over the teams of each protocol, or of each component of a mixture (this project)."""
    founded = run.table("teams").set_index("team")
    ended = pd.Series(~unended(run).to_numpy(), index=founded.index)
    wrote = founded["state"].isin(WROTE)
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
