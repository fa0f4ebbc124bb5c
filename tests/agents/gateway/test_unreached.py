"""What has never answered in a run is not waited for; what has is, and what is slow is."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import threading
import time

import pytest

from tests.agents.backends.live_provider import a_request
from tests.faultserver.plan import Plan
from tests.faultserver.process import FaultServer
from virsci_society.agents.backends.http import Deadlines
from virsci_society.agents.backends.litellm import LiteLLM
from virsci_society.agents.backends.openai import OpenAI
from virsci_society.agents.errors import Fault, InputError, Stopped
from virsci_society.agents.gateway.gateway import Gateway
from virsci_society.agents.gateway.slots import SlotPool
from virsci_society.agents.journal.journal import Journal
from virsci_society.agents.loop_thread import PatientLoop

CONTACT = 1.0
"""Seconds for which the first sign of a server is waited for here; 10 by default."""
PREFIX = {LiteLLM: "openai/", OpenAI: ""}


@contextlib.contextmanager
def refusing():
    """An address at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    yield f"http://127.0.0.1:{port}/v1"


@contextlib.contextmanager
def unresolvable():
    yield "http://no-such-host.invalid/v1"


@contextlib.contextmanager
def accepting(hang_up):
    """A server that takes connections, and says nothing or hangs up."""
    held = []

    def serve():
        with contextlib.suppress(OSError):
            while True:
                held.append(server.accept()[0])
                if hang_up:
                    held.pop().close()

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        server.shutdown(socket.SHUT_RDWR)
    for one in held:
        one.close()


ADDRESSES = {
    "refused": refusing,
    "unresolved": unresolvable,
    "silent": lambda: accepting(hang_up=False),
    "hangs up": lambda: accepting(hang_up=True),
}


def backend(kind, address, **settings):
    settings = {"deadlines": Deadlines(connect=CONTACT), "api_base": address} | settings
    return kind(model=f"{PREFIX[kind]}test", **settings)


def answered(asked, requests=1, journal=None):
    """The replies of a gateway, or the first error, which ends a run; and the seconds that passed.

    They are those of the loop of a run, whose clock stands still while the machine is too busy.
    """
    gateway = Gateway(asked, 4, journal)

    async def make():
        gateway.open()
        calls = (gateway.complete(a_request(n)) for n in range(requests))
        try:
            return await asyncio.gather(*calls)
        except (Stopped, InputError) as error:
            return error
        finally:
            await gateway.close()

    with asyncio.Runner(loop_factory=PatientLoop) as runner:
        return runner.run(make()), runner.get_loop().time()


@pytest.mark.parametrize("kind", [LiteLLM, OpenAI], ids=["litellm", "openai"])
@pytest.mark.parametrize("address", ADDRESSES)
def test_what_has_never_answered_is_given_up_soon(monkeypatch, kind, address):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-no-key-of-anybody-000000")
    kind(model=f"{PREFIX[kind]}test", api_base="http://127.0.0.1:9/v1").endpoint()  # imported
    with ADDRESSES[address]() as url, Journal(None) as journal:
        error, seconds = answered(backend(kind, url), requests=8, journal=journal)
        spending = journal.totals().spending
    assert type(error) is Stopped
    assert url in str(error)
    assert "no call of this run was ever answered; start the server, correct its" in str(error)
    assert seconds < CONTACT + 3
    assert spending.tokens == 0, "nothing was sent, so nothing can be billed"


@pytest.mark.slow
@pytest.mark.parametrize("kind", [LiteLLM, OpenAI], ids=["litellm", "openai"])
def test_a_slow_model_behind_a_server_that_lives_is_waited_for(kind):
    with FaultServer(Plan(latency=2.5 * CONTACT)) as server:
        began = time.monotonic()
        (reply,), _ = answered(backend(kind, server.url))
        assert server.counts()["requests"] == 1
    assert time.monotonic() - began > 2.5 * CONTACT
    assert reply.text


@pytest.mark.parametrize("ends", ["success", "error of the server"])
def test_an_answer_of_any_kind_ends_the_short_wait(ends):
    async def play():
        asked = backend(OpenAI, "http://127.0.0.1:9/v1")
        pool = SlotPool(asked.endpoint(), 2)
        assert pool.contact == CONTACT
        slot = await pool.acquire(0.0, "a", 0)
        if ends == "success":
            slot.pool.record_success()
        else:
            slot.pool.record_failure(slot, Fault("HTTP 503", "server", status=503))
        return pool.contact

    assert asyncio.run(play()) is None


def test_a_run_whose_earlier_session_was_answered_keeps_its_patience(tmp_path):
    with FaultServer(Plan()) as server:
        asked = backend(OpenAI, server.url)
        with Journal(tmp_path / "journal.sqlite") as journal:
            (reply,), _ = answered(asked, journal=journal)
    assert reply.text
    with Journal(tmp_path / "journal.sqlite") as journal:
        gateway = Gateway(backend(OpenAI, server.url), 4, journal)
        assert gateway._attempt_maker.pool.contact is None


MISSING_KEY = "Missing credentials|The api_key client option must be set"
"""Words of openai 3, and of openai 2."""


@pytest.mark.parametrize(
    ("model", "variable", "said"),
    [
        ("openai/some", "OPENAI_API_KEY", MISSING_KEY),
        ("anthropic/some", "ANTHROPIC_API_KEY", "Missing Anthropic API Key"),
        ("gemini/some", "GEMINI_API_KEY", "Missing Gemini API key"),
        ("nosuch/some", "NOSUCH_API_KEY", "LLM Provider NOT provided"),
    ],
)
def test_what_litellm_refuses_to_send_is_bad_input_at_once(monkeypatch, model, variable, said):
    for name in (variable, "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    asked = LiteLLM(model=model)
    asked.endpoint()
    error, seconds = answered(asked)
    assert type(error) is InputError
    assert str(error).startswith("backend.model: ")
    assert re.search(said, str(error))
    assert seconds < 5


@pytest.mark.parametrize(
    ("model", "hint"),
    [
        *(("nosuch/some", "openai/some with backend.api_base"), ("little", "openai/little")),
        *(("antropic/some", "did you mean 'anthropic'?"), ("OpenAI/some", "openai/some")),
        *(("openai/some", ""), ("gpt-4o", ""), ("ollama_chat/llama3.1", ""), ("azure/own", "")),
        *(("hosted_vllm/some/model", ""), ("huggingface/some/model", "")),
    ],
)
def test_a_provider_that_litellm_does_not_know_is_told_before_a_run(model, hint):
    refusal = LiteLLM(model=model).refusal()
    assert hint in refusal
    assert bool(refusal) == bool(hint)
    assert not OpenAI(model=model).refusal()
