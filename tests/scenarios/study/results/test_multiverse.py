"""Findings over all settings of ``each``: planted ones are found, and none where there is none."""

import re
from itertools import product

import numpy as np
import pytest

from tests.scenarios.study.study_folder import told_of, write_study
from virsci_society.scenarios.study.results import multiverse
from virsci_society.scenarios.study.results.multiverse import multiverses
from virsci_society.scenarios.study.results.page import write_study_page
from virsci_society.scenarios.study.results.study import Study

EACH = {"backend.temperature": [0.0, 0.5, 1.0], "backend.model": ["a", "b", "c", "d"]}
SEEDS = 8


def made(folder, effect, spread, lacking=()):
    """A study of two arms in twelve settings, the second arm higher by an effect that varies."""
    rng, arms, values, told = np.random.default_rng(2), {}, {}, []
    by_model = dict(zip(EACH["backend.model"], rng.normal(0, spread, 4), strict=True))
    # Listed setting by setting, as studies are.
    for settings in product(*EACH.values()):
        block = dict(zip(EACH, settings, strict=True))
        shown = ", ".join(str(value) for value in settings)
        shared = rng.normal(0, 1, SEEDS)
        for of in ("plain", "new"):
            name = f"{of} ({shown})"
            extra = effect + by_model[block["backend.model"]] if of == "new" else 0.0
            own = shared + extra + rng.normal(0, 0.1, SEEDS)
            arms[name], values[name, "ON"] = block, own.tolist()
            told.append({"name": name, "set": block, "of": of, "block": block})
            if name in lacking:
                values[name, "ON"][3] = float("nan")
        # One planned test in each setting, as the lock has them.
    pairs = [list(pair) for pair in zip(list(arms)[::2], list(arms)[1::2], strict=True)]
    planned = [{"test": "paired", "of": "ON", "arms": pair} for pair in pairs]
    description = told_of(arms, ["ON"], SEEDS, comparisons=planned)
    return write_study(folder, {**description, "arms": told}, values)


def test_a_finding_that_holds_everywhere_is_told_and_what_it_varies_with(tmp_path):
    study = Study.open(made(tmp_path / "study", 2.0, 0.5))
    (row,) = multiverse.findings(multiverses(study)).to_dict("records")
    assert (row["first"], row["second"], row["universes"], row["seeds"]) == ("plain", "new", 12, 8)
    assert (row["same_sign"], row["clear"]) == (1.0, 1.0)
    assert row["low"] < row["difference"] < row["high"]
    assert row["least"] < row["difference"] < row["most"]
    parts = multiverse.components(multiverses(study)).set_index("source")
    assert list(parts.index) == ["backend.temperature", "backend.model", "seed", "the rest"]
    assert parts["share"]["backend.model"] > 0.8
    assert parts["low"]["backend.model"] > 0
    assert parts["low"]["backend.temperature"] == 0


def test_a_finding_that_turns_with_the_model_is_not_called_the_same(tmp_path):
    study = Study.open(made(tmp_path / "study", 0.0, 1.0))
    (row,) = multiverse.findings(multiverses(study)).to_dict("records")
    assert row["same_sign"] < 1.0
    assert row["least"] < 0 < row["most"]


def test_a_seed_that_one_setting_lacks_is_left_out_of_all(tmp_path):
    lacking = ["new (0.5, c)"]
    study = Study.open(made(tmp_path / "study", 1.0, 0.1, lacking))
    assert multiverse.findings(multiverses(study))["seeds"].tolist() == [7]


def test_a_study_without_settings_has_no_such_table(tmp_path):
    arms = {"plain": {}, "new": {}}
    told = told_of(arms, ["ON"], 4, comparisons=[{"test": "paired", "of": "ON"}])
    study = Study.open(write_study(tmp_path / "s", told, {(a, "ON"): [1.0, 2, 3, 4] for a in arms}))
    assert multiverse.findings(multiverses(study)).empty
    assert multiverse.components(multiverses(study)).empty


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", ["multiverse", "variance_components"])
def test_the_page_and_its_files_show_it(tmp_path, name):
    folder = made(tmp_path / "study", 2.0, 0.5)
    page = write_study_page(folder).read_text(encoding="utf-8")
    assert (folder / "report" / f"{name}.csv").is_file()
    text = re.sub(r"<[^>]+>", " ", page)
    assert "Does it hold in every setting?" in text
    assert "backend.model" in text
    assert re.search(r"Over all 12 settings, the overall novelty differed by [12]\.\d+ on", text)
    assert "on average (new, less plain; 95 % interval" in text
    assert "with the same sign in 12 of 12." in text


def test_no_difference_at_all_has_no_sign(tmp_path):
    folder = made(tmp_path / "study", 2.0, 0.5)
    study = Study.open(folder)
    equal = study.results.assign(value=1.0)
    level = Study(folder, study.description, study.runs, equal)
    (row,) = multiverse.findings(multiverses(level)).to_dict("records")
    assert row["difference"] == 0
    assert np.isnan(row["same_sign"])
    assert np.isnan(row["clear"])


def test_arms_of_two_settings_are_no_pair_of_a_universe(tmp_path):
    folder = made(tmp_path / "study", 2.0, 0.5)
    study = Study.open(folder)
    across = {"test": "paired", "of": "ON", "arms": ["plain (0.0, a)", "plain (0.0, b)"]}
    told = study.description.model_dump() | {"comparisons": [across]}
    description = type(study.description).model_validate(told)
    assert not multiverses(Study(folder, description, study.runs, study.results))
