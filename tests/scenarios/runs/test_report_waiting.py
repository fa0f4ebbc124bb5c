"""While a run waits for a model, it says what it waits for."""

import io

from tests.faultserver import FaultServer, Plan
from virsci_society import load_scenario
from virsci_society.scenarios.runs.build import build_society
from virsci_society.scenarios.runs.progress import ConsoleProgress, report_waiting


def told(small_text, tmp_path, plan):
    path = tmp_path / "small.yaml"
    path.write_text(small_text, encoding="utf-8")
    screen = io.StringIO()
    with FaultServer(plan) as server:
        keys = {"use": "openai", "model": "test", "api_base": server.url}
        settings = {f"backend.{name}": value for name, value in keys.items()}
        society = build_society(load_scenario(path, **settings))
        with report_waiting(society, ConsoleProgress(screen, every=0.0), every=0.02):
            society.run_to_end()
    return screen.getvalue().splitlines()


def test_a_slow_model_is_waited_for_aloud(small_text, tmp_path):
    lines = told(small_text, tmp_path, Plan(latency=0.03))
    assert any("answered" in line and " of 182; calls: " in line for line in lines)


def test_a_provider_that_is_down_is_named_with_the_next_attempt(small_text, tmp_path):
    lines = told(small_text, tmp_path, Plan(rates={"bad_gateway": 0.2}, streak=1))
    assert any("trouble: " in line and "again in" in line for line in lines)


def test_rule_based_scientists_are_never_waited_for(small_text, tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(small_text, encoding="utf-8")
    screen = io.StringIO()
    society = build_society(load_scenario(path))
    with report_waiting(society, ConsoleProgress(screen, every=0.0), every=0.001):
        society.run_to_end()
    assert screen.getvalue() == ""
