"""What a run will take: rehearsed, learnt from real calls over HTTP, and held against the truth."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from benchmarks.plan import MARK, OTHERWISE, SCENARIOS, measure
from tests.faultserver import FaultServer
from virsci_society import load_scenario
from virsci_society.agents.backends.model_mimic import MimicSettings
from virsci_society.agents.errors import InputError
from virsci_society.scenarios.cli.app import app
from virsci_society.scenarios.config.schema import Scenario
from virsci_society.scenarios.planning.dry_run import (
    WINDOWS,
    DryRun,
)
from virsci_society.scenarios.planning.model_rates import (
    ModelRates,
    Rate,
    RecordedRun,
    estimate_ratio,
    estimate_ratio_by_form,
    estimate_share,
    fit_line,
    rates_for,
    slow_call_seconds,
)
from virsci_society.scenarios.planning.plan import CORNERS, FIGURES, plan
from virsci_society.scenarios.terminal.plan_tables import duration
from virsci_society.society.results.run import Run

LIVE = {"backend.use": "openai", "backend.model": "test", "backend.in_flight": 8}


@pytest.fixture(scope="module")
def server():
    with FaultServer(OTHERWISE) as running:
        yield running


@pytest.fixture(autouse=True)
def _fewer_rehearsals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Means of two rehearsals, but of three where a plan is held against the truth."""
    monkeypatch.setattr("virsci_society.scenarios.planning.plan.MOST", 2)


@pytest.fixture
def small(small_text: str, tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(small_text, encoding="utf-8")
    return path


def spoken(small: Path, server: FaultServer, **keys: object) -> Scenario:
    return load_scenario(small, **LIVE, **{"backend.api_base": server.url}, **keys)


def society(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


def live(server: FaultServer, *more: str) -> list[str]:
    keys = {**LIVE, "backend.api_base": server.url}
    return [part for k, v in keys.items() for part in ("--set", f"{k}={v}")] + list(more)


@pytest.mark.slow
def test_a_plan_of_rules_is_what_they_do(small: Path, small_run: Path) -> None:
    scenario = load_scenario(small)
    planned = plan(scenario, rates_for(scenario, None))
    calls = Run.open(small_run).table("calls")
    assert planned.figures["calls"] == Rate(len(calls), len(calls), len(calls), 1)
    assert planned.figures["prompt_tokens"].likely == calls["prompt_tokens"].sum()
    assert planned.figures["completion_tokens"].likely == calls["completion_tokens"].sum()
    assert planned.figures["seconds"].high == 0.0


def test_the_length_of_every_page_is_that_of_the_calls(small: Path, small_run: Path) -> None:
    scenario = load_scenario(small)
    planned = plan(scenario, rates_for(scenario, None))
    calls = Run.open(small_run).table("calls")
    tokens = calls.groupby(["stage", "act"])["prompt_tokens"]
    found = {(page.stage, page.act): page for page in planned.pages}
    assert len(found) == len(planned.pages)
    assert found.keys() == set(tokens.groups)
    for name, page in found.items():
        assert page.largest == tokens.max()[name]
        assert page.typical == round(tokens.median()[name])
        assert page.calls == tokens.count()[name]
    stages = [page.stage for page in planned.pages]
    assert stages == sorted(stages, key=stages.index)


def test_pages_are_printed_by_stage_with_the_window_that_holds_them(small: Path) -> None:
    model = ("--set", "backend.use=openai", "--set", "backend.model=m")
    told = json.loads(society("plan", small, *model, "--json").stdout)
    assert {"stage", "act", "calls", "typical", "largest"} == told["pages"][0].keys()
    assert all(0 < page["typical"] <= page["largest"] for page in told["pages"])
    # At three characters a token, where the pages are counted at four.
    assert told["window"] > max(page["largest"] for page in told["pages"]) + 2048
    shown = society("plan", small, *model).stdout
    assert "tokens of a page" in shown
    assert f"a context window of {told['window']:,} tokens" in shown
    assert {page["stage"] for page in told["pages"]} <= set(shown.split())


def test_pages_that_a_context_trims_are_shown_trimmed(small: Path) -> None:
    keys = {"backend.use": "openai", "backend.model": "m", "backend.max_tokens": 500}
    whole = plan(load_scenario(small, **keys), ModelRates.of_rules())
    cut = plan(load_scenario(small, **keys, **{"backend.context": 2000}), ModelRates.of_rules())
    assert max(page.largest for page in whole.pages) > 3 * 1500 // 4
    assert max(page.largest for page in cut.pages) <= 3 * 1500 // 4


def test_a_plan_writes_nothing_and_asks_nobody(small: Path, server: FaultServer) -> None:
    server.reset()
    before = sorted(small.parent.rglob("*"))
    done = society("plan", small, *live(server), "--json")
    assert done.exit_code == 0
    assert sorted(small.parent.rglob("*")) == before
    assert server.counts()["requests"] == 0
    told = json.loads(done.stdout)
    assert told["rates"]["calls"] == 0
    assert told["rates"]["wordiness"]["seen"] == 0
    for name in ("calls", "prompt_tokens", "completion_tokens", "seconds"):
        assert 0 < told[name]["low"] <= told[name]["likely"] <= told[name]["high"]
    assert "usd" not in told
    assert told["made"]["calls"] == 0


def test_what_is_assumed_and_who_rehearses_is_said(small: Path, server: FaultServer) -> None:
    told = society("plan", small, *live(server)).stdout
    assert "rehearsed" in told
    assert "not by a language model" in told
    assert "assumed" in told
    assert "backend.prices.input" in told
    assert re.search(r"shortest time: if every [\d.]+ d \(.+\) of the \d+ d wait for one", told)


def test_a_price_makes_money_of_tokens(small: Path, server: FaultServer) -> None:
    prices = {"backend.prices.input": 2.0, "backend.prices.output": 10.0}
    scenario = spoken(small, server, **prices)
    planned = plan(scenario, ModelRates.of_rules())
    tokens = [planned.figures[f"{kind}_tokens"].likely for kind in ("prompt", "completion")]
    paid = (2.0 * tokens[0] + 10.0 * tokens[1]) / 1e6
    assert planned.priced
    assert planned.figures["usd"].likely == pytest.approx(paid, rel=0.01)


def test_rules_need_no_probing(small: Path) -> None:
    done = society("plan", small, "--probe", "5")
    assert done.exit_code == 2
    assert "need no probing" in done.stderr
    done = society("plan", small, "--probe", "5", "--learn", small.parent)
    assert done.exit_code == 2


@pytest.mark.parametrize("missing", ["nothing", "empty"])
def test_a_folder_without_calls_teaches_nothing(small: Path, missing: str) -> None:
    folder = small.parent / missing
    if missing == "empty":
        folder.mkdir()
    with pytest.raises(InputError, match="holds no run with a journal"):
        RecordedRun(folder)


@pytest.fixture(scope="module")
def medium(small_text: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A society of four teams: twice the calls of the probe."""
    path = tmp_path_factory.mktemp("medium") / "medium.yaml"
    more = small_text.replace("count: 2", "count: 4").replace("scientists: 12", "scientists: 30")
    path.write_text(more.replace("team_size: 2", "team_size: 3"), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def probe(server: FaultServer, medium: Path) -> dict[str, Any]:
    """What the command says when it makes the first calls of a run and learns from them."""
    server.reset()
    out = str(medium.parent / "run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("virsci_society.scenarios.planning.plan.MOST", 3)
        done = society("plan", medium, *live(server, "--probe", "50", "--out", out, "--json"))
    assert done.exit_code == 0, done.output
    assert server.counts()["answers"] == 50
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.mark.slow
def test_a_probe_is_learnt_from(probe: dict[str, Any]) -> None:
    rates = probe["rates"]
    assert rates["calls"] == probe["made"]["calls"] == 50
    assert rates["wordiness"]["likely"] == pytest.approx(OTHERWISE.wordy, rel=0.1)
    assert rates["prompt_tokens"]["likely"] == pytest.approx(0.25, rel=0.02)
    # On a busy machine one call can be so slow that the mean exceeds the slowest of twenty.
    assert min(rates["slowest"], rates["latency"]["likely"]) >= OTHERWISE.latency


@pytest.mark.slow
def test_a_probed_plan_is_near_the_truth_and_nothing_is_paid_twice(
    probe: dict[str, Any], medium: Path, server: FaultServer, no_results: None
) -> None:
    folder = medium.parent / "run"
    assert society("run", medium, *live(server), "--out", folder).exit_code == 0
    counts = server.counts()
    assert counts["repeated_answers"] == 0
    tokens = counts["prompt_tokens"] + counts["completion_tokens"]
    for figure, true in (("calls", counts["answers"]), ("tokens", tokens)):
        assert probe[figure]["likely"] == pytest.approx(true, rel=MARK), figure
    known = json.loads(society("plan", medium, *live(server), "--learn", folder, "--json").stdout)
    for figure, true in (("calls", counts["answers"]), ("tokens", tokens)):
        assert [known[figure][end] for end in ("low", "likely", "high")] == [true] * 3


@pytest.mark.slow
def test_calls_of_another_seed_teach_rates_and_are_no_part_of_the_plan(
    probe: dict[str, Any], medium: Path, small: Path, server: FaultServer
) -> None:
    record = RecordedRun(medium.parent / "run")
    other = spoken(small, server)
    planned = plan(other, rates_for(other, record), record)
    assert planned.paid.calls == 0
    assert planned.rates.calls == len(record.known) >= 50


@pytest.mark.slow
def test_calls_of_another_model_teach_nothing(
    probe: dict[str, Any], medium: Path, server: FaultServer
) -> None:
    other = spoken(medium, server, **{"backend.temperature": 0.1})
    with pytest.raises(InputError, match="other sampling"):
        rates_for(other, RecordedRun(medium.parent / "run"))


@pytest.mark.slow
def test_a_long_scenario_is_cut_for_the_ends_and_scaled(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = load_scenario(small, **{"backend.use": "openai", "backend.model": "m"})
    whole = plan(scenario, ModelRates(""))
    monkeypatch.setattr("virsci_society.scenarios.planning.plan.CALLS", 10)
    scaled = plan(scenario, ModelRates(""))
    assert scaled.rehearsals == 1 + len(CORNERS)
    assert scaled.figures["calls"].likely == pytest.approx(whole.figures["calls"].likely, rel=0.2)
    assert scaled.figures["tokens"].low < scaled.figures["tokens"].likely
    assert scaled.figures["tokens"].likely < scaled.figures["tokens"].high


def test_wordier_models_that_must_be_asked_again_take_more(small: Path) -> None:
    # Longer texts hold other terms: who is asked and when a topic is agreed on must not hang on it.
    alone = {"protocol.discussion.invitation": "off", "protocol.released_code.forced_after": 1}
    scenario = load_scenario(small, **{"backend.use": "openai", "backend.model": "m"}, **alone)
    stage = DryRun(scenario)
    plain, wordy = stage.run(MimicSettings()), stage.run(MimicSettings(wordiness=3.0))
    again = stage.run(MimicSettings(re_asks=0.3))
    assert wordy.calls == plain.calls
    assert wordy.completion_tokens > 2 * plain.completion_tokens
    assert wordy.prompt_tokens > 1.1 * plain.prompt_tokens
    assert again.calls > 1.15 * plain.calls
    assert again.chain > plain.chain


@pytest.mark.slow
def test_wall_time_is_the_longest_chain_or_all_the_work(small: Path) -> None:
    model = {"backend.use": "openai", "backend.model": "m"}
    played = DryRun(load_scenario(small, **model)).run(MimicSettings())
    rates = replace(ModelRates.of_rules(latency=2.0), exact=False)
    for slots in (1, 64):
        scenario = load_scenario(small, **model, **{"backend.in_flight": slots})
        seconds = plan(scenario, rates).figures["seconds"].likely
        assert seconds == pytest.approx(2 * max(played.chain, played.calls / slots))


@pytest.mark.slow
def test_the_law_is_of_the_shortest_window_and_the_slowest_call(small: Path) -> None:
    model = {"backend.use": "openai", "backend.model": "m", "time.reply_window": "2d"}
    law = plan(load_scenario(small, **model), ModelRates("", slowest=10.0)).law
    assert law is not None
    assert law.window == "time.reply_window"
    assert law.seconds == pytest.approx(law.span / 2 * 10)
    at_once = load_scenario(small, **model | {f"time.{name}": 0 for name in WINDOWS})
    assert plan(at_once, ModelRates("")).law is None


def test_shares_are_drawn_a_little_and_their_ends_are_wilsons() -> None:
    assert estimate_share(0, 0, 1.0) == Rate(0.5, 1.0, 1.0, 0)
    assert estimate_share(5, 10, 1.0).likely == pytest.approx(5.5 / 10.5)
    half = estimate_share(5, 10, 1.0)
    assert half.low + half.high == pytest.approx(1.0)
    assert half.low == pytest.approx(0.3122, abs=0.001)
    assert estimate_share(0, 20, 0.0).low == 0.0
    assert estimate_share(20, 20, 1.0).high == pytest.approx(1.0)


def test_ratios_are_of_sums_and_surer_the_more_was_seen() -> None:
    pairs = [(1.0, 3.0), (2.0, 5.0), (3.0, 10.0)]
    few, many = estimate_ratio(pairs, Rate(1, 2, 4)), estimate_ratio(pairs * 20, Rate(1, 2, 4))
    assert few.likely == many.likely == pytest.approx(3.0)
    assert few.low < many.low < 3.0 < many.high < few.high
    assert estimate_ratio([], Rate(1, 2, 4)) == Rate(1, 2, 4)
    assert estimate_ratio([(2.0, 6.0)], Rate(1, 2, 4)) == Rate(1.5, 3.0, 6.0, 1)


def test_a_form_seldom_seen_is_drawn_towards_all_and_all_is_as_wide_as_the_forms_differ() -> None:
    found = estimate_ratio_by_form(
        {"often": [(1.0, 2.0)] * 30, "once": [(1.0, 8.0)]}, ModelRates("").wordiness.all
    )
    assert found.of["often"].likely == pytest.approx(2.0, rel=0.02)
    assert found.all.likely < found.of["once"].likely < 8.0
    assert found.all.low <= 2.0
    assert found.all.high >= 8.0


def test_tokens_are_a_line_over_characters() -> None:
    slope, start = fit_line([(100, 37), (200, 62), (400, 112)], (Rate(0.2, 0.25, 0.3), 10.0))
    assert slope.likely == pytest.approx(0.25)
    assert start == pytest.approx(12.0)
    one = fit_line([(100, 35)], (Rate(0.2, 0.25, 0.3), 10.0))
    assert one[0].likely == pytest.approx(0.25)


def test_the_slowest_of_twenty() -> None:
    assert slow_call_seconds([float(n) for n in range(1, 21)], 5.0) == 19.0
    assert slow_call_seconds([], 5.0) == 5.0


@pytest.mark.parametrize(
    ("seconds", "told"), [(0.5, "0.5 s"), (45, "45 s"), (600, "10 min"), (7200, "2 h")]
)
def test_lengths_of_time_are_written_for_people(seconds: float, told: str) -> None:
    assert duration(seconds) == told


def test_every_figure_has_its_ends(small: Path, server: FaultServer) -> None:
    planned = plan(spoken(small, server), ModelRates(""))
    for name in (*FIGURES, "seconds"):
        rate = planned.figures[name]
        assert rate.low <= rate.likely <= rate.high
        assert math.isfinite(rate.high)


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_plan_from_fifty_calls_is_near_the_truth(
    name: str, server: FaultServer, tmp_path: Path, no_results: None
) -> None:
    server.plan(OTHERWISE)
    row = measure(name, server, tmp_path / "run")
    assert row["learnt_from"] == 50
    assert abs(row["calls"]["error"]) <= MARK
    assert abs(row["tokens"]["error"]) <= MARK
