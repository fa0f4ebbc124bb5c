"""Do the pages fit? Compared by ``check`` and tried by ``doctor``, against played servers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from tests.faultserver import FaultServer, Plan, words
from virsci_society import load_scenario
from virsci_society.agents.backends.openai import OpenAI
from virsci_society.agents.prompts.request import Reply, Usage, total_characters
from virsci_society.scenarios.cli.app import app
from virsci_society.scenarios.planning import context_check
from virsci_society.scenarios.planning.context_check import (
    judge_reply,
    long_question,
    remembered_word,
)
from virsci_society.scenarios.planning.probe import EndpointTrial
from virsci_society.scenarios.runs.rehearsal import longest_page


@pytest.fixture(scope="module")
def server() -> Iterator[FaultServer]:
    with FaultServer() as running:
        yield running


@pytest.fixture(scope="module")
def path(small_text: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("small") / "small.yaml"
    path.write_text(small_text, encoding="utf-8")
    return path


def society(command: str, path: Path, *settings: str) -> Result:
    return CliRunner().invoke(
        app, [command, str(path), *(part for one in settings for part in ("--set", one))]
    )


def by_openai(server: FaultServer, *more: str) -> tuple[str, ...]:
    return ("backend.use=openai", "backend.model=test", f"backend.api_base={server.url}", *more)


def by_ollama(server: FaultServer, *more: str) -> tuple[str, ...]:
    base = server.url.removesuffix("/v1")
    return (
        "backend.use=litellm",
        "backend.model=ollama_chat/test",
        f"backend.api_base={base}",
        *more,
    )


def of_windows(done: Result) -> list[str]:
    """Warnings of ``check`` that speak of tokens."""
    return [line for line in done.stderr.splitlines() if "tokens" in line]


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (Plan(plays="vllm", window=4096), ("4,096 (vLLM says)", "--max-model-len", "context=4096")),
        (Plan(plays="llama.cpp", window=2500), ("2,500 (llama.cpp says)", "--ctx-size")),
        (Plan(plays="ollama"), ("without a word", "ollama_chat/test", "OLLAMA_CONTEXT_LENGTH")),
        (Plan(plays="ollama", window=50_000), ("50,000 tokens", "ollama_chat/test")),
    ],
)
def test_check_warns_of_a_window_that_is_too_short(
    path: Path, server: FaultServer, plan: Plan, said: tuple[str, ...]
) -> None:
    server.plan(plan)
    server.reset()
    done = society("check", path, *by_openai(server))
    assert done.exit_code == 0
    (warning,) = of_windows(done)
    for words_ in said:
        assert words_ in warning
    assert server.counts()["requests"] == 0


@pytest.mark.slow
def test_check_is_silent_where_pages_fit_or_nothing_is_known(
    path: Path, server: FaultServer
) -> None:
    for plan in (Plan(), Plan(plays="vllm", window=60_000), Plan(plays="llama.cpp", window=60_000)):
        server.plan(plan)
        assert of_windows(society("check", path, *by_openai(server))) == []
    server.plan(Plan(plays="ollama"))
    assert of_windows(society("check", path, *by_ollama(server))) == []
    assert of_windows(society("check", path)) == []
    hosted = ("backend.use=litellm", "backend.model=openai/gpt-4o-mini")
    assert of_windows(society("check", path, *hosted)) == []


def test_check_warns_of_what_a_stated_context_trims(path: Path, server: FaultServer) -> None:
    server.plan(Plan())
    (warning,) = of_windows(society("check", path, *by_openai(server, "backend.context=4000")))
    assert "more than 4,000" in warning
    assert "trimmed by a fixed rule" in warning
    server.plan(Plan(plays="vllm", window=3000))
    stated = society("check", path, *by_openai(server, "backend.context=4000"))
    assert len(of_windows(stated)) == 2
    server.plan(Plan(plays="vllm", window=4000))
    assert len(of_windows(society("check", path, *by_openai(server, "backend.context=4000")))) == 1


@pytest.mark.slow
def test_check_warns_of_a_model_that_a_run_would_refuse(path: Path, server: FaultServer) -> None:
    server.plan(Plan(plays="ollama", trained=4096))
    (warning,) = of_windows(society("check", path, *by_ollama(server)))
    assert "made for 4,096" in warning
    assert "backend.context=4096" in warning
    assert of_windows(society("check", path, *by_ollama(server, "backend.context=4096"))) != []


@pytest.mark.parametrize("refuses", [True, False])
def test_doctor_finds_the_first_line_read_through_ollamas_own_api(
    path: Path, server: FaultServer, refuses: bool
) -> None:
    server.plan(Plan(plays="ollama", refuses=refuses))
    server.reset()
    done = society("doctor", path, *by_ollama(server))
    assert done.exit_code == 0, done.output
    assert "was read from its first line on" in done.stdout
    assert "every request asks for a context window of" in done.stdout
    counts = server.counts()
    assert counts["cut"] == 0
    assert list(counts["windows"].values()) == [counts["requests"]]


def test_doctor_finds_the_page_cut_by_the_other_api(path: Path, server: FaultServer) -> None:
    server.plan(Plan(plays="ollama", window=1500))
    server.reset()
    done = society("doctor", path, *by_openai(server))
    assert done.exit_code == 2
    assert "did not come back" in done.stdout
    assert "the server has cut the page" in done.stdout
    assert "backend.model=ollama_chat/test" in done.stdout
    assert server.counts()["cut"] >= 1
    server.plan(Plan(plays="ollama", window=60_000))
    done = society("doctor", path, *by_openai(server))
    assert "was read from its first line on" in done.stdout


# A vLLM counts the reply that is asked for as well, so it refuses with a longer window.
@pytest.mark.parametrize(
    ("plays", "window", "reply"), [("vllm", 3072, 1000), ("llama.cpp", 1800, 500)]
)
def test_doctor_finds_the_page_refused(
    path: Path, server: FaultServer, plays: str, window: int, reply: int
) -> None:
    server.plan(Plan.model_validate({"plays": plays, "window": window}))
    done = society("doctor", path, *by_openai(server))
    assert done.exit_code == 2
    assert "was not read" in done.stdout
    assert f"{window:,}" in done.stdout
    # As the pages of a run, it is trimmed to a context that is stated.
    stated = (f"backend.context={window}", f"backend.max_tokens={reply}")
    done = society("doctor", path, *by_openai(server, *stated))
    assert done.exit_code == 0, done.stdout
    assert "was read from its first line on" in done.stdout


def test_doctor_sends_no_page_to_a_model_that_a_run_would_refuse(
    path: Path, server: FaultServer
) -> None:
    server.plan(Plan(plays="ollama", trained=4096))
    done = society("doctor", path, *by_ollama(server))
    assert done.exit_code == 2
    assert "was made for 4,096" in done.stdout
    assert "first line" not in done.stdout


def test_the_word_is_derived_from_the_seed_and_stands_in_the_first_line_alone(path: Path) -> None:
    scenario = load_scenario(path, **{"backend.use": "openai", "backend.model": "m"})
    page = longest_page(scenario)
    assert page is not None
    question, word = long_question(page, scenario.backend.backend, 7)
    text = "\n".join(message.content for message in question.messages)
    assert text.splitlines()[0] == f"The word to remember is {word}."
    assert text.count(word) == 1
    assert word not in str(question.slots)
    assert total_characters(question.messages) > total_characters(page.messages)
    assert len({remembered_word(seed) for seed in range(100)}) == 100
    assert remembered_word(7) == word


def test_what_the_answer_shows_is_said_plainly(path: Path) -> None:
    page = longest_page(load_scenario(path, **{"backend.use": "openai", "backend.model": "m"}))
    assert page is not None
    question, word = long_question(page, OpenAI(model="m"), 7)
    characters = total_characters(question.messages)

    def judged(text: str, read: int, *, estimated: bool = False) -> tuple[str, str]:
        reply = Reply(text, Usage(read, 5, estimated), "m")
        found = judge_reply(EndpointTrial(1.0, reply), question, word)
        return found.state, found.message

    whole = characters // 4
    assert judged(f'{{"Word": "{word.upper()}"}}', whole)[0] == "ok"
    state, said = judged('{"Word": "none"}', whole)
    assert (state, "or the model loses its beginning" in said) == ("problem", True)
    state, said = judged('{"Word": "none"}', characters // 20)
    assert (state, said.endswith("the server has cut the page")) == ("problem", True)
    assert f"{characters // 20:,} tokens" in said
    assert "tokens" not in judged('{"Word": "none"}', 10, estimated=True)[1]


def test_the_test_server_reads_what_the_doctor_asks() -> None:
    assert words.QUESTION == context_check.QUESTION
    assert words.FIRST_LINE == context_check.FIRST_LINE
