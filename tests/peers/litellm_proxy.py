"""The proxy of litellm as a real process, with mock models and models behind it.

It is installed in an environment of its own (``litellm-proxy`` inside this one), because its
dependencies are not those of this project: it asks for another major version of ``rich``.
"""

import http.client
import importlib
import json
import os
import secrets
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import yaml

from virsci_society.agents.offline.backend import fill_form, rule_of
from virsci_society.agents.replies.form import Form

PROGRAM = Path(sys.prefix) / "litellm-proxy" / "bin" / "litellm"
KEY = "PEER_PROXY_KEY"
"""The environment variable with the key that the proxy asks of its clients."""
WILLING = {"Selected Action": "Action 1", "Agree": True, "Stay": True, "Decision Made": "Idea 0"}
"""What the mock says wherever a team's course hangs on it."""
PATIENCE = 240.0
"""Most seconds until it can be asked; a bound against hangs, and no measure of it."""
ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_MODE": "PRODUCTION",
    "DISABLE_ADMIN_UI": "True",
}
"""Nothing is fetched from anywhere, and no ``.env`` file is read."""
FORMS = (
    "virsci_society.protocols.forms",
    "virsci_society.protocols.ideas",
    "virsci_society.protocols.virsci.forms",
    "virsci_society.protocols.peer_review.forms",
)


def missing():
    """Why the proxy cannot be started here; None if it can."""
    return None if PROGRAM.exists() else "litellm[proxy] is not there; make test-peers installs it"


class Proxy:
    """The proxy on a port of the loopback address, from ``with`` to its end.

    Its mock models are ``mock-json`` (one JSON object that fills every form), ``mock-prose`` (the
    same in a code block with words around it), ``mock-mute`` (words without JSON) and
    ``mock-busy`` (always 429).
    """

    def __init__(self, folder, behind):
        self.key = f"sk-{secrets.token_hex(16)}"
        told = json.dumps(mock_reply())
        mocks = {
            "mock-json": told,
            "mock-prose": f"Gladly.\n\n```json\n{told}\n```\n\nI hope that this helps.",
            "mock-mute": "I would rather not say.",
            "mock-busy": "litellm.RateLimitError",
        }
        models = [_model(name, mock_response=text) for name, text in mocks.items()]
        models += [_model(name, api_base=url) for name, url in behind.items()]
        settings = {
            "model_list": models,
            "router_settings": {"num_retries": 0},
            "litellm_settings": {"telemetry": False, "num_retries": 0},
        }
        self._config, self._log = folder / "proxy.yaml", folder / "proxy.log"
        self._config.write_text(yaml.safe_dump(settings), encoding="utf-8")
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]

    @property
    def url(self):
        """The base address of its API."""
        return f"http://127.0.0.1:{self._port}/v1"

    def __enter__(self):
        """Start it; returns when it can be asked."""
        where = ["--host", "127.0.0.1", "--port", str(self._port), "--telemetry", "False"]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [str(PROGRAM), "--config", str(self._config), *where],
                env=os.environ | ENVIRONMENT | {"LITELLM_MASTER_KEY": self.key},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        end = time.monotonic() + PATIENCE
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > end:
                self.__exit__()
                printed = self._log.read_text(encoding="utf-8", errors="replace")
                raise RuntimeError(f"the proxy did not start; it printed:\n{printed[-2000:]}")
            time.sleep(0.1)
        return self

    def __exit__(self, *_):
        self._process.terminate()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _answers(self):
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        try:
            connection.request("GET", "/health/liveliness", headers={"Connection": "close"})
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()


def mock_reply():
    """One JSON object that every form of the protocols can be read from."""
    for module in FORMS:
        importlib.import_module(module)
    forms = [form for form in _below(Form) if rule_of(form) and form.__module__ in FORMS]
    reply = {}
    for form in sorted(forms, key=lambda form: (form.__module__, form.__name__)):
        reply |= json.loads(fill_form(form, {}, np.random.default_rng(1)))
    return reply | {name: value for name, value in WILLING.items() if name in reply}


def _below(form):
    for one in form.__subclasses__():
        yield one
        yield from _below(one)


def _model(name, **settings):
    # No key is needed behind the proxy, and none of this machine's must go there.
    return {
        "model_name": name,
        "litellm_params": {"model": f"openai/{name}", "api_key": "none", **settings},
    }
