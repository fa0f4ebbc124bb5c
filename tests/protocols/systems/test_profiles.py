"""The profiles of the systems, whose keys give way to those that a scenario gives beside them."""

import pytest

from tests.protocols.systems.conftest import SMALL, make
from virsci_society.agents.backends.openai import OpenAI
from virsci_society.protocols.engines.research_system import ResearchSystem
from virsci_society.scenarios.config.reader import import_class
from virsci_society.scenarios.config.registry import PROTOCOLS
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
    assert kind(profile="matched").neighbour_query == "idea"
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
    default = load_scenario("quickstart", **{"protocol.use": name})
    assert kind.published.keys() <= default.protocol.implied, "another profile lies over a default"
    changed = load_scenario("quickstart", **{"protocol.use": name, "protocol.profile": "matched"})
    assert changed.protocol.implied >= {"neighbour_query"}


def test_an_unknown_profile_is_refused_by_name():
    with pytest.raises(ValueError, match="published"):
        import_class(PROTOCOLS["hypogen"])(profile="publisht")


def test_a_page_has_the_temperature_of_the_profile_and_others_that_of_the_model(live):
    asked = live(make("virtual_lab", profile="published", parallel=2, rounds=1)).asked
    given = {request.page: request.temperature for _, request, _ in asked}
    assert {given[page] for page in ("meeting", "closing")} == {0.8}
    assert {given[page] for page in ("aggregation", "criticism", "refinement")} == {0.2}
    assert given["draft"] is None
    backend = OpenAI(model="test", api_base="http://localhost:1", temperature=0.7)
    sent = {r.page: backend.request_fields(r)["temperature"] for _, r, _ in asked}
    assert (sent["meeting"], sent["aggregation"], sent["draft"]) == (0.8, 0.2, 0.7)
    bare = backend.model_copy(update={"temperature": None})
    assert not any("temperature" in bare.request_fields(request) for _, request, _ in asked)


def test_a_temperature_decides_the_hash_of_a_request_where_it_is_given(live):
    plain, cold, same = (
        live(make("debate", temperatures=value)).asked for value in (None, 0.2, 0.2)
    )
    hashes = [[r.hash for _, r, _ in asked if r.page == "idea"] for asked in (plain, cold, same)]
    assert hashes[1] == hashes[2]
    assert not set(hashes[0]) & set(hashes[1])


def test_a_temperature_of_no_page_is_refused():
    with pytest.raises(ValueError, match="no prompt is called 'meting'; did you mean 'meeting'"):
        import_class(PROTOCOLS["virtual_lab"])(temperatures={"meting": 0.2})
