"""A key that a release adds makes no other run of a folder, unless it is set to something."""

import json

import pytest

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.runs.execute import is_finished, run_scenario
from virsci_society.scenarios.runs.identity import added_keys, drop_paths, is_same_scenario
from virsci_society.scenarios.runs.run_folder import hash_json, identity_hash

SMALL = {
    "until": "60d",
    "population.ecosystem.scientists": 12,
    "population.ecosystem.papers": 60,
    "protocol.turns": 1,
    "protocol.team_size": 2,
    "metrics": "[cost]",
}
ADDED = [("founding", "leaders"), ("protocol", "speaking_order")]
"""Keys that we let an earlier release not have."""


def scenario(**more):
    given = {**SMALL, **more}
    return load_scenario(
        "virsci/paper", settings=[f"{key}={value}" for key, value in given.items()]
    )


def earlier(one, paths=ADDED):
    """Identity and scenario as a release without some keys would have written them."""
    return hash_json(drop_paths(one.identity(), paths)), drop_paths(one.to_data(), paths)


def test_keys_are_told_by_their_paths_and_new_sections_as_one():
    known = {"a": 1, "b": {"c": 1}}
    data = {"a": 2, "b": {"c": {"d": 1}, "e": 1}, "f": {"g": 1}}
    assert added_keys(known, data) == [("b", "e"), ("f",)]
    assert drop_paths(data, [("b", "e"), ("f",)]) == {"a": 2, "b": {"c": {"d": 1}}}


def test_what_an_earlier_release_did_not_know_is_no_difference_at_its_default():
    one = scenario()
    assert one.to_data()["founding"]["leaders"] is None
    assert is_same_scenario(*earlier(one), one)
    assert is_same_scenario(identity_hash(one), one.to_data(), one)


def test_outside_seats_are_no_part_of_a_run_without_them():
    assert "outside_seats" not in scenario().identity()["population"]
    on = scenario(**{"population.outside_seats.use": "counted"})
    assert on.identity()["population"]["outside_seats"]["use"] == "counted"


def test_it_is_a_difference_once_it_is_set():
    held = earlier(scenario())
    assert not is_same_scenario(*held, scenario(**{"protocol.speaking_order": "random"}))


def test_another_default_is_a_difference():
    one = scenario()
    known = drop_paths(one.to_data(), ADDED)
    known["protocol"]["turns"] = 9
    was = drop_paths(one.identity(), ADDED)
    was["protocol"]["turns"] = 9
    assert not is_same_scenario(hash_json(was), known, one)
    assert not is_same_scenario("something else", known, one)
    assert not is_same_scenario("something else", None, one)


@pytest.fixture(scope="module")
def older(tmp_path_factory):
    """A finished run folder as an earlier release would have left it."""
    folder = run_scenario(scenario(), tmp_path_factory.mktemp("older") / "run", page=False)
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["hashes"]
    (folder / "hashes.json").unlink()
    manifest["identity"], manifest["scenario"] = earlier(scenario())
    path.write_text(json.dumps(manifest))
    return folder


def test_a_finished_folder_of_an_earlier_release_is_finished(older):
    assert is_finished(scenario(), older)
    assert not is_finished(scenario(**{"protocol.turns": 2}), older)


def test_without_its_journal_another_run_is_refused(older):
    (older / "journal.sqlite").rename(older / "kept.sqlite")
    assert is_finished(scenario(), older)
    with pytest.raises(InputError, match="another scenario"):
        is_finished(scenario(**{"protocol.turns": 2}), older)
    (older / "kept.sqlite").rename(older / "journal.sqlite")


def test_a_journal_of_an_earlier_release_belongs_to_the_same_scenario(older):
    from virsci_society.agents.journal.journal import Journal
    from virsci_society.scenarios.runs.run_journal import matches_journal

    held, known = earlier(scenario())
    with Journal.open(older / "journal.sqlite") as journal:
        journal.set_meta("identity", held)
        journal.set_meta("scenario", json.dumps(known))
        assert matches_journal(journal, scenario())
        assert not matches_journal(journal, scenario(**{"protocol.turns": 2}))
