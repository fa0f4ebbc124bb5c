"""MEASURES: what a whole run comes to, one number each; the unit of every study.

To add one: a line in ``MEASURES`` and a hand-worked example as its test. What is not in the table
is reached as ``table.column.statistic``, such as ``teams.meetings.median``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from agents.errors import InputError
from metrics.columns import Of, of, of_dotted, unknown
from metrics.concurrency import max_memberships
from metrics.cost import STAGES
from metrics.drift import main_topics
from metrics.guests import invited_guests
from metrics.outcomes import (
    acceptance,
    citations,
    defaulted,
    first_papers,
    last,
    of_papers,
    productivity,
    repeat_rate,
    rows,
    share_with_paper,
    tokens,
    turns_of,
    usd,
)
from society.run import Run

INFINITE = float("inf")


@dataclass(frozen=True)
class Measure:
    """One number of a run.

    Attributes:
        unit: in words; ``share`` is 0..1 and an empty text a pure number.
        low: least value it can have.
        high: largest.
        meaning: what it is, and where it comes from.
        of: run -> number; NaN where the run does not tell, never zero for it.
    """

    unit: str
    low: float
    high: float
    meaning: str
    of: Of


def measured(run: Run, names: Iterable[str]) -> dict[str, float]:
    """The measures of those names, each a number or NaN where the run does not tell.

    Raises:
        InputError: a name is neither in ``MEASURES`` nor ``table.column.statistic``.
    """
    return {name: _function(name)(run) for name in names}


def known(name: str) -> str | None:
    """What is wrong with the name of a measure, or None."""
    try:
        _function(name)
    except InputError as error:
        return str(error)
    return None


def _function(name: str) -> Of:
    if name in MEASURES:
        return MEASURES[name].of
    if name.count(".") == 2:
        return of_dotted(name)
    raise InputError(f"{unknown('measure', name, MEASURES)} (or write table.column.statistic)")


def _share(meaning: str, function: Of) -> Measure:
    return Measure("share", 0.0, 1.0, meaning, function)


def _amount(unit: str, meaning: str, function: Of) -> Measure:
    return Measure(unit, 0.0, INFINITE, meaning, function)


def _review(column: str) -> Of:
    return of("review_outcomes", column)


MEASURES: Mapping[str, Measure] = {
    "ON": _amount(
        "", "overall novelty HD x CI / CD, mean over papers (VirSci)", of("novelty", "ON")
    ),
    "HD": _amount("", "historical dissimilarity, mean over papers (VirSci)", of("novelty", "HD")),
    "CD": _amount("", "contemporary dissimilarity, mean over papers (VirSci)", of("novelty", "CD")),
    "CI": _amount("", "contemporary impact, mean over papers (VirSci)", of("novelty", "CI")),
    "papers": _amount("papers", "papers that became visible", rows("papers")),
    "teams": _amount("teams", "teams founded", rows("teams")),
    "with_paper": _share("teams with a paper, of those that have ended", share_with_paper),
    "team_size": _amount(
        "people", "members at the end, mean over teams with a paper", of_papers("teams", "size")
    ),
    "days_to_paper": _amount(
        "days", "from founding to visible paper, mean over papers", of("teams", "days_to_paper")
    ),
    "acceptance": _share("invitations accepted, of those answered by choice", acceptance),
    "invitations": _amount("invitations", "invitations sent", rows("invitations")),
    "cross_team": _share(
        "invitations that went to members of other teams",
        of("invitations", "cross_team", "share"),
    ),
    "review_acceptance": _share(
        "submissions accepted, of those accepted or rejected", _review("acceptance")
    ),
    "days_in_review": _amount(
        "days", "from submission to its decision, mean over those decided", _review("days")
    ),
    "reviews_late": _share("reviews that were reminded or given up", _review("late")),
    "reviewer_load": _amount(
        "reviews", "reviews delivered, mean over those who delivered any", _review("load")
    ),
    "gini_reviews": _share(
        "inequality of reviews among those who delivered any (Gini 1912)", _review("gini")
    ),
    "reviewer_agreement": Measure(
        "",
        -1.0,
        1.0,
        "agreement of reviewers on overall scores, alpha (Krippendorff 2011)",
        _review("agreement"),
    ),
    "consultations": _amount("questions", "questions to outsiders", rows("consultations")),
    "invited_guests": _share(
        "invitations to somebody whom the inviter had consulted in a team that had ended",
        invited_guests,
    ),
    "interest_change": _share(
        "1 - cosine of interests at first and at the end, mean over scientists whose interests "
        "have changed (after Jia, Wang and Szymanski 2017)",
        of("drift", "change"),
    ),
    "topic_changed": _share(
        "scientists with another main topic than at first, of those whose interests have changed",
        of("drift", "topic_changed", "share"),
    ),
    "main_topics": _amount(
        "topics", "effective number of main topics at the end, exp of their entropy", main_topics
    ),
    "freshness": _share(
        "members without an earlier joint paper in the team, mean over teams with a paper (VirSci)",
        of_papers("teams", "freshness"),
    ),
    "diversity": _share(
        "distinct main topics over members, mean over teams with a paper (VirSci)",
        of_papers("teams", "diversity"),
    ),
    "newcomers": _share(
        "members without a paper, mean over teams with a paper (Guimera et al. 2005)",
        of_papers("teams", "newcomers"),
    ),
    "newcomer_rate": _share(
        "authorships that are their author's first paper (Guimera et al. 2005)", first_papers
    ),
    "repeat_rate": _share(
        "joint papers of a pair that were not its first (Guimera et al. 2005)", repeat_rate
    ),
    "waiting": _amount(
        "days", "a team waits for its people, mean over teams", of("teams", "waiting")
    ),
    "waiting_round": _amount(
        "days",
        "waiting of a member from one meeting to the next, mean over pieces of homework",
        of("pieces", "waiting"),
    ),
    **{
        f"waiting_{kind}": _amount(
            "days", f"of that, {meaning}, mean over pieces of homework", of("pieces", column)
        )
        for kind, column, meaning in (
            ("desk", "desk_queue", "homework of other projects came first"),
            ("teammates", "teammates", "the homework of team-mates was not done"),
            ("notice", "notice", "the notice of the meeting"),
            ("meeting", "meeting_queue", "meetings of other teams were not over"),
        )
    },
    "memberships": _amount(
        "teams",
        "teams that a scientist is in, mean over pieces of homework",
        of("pieces", "memberships"),
    ),
    "idle_share": _share(
        "attention held in rooms that are not complete, of all that is held",
        of("held_attention", "idle_share"),
    ),
    "attention": _amount(
        "",
        "attention spent, of one person's full, mean over members",
        of("utilisation", "attention"),
    ),
    "max_memberships": _amount(
        "teams", "most teams of one scientist at once", lambda run: float(max_memberships(run))
    ),
    "giant_component": _share(
        "scientists in the largest component of the ties since day 0, at the end (Newman 2001)",
        last("grown", "giant_share"),
    ),
    "clustering": _share(
        "mean local clustering of the ties since day 0, at the end (Watts and Strogatz 1998)",
        last("grown", "clustering"),
    ),
    "mean_degree": _amount(
        "co-authors", "co-authors since day 0, at the end", last("grown", "mean_degree")
    ),
    "gini_papers": _share(
        "inequality of papers among those who wrote any (Gini 1912)", productivity
    ),
    "gini_citations": _share(
        "inequality of citations from the society among its papers (Gini 1912)", citations
    ),
    "calls": _amount("calls", "questions put to the model, re-asks included", rows("calls")),
    "prompt_tokens": _amount("tokens", "tokens of all prompts", tokens("prompt_tokens")),
    "completion_tokens": _amount("tokens", "tokens of all replies", tokens("completion_tokens")),
    "tokens": _amount(
        "tokens", "tokens of prompts and replies", tokens("prompt_tokens", "completion_tokens")
    ),
    "usd": _amount("US dollars", "paid, where prices are known", usd),
    "defaulted": _share("questions whose reply was replaced by a default", defaulted),
    "inference_cost": _amount(
        "calls",
        "utterances and ballots in four stages, mean over teams with a paper (VirSci, Table 9)",
        of_papers("inference_cost", "inference_cost"),
    ),
    "turns": _amount(
        "turns",
        "most turns of a stage, mean over teams with a paper",
        of_papers("inference_cost", "turns"),
    ),
    **{
        f"turns_{stage}": _amount(
            "turns",
            f"turns of the stage {stage} in its first visit, mean over teams with a paper",
            turns_of(stage),
        )
        for stage in STAGES
    },
    **{
        f"utterances_{stage}": _amount(
            "calls",
            f"{'ballots' if stage == 'novelty' else 'utterances'} in the stage {stage}, mean over "
            "teams with a paper (VirSci, Table 9)",
            of_papers("inference_cost", stage),
        )
        for stage in STAGES
    },
}
"""Every measure of a whole run, by name."""


def markdown() -> str:
    """The table of measures as Markdown, as ``docs/statistics.md`` holds it."""
    lines = ["| measure | unit | range | meaning |", "| --- | --- | --- | --- |"]
    for name, one in MEASURES.items():
        high = "" if one.high == INFINITE else f"{one.high:g}"
        extent = f"{one.low:g} to {high}" if high else f"from {one.low:g}"
        lines.append(f"| `{name}` | {one.unit or '–'} | {extent} | {one.meaning} |")
    return "\n".join(lines) + "\n"
