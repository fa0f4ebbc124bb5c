"""Runs beside the real papers after the boundary, measure by measure, with errors and a score.

Column ``all`` has everybody's papers, ``own`` those of the society's scientists of day 0 alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from virsci_society.metrics.networks import degree_tails
from virsci_society.metrics.registry import MEASURES, compared_measures
from virsci_society.metrics.validation.assembly_measures import (
    AssemblyMeasures,
    AuthorHistory,
    assembly_measures,
)
from virsci_society.metrics.validation.dated_papers import (
    DatedPaper,
    TopicPapers,
    compared_frame,
    dated_authors,
    half_distance,
    history_of,
    mix_distance,
    names_in_samples,
    papers_between,
    papers_of,
    topic_papers,
    vocabulary,
)
from virsci_society.metrics.validation.tolerances import (
    TOLERANCES,
    Tolerance,
    deviation_of_known,
    error_of,
    errors_in_tolerances,
    mean_of_known,
    score,
    within_tolerance,
    z_score,
)
from virsci_society.society.kernel.streams import Streams

SIDES = ("all", "own")
WINDOWS = (1, 2, 4)
"""Years that are compared where there are as many."""
RESAMPLES, FEW_RESAMPLES, MANY = 100, 25, 2_000
"""Bootstrap samples, and above 2,000 papers fewer of them: the standard error of a standard
deviation is 7 or 14 % of it."""
UNKNOWN = float("nan")


class Row(NamedTuple):
    """How to compare one measure."""

    measure: str
    kind: str = "difference"
    side: str = ""


ROWS: Mapping[str, Row] = {
    row.measure: row
    for row in (
        Row("papers", "relative"),
        Row("authors", "relative"),
        Row("people_with_paper", side="own"),
        Row("authors_per_paper"),
        Row("authors_by_paper", "KS"),
        Row("authors_per_own_paper", side="all"),
        Row("single_authored"),
        Row("papers_per_author", "relative"),
        Row("papers_by_author", "KS"),
        Row("gini_papers"),
        Row("newcomer_rate"),
        Row("newcomer_rate_first"),
        Row("newcomer_rate_last"),
        Row("newcomer_newcomer"),
        Row("newcomer_incumbent"),
        Row("incumbent_incumbent"),
        Row("q"),
        Row("repeat_rate"),
        Row("coauthors_per_author", "relative"),
        Row("coauthors_by_author", "KS"),
        Row("degree_tail_alpha"),
        Row("degree_tail_from"),
        Row("giant_component_authors"),
        Row("clustering"),
        Row("assortativity"),
        Row("topic_mix", "JS"),
        Row("new_keywords"),
        Row("without_keywords"),
    )
}
"""The measures that are compared, in order; those that have a tolerance are judged."""
compared_measures(
    __name__,
    """
authors_per_own_paper  authors  mean number of authors per paper of the society's scientists:
    including outside authors
degree_tail_alpha  number  power-law exponent of the numbers of co-authors: authors with a co-author
    (Clauset et al. 2009)
degree_tail_from  co-authors  least number of co-authors of the power-law tail: authors with a
    co-author (Clauset et al. 2009)
new_keywords  share  share of new keywords: mean over papers, keywords without an earlier paper
without_keywords  share  share of papers without keywords
authors_by_paper  number  distribution of the numbers of authors of papers: KS distance
papers_by_author  number  distribution of the numbers of papers of authors: KS distance
coauthors_by_author  number  distribution of the numbers of co-authors of authors: KS distance
topic_mix  keywords  number of different keywords in a sample of papers: Jensen-Shannon distance
    of two samples of one size (Lin 1991)
m_patterns  index  distance of the m-patterns of papers: how authors of a paper wrote together
    before (Juul et al. 2024)
""",
)
TEXTS = ("side", "measure", "unit", "kind")


@dataclass(frozen=True)
class Community:
    """The real community around the boundary, and the society's own part of it."""

    past: Sequence[DatedPaper]
    later: Sequence[DatedPaper]
    scientists: frozenset[str]
    history: AuthorHistory = field(repr=False)

    @cached_property
    def vocabulary(self) -> dict[str, int]:
        """Keywords of the past papers, which the society and the real authors both could use."""
        return vocabulary(self.past)

    def before(self, years: int) -> list[DatedPaper] | None:
        """The papers of this many years before the boundary; None if the past is shorter."""
        if not self.past or min(one.date for one in self.past) > -years * 365.0:
            return None
        return papers_between(self.past, -years, 0)


@dataclass(frozen=True)
class CommunityComparison:
    """Tables of a comparison."""

    rows: pd.DataFrame
    scores: pd.DataFrame


def compare_with_real(
    runs: Sequence[Sequence[DatedPaper]], community: Community, windows: Sequence[int]
) -> CommunityComparison:
    """Compare runs of one scenario with the real community they started from."""
    rows: list[dict[str, object]] = []
    scores: list[dict[str, object]] = []
    for years in windows:
        for side in SIDES:
            told, score_row = _compare_window(runs, community, years, side)
            rows += told
            scores.append(score_row)
    return CommunityComparison(compared_frame(rows, TEXTS), compared_frame(scores, TEXTS))


def compared_windows(years: int) -> list[int]:
    """The windows of a comparison: 1, 2 and 4 years where there are as many, and the whole."""
    return sorted({*(one for one in WINDOWS if one <= years), years})


class _Measured(NamedTuple):
    """One set of papers in one column, measured."""

    measures: AssemblyMeasures
    others: Mapping[str, float]
    topics: TopicPapers

    def value(self, row: Row) -> float:
        """The value of a row; NaN for a distribution, and for topics, which are drawn."""
        if row.kind in ("KS", "JS"):
            return UNKNOWN
        if row.measure in self.others:
            return self.others[row.measure]
        return float(getattr(self.measures, row.measure))


def _measure(
    papers: Sequence[DatedPaper],
    community: Community,
    side: str,
    known: AuthorHistory | None = None,
) -> _Measured:
    """Measure the papers of a column, given the history at the boundary or before."""
    people = community.scientists
    part = papers_of(papers, people) if side == "own" else list(papers)
    measures = assembly_measures(dated_authors(part), known or community.history)
    writers = {name for one in part for name in one.authors}
    topics = topic_papers(part, community.vocabulary)
    degrees = measures.coauthors_by_author
    tail = degree_tails.fit_power_law(degrees[degrees > 0])
    if tail is not None and tail.n < degree_tails.MIN_TAIL:
        tail = None
    own = [
        len({*one.authors}) + one.outside for one in papers if not people.isdisjoint(one.authors)
    ]
    others = {
        "authors_per_own_paper": mean_of_known(own),
        "people_with_paper": len(writers & people) / len(people) if people else UNKNOWN,
        "degree_tail_alpha": tail.alpha if tail else UNKNOWN,
        "degree_tail_from": float(tail.xmin) if tail else UNKNOWN,
        # Undefined before the boundary: every keyword is in the vocabulary.
        "new_keywords": UNKNOWN if known is not None else topics.unknown,
        "without_keywords": mean_of_known([not one.keywords for one in part]),
    }
    return _Measured(measures, others, topics)


def _compare_window(
    papers_of_runs: Sequence[Sequence[DatedPaper]], community: Community, years: int, side: str
) -> tuple[list[dict[str, object]], dict[str, object]]:
    """The rows of ``CommunityComparison.rows`` and the row of scores of one window and column."""
    later = papers_between(community.later, 0, years)
    runs = [_measure(papers_between(one, 0, years), community, side) for one in papers_of_runs]
    observed = _measure(later, community, side)
    closed = _measure(papers_of(later, community.scientists), community, side)
    earlier, before = community.before(years), None
    if earlier is not None:
        # The earlier years are measured with the history of their start, as the run is.
        known = history_of(papers_between(community.past, -math.inf, -years))
        before = _measure(earlier, community, side, known)

    def distance(row: Row, sources: Sequence[_Measured]) -> float:
        """Mean distance of some sources from the observed; NaN for topics, which are drawn."""
        judged = TOLERANCES.get(row.measure)
        if row.kind == "JS":
            return UNKNOWN
        if judged or row.kind == "KS" or row.measure == "papers":
            how = judged or Tolerance(row.measure, row.kind, 1.0)
            errors = [error_of(how, one.measures, observed.measures) for one in sources]
        else:
            errors = [one.value(row) - observed.value(row) for one in sources]
        return mean_of_known(errors)

    errors = _bootstrap_errors(later, community, side, years)
    rows = []
    for name, compared in ROWS.items():
        told = compared.side in ("", side)
        simulated = [one.value(compared) for one in runs] if told else []
        real = observed.value(compared) if told else UNKNOWN
        reference = [before] if before is not None and told else []
        row: dict[str, object] = {
            "window": years,
            "side": side,
            "measure": name,
            "unit": MEASURES[name].unit,
            "kind": compared.kind,
            "simulated": mean_of_known(simulated),
            "simulated_sd": deviation_of_known(simulated),
            "observed": real,
            "observed_error": errors.get(name, UNKNOWN),
            "before": mean_of_known([one.value(compared) for one in reference]),
            "distance": distance(compared, runs if told else []),
            "distance_before": distance(compared, reference),
            "halves": UNKNOWN,
            "z": z_score(simulated, real, errors.get(name, UNKNOWN)),
        }
        size = TOLERANCES[name].size if name in TOLERANCES else UNKNOWN
        off = distance(compared, runs if told else []) / size
        row |= {"tolerance": size, "in_tolerances": off}
        row["within"] = None if math.isnan(off) else within_tolerance({name: off}) == 1
        if compared.kind == "JS":
            row |= _topic_columns(runs, observed, before)
        rows.append(row)
    every = [errors_in_tolerances(one.measures, observed.measures) for one in runs]
    mean = {name: float(np.mean([one[name] for one in every])) for name in TOLERANCES}
    scores: dict[str, object] = {
        "window": years,
        "side": side,
        "runs": len(every),
        "score": score(mean),
        "score_sd": deviation_of_known([score(one) for one in every]),
        "within": within_tolerance(mean),
        "judged": sum(not math.isnan(error) for error in mean.values()),
    }
    for name, other in (("before", before), ("closed", closed)):
        scores |= {f"score_{name}": UNKNOWN, f"within_{name}": UNKNOWN}
        if other is not None:
            off_by = errors_in_tolerances(other.measures, observed.measures)
            scores |= {f"score_{name}": score(off_by), f"within_{name}": within_tolerance(off_by)}
    return rows, scores


def _topic_columns(
    runs: Sequence[_Measured], observed: _Measured, before: _Measured | None
) -> dict[str, float]:
    """Columns of a row of topics, from samples of as many papers on every side."""
    sources, real = [one.topics for one in runs], observed.topics
    earlier = before.topics if before else None
    sizes = [len(one.keys) for one in sources] + ([len(earlier.keys)] if earlier else [])
    # Half of the observed, since two halves of it are compared with each other.
    papers = min(*sizes, len(real.keys) // 2)
    counts = [names_in_samples(one, papers) for one in sources]
    return {
        "simulated": mean_of_known(counts),
        "simulated_sd": deviation_of_known(counts),
        "observed": names_in_samples(real, papers),
        "before": names_in_samples(earlier, papers) if earlier else UNKNOWN,
        "distance": mean_of_known([mix_distance(one, real, papers) for one in sources]),
        "distance_before": mix_distance(earlier, real, papers) if earlier else UNKNOWN,
        "halves": half_distance(real, papers),
    }


def _bootstrap_errors(
    later: Sequence[DatedPaper], community: Community, side: str, years: int
) -> dict[str, float]:
    """Standard deviation of each measure of the observed papers over resamples of them."""
    dated = dated_authors(papers_of(later, community.scientists) if side == "own" else later)
    if not dated:
        return {}
    # Seed 0 for every run: the error of the observed values must not depend on the run.
    # A paper drawn twice counts as two, which moves levels: the spread is used, not the mean.
    rng = Streams(0, "metrics", "validation").stream(side, years)
    number = RESAMPLES if len(dated) <= MANY else FEW_RESAMPLES
    found = [
        assembly_measures([dated[row] for row in rows], community.history).numbers()
        for rows in rng.integers(0, len(dated), (number, len(dated)))
    ]
    errors = {name: deviation_of_known([one[name] for one in found]) for name in found[0]}
    # Each resample has the same number of papers, so its error is unknown.
    return {**errors, "papers": UNKNOWN}
