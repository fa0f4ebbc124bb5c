"""The proxy of litellm between a society and its models."""

import pytest

from tests.peers.runs import play, settings

pytestmark = pytest.mark.peers


def read_on(rung, reading):
    """True if every reply was read on a rung, but for abstracts: these are too short here, so that
    the server is asked once more."""
    forms = reading["by_form"].items()
    return reading["asked"] > 0 and all(
        rungs["re-asked" if form in ("Draft", "Revision") else rung] == sum(rungs.values())
        for form, rungs in forms
    )


def test_requests_pass_the_proxy_and_the_words_come_back_as_they_were(
    rules, proxy, played, tmp_path
):
    through = played("rules")
    # No other run reaches the server behind the proxy before the one below.
    counts = rules.counts()
    assert counts["requests"] == through.requests()
    assert counts["repeated_answers"] == 0
    backend = settings("rules", proxy) | {"api_base": rules.url}
    del backend["key"]
    direct = play(backend, tmp_path, proxy.key)
    assert direct.code == 0, direct.printed
    assert through.summary["digest"] == direct.summary["digest"]
    assert read_on("strict", through.summary["reading"])


@pytest.mark.parametrize(("name", "rung"), [("json", "strict"), ("prose", "found")])
def test_mock_models_are_read_on_their_rung(played, name, rung):
    assert read_on(rung, played(name).summary["reading"])
    assert played(name).summary["teams"]["published"] == 3


def test_who_never_writes_json_is_asked_thrice_and_then_defaults_stand(played):
    outcome = played("mute")
    reading, teams = outcome.summary["reading"], outcome.summary["teams"]
    assert reading["rungs"]["default"] + reading["rungs"]["unread"] == reading["asked"] > 0
    assert reading["verdicts"]["unreadable"] == reading["asked"]
    assert outcome.requests() == 3 * reading["asked"]
    assert teams["published"] == 0
    assert sum(teams["dissolved"].values()) == 3


@pytest.mark.parametrize(
    ("changes", "key", "told"),
    [
        ({}, "sk-another", "to a valid key"),
        ({"model": "nobody"}, None, "backend.model"),
        ({"model": "mock-busy", "retry": {"first": 0.05, "patience": 1.0}}, None, "HTTP 429"),
    ],
)
def test_what_the_proxy_refuses_stops_the_run_with_advice(proxy, tmp_path, changes, key, told):
    backend = settings("prose", proxy) | changes
    outcome = play(backend, tmp_path, key or proxy.key)
    assert outcome.code == 5, outcome.printed
    assert told in outcome.printed
    assert "Traceback" not in outcome.printed
    assert outcome.summary["partial"] is not None


def test_the_key_stands_nowhere(proxy, played):
    folder = played("json").folder
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    assert not [path.name for path in files if proxy.key.encode() in path.read_bytes()]
    assert proxy.key not in played("json").printed
