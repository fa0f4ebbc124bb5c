"""The offline mechanism is alive: outcomes depend on who is in the team, and on nothing hidden."""

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import benchmarks.mechanism as mechanism
from benchmarks.mechanism import (
    LEAST,
    MOST,
    SHUFFLED,
    TRUE,
    Arm,
    Replicate,
    Shuffled,
    as_json,
    contrasts,
    differences,
    diversity_families,
    every_family,
    fields_named,
    measure,
    named,
    replicates,
    show_arms,
    show_contrasts,
    show_heading,
    show_named,
    work,
)
from virsci_society.metrics.inference.comparisons import holm
from virsci_society.metrics.novelty.other_papers import databases_of
from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic
from virsci_society.society.ecosystem.synthetic.text import research_fields
from virsci_society.society.literature.embedding.base import paper_text

ROOT = Path(__file__).resolve().parents[1]
SMALL = Synthetic(scientists=80, papers=300)
FAMILIES = diversity_families(turns=1, middle=False)
ARMS = [arm for arms in FAMILIES.values() for arm in arms.values()]
LESS = f"{TRUE} less shuffled"


@pytest.fixture(scope="module")
def found():
    """Eight seeds in two ecosystems: diversity 1/n and 1, true and shuffled profiles."""
    return [one for world in (0, 1) for one in replicates(world, range(world, 8, 2), ARMS, SMALL)]


@pytest.fixture(scope="module")
def small():
    return SMALL.generate(0)


@pytest.fixture(scope="module")
def leader(found):
    """The seed of a society whose leader can build the team of every arm."""
    one = next(one for one in found if one.world == 0)
    return 1000 * one.seed + len(one.failed)


@pytest.mark.slow
def test_diverse_teams_write_farther_from_the_past(found):
    gap = named(contrasts(found, FAMILIES)).gap
    assert gap.n == 8
    assert gap.low > 0


@pytest.mark.slow
def test_the_named_contrast_survives_holm_over_everything_printed(found):
    assert named(contrasts(found, FAMILIES)).holm < 0.05


@pytest.mark.slow
def test_it_vanishes_when_profiles_are_shuffled(found):
    everything = contrasts(found, FAMILIES)
    control = named(everything, SHUFFLED)
    # Corrected as the named contrast is: a bare 95 % interval misses zero once in twenty redraws.
    assert control.holm > 0.05
    assert abs(control.gap.value) < named(everything).gap.value / 2


@pytest.mark.slow
def test_shuffling_makes_a_difference_of_its_own(found):
    assert named(contrasts(found, FAMILIES), LESS).gap.low > 0


@pytest.mark.slow
def test_it_is_content_and_neither_length_nor_wording(found):
    everything = contrasts(found, FAMILIES)
    for name in ("HD first words", "HD terms only", "HD interests", "fields"):
        assert named(everything, TRUE, name).gap.low > 0, name
    words = named(everything, TRUE, "words").gap
    assert words.low <= 0 <= words.high


@pytest.mark.slow
def test_teams_are_what_was_asked_for(found):
    for one in found:
        for arms in FAMILIES.values():
            assert one.values[arms[LEAST]]["diversity"] == 1 / 8
            assert one.values[arms[MOST]]["diversity"] == 1
        assert all(values["size"] == 8 for values in one.values.values())


@pytest.mark.slow
def test_true_profiles_are_spoken_as_believed_and_shuffled_ones_are_not(found):
    for one in found:
        for arm, values in one.values.items():
            assert (values["spoken"] == values["diversity"]) is not arm.shuffled


@pytest.mark.slow
def test_the_control_has_the_same_people_in_other_clothes(small, leader):
    for label in (LEAST, MOST):
        plain, paper = work(small, FAMILIES[TRUE][label], leader)
        control, other = work(small, FAMILIES[SHUFFLED][label], leader)
        assert isinstance(control, Shuffled)
        assert paper.authors == other.authors
        assert plain.log.rows["invitations"] == control.log.rows["invitations"]
        assert paper.abstract != other.abstract


@pytest.mark.slow
def test_shuffling_moves_interests_only_and_loses_none(small, leader):
    control, _ = work(small, Arm(size=1, turns=1, shuffled=True), leader)
    given = control.ecosystem.profiles
    assert sorted(p.interests for p in given) == sorted(p.interests for p in small.profiles)
    pairs = list(zip(given, small.profiles, strict=True))
    assert all(
        (p.id, p.papers, p.collaborators) == (q.id, q.papers, q.collaborators) for p, q in pairs
    )
    assert sum(p.interests == q.interests for p, q in pairs) < len(pairs) / 10


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_attained_freshness_is_counted_from_the_network(small, share):
    for seed in range(20):
        values = measure(small, Arm(size=4, turns=1, freshness=share), seed)
        if values is not None:
            assert values["freshness"] == share
            return
    pytest.fail("no leader could build the team")


@pytest.mark.slow
def test_a_measure_agrees_with_plain_distances(small, leader):
    arm = Arm(size=2, turns=1)
    _, paper = work(small, arm, leader)
    vector = small.embedding.encode([paper_text(paper.title, paper.abstract)])[0]
    past = databases_of(small).past.vectors.astype(np.float64)
    lengths = np.linalg.norm(past, axis=1, keepdims=True)
    unit = vector / np.linalg.norm(vector.astype(np.float64))
    gaps = np.sort(np.linalg.norm(past / np.where(lengths > 0, lengths, 1) - unit, axis=1))
    assert measure(small, arm, leader)["HD raw"] == pytest.approx(gaps[:5].mean(), abs=1e-6)


@pytest.mark.slow
def test_the_same_seed_measures_the_same(small, leader):
    arm = FAMILIES[SHUFFLED][MOST]
    assert measure(small, arm, leader) == measure(small, arm, leader)


def _made_up(numbers):
    """Replicates whose every value in an arm is the number given for that arm."""
    names = ("HD", "CD", "CI", "ON", *mechanism.CHECKS[TRUE])
    rows = [dict(zip(ARMS, row, strict=True)) for row in numbers]
    return [
        Replicate(seed, 0, (), {arm: dict.fromkeys(names, value) for arm, value in row.items()})
        for seed, row in enumerate(rows)
    ]


def test_contrasts_are_paired_by_seed_and_corrected_together():
    # Columns: true 1/n, true 1, shuffled 1/n, shuffled 1.
    one, other = [1.0, 2.0, 3.0, 5.0], [0.5, -0.5, 0.25, -0.25]
    made = _made_up([[10.0, 10.0 + a, 4.0, 4.0 + b] for a, b in zip(one, other, strict=True)])
    everything = contrasts(made, FAMILIES)
    assert len(everything) == 4 + 4 + 4 + 6 + 6
    assert [c.holm for c in everything] == holm([c.p for c in everything])
    true = named(everything)
    assert true.gap.value == pytest.approx(2.75)
    assert true.p == pytest.approx(stats.ttest_1samp(one, 0).pvalue)
    assert true.effect == pytest.approx(2.75 / np.std(one, ddof=1))
    assert named(everything, LESS).gap.value == pytest.approx(2.75 - 0.0)
    gaps = differences(made, ARMS[1], ARMS[0], "HD", less=(ARMS[3], ARMS[2]))
    assert gaps == pytest.approx([0.5, 2.5, 2.75, 5.25])


def test_arms_that_never_differ_are_no_evidence():
    true = named(contrasts(_made_up([[1.0] * 4] * 3), FAMILIES))
    assert (true.p, true.holm, true.effect) == (1.0, 1.0, 0.0)


def test_fields_named_is_an_effective_number():
    first, second = research_fields()[0], research_fields()[1]
    assert fields_named("nothing of the kind") == 0
    assert fields_named(f"{first.head} and {first.objects[0]}") == 1
    assert fields_named(f"{first.themes[0].upper()} with {second.objects[1]}") == 2
    three = f"{first.objects[0]}, {first.objects[1]}, {second.objects[1]}"
    assert fields_named(three) == pytest.approx(9 / 5)


def test_a_leader_who_fails_is_replaced_in_all_arms(small, monkeypatch):
    asked = []

    def fails_at_first(ecosystem, arm, seed):
        asked.append((arm, seed))
        return None if (arm, seed) == (ARMS[1], 7000) else {"HD": 1.0}

    monkeypatch.setattr(mechanism, "measure", fails_at_first)
    one = mechanism._replicate(small, 0, 7, ARMS)
    assert one.failed == (ARMS[1],)
    assert asked == [(ARMS[0], 7000), (ARMS[1], 7000), *((arm, 7001) for arm in ARMS)]


def test_it_gives_up_and_names_the_seed(small, monkeypatch):
    monkeypatch.setattr(mechanism, "measure", lambda *_: None)
    with pytest.raises(SystemExit, match="seed 7"):
        mechanism._replicate(small, 0, 7, ARMS)


def test_every_switch_that_is_asked_for_has_its_arms():
    families = every_family()
    assert [arm.size for arm in families["team size"].values()] == [1, 2, 4, 6, 8]
    assert [arm.turns for arm in families["turns"].values()] == [1, 2, 3, 5]
    assert [arm.freshness for arm in families["freshness"].values()] == [0, 0.5, 1]
    assert [arm.diversity for arm in families[TRUE].values()] == [1 / 8, 0.5, 1]
    assert all(
        arm.size == 8 for name in ("freshness", TRUE, SHUFFLED) for arm in families[name].values()
    )
    assert all(
        arm.shuffled is (name == SHUFFLED)
        for name, arms in families.items()
        for arm in arms.values()
    )


@pytest.mark.slow
def test_the_page_says_who_speaks_and_shows_every_arm_and_contrast(found, capsys):
    everything = contrasts(found, FAMILIES)
    show_heading(found, FAMILIES)
    show_arms(found, FAMILIES)
    show_contrasts(everything)
    show_named(found, everything, FAMILIES)
    page = capsys.readouterr().out
    assert "rule-based scientists, not a language model" in page
    assert "8 seeds in 2 ecosystems" in page
    assert page.count(" - 1/n ") == len(everything) == 24
    assert "excludes zero after Holm: yes" in page
    assert "interval holds zero: " in page


@pytest.mark.slow
def test_fewer_than_five_seeds_are_called_a_sketch(found, capsys):
    show_heading(found[:4], FAMILIES)
    assert "sketch" in capsys.readouterr().out


@pytest.mark.slow
def test_the_json_holds_every_number(found):
    everything = contrasts(found, FAMILIES)
    data = json.loads(as_json(found, everything, FAMILIES))
    assert data["about"] == "rule-based scientists, not a language model"
    assert len(data["values"]) == 8 * 4
    assert {"seed", "ecosystem", "family", "arm", "HD", "freshness"} <= data["values"][0].keys()
    assert len(data["contrasts"]) == len(everything)
    assert all(math.isfinite(one["p"]) for one in data["contrasts"])


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_all_thirty_seeds(tmp_path):
    out = tmp_path / "mechanism.json"
    script = [sys.executable, str(ROOT / "benchmarks" / "mechanism.py")]
    asked = [*script, "--full", "--json", str(out)]
    page = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    assert "30 seeds in 6 ecosystems" in page
    everything = json.loads(out.read_text(encoding="utf-8"))["contrasts"]
    ends = {
        one["family"]: one
        for one in everything
        if one["measure"] == "HD" and one["arms"] == [MOST, LEAST]
    }
    assert ends[TRUE]["gap"]["low"] > 0
    assert ends[TRUE]["holm"] < 0.05
    assert ends[SHUFFLED]["holm"] > 0.05
    assert abs(ends[SHUFFLED]["gap"]["value"]) < ends[TRUE]["gap"]["value"] / 4
    assert ends[LESS]["holm"] < 0.05
