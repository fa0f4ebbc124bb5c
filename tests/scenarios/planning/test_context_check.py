"""Do the prompts fit? Compared by ``check`` and ``doctor``, against played servers."""

import pytest

from tests import command_line
from tests.faultserver import Plan


@pytest.fixture(scope="module")
def path(small_text, tmp_path_factory):
    path = tmp_path_factory.mktemp("small") / "small.yaml"
    path.write_text(small_text, encoding="utf-8")
    return path


def society(command, path, *settings):
    return command_line.society(command, path, *(f"--set={one}" for one in settings))


def by_openai(server, *more):
    return ("backend.use=openai", "backend.model=test", f"backend.api_base={server.url}", *more)


def by_ollama(server, *more):
    base = server.url.removesuffix("/v1")
    model = "backend.model=ollama_chat/test"
    return ("backend.use=litellm", model, f"backend.api_base={base}", *more)


def of_windows(done):
    """Warnings of ``check`` that speak of tokens."""
    return [line for line in done.stderr.splitlines() if "tokens" in line]


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (
            Plan(plays="vllm", window=3072),
            ("3,072 (reported by", "--max-model-len", "context=3072"),
        ),
        (Plan(plays="llama.cpp", window=1800), ("1,800 (reported by llama.cpp)", "--ctx-size")),
        (Plan(plays="ollama", window=1500), ("1,500 tokens", "ollama_chat/test")),
        (Plan(plays="ollama"), ("without notice", "ollama_chat/test", "OLLAMA_CONTEXT_LENGTH")),
    ],
)
def test_a_window_that_is_too_short_is_found_by_check_and_by_doctor(path, server, plan, said):
    server.plan(plan)
    server.reset()
    done = society("check", path, *by_openai(server))
    assert done.exit_code == 0
    (warning,) = of_windows(done)
    assert all(words in warning for words in said)
    assert server.counts()["requests"] == 0
    done = society("doctor", path, *by_openai(server))
    assert (done.exit_code == 2) == (plan.window is not None)
    assert said[0] in done.stdout


@pytest.mark.slow
def test_check_is_silent_where_pages_fit_or_nothing_is_known(path, server):
    for plan in (Plan(), Plan(plays="vllm", window=60_000), Plan(plays="llama.cpp", window=60_000)):
        server.plan(plan)
        assert of_windows(society("check", path, *by_openai(server))) == []
    server.plan(Plan(plays="ollama"))
    assert of_windows(society("check", path, *by_ollama(server))) == []
    assert of_windows(society("check", path)) == []
    hosted = ("backend.use=litellm", "backend.model=openai/gpt-4o-mini")
    assert of_windows(society("check", path, *hosted)) == []


def test_check_warns_of_what_a_stated_context_trims(path, server):
    server.plan(Plan())
    (warning,) = of_windows(society("check", path, *by_openai(server, "backend.context=4000")))
    assert "more than 4,000" in warning
    assert "trimmed by a fixed rule" in warning
    server.plan(Plan(plays="vllm", window=3000))
    stated = society("check", path, *by_openai(server, "backend.context=4000"))
    assert len(of_windows(stated)) == 2
    server.plan(Plan(plays="vllm", window=4000))
    assert len(of_windows(society("check", path, *by_openai(server, "backend.context=4000")))) == 1


def test_a_model_that_a_run_would_refuse_is_named_and_not_asked(path, server):
    server.plan(Plan(plays="ollama", trained=4096))
    server.reset()
    (warning,) = of_windows(society("check", path, *by_ollama(server)))
    assert "at most 4,096 (reported by Ollama)" in warning
    assert "backend.context=4096" in warning
    assert of_windows(society("check", path, *by_ollama(server, "backend.context=4096"))) != []
    done = society("doctor", path, *by_ollama(server))
    assert done.exit_code == 2
    assert "at most 4,096" in done.stdout
    assert server.counts()["requests"] == 0


def test_doctor_requests_one_window_of_ollama(path, server):
    server.plan(Plan(plays="ollama"))
    server.reset()
    done = society("doctor", path, *by_ollama(server))
    assert done.exit_code == 0, done.output
    assert "every request asks for a context window of" in done.stdout
    counts = server.counts()
    assert counts["cut"] == 0
    assert list(counts["windows"].values()) == [counts["requests"]]


def test_check_warns_where_pages_ask_for_more_words_than_a_reply_can_have(path, server):
    server.plan(Plan())
    few = society("check", path, *by_openai(server, "backend.max_tokens=300"))
    assert "300 tokens are about 150 words" in few.output
    assert "idea_turn" in few.output
    assert "backend.max_tokens=1200" in few.output
    enough = society("check", path, *by_openai(server, "backend.max_tokens=1200"))
    assert "words, so the pages" not in enough.output
