"""What a run will take: one rehearsal by rules, times stated ratios."""

import json

import pytest

from tests.agents.backends.live_provider import completion, http
from tests.command_line import society
from virsci_society import load_scenario
from virsci_society.scenarios.planning import speed
from virsci_society.scenarios.planning.plan import PROMPT_RATIO, REPLY_RATIO, plan
from virsci_society.scenarios.planning.speed import ASSUMED, duration
from virsci_society.society.results.run import Run

MODEL = {"backend.use": "openai", "backend.model": "m"}


@pytest.fixture
def small(small_text, tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(small_text, encoding="utf-8")
    return path


def live(server, *more):
    keys = {"backend.use": "openai", "backend.model": "test", "backend.api_base": server.url}
    return [part for k, v in keys.items() for part in ("--set", f"{k}={v}")] + list(more)


def test_a_plan_of_rules_is_what_they_do(small, small_run):
    planned = plan(load_scenario(small))
    calls = Run.open(small_run).table("calls")
    assert planned.by_rules
    assert planned.assumptions == ""
    assert planned.calls == len(calls)
    assert planned.prompt_tokens == calls["prompt_tokens"].sum()
    assert planned.completion_tokens == calls["completion_tokens"].sum()
    assert planned.seconds == 0.0


def test_a_plan_of_a_model_is_that_of_rules_times_stated_ratios(small):
    rules, model = plan(load_scenario(small)), plan(load_scenario(small, **MODEL))
    assert model.calls == rules.calls
    assert model.prompt_tokens == pytest.approx(PROMPT_RATIO * rules.prompt_tokens, rel=0.01)
    assert model.completion_tokens == pytest.approx(REPLY_RATIO * rules.completion_tokens, rel=0.01)


def test_wall_time_is_the_longest_chain_or_all_the_work(small):
    for slots in (1, 64):
        planned = plan(load_scenario(small, **MODEL, **{"backend.in_flight": slots}))
        assert planned.speed is ASSUMED
        assert planned.work == pytest.approx(
            planned.prompt_tokens / ASSUMED.prompt + planned.completion_tokens / ASSUMED.reply
        )
        assert planned.seconds == max(planned.chain, planned.work / slots)
        assert 0 < planned.chain < planned.work


def test_tokens_a_second_that_the_user_states_make_the_time(small):
    keys = {**MODEL, "backend.in_flight": 1, "backend.tokens_per_second": [200, 10]}
    planned = plan(load_scenario(small, **keys))
    assert planned.work == pytest.approx(
        planned.prompt_tokens / 200 + planned.completion_tokens / 10
    )
    model = [f"--set={key}={one}" for key, one in keys.items()]
    told = society("plan", small, *model).stdout
    assert "10 of a reply written in a second (backend.tokens_per_second)" in told
    assert "in a second (backend.tokens_per_second)," not in told
    wrong = society("plan", small, *model[:-1], "--set=backend.tokens_per_second=[0, 10]")
    assert wrong.exit_code == 2


def test_llama_cpp_on_this_machine_is_asked_for_its_speed(small, provider, monkeypatch):
    monkeypatch.setattr(speed, "LONG_ENOUGH", 0.0)
    timings = {"prompt_per_second": 40.0, "predicted_per_second": 8.0}

    def answering(heard):
        if heard.path == "/props":
            return http(200, {"default_generation_settings": {"n_ctx": 8192}})
        return http(200, completion("{}", timings=timings))

    provider.answer(answering)
    keys = {**MODEL, "backend.api_base": provider.url, "backend.in_flight": 2}
    done = society("plan", small, *(f"--set={key}={one}" for key, one in keys.items()))
    assert done.exit_code == 0, done.output
    assert "40 tokens of a prompt read and 8 of a reply written in a second" in done.stdout
    assert "(reported by the server); 2 concurrent calls give" in done.stdout
    assert "calls are free" in done.stdout
    assert "US dollars" not in done.stdout
    asked = [one.body for one in provider.heard if one.path.endswith("/completions")]
    assert len(asked) == 4
    assert all(one["max_tokens"] == 16 for one in asked)
    assert len({one["messages"][0]["content"] for one in asked}) == 4


def test_the_window_that_holds_the_longest_prompt_is_told(small):
    model = ("--set", "backend.use=openai", "--set", "backend.model=m")
    told = json.loads(society("plan", small, *model, "--json").stdout)
    shown = society("plan", small, *model).stdout
    assert told["window"] > 2048
    assert f"a context window of {told['window']:,} tokens" in shown


def test_prompts_that_a_context_trims_and_replies_that_are_cut_are_counted_so(small):
    keys = {**MODEL, "backend.max_tokens": 50}
    whole = plan(load_scenario(small, **keys))
    cut = plan(load_scenario(small, **keys, **{"backend.context": 1550}))
    assert whole.completion_tokens <= 50 * whole.calls
    assert cut.prompt_tokens < whole.prompt_tokens
    assert cut.prompt_tokens <= 3 * 1500 // 4 * cut.calls


def test_a_plan_writes_nothing_and_asks_nobody(small, server):
    server.reset()
    before = sorted(small.parent.rglob("*"))
    done = society("plan", small, *live(server), "--json")
    assert done.exit_code == 0
    assert sorted(small.parent.rglob("*")) == before
    assert server.counts()["requests"] == 0
    told = json.loads(done.stdout)
    assert all(told[name] > 0 for name in ("calls", "prompt_tokens", "tokens", "seconds"))
    assert told["usd"] == 0.0


def test_what_is_assumed_and_who_rehearses_is_printed(small, server):
    told = society("plan", small, *live(server)).stdout
    assert "by rule-based scientists, not by a language model" in told
    assert "replies 3 times and prompts 1.3 times as long as in the rehearsal" in told
    assert "backend.budget limits what is spent" in told
    assert "1000 tokens of a prompt read and 50 of a reply written in a second" in told
    assert "the server runs on this machine, so calls are free" in told
    assert "price" not in told
    away = ("--set=backend.use=openai", "--set=backend.model=m", "--set=backend.key=OPENAI_API_KEY")
    assert "backend.prices.input" in society("plan", small, *away).stdout


def test_a_price_makes_money_of_tokens(small):
    prices = {"backend.prices.input": 2.0, "backend.prices.output": 10.0}
    planned = plan(load_scenario(small, **MODEL, **prices))
    assert planned.priced
    paid = (2.0 * planned.prompt_tokens + 10.0 * planned.completion_tokens) / 1e6
    assert planned.usd == pytest.approx(paid)


def test_lengths_of_time_are_written_for_people():
    assert [duration(one) for one in (0.5, 45, 600, 7200)] == ["0.5 s", "45 s", "10 min", "2 h"]
