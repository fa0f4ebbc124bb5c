"""The proxy of litellm as a real process, with mock models and models behind it.

It is installed in an environment of its own (``litellm-proxy`` inside this one), because its
dependencies are not those of this project: it asks for another major version of ``rich``.
"""

import json
import secrets
import sys
from pathlib import Path

import numpy as np
import yaml

from tests.peers.forms import reply_forms
from tests.peers.peer_process import PeerProcess
from virsci_society.agents.offline.schema_filler import fill_form

PROGRAM = Path(sys.prefix) / "litellm-proxy" / "bin" / "litellm"
KEY = "PEER_PROXY_KEY"
"""The environment variable with the key that the proxy asks of its clients."""
WILLING = {"Selected Action": "Action 1", "Agree": True, "Stay": True, "Decision Made": "Idea 0"}
"""What the mock says wherever a team's course hangs on it."""
_ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_MODE": "PRODUCTION",
    "DISABLE_ADMIN_UI": "True",
}
"""Nothing is fetched from anywhere, and no ``.env`` file is read."""


def missing():
    """Why the proxy cannot be started here; None if it can."""
    return None if PROGRAM.exists() else "litellm[proxy] is not there; make test-peers installs it"


def new_key():
    """A key for one proxy; a secret of these processes alone."""
    return f"sk-{secrets.token_hex(16)}"


def litellm_proxy(folder, key, behind):
    """The proxy, not yet started.

    Its mock models are ``mock-json`` (one JSON object that fills every form), ``mock-prose`` (the
    same in a code block with words around it), ``mock-mute`` (words without JSON) and
    ``mock-busy`` (always 429)."""
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
    config = folder / "proxy.yaml"
    config.write_text(yaml.safe_dump(settings), encoding="utf-8")

    def command(port):
        where = ["--host", "127.0.0.1", "--port", str(port)]
        return [str(PROGRAM), "--config", str(config), *where, "--telemetry", "False"]

    environment = _ENVIRONMENT | {"LITELLM_MASTER_KEY": key}
    return PeerProcess(command, "/health/liveliness", folder / "proxy.log", environment)


def mock_reply():
    """One JSON object that every form of the protocols can be read from."""
    reply = {}
    for form in reply_forms():
        reply |= json.loads(fill_form(form, {}, np.random.default_rng(1)))
    return reply | {name: value for name, value in WILLING.items() if name in reply}


def _model(name, **settings):
    # No key is needed behind the proxy, and none of this machine's must go there.
    return {
        "model_name": name,
        "litellm_params": {"model": f"openai/{name}", "api_key": "none", **settings},
    }
