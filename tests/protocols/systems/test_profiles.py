"""The profiles of the systems, whose keys give way to those that a scenario gives beside them."""

import pytest

from tests.protocols.systems.conftest import SMALL
from virsci_society.protocols.parts.research_system import ResearchSystem
from virsci_society.scenarios.config.registry import PROTOCOLS, import_class
from virsci_society.scenarios.config.schema import load_scenario

SYSTEMS = [name for name in SMALL if issubclass(import_class(PROTOCOLS[name]), ResearchSystem)]


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_profile_sets_keys_that_are_not_given(name):
    kind = import_class(PROTOCOLS[name])
    for profile, keys in (("published", kind.published), ("matched", kind.matched)):
        made = kind(profile=profile)
        assert {key: getattr(made, key) for key in keys} == dict(keys)
        defaults = {key: kind.model_fields[key].default for key in keys}
        assert not defaults.items() & dict(keys).items(), "a key that says nothing"
        given = kind(profile=profile, **defaults)
        assert {key: getattr(given, key) for key in keys} == defaults
    assert kind.published, "no number of the published program is stated"
    assert kind(profile="matched").found_by == "idea"
    assert kind(profile="matched").output == "abstract"


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_profile_survives_being_written_and_read(name):
    scenario = load_scenario(
        "quickstart", **{"protocol.use": name, "protocol.profile": "published"}
    )
    kind = import_class(PROTOCOLS[name])
    assert kind.published.keys() <= scenario.protocol.implied
    explicit = scenario.to_explicit_data()["protocol"]
    assert not kind.published.keys() & explicit.keys()
    changed = load_scenario("quickstart", **{"protocol.use": name, "protocol.profile": "matched"})
    assert changed.protocol.implied >= {"found_by"}


def test_an_unknown_profile_is_refused_by_name():
    with pytest.raises(ValueError, match="published"):
        import_class(PROTOCOLS["hypogen"])(profile="publisht")
