"""Measures of the hand-made run of conftest.py, each worked out by hand from its rows."""

import math
from pathlib import Path

import pytest

from tests.metrics.measures_page import measures_page
from virsci_society.agents.errors import InputError
from virsci_society.metrics.novelty.novelty import run_novelty
from virsci_society.metrics.registry import MEASURES, measure_extent, measure_run, name_error
from virsci_society.society.results.run import Run

RUN_MEASURES = [name for name, one in MEASURES.items() if one.compute]

BY_HAND = {
    "words": 3 + 9 * 2,  # the title and nine times "We join."
    "papers": 1,
    "calls_after_idea": 5 * 4 + 4,  # the abstract: five turns of four, and four summaries
    "teams": 3,
    "teams_with_paper": 1 / 2,  # one published, one dissolved; the third is at work
    "team_size": 4,
    "days_to_paper": 48,
    "acceptance": 4 / 6,
    "invitations": 8,
    "cross_team": 4 / 8,
    "consultations": 2,
    "freshness": 2 / 4,  # S1 and S2 had written together
    "diversity": 3 / 4,
    "newcomers": 1 / 4,  # S4
    "newcomer_rate": 1 / 4,
    "repeat_rate": 1 / 6,  # of six pairs only S1 and S2 had a joint paper
    "waiting": (3 + 1 + 1) / 3,
    "max_memberships": 2,
    "giant_component_authors": 1,
    "clustering": 1,
    "coauthors_per_author": 3,
    "active_authors": 4,
    "giant_component_active": 1,
    "clustering_active": 1,
    "gini_papers": 0,
    "scientists": 7,
    "authors": 4,
    "people_with_paper": 4 / 7,
    "authors_per_paper": 4,
    "single_authored": 0,
    "papers_per_author": 1,
    "newcomer_rate_first": 0,
    "newcomer_rate_middle": 0,
    "newcomer_rate_last": 1,  # S4
    "q": 1 / 3,  # S1 and S2, of the three pairs of S1, S2 and S3
    "newcomer_newcomer": 0,
    "newcomer_incumbent": 3 / 6,
    "incumbent_incumbent": 3 / 6,
    "giant_component_people": 4 / 7,
    "giant_component_with_past": 6 / 7,  # S7 has never written with anybody
    "components": 1,
    "transitivity": 1,
    "communities": 1,
    "modularity": 0,
    "tie_lifetime": 0,  # five first papers; the date of the first of S1 and S2 is not known
    "top_tenth_papers": 1 / 4,
    "near_duplicates": 0,
    "members_elsewhere": 1 / 4,  # S2
    "calls": 98,
    "prompt_tokens": 9800,
    "completion_tokens": 1960,
    "tokens": 11760,
    "defaulted": 0,
    "inference_cost": 80,
    "turns": 5,
    **{f"turns_{stage}": 5 for stage in ("topic", "ideas", "novelty", "abstract")},
}
REVIEW = (
    *("review_acceptance", "days_in_review", "reviews_late", "reviewer_load", "gini_reviews"),
    "reviewer_agreement",
)
"""Nothing was handed in to be reviewed."""
UNKNOWN = (
    "echoed",
    "ON",
    "HD",
    "CD",
    "CI",
    "usd",
    "gini_citations",
    "memberships_at_homework",
    "waiting_round",
    "acceptance_slope",
    "assortativity",
    "contemporary_similarity",
    "contemporary_words",
    "disruption",
    "keyword_diversity",
    "near_duplicate_vectors",
    *REVIEW,
)
"""No vectors, no ledger, no citation to share out, no keyword twice, no homework that a meeting
followed, equal degrees, and too few answers."""


def test_every_measure_of_the_hand_made_run(make_run):
    found = measure_run(make_run(), RUN_MEASURES)
    assert set(BY_HAND) | set(UNKNOWN) == set(RUN_MEASURES)
    for name, value in BY_HAND.items():
        assert found[name] == pytest.approx(value, abs=1e-6), name
    for name in UNKNOWN:
        assert math.isnan(found[name]), name


def test_every_measure_is_within_its_range(make_run):
    for name, value in measure_run(make_run(), RUN_MEASURES).items():
        assert math.isnan(value) or MEASURES[name].low <= value <= MEASURES[name].high, name


def test_what_a_run_does_not_tell_is_never_zero():
    """Counts of an empty run are zero, and no mean or share is."""
    empty = Run.from_rows({}, {"seed": 0, "days": 10.0}, {})
    found = measure_run(empty, RUN_MEASURES)
    zeros = {name for name, value in found.items() if value == 0}
    counts = {
        *("papers", "scientists", "teams", "authors", "components", "communities"),
        *("active_authors", "invitations", "consultations", "max_memberships", "calls"),
    }
    assert zeros == counts | {"prompt_tokens", "completion_tokens", "tokens"}
    assert all(math.isnan(value) for name, value in found.items() if name not in zeros)


def test_novelty_is_the_mean_over_papers(run):
    scores = run_novelty(run)
    found = measure_run(run, ["ON", "HD", "novelty.ON.mean"])
    assert found["ON"] == found["novelty.ON.mean"] == pytest.approx(float(scores["ON"].mean()))
    assert found["HD"] == pytest.approx(float(scores["HD"].mean()))


def test_dollars_are_known_where_a_ledger_knows_a_price(make_run):
    def usd(ledger):
        return measure_run(make_run(manifest={"ledger": ledger}), ["usd"])["usd"]

    assert usd({"attempts": 3, "usd": 0.25}) == 0.25
    assert usd({"attempts": 0}) == 0
    assert math.isnan(usd({"attempts": 3, "usd": 0.0}))


def test_one_call_of_unknown_length_makes_the_sum_unknown(make_run, rows):
    at = 15
    first = list(rows["calls"][0])
    assert first[at - 1] == 100
    first[at - 1] = None
    rows["calls"][0] = tuple(first)
    found = measure_run(make_run(rows), ["prompt_tokens", "completion_tokens", "tokens"])
    assert math.isnan(found["prompt_tokens"])
    assert math.isnan(found["tokens"])
    assert found["completion_tokens"] == 1960


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("teams.size.mean", 7 / 3),
        ("teams.founded.median", 10),  # a column of the table only
        ("teams.published.count", 1),
        ("members.load.sum", 1),
        ("invitations.cross_team.share", 0.5),
        ("calls_by_act.calls.sum", 98),
        ("calls_by_act.act.count", 7),
        ("inference_cost.topic.mean", 20 / 3),
        (
            "scientists.papers.gini",
            (
                2 * (1 * 1 + 2 * 2 + 3 * 3 + 4 * 4 + 5 * 7 + 6 * 10)
                + 2 * (1 + 2 + 3 + 4 + 7 + 10)
                - 8 * 27
            )
            / (7 * 27),
        ),
    ],
)
def test_any_column_is_reached_by_its_name(make_run, name, value):
    assert measure_run(make_run(), [name])[name] == pytest.approx(value)


def test_what_was_not_measured_has_no_sum_and_what_did_not_happen_has_none_to_sum(make_run, run):
    unmeasured = measure_run(make_run(), ["novelty.ON.sum", "novelty.ON.count"])
    assert all(math.isnan(value) for value in unmeasured.values())
    assert measure_run(run, ["novelty.ON.count"]) == {"novelty.ON.count": 1}
    assert measure_run(make_run({}), ["calls.prompt_tokens.sum"]) == {"calls.prompt_tokens.sum": 0}


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("OM", "no measure is called 'OM'; did you mean 'ON'?"),
        ("paper", "did you mean 'papers'?"),
        ("zzz", "there are ON, HD"),
        ("team.size.mean", "no table is called 'team'; did you mean 'teams'?"),
        ("teams.siez.mean", "no column of teams is called 'siez'; did you mean 'size'?"),
        ("teams.size.mena", "no statistic is called 'mena'; did you mean 'mean'?"),
        ("teams.state.mean", "mean needs a column of numbers, state is string"),
        ("teams.size.share", "share needs a column of yes and no, size is Int64"),
    ],
)
def test_an_unknown_name_says_what_was_meant(make_run, name, complaint):
    assert complaint in name_error(name)
    with pytest.raises(InputError) as raised:
        measure_run(make_run(), [name])
    assert complaint in str(raised.value)


def test_the_page_of_measures_is_the_registry():
    page = Path(__file__).resolve().parents[2] / "docs" / "measures.md"
    assert page.read_text(encoding="utf-8") == measures_page(), (
        "run: python -m tests.metrics.measures_page > docs/measures.md"
    )


def test_the_extent_of_a_measure():
    assert measure_extent("giant_component_authors") == (0.0, 1.0)
    assert measure_extent("reviewer_agreement") == (-1.0, 1.0)
    assert measure_extent("teams.stayed.share") == (0.0, 1.0)
    assert measure_extent("teams.meetings.count") == (0.0, math.inf)
    assert measure_extent("teams.meetings.mean") == (-math.inf, math.inf)
