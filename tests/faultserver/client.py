"""A client of the fault server, as plain as can be, and a request for it to send."""

import http.client
import json
import time

from tests.faultserver.slots import to_wire
from virsci_society.agents.profile import Profile
from virsci_society.agents.prompts.request import Message, Request
from virsci_society.protocols.forms import Remark

ADA = Profile("Scientist1", (), ("graph drawing", "voting"), 3, 12)
BOB = Profile("Scientist2", (), ("graph drawing",), 5, 40)
KEY = "Bearer sk-canary-1234567890"


def asked(id_="t/1/topic/1/1/0/utter/Scientist1", form=Remark, attempt=0, seed=5, **slots):
    """A request as a team makes it; ``slots`` beside the usual ones."""
    messages = (Message("system", "You are a scientist."), Message("user", "Please speak now."))
    usual = {"members": (ADA, BOB), "said": (), "summaries": (), "outsiders": ()}
    return Request(id_, ADA, messages, form, usual | slots, seed=seed, attempt=attempt)


def body_of(request, **fields):
    """The body that tells a request to the server."""
    messages = [{"role": one.role, "content": one.content} for one in request.messages]
    return {"model": "test", "messages": messages, "slots": to_wire(request), **fields}


class Client:
    """One connection, kept until it is closed."""

    def __init__(self, server, timeout=120):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=timeout)

    def post(self, body, path="/v1/chat/completions", **headers):
        """Ask for a completion; text is sent as it is."""
        text = body if isinstance(body, str | bytes) else json.dumps(body)
        self.connection.request("POST", path, text, {"Authorization": KEY, **headers})
        response = self.connection.getresponse()
        return response.status, dict(response.getheaders()), response.read()

    def say(self, request, **fields):
        """The words that answer a request."""
        return str(completion(self.post(body_of(request, **fields)))[0]["content"])


def completion(result):
    """Message, reason to finish and body of a good response with one choice."""
    status, _, raw = result
    assert status == 200, raw
    data = json.loads(raw)
    (choice,) = data["choices"]
    return choice["message"], choice["finish_reason"], data


def settled(server):
    """The full counts once nothing is under way any more."""
    deadline = time.monotonic() + 120
    while (counts := server.counts(full=True))["under_way"]:
        assert time.monotonic() < deadline, counts
        time.sleep(0.01)
    return counts
