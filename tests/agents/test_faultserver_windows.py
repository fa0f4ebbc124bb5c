"""The servers that the fault server plays: what they do with a prompt that is too long."""

from __future__ import annotations

import json

import pytest

from tests.faultserver.asked import Asked, Misunderstood
from tests.faultserver.plan import Plan
from tests.faultserver.windows import AskedWindow, as_ollama, fit, read_ollama
from virsci_society.agents.prompts.request import Message

BEGINNING = "The beginning of it."
LONG = BEGINNING + "x" * 4000 + "The end of it."
TOKENS = (len(LONG) + 3) // 4


def asked(*contents: str, limit: int | None = None) -> Asked:
    roles = ("system", "user", "assistant", "user")
    messages = tuple(Message(role, text) for role, text in zip(roles, contents, strict=False))
    return Asked("call", "test", messages, None, {}, limit)


def text_of(seen: Asked) -> str:
    return "".join(message.content for message in seen.messages)


def test_no_bound_is_played_unless_one_is_named():
    question = asked(LONG)
    assert fit(question, AskedWindow(), Plan()) == (question, None)


@pytest.mark.parametrize(
    ("plays", "limit", "window", "fits"),
    [
        ("vllm", 100, TOKENS + 100, True),
        ("vllm", 100, TOKENS + 99, False),
        ("llama.cpp", 100, TOKENS + 1, True),
        ("llama.cpp", 100, TOKENS, False),
    ],
)
def test_vllm_counts_the_reply_and_llama_cpp_does_not(plays, limit, window, fits):
    plan = Plan(plays=plays, window=window)
    seen, refused = fit(asked(LONG, limit=limit), AskedWindow(), plan)
    assert text_of(seen) == LONG
    assert (refused is None) == fits
    assert refused is None or (refused.response.status, refused.outcome) == (400, "overflow")


@pytest.mark.parametrize(("refuses", "read"), [(True, 53), (False, 100)])
def test_ollama_keeps_five_tokens_and_the_end(refuses, read):
    plan = Plan(plays="ollama", window=100, refuses=refuses)
    seen, refused = fit(asked(LONG), AskedWindow(), plan)
    assert refused is None
    assert seen.prompt_tokens == read
    assert text_of(seen).startswith(BEGINNING[:20] + "x")
    assert text_of(seen).endswith("The end of it.")


def test_ollama_drops_older_messages_and_no_system_prompt():
    plan = Plan(plays="ollama", window=100)
    seen, _ = fit(asked("Who you are.", LONG, "An answer.", "Once more?"), AskedWindow(), plan)
    assert text_of(seen) == "Who you are.Once more?"


def test_ollama_gives_the_window_that_its_own_api_asks_for_up_to_the_models():
    plan = Plan(plays="ollama", window=100, trained=TOKENS + 1)
    question = asked(LONG)
    assert fit(question, AskedWindow(True, 10**6), plan)[0] is question
    assert fit(question, AskedWindow(False, 10**6), plan)[0] is not question
    shorter = Plan(plays="ollama", trained=TOKENS)
    assert fit(question, AskedWindow(True, 10**6), shorter)[0] is not question


def test_a_release_that_knows_how_refuses_what_it_would_cut():
    said = AskedWindow(True, 100, refusing=True)
    _, refused = fit(asked(LONG), said, Plan(plays="ollama"))
    assert refused is not None
    inner = json.loads(json.loads(refused.response.body)["error"])["error"]
    assert (inner["type"], inner["n_ctx"]) == ("exceed_context_size_error", 100)
    seen, refused = fit(asked(LONG), said, Plan(plays="ollama", refuses=False))
    assert refused is None
    assert text_of(seen) != LONG


def test_a_body_of_ollamas_own_is_understood():
    body = {
        "model": "test",
        "messages": [{"role": "user", "content": "What now?"}],
        "options": {"num_ctx": 9000, "num_predict": 7},
        "format": {"type": "object"},
        "stream": False,
        "truncate": False,
    }
    question, window = read_ollama(json.dumps(body).encode(), {})
    assert (question.limit, question.messages[0].content) == (7, "What now?")
    assert question.form["json_schema"]["schema"] == {"type": "object"}
    assert window == AskedWindow(True, 9000, refusing=True)
    with pytest.raises(Misunderstood, match="stream"):
        read_ollama(json.dumps(body | {"stream": True}).encode(), {})


def test_an_error_keeps_its_words():
    _, refused = fit(asked(LONG), AskedWindow(), Plan(plays="vllm", window=10))
    assert refused is not None
    assert as_ollama(refused) is refused
