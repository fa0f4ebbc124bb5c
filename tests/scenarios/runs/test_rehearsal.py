"""The longest page, the window that holds it, and runs whose prompts nobody cuts."""

import pytest

from tests.faultserver import Plan
from virsci_society import load_scenario, run_scenario
from virsci_society.agents.backends.hybrid import Hybrid
from virsci_society.agents.backends.litellm import LiteLLM
from virsci_society.agents.errors import InputError
from virsci_society.scenarios.runs.execute import SharedResources, replay
from virsci_society.scenarios.runs.rehearsal import (
    LONGEST_RATIO,
    SMALLEST,
    StandIn,
    longest_prompt,
    size_window,
    tokens_needed,
    window_size,
)
from virsci_society.society.results.run import Run

OLLAMA = {"backend.use": "litellm", "backend.model": "ollama_chat/test"}


@pytest.fixture
def path(small_text, tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(small_text, encoding="utf-8")
    return path


def spoken(path, server, plan, **keys):
    """The scenario with a played Ollama, whose counts begin anew."""
    server.plan(plan)
    server.reset()
    base = {"backend.api_base": server.url.removesuffix("/v1")}
    return load_scenario(path, **(OLLAMA | base | keys))


def need(scenario):
    return tokens_needed(scenario.backend.backend, longest_prompt(scenario))


def window_of(scenario):
    backend = scenario.backend.backend.paid
    assert isinstance(backend, LiteLLM)
    return backend.window


def test_windows_are_twice_or_half_as_long_again():
    sizes = [window_size(need) for need in (1, 4096, 4097, 6145, 8193, 12_289, 100_000)]
    assert sizes == [4096, 4096, 6144, 8192, 12_288, 16_384, 131_072]
    assert SMALLEST == 4096


def test_no_prompt_of_a_run_is_longer_than_the_longest(path, small_run):
    longest = Run.open(small_run).table("calls")["prompt_tokens"].max()
    length = longest_prompt(load_scenario(path, **OLLAMA))
    assert LONGEST_RATIO * longest == pytest.approx(length / 4, rel=0.01)


def test_rules_stand_in_for_the_model_alone():
    """The rules of a hybrid answer for themselves; limits and hashes are those of the model."""
    model = LiteLLM(model="ollama_chat/test", context=5000)
    hybrid = Hybrid(live=model, scientists=["A"])
    stand_in = StandIn(model=hybrid)
    assert stand_in.backend_for("A/1/topic/1", "A") is stand_in
    assert stand_in.backend_for("B/1/topic/1", "B") is hybrid.base
    assert stand_in.model_settings == hybrid.model_settings
    assert stand_in.max_prompt_characters == model.max_prompt_characters
    assert stand_in.inline
    assert not stand_in.rule_based


@pytest.mark.slow
def test_a_run_asks_for_one_window_that_holds_every_page(path, server, no_results):
    scenario = spoken(path, server, Plan(plays="ollama"))
    folder = run_scenario(scenario, path.parent / "run")
    counts = server.counts()
    wanted = window_size(need(scenario))
    assert counts["windows"] == {str(wanted): counts["requests"]}
    assert counts["requests"] > 10
    assert counts["cut"] == 0
    assert set(counts["outcomes"]) == {"answered"}
    # The window is in no hash: the journal replays without a server, and so without a window.
    server.plan(Plan())
    assert replay(folder) == (folder / "digest").read_text(encoding="utf-8").strip()
    assert server.counts()["requests"] == counts["requests"]


def test_a_window_that_is_too_short_is_refused_before_the_first_call(path, server, no_results):
    scenario = spoken(path, server, Plan(plays="ollama", trained=4096))
    with pytest.raises(InputError, match=r"made for 4,096; set backend\.context=4096"):
        run_scenario(scenario, path.parent / "run")
    assert server.counts()["requests"] == 0


@pytest.mark.slow
def test_a_stated_context_is_asked_for_and_pages_are_trimmed_to_it(path, server, no_results):
    keys = {"backend.context": 2048, "backend.max_tokens": 500}
    plan = Plan(plays="ollama", trained=2048)
    scenario = spoken(path, server, plan, **keys)
    assert size_window(scenario) is scenario
    assert need(scenario) > 2048
    run_scenario(scenario, path.parent / "run")
    counts = server.counts()
    assert counts["windows"] == {"2048": counts["requests"]}
    assert counts["cut"] == 0
    assert "overflow" not in counts["outcomes"]


def test_the_window_is_no_longer_than_what_the_model_was_made_for(path, server):
    scenario = spoken(path, server, Plan(plays="ollama"))
    wanted = need(scenario)
    assert wanted < window_size(wanted)
    server.plan(Plan(plays="ollama", trained=wanted))
    assert window_of(size_window(scenario)) == wanted


def test_others_are_left_as_they_are(path):
    for keys in ({}, {"backend.use": "openai", "backend.model": "m"}):
        scenario = load_scenario(path, **keys)
        assert size_window(scenario) is scenario


def test_the_live_part_of_a_hybrid_is_sized(path, server):
    server.plan(Plan(plays="ollama"))
    base = server.url.removesuffix("/v1")
    live = {"use": "litellm", "model": "ollama_chat/test", "api_base": base}
    hybrid = {"backend.use": "hybrid", "backend.live": live, "backend.live_share": 1.0}
    scenario = load_scenario(path, **hybrid)
    sized = size_window(scenario)
    assert window_of(sized) == window_size(need(scenario))
    assert sized.seeded_backend.about == scenario.seeded_backend.about
    assert sized.identity() == scenario.identity()


def test_runs_share_connections_only_if_they_ask_for_one_window(path):
    resources = SharedResources(shared=True)
    scenario = load_scenario(path, **OLLAMA)

    def sized(tokens):
        speaking = scenario.backend
        backend = speaking.backend.with_window(tokens)
        changed = speaking.model_copy(update={"backend": backend})
        return scenario.model_copy(update={"backend": changed})

    first, second, third = (resources.endpoint_of(sized(n)) for n in (8192, 8192, 4096))
    assert first is second
    assert first is not third
    resources.close()
