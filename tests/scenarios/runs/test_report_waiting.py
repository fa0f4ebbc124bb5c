"""While a run waits for a model, it says what it waits for."""

import io
import time
from types import SimpleNamespace

import pytest

from tests.faultserver import FaultServer, Plan
from virsci_society import load_scenario
from virsci_society.agents.gateway.gateway import Gateway
from virsci_society.agents.offline.backend import Offline
from virsci_society.agents.replies.text_checks import SHOWS_THE_FORM
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


@pytest.mark.parametrize("terminal", [False, True])
def test_a_copied_form_is_warned_of_once_and_counted_in_every_line(monkeypatch, terminal):
    screen, gateway = io.StringIO(), Gateway(Offline(latency=0.1), 1)
    monkeypatch.setattr(screen, "isatty", lambda: terminal, raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    society = SimpleNamespace(dispatcher=SimpleNamespace(gateway=gateway), day=1.0, until=9.0)

    def until(words):
        deadline = time.monotonic() + 20
        while words not in screen.getvalue() and time.monotonic() < deadline:
            time.sleep(0.001)

    with ConsoleProgress(screen, every=0.0) as shown, report_waiting(society, shown, every=0.001):
        for number in range(1, 4):
            gateway.readability.record("Ballot", None, echoed=True)
            until(f"; {number} of {number} copied the form")
        gateway.readability.record("Ballot", "?", may_stop=False)
        until("; 1 of 4 unusable")
    told = screen.getvalue()
    assert "; 1 of 4 unusable" in told
    assert told.count(SHOWS_THE_FORM) == 1
    assert f"warning: {SHOWS_THE_FORM}: 1 of 1 answers copied the form" in told
    # Once more, for the second fault.
    assert told.count("warning: ") == 2
    assert told.count("1 of 4 answers could not be used") == 1


def test_rule_based_scientists_are_never_waited_for(small_text, tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(small_text, encoding="utf-8")
    screen = io.StringIO()
    society = build_society(load_scenario(path))
    with report_waiting(society, ConsoleProgress(screen, every=0.0), every=0.001):
        society.run_to_end()
    assert screen.getvalue() == ""
