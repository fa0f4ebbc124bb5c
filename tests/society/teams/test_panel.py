"""Panels: how many ideas they accept, how far they agree, and what their marks know of worth."""

import numpy as np
import pytest
from pydantic import ValidationError
from scipy.stats import multivariate_normal, norm

from tests.society.teams.test_execution import lived, outcomes
from virsci_society.agents.errors import InputError
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.society.literature.landscape import appearance
from virsci_society.society.teams.execution import NOT_FUNDED, Panel
from virsci_society.society.teams.publication import REJECTED

DRAWS = 8_000
WORTHLESS = 0.5


def worths(rng):
    """Worths of ideas like the past papers, and the same in standard deviations from their mean."""
    worth = np.maximum(rng.random(DRAWS) - WORTHLESS, 0.0) / (1.0 - WORTHLESS)
    mean = (1.0 - WORTHLESS) / 2.0
    return worth, (worth - mean) / np.sqrt((1.0 - WORTHLESS) / 3.0 - mean**2)


def judged(panel, standing, rng):
    looks = [appearance(panel.signal, one, rng.standard_normal()) for one in standing.tolist()]
    return looks, np.array([panel.accepts(one, WORTHLESS, rng) for one in looks])


@pytest.mark.sweep(4)
@pytest.mark.parametrize("accept", [0.1, 0.25, 0.7])
@pytest.mark.parametrize("signal", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("lottery", [0.0, 0.2])
def test_the_stated_share_of_ideas_like_past_papers_is_accepted(accept, signal, lottery):
    rng = np.random.default_rng(1)
    panel = Panel(accept=accept, signal=signal, lottery=lottery)
    _, accepted = judged(panel, worths(rng)[1], rng)
    assert accepted.mean() == pytest.approx(accept, abs=0.016)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("reviewers", [1, 3, 12])
@pytest.mark.parametrize("agreement", [0.2, 0.33, 0.7])
def test_two_panels_disagree_as_spearman_and_brown_say(reviewers, agreement):
    rng = np.random.default_rng(2)
    panel = Panel(reviewers=reviewers, agreement=agreement)
    looks = rng.standard_normal(DRAWS).tolist()
    first, second = ([panel.accepts(one, WORTHLESS, rng) for one in looks] for _ in range(2))
    reliability = reviewers * agreement / (1 + (reviewers - 1) * agreement)
    bar = norm.ppf(panel.accept)
    both = multivariate_normal([0, 0], [[1, reliability], [reliability, 1]]).cdf([bar, bar])
    disagree = np.mean(np.array(first) != np.array(second))
    assert disagree == pytest.approx(2 * (panel.accept - both), abs=0.018)


def test_two_panels_of_the_default_disagree_as_those_of_neurips_2021_did():
    rng = np.random.default_rng(3)
    looks = rng.standard_normal(DRAWS).tolist()
    first, second = ([Panel().accepts(one, WORTHLESS, rng) for one in looks] for _ in range(2))
    assert np.mean(np.array(first) != np.array(second)) == pytest.approx(0.23, abs=0.015)


@pytest.mark.parametrize("reviewers", [1, 3, 12])
def test_what_a_panel_knows_of_worth_is_signal_by_the_root_of_its_reliability(reviewers):
    # Of a normal worth, the mean of those above the bar is known exactly.
    rng = np.random.default_rng(4)
    signal, agreement = 0.6, 0.33
    panel = Panel(reviewers=reviewers, agreement=agreement, signal=signal)
    standing = rng.standard_normal(DRAWS)
    _, accepted = judged(panel, standing, rng)
    reliability = reviewers * agreement / (1 + (reviewers - 1) * agreement)
    share = accepted.mean()
    mean = signal * np.sqrt(reliability) * norm.pdf(norm.ppf(share)) / share
    assert standing[accepted].mean() == pytest.approx(mean, abs=0.06)


def test_a_perfect_panel_takes_the_best_and_a_lot_takes_any():
    rng = np.random.default_rng(5)
    worth, standing = worths(rng)
    _, best = judged(Panel(signal=1, agreement=1), standing, rng)
    assert worth[best].min() >= worth[~best].max() - 0.01
    _, drawn = judged(Panel(signal=1, agreement=1, accept=0.5, lottery=1), standing, rng)
    assert worth[drawn].mean() == pytest.approx(worth[~drawn].mean(), abs=0.025)
    # Half of the ideas enter the lot, half of these win.
    _, staged = judged(Panel(signal=1, agreement=1, lottery=0.5), standing, rng)
    assert worth[staged].mean() == pytest.approx(worth[worth > 0].mean(), abs=0.03)


def test_more_than_can_be_drawn_by_lot_is_refused():
    with pytest.raises(ValidationError, match=r"lottery is more than 0\.5"):
        Panel(accept=0.25, lottery=0.6)


@pytest.mark.slow
def test_only_what_is_funded_is_carried_out_and_takes_its_time():
    _, rows = lived(attempt={"noise": 0, "funding": {"accept": 0.5, "decision": "40d"}})
    found, teams = outcomes(rows), {row[0]: row for row in rows["teams"]}
    refused = [team for team, row in teams.items() if row[10] == NOT_FUNDED]
    assert len(refused) > 20
    assert len(found) > 20
    assert not {*refused} & {*found}
    assert not {*refused} & {row[0] for row in rows["papers"]}
    for team in found:
        assert found[team][0] - teams[team][6] >= 40.0


@pytest.mark.slow
def test_a_journal_whose_panel_knows_worth_rejects_the_others():
    publication = {"use": "panel", "signal": 1, "agreement": 1, "accept": 0.4}
    _, rows = lived(attempt={"noise": 0}, publication=publication)
    found, published = outcomes(rows), {row[0] for row in rows["papers"]}
    reasons = {row[0]: row[10] for row in rows["teams"]}
    rejected = [team for team in found if reasons[team] == REJECTED]
    assert rejected
    assert published
    assert min(found[team][2] for team in published) >= max(found[team][2] for team in rejected)
    assert {row[5] for row in rows["submissions"]} >= {"accept", "reject"}


@pytest.mark.slow
def test_a_panel_without_signal_needs_no_worth_and_one_with_signal_is_refused_without():
    none = {"worth": None, "execution": None}
    _, rows = lived(**none, publication={"use": "panel", "accept": 0.5})
    assert rows["papers"]
    with pytest.raises(InputError, match=r"publication\.signal is a correlation with the worth"):
        load_scenario("community/assembly", publication={"use": "panel", "signal": 0.3})
