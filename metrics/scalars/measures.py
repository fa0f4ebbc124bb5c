"""MEASURES, the table of scalar measures (one number per run), the unit of every study.

To add one: a line in ``MEASURES`` and a hand-worked example as its test. What is not in the table
is reached as ``table.column.statistic``, such as ``teams.meetings.median``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from virsci_society.agents.errors import InputError
from virsci_society.metrics.cost import STAGES
from virsci_society.metrics.novelty.novelty import evaluated_words
from virsci_society.metrics.population import main_topics, topic_extent
from virsci_society.metrics.registry import Metric
from virsci_society.metrics.scalars.outcomes import (
    ScalarFunction,
    acceptance,
    calls_after_idea,
    column_statistic,
    defaulted_share,
    final_active_structure,
    final_structure,
    inequality_of,
    invited_guests,
    mean_of_published_teams,
    mean_turns,
    newcomer_rate,
    parse_dotted_name,
    repeat_rate,
    row_count,
    share_with_paper,
    token_total,
    unknown_name,
    usd_paid,
)
from virsci_society.metrics.teams.concurrency import max_memberships
from virsci_society.society.results.run import Run

INFINITE = float("inf")


@dataclass(frozen=True)
class Measure:
    """One number of a run.

    Attributes:
        unit: in words; ``share`` is 0..1 and an empty text a pure number.
        compute: run -> number; NaN where the tables do not hold what it needs, never zero for it.
    """

    label: str
    unit: str
    low: float
    high: float
    meaning: str
    compute: ScalarFunction


def measure_run(run: Run, names: Iterable[str]) -> dict[str, float]:
    """Compute measures of a run.

    Args:
        run: the run.
        names: keys of ``MEASURES``, or ``table.column.statistic``.

    Returns:
        Name -> number, NaN where the tables of the run do not hold what it needs.

    Raises:
        InputError: a name is neither in ``MEASURES`` nor ``table.column.statistic``.

    Example:
        >>> vs.measure_run(run, ["teams.size.mean"])
        {'teams.size.mean': ...}
    """
    own = dict.fromkeys(run.measure_names())
    return {name: _function(name, own)(run) for name in names}


def name_error(name: str, own: Mapping[str, Metric] | None = None) -> str | None:
    """The error of a measure's name in words, or None where the name is right.

    Args:
        name: of a measure, or ``table.column.statistic``.
    """
    try:
        _function(name, own)
    except InputError as error:
        return str(error)
    return None


def measure_extent(name: str) -> tuple[float, float]:
    """The least and the largest value that a measure can have; infinite where that is not known.

    Args:
        name: a key of ``MEASURES``, or ``table.column.statistic``, of which a ``count``, a
            ``share`` and a ``gini`` are known to be bounded.
    """
    if name in MEASURES:
        return MEASURES[name].low, MEASURES[name].high
    statistic = name.rpartition(".")[2]
    return {"count": (0.0, INFINITE), "share": (0.0, 1.0), "gini": (0.0, 1.0)}.get(
        statistic, (-INFINITE, INFINITE)
    )


def measure_label(name: str) -> str:
    """The name of a measure in a sentence; of ``a.b.mean`` it is ``mean b (a)``."""
    if name in MEASURES:
        return MEASURES[name].label
    table, *parts = name.split(".")
    if len(parts) != 2 or table == "review":
        return name
    return f"{parts[1]} {parts[0]} ({table})".replace("_", " ")


def _function(name: str, own: Mapping[str, Metric | None] | None = None) -> ScalarFunction:
    if name in MEASURES:
        return MEASURES[name].compute
    if name.count(".") == 2:
        return parse_dotted_name(name, own)
    raise InputError(f"{unknown_name('measure', name, MEASURES)} (or write table.column.statistic)")


def _share(meaning: str, how: ScalarFunction | str) -> Measure:
    return _number("share", 0.0, 1.0, meaning, how)


def _amount(unit: str, meaning: str, how: ScalarFunction | str) -> Measure:
    return _number(unit, 0.0, INFINITE, meaning, how)


def _number(unit: str, low: float, high: float, meaning: str, how: ScalarFunction | str) -> Measure:
    """A measure by a function of a run, or by ``table.rows`` or ``table.column.statistic``.

    The meaning is its label and its definition, with a colon between them.
    """
    if isinstance(how, str):
        table, *column = how.split(".")
        how = row_count(table) if column == ["rows"] else column_statistic(table, *column)
    label, _, definition = meaning.partition(": ")
    return Measure(label, unit, low, high, definition or label, how)


MEASURES: Mapping[str, Measure] = {
    "ON": _amount(
        "", "overall novelty: HD x CI / CD, mean over papers (VirSci)", "novelty.ON.mean"
    ),
    "HD": _amount("", "historical dissimilarity: mean over papers (VirSci)", "novelty.HD.mean"),
    "CD": _amount("", "contemporary dissimilarity: mean over papers (VirSci)", "novelty.CD.mean"),
    "CI": _amount("", "contemporary impact: mean over papers (VirSci)", "novelty.CI.mean"),
    "words": _amount(
        "words",
        "mean length of the measured text: of that of HD and CD, over papers",
        evaluated_words,
    ),
    "papers": _amount("papers", "number of papers: those that became visible", "papers.rows"),
    "teams": _amount("teams", "number of teams: those founded", "teams.rows"),
    "with_paper": _share("share of teams with a paper: of those that have ended", share_with_paper),
    "team_size": _amount(
        "people",
        "mean size of a team: members at the end, over teams with a paper",
        mean_of_published_teams("teams", "size"),
    ),
    "days_to_paper": _amount(
        "days",
        "mean time from founding to paper: until it is visible, over papers",
        "teams.days_to_paper.mean",
    ),
    "acceptance": _share("share of invitations accepted: of those answered by choice", acceptance),
    "invitations": _amount("invitations", "number of invitations: those sent", "invitations.rows"),
    "cross_team": _share(
        "share of invitations that went to members of other teams", "invitations.cross_team.share"
    ),
    "review_acceptance": _share(
        "share of submissions accepted: of those accepted or rejected",
        "review_outcomes.acceptance.mean",
    ),
    "days_in_review": _amount(
        "days",
        "mean time in review: from submission to its decision, over those decided",
        "review_outcomes.days.mean",
    ),
    "reviews_late": _share(
        "share of late reviews: those reminded or given up", "review_outcomes.late.mean"
    ),
    "reviewer_load": _amount(
        "reviews",
        "mean number of reviews per reviewer: over those who delivered any",
        "review_outcomes.load.mean",
    ),
    "gini_reviews": _share(
        "inequality of reviews: Gini (1912), among those who delivered any",
        "review_outcomes.gini.mean",
    ),
    "reviewer_agreement": _number(
        "",
        -1.0,
        1.0,
        "agreement of reviewers: on overall scores, alpha (Krippendorff 2011)",
        "review_outcomes.agreement.mean",
    ),
    "consultations": _amount("questions", "number of questions to outsiders", "consultations.rows"),
    "invited_guests": _share(
        "share of invitations to earlier advisers: to somebody whom the inviter had consulted in "
        "a team that had ended",
        invited_guests,
    ),
    "interest_change": _share(
        "mean change of interests: 1 - cosine of interests at first and at the end, over "
        "scientists whose interests have changed (after Jia, Wang and Szymanski 2017)",
        "drift.change.mean",
    ),
    "topic_changed": _share(
        "share of scientists with a new main topic: another than at first, of those whose "
        "interests have changed",
        "drift.topic_changed.share",
    ),
    "main_topics": _amount(
        "topics", "effective number of main topics: at the end, exp of their entropy", main_topics
    ),
    "topic_extent": _amount(
        "topics",
        "effective number of keywords: of papers, 1 / chance that two are the same (Simpson)",
        topic_extent,
    ),
    "freshness": _share(
        "mean share of members new to their team: without an earlier joint paper in it, over "
        "teams with a paper (VirSci)",
        mean_of_published_teams("teams", "freshness"),
    ),
    "diversity": _share(
        "mean diversity of a team: distinct main topics over members, teams with a paper (VirSci)",
        mean_of_published_teams("teams", "diversity"),
    ),
    "newcomers": _share(
        "mean share of newcomers in a team: members without a paper, over teams with a paper "
        "(Guimera et al. 2005)",
        mean_of_published_teams("teams", "newcomers"),
    ),
    "newcomer_rate": _share(
        "share of authorships that are a first paper: of their author (Guimera et al. 2005)",
        newcomer_rate,
    ),
    "repeat_rate": _share(
        "share of joint papers by earlier partners: those of a pair that were not its first "
        "(Guimera et al. 2005)",
        repeat_rate,
    ),
    "waiting": _amount(
        "days", "mean time that a team waits for its people: over teams", "teams.waiting.mean"
    ),
    "waiting_round": _amount(
        "days",
        "mean wait of a member from one meeting to the next: over pieces of homework",
        "pieces.waiting.mean",
    ),
    **{
        f"waiting_{kind}": _amount(
            "days", f"mean wait {cause}: part of `waiting_round`", f"pieces.{column}.mean"
        )
        for kind, column, cause in (
            ("desk", "desk_queue", "for homework of other projects"),
            ("teammates", "teammates", "for the homework of team-mates"),
            ("notice", "notice", "for the notice of a meeting"),
            ("meeting", "meeting_queue", "for meetings of other teams"),
        )
    },
    "memberships": _amount(
        "teams",
        "mean number of teams that a scientist is in: over pieces of homework",
        "pieces.memberships.mean",
    ),
    "idle_share": _share(
        "share of held attention that is idle: held in rooms that are not complete",
        "held_attention.idle_share.mean",
    ),
    "attention": _amount(
        "",
        "mean attention spent by a member: as a share of one person's full",
        "utilisation.attention.mean",
    ),
    "max_memberships": _amount(
        "teams",
        "largest number of teams of one scientist at once",
        lambda run: float(max_memberships(run)),
    ),
    "giant_component": _share(
        "share of scientists in the largest component: of ties since day 0, at the end (Newman "
        "2001)",
        final_structure("grown", "giant_share"),
    ),
    "clustering": _share(
        "mean local clustering: of ties since day 0, at the end (Watts and Strogatz 1998)",
        final_structure("grown", "clustering"),
    ),
    "mean_degree": _amount(
        "co-authors",
        "mean number of co-authors: since day 0, at the end",
        final_structure("grown", "mean_degree"),
    ),
    "active": _amount(
        "scientists",
        "number of active authors: those of a paper of the last year, at the end",
        final_active_structure("nodes"),
    ),
    "giant_component_active": _share(
        "share of active authors in the largest component: authors and ties of the last year, at "
        "the end",
        final_active_structure("giant_share"),
    ),
    "clustering_active": _share(
        "mean local clustering of active authors: of the last year's ties, at the end",
        final_active_structure("clustering"),
    ),
    "gini_papers": _share(
        "inequality of papers: Gini (1912), among those who wrote any",
        inequality_of("papers per author"),
    ),
    "gini_citations": _share(
        "inequality of citations: Gini (1912), of those from the society among its papers",
        inequality_of("citations per paper"),
    ),
    "calls": _amount(
        "calls", "number of calls: questions put to the model, re-asks included", "calls.rows"
    ),
    "calls_after_idea": _amount(
        "calls",
        "mean number of calls after the idea: in later stages, over teams with a paper",
        calls_after_idea,
    ),
    "prompt_tokens": _amount("tokens", "number of prompt tokens", token_total("prompt_tokens")),
    "completion_tokens": _amount(
        "tokens", "number of reply tokens", token_total("completion_tokens")
    ),
    "tokens": _amount(
        "tokens",
        "number of tokens: of prompts and replies",
        token_total("prompt_tokens", "completion_tokens"),
    ),
    "usd": _amount("US dollars", "cost: paid, where prices are known", usd_paid),
    "defaulted": _share(
        "share of replies replaced by a default: of all questions", defaulted_share
    ),
    "inference_cost": _amount(
        "calls",
        "mean number of utterances and ballots: in four stages, over teams with a paper (VirSci, "
        "Table 9)",
        mean_of_published_teams("inference_cost", "inference_cost"),
    ),
    "turns": _amount(
        "turns",
        "mean of the most turns of a stage: over teams with a paper",
        mean_of_published_teams("inference_cost", "turns"),
    ),
    **{
        f"turns_{stage}": _amount(
            "turns",
            f"mean number of turns in stage {stage}: first visit, over teams with a paper",
            mean_turns(stage),
        )
        for stage in STAGES
    },
    **{
        f"utterances_{stage}": _amount(
            "calls",
            f"mean number of {said} in stage {stage}: over teams with a paper (VirSci, Table 9)",
            mean_of_published_teams("inference_cost", stage),
        )
        for stage in STAGES
        for said in ("ballots" if stage == "novelty" else "utterances",)
    },
}
"""Every measure of a whole run, by name."""
