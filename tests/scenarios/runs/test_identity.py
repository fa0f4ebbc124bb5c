"""The identity of a run: the keys that differ from the defaults of a numbered identity."""

import json
import re
import shutil

import pytest

from tests.scenarios.config.test_keys import KNOWN
from virsci_society.agents.config import Part
from virsci_society.agents.errors import InputError
from virsci_society.agents.files.file_hashes import hash_json, update_hashes
from virsci_society.agents.journal.journal import Journal
from virsci_society.agents.offline.backend import LogisticAcceptance
from virsci_society.scenarios.config.reader import differing_keys, write_part
from virsci_society.scenarios.config.schema import Scenario, load_scenario
from virsci_society.scenarios.runs.execute import is_finished, replay, run_scenario
from virsci_society.scenarios.runs.fork import Fork
from virsci_society.scenarios.runs.run_journal import identity_hash

SMALL = {
    "until": "60d",
    "population.ecosystem.scientists": 12,
    "population.ecosystem.papers": 60,
    "protocol.turns": 1,
    "protocol.team_size": 2,
    "metrics": "[cost]",
}
DEFAULTS = "03594bb93e10d26eafc6a33dbf58d4071203eaf04922eef329463f08dad6c287"
"""sha256 of the defaults of all identity keys of identity 2."""


def scenario(**more):
    given = {**SMALL, **more}
    return load_scenario(
        "virsci/paper", settings=[f"{key}={value}" for key, value in given.items()]
    )


def test_defaults_of_the_identity_are_those_of_its_number():
    """A changed default needs another number (``config.document.IDENTITY``).

    A key that came later says so in its meaning, such as "Since 0.3.", and is not among them.
    """
    first = {name: row for name, row in KNOWN.items() if not re.search(r"\bSince \d", row.meaning)}
    defaults = sorted(
        [title or "Top level", key, row.default] for (title, key), row in first.items()
    )
    assert hash_json(defaults) == DEFAULTS, (
        "a default changed: it needs another IDENTITY (scenarios/config/document.py). A key that "
        "is new says so in its text, with the next release: 'Since 0.3.'; one that came within "
        "the release under way changes DEFAULTS"
    )


def test_a_scenario_of_defaults_has_an_empty_identity():
    assert Scenario().identity() == {}


def test_a_key_that_is_added_is_in_no_identity_before_it_is_set():
    class Before(Part):
        turns: int = 3

    class Now(Before):
        added: int = 0

    assert differing_keys(Now(turns=5)) == differing_keys(Before(turns=5)) == {"turns": 5}
    assert differing_keys(Now(added=1)) == {"added": 1}


def test_a_section_of_another_class_holds_what_differs_from_its_own_defaults():
    plain = scenario(**{"founding.use": "poisson"})
    assert plain.identity().get("founding", {}) == {}
    drifting = scenario(**{"population.drift.use": "writing"})
    assert drifting.identity()["population"]["drift"] == {"use": "writing"}
    assert identity_hash(drifting) != identity_hash(scenario())


def test_the_usual_rule_of_acceptance_is_no_part_of_an_identity():
    usual = {"use": "logistic", **write_part(LogisticAcceptance())}
    now = load_scenario("quickstart")
    assert identity_hash(now.set("backend.acceptance", usual)) == identity_hash(now)
    other = now.set("backend.acceptance.load", 0.0)
    assert other.identity()["backend"] == {"acceptance": {"load": 0.0}}
    assert identity_hash(other) != identity_hash(now)


@pytest.fixture(scope="module")
def current(tmp_path_factory):
    return run_scenario(scenario(), tmp_path_factory.mktemp("current") / "run", page=False)


@pytest.fixture
def other(current, tmp_path):
    """A finished run folder that another identity would have left."""
    folder = tmp_path / "other"
    shutil.copytree(current, folder)
    manifest = folder / "manifest.json"
    told = json.loads(manifest.read_text(encoding="utf-8")) | {"identity_number": 1}
    manifest.write_text(json.dumps(told), encoding="utf-8")
    update_hashes(folder, [manifest])
    with Journal(folder / "journal.sqlite") as journal:
        journal.set_meta({"identity_number": "1"})
    return folder


def test_manifest_and_journal_bear_the_number(current):
    assert json.loads((current / "manifest.json").read_text())["identity_number"] == 2
    with Journal(current / "journal.sqlite", frozen=True) as journal:
        assert journal.meta("identity_number") == "2"
    assert is_finished(scenario(), current)
    assert not is_finished(scenario(**{"protocol.turns": 2}), current)


def test_without_its_journal_another_run_is_refused(current, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(current, folder)
    (folder / "journal.sqlite").unlink()
    assert is_finished(scenario(), folder)
    with pytest.raises(InputError, match="another scenario"):
        is_finished(scenario(**{"protocol.turns": 2}), folder)


@pytest.mark.parametrize(
    "resume_hint",
    [
        lambda folder: run_scenario(scenario(), folder),
        lambda folder: replay(folder),
        lambda folder: Fork.of(folder, "30d", ["seed=9"]),
        lambda folder: run_scenario(scenario(seed=9), folder.parent / "new", fork=folder),
    ],
    ids=["resume", "replay", "fork", "calls"],
)
def test_a_run_of_another_identity_is_refused(other, resume_hint):
    with pytest.raises(InputError, match="under identity 1, and this program has identity 2; run"):
        resume_hint(other)


def test_a_stopped_run_of_another_identity_is_refused_too(other):
    (other / "manifest.json").unlink()
    with pytest.raises(InputError, match="under identity 1"):
        run_scenario(scenario(), other)
