"""The tail of known laws, and the package ``powerlaw`` on the same numbers."""

import warnings

import networkx as nx
import numpy as np
import pytest

from virsci_society.metrics.networks import degree_tails
from virsci_society.metrics.networks.degree_tails import (
    PowerLawFit,
    degrees,
    fit_power_law,
    sample_power_law,
    tail,
    tail_test,
    verdict,
)


def degrees_of(graph):
    return np.array([degree for _, degree in graph.degree()])


@pytest.fixture(scope="module")
def attachment():
    return degrees_of(nx.barabasi_albert_graph(2000, 3, seed=1))


def test_the_exponent_of_a_tail_from_one_by_hand():
    """Of 1, 1, 2 the mean log is log(2) / 3: alpha is where the zeta function falls as fast."""
    found = fit_power_law([1, 1, 2], xmin=1)
    assert found.n == 3
    step = 1e-5
    from scipy.special import zeta

    fall = (np.log(zeta(found.alpha + step)) - np.log(zeta(found.alpha - step))) / (2 * step)
    assert -fall == pytest.approx(np.log(2) / 3, rel=1e-4)
    # Two thirds are 1; the law says 1 / zeta(alpha).
    assert found.ks == pytest.approx(abs(2 / 3 - 1 / zeta(found.alpha)), abs=1e-6)


def test_nothing_to_fit():
    assert fit_power_law([]) is None
    assert fit_power_law([0, 0, 3, 3]) is None
    assert fit_power_law([1, 2, 3], xmin=3) is None


@pytest.mark.parametrize("alpha", [1.8, 2.5, 3.5])
def test_a_drawn_law_is_recovered(alpha):
    values = sample_power_law(PowerLawFit(1, alpha, 0.0, 0), 20_000, np.random.default_rng(0))
    assert fit_power_law(values, xmin=1).alpha == pytest.approx(alpha, rel=0.02)
    assert values.min() == 1
    from scipy.special import zeta

    assert (values == 1).mean() == pytest.approx(1 / zeta(alpha), abs=0.01)
    assert (values >= 5).mean() == pytest.approx(zeta(alpha, 5) / zeta(alpha), abs=0.01)


@pytest.mark.parametrize("kind", ["attachment", "zipf", "steep", "slow"])
def test_the_fit_agrees_with_the_package_powerlaw(kind, attachment):
    powerlaw = pytest.importorskip("powerlaw")
    values = {
        "attachment": attachment,
        "zipf": np.random.default_rng(3).zipf(2.5, 1500),
        # Beyond 3, where the package alone would stop.
        "steep": np.random.default_rng(3).zipf(3.5, 1500),
        "slow": sample_power_law(PowerLawFit(3, 1.9, 0.0, 0), 800, np.random.default_rng(1)),
    }[kind]
    values = values[values > 0]
    ours = fit_power_law(values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = powerlaw.Fit(
            values,
            xmin=ours.xmin,
            discrete=True,
            verbose=False,
            parameter_ranges={"alpha": [1.0, 50.0]},
        )
        assert ours.alpha == pytest.approx(theirs.power_law.alpha, abs=2e-3)
        assert ours.ks == pytest.approx(theirs.power_law.D, abs=2e-3)


def test_without_the_extra_the_verdict_names_it(attachment, monkeypatch):
    monkeypatch.setattr(degree_tails, "find_spec", lambda name: None)
    found = tail_test(attachment, np.random.default_rng(0))
    assert found["p"] > 0.1
    assert found["lognormal_ratio"] is None
    assert "needs the extra [tails]" in found["verdict"]


def test_the_tail_of_preferential_attachment_is_recovered(attachment):
    pytest.importorskip("powerlaw")
    found = fit_power_law(attachment)
    assert 2.5 < found.alpha < 3.2
    told = tail_test(attachment, np.random.default_rng(0))
    assert told["p"] > 0.1
    assert told["exponential_ratio"] > 0
    assert "not" not in told["verdict"]
    assert "a power law" in told["verdict"]


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 6))]
)
def test_an_erdos_renyi_network_is_declared_not_a_power_law(seed):
    graph = nx.gnp_random_graph(2000, 6 / 2000, seed=seed)
    told = tail_test(degrees_of(graph), np.random.default_rng(seed))
    assert told["verdict"].startswith("not a power law")


BETTER, NEITHER, WORSE = (9.0, 0.0), (9.0, 0.5), (-9.0, 0.0)


@pytest.mark.parametrize(
    ("n", "in_tail", "p", "lognormal", "exponential", "words"),
    [
        (40, 40, 1.0, BETTER, BETTER, "undecided: 40 values"),
        (90, 90, 0.1, BETTER, BETTER, "not a power law: the fit is rejected"),
        (90, 90, 0.2, WORSE, BETTER, "not a power law: a lognormal fits better"),
        (90, 90, 0.2, BETTER, WORSE, "not a power law: an exponential fits better"),
        (90, 90, 0.2, NEITHER, BETTER, "perhaps a power law: a lognormal fits as well"),
        (90, 90, 0.2, BETTER, BETTER, "a power law"),
    ],
)
def test_verdicts(n, in_tail, p, lognormal, exponential, words):
    ratios = {"lognormal": lognormal, "exponential": exponential}
    assert verdict(n, PowerLawFit(1, 2.0, 0.1, in_tail), p, ratios) == words


def test_degrees_by_hand(run):
    """Since day 0 four people are tied to three others each."""
    table = degrees(run).set_index(["network", "degree"])
    assert table.loc[("grown", 3)].tolist() == [4, 1.0]
    # With day 0: S1 has S2, S3, S4 and S5; S2, S3, S4 three; S5 S1 and S6; S6 S5.
    every = table.loc["all"]
    assert every["scientists"].to_dict() == {1: 1, 2: 1, 3: 3, 4: 1}
    assert every["share_above"].tolist() == [1, 5 / 6, 4 / 6, 1 / 6]


def test_few_values_are_undecided(run, empty_run):
    for one in (run, empty_run):
        table = tail(one).set_index("of")
        assert table["verdict"].str.startswith("undecided").all()
    assert tail(run).set_index("of").loc["papers per scientist", "n"] == 4
