"""Gateway: calls in flight, and the order in which waiting ones are served (rules 6, 17)."""

import asyncio

import pytest

from virsci_society.agents.gateway.backend import Backend
from virsci_society.agents.gateway.gateway import Gateway
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.request import Message, Reply, Request, Usage
from virsci_society.agents.replies.form import Form


class Words(Form):
    text: str


def request(id_, due=0.0, attempt=0):
    return Request(
        id_, Profile("S1"), (Message("user", "Speak."),), Words, due=due, attempt=attempt
    )


class Slow(Backend):
    """Takes a moment; keeps who is in flight, and fails where it is told to."""

    failing: frozenset[str] = frozenset()

    async def complete(self, request):
        SEEN.append(request.id)
        NOW.append((len(NOW) and NOW[-1] + 1) or 1)
        await asyncio.sleep(0.001)
        NOW.append(NOW[-1] - 1)
        if request.id in self.failing:
            raise OSError(request.id)
        return Reply(request.id, Usage(), "slow")


SEEN, NOW = [], []


@pytest.fixture(autouse=True)
def _fresh():
    SEEN.clear()
    NOW.clear()


def serve(gateway, *requests):
    async def everything():
        return await asyncio.gather(
            *(gateway.complete(asked) for asked in requests), return_exceptions=True
        )

    return asyncio.run(everything())


def test_every_request_gets_its_own_reply():
    requests = [request(f"r{n}", due=-n) for n in range(10)]
    replies = serve(Gateway(Slow(), 3), *requests)
    assert [reply.text for reply in replies] == [asked.id for asked in requests]


def test_a_failing_call_gives_its_slot_back_and_its_error_passes():
    backend = Slow(failing=frozenset({"r0", "r1", "r3"}))
    gateway = Gateway(backend, 1)
    replies = serve(gateway, *(request(f"r{n}") for n in range(5)))
    assert [isinstance(reply, OSError) for reply in replies] == [True, True, False, True, False]
    assert [reply.text for reply in serve(gateway, request("after"))] == ["after"]


def test_an_inline_backend_never_suspends():
    class Now(Backend):
        @property
        def inline(self):
            return True

        async def complete(self, request):
            return Reply("now", Usage(), "now")

    work = Gateway(Now(), 1).complete(request("a"))
    with pytest.raises(StopIteration) as end:
        work.send(None)
    assert end.value.value.text == "now"
