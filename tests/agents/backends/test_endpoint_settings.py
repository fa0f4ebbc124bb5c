"""Whom clients of model servers trust: authorities that are read once and always asked."""

from __future__ import annotations

import asyncio
import ssl
from urllib.parse import urlsplit

import pytest

from virsci_society.agents.backends.endpoint_settings import NAMED, EndpointSettings
from virsci_society.agents.backends.http_client import trusted_certificates
from virsci_society.agents.backends.litellm import LiteLLM, litellm_arguments
from virsci_society.agents.backends.openai import OpenAI
from virsci_society.agents.errors import InputError
from virsci_society.scenarios.config.registry import find_code_here
from virsci_society.scenarios.config.schema import load_scenario


def test_certificates_and_host_names_are_checked():
    context = trusted_certificates()
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
    assert context.cert_store_stats()["x509_ca"] > 0


def test_all_clients_of_a_process_share_them():
    async def contexts():
        backend = OpenAI(model="m", api_base="https://one.example/v1")
        backend.endpoint()
        backend.endpoint()
        try:
            return [one._open().connector._ssl for one in backend._clients]
        finally:
            await backend.close()

    one, two = asyncio.run(contexts())
    assert one is two is trusted_certificates()


PAIRS = [
    ("OPENAI_API_KEY", "https://api.openai.com/v1", True),
    ("OPENAI_API_KEY", "https://eu.api.openai.com/v1", True),
    ("OPENAI_API_KEY", "openai", True),
    ("OPENAI_API_KEY", "api.openai.com", True),
    ("OPENAI_API_KEY", "deepseek", False),
    ("OPENAI_API_KEY", "", False),
    ("TOGETHER_API_KEY", "together_ai", True),
    ("HF_TOKEN", "huggingface", True),
    ("AWS_SECRET_ACCESS_KEY", "openai", False),
    ("GEMINI_API_KEY", "https://generativelanguage.googleapis.com/v1beta/openai", True),
    ("AWS_SECRET_ACCESS_KEY", "http://127.0.0.1:8000/v1", True),
    ("AWS_SECRET_ACCESS_KEY", "http://0.0.0.0:8000/v1", True),
    ("AWS_SECRET_ACCESS_KEY", "http://localhost.:8000/v1", True),
    ("OPENAI_API_KEY", "http://api.openai.com/v1", False),
    ("AWS_SECRET_ACCESS_KEY", "https://models.example/v1", False),
    ("OPENAI_API_KEY", "https://api.openai.com.example/v1", False),
    ("OPENAI_API_KEY", "https://openai.com.example/v1", False),
    ("OPENAI_API_KEY", "https://notapi.openai.com.evil.example/v1", False),
    ("MISTRAL_API_KEY", "https://api.openai.com/v1", False),
]


@pytest.fixture
def nothing_named(monkeypatch, tmp_path):
    monkeypatch.delenv(NAMED, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for variable in {variable for variable, *_ in PAIRS}:
        monkeypatch.setenv(variable, "sk-000000000000000000")
    return tmp_path


@pytest.mark.parametrize(("variable", "address", "sent"), PAIRS)
def test_a_key_goes_to_the_hosts_of_its_provider_only(nothing_named, variable, address, sent):
    endpoint = EndpointSettings(address if "//" in address else None, variable, address)
    if sent:
        assert endpoint.secret()
        return
    with pytest.raises(InputError, match=f"the value of {variable} would be sent to"):
        endpoint.secret()
    own = nothing_named / "virsci-society"
    own.mkdir()
    place = urlsplit(address).hostname or address
    (own / "keys").write_text(f"# mine\n{variable} {place}\n")
    if place:
        assert endpoint.secret()


@pytest.mark.parametrize(
    "name",
    [
        lambda: load_scenario(
            "quickstart", settings=["backend.use=openai", "backend.model=m", KEY]
        ),
        lambda: load_scenario("quickstart", **{"backend": {"use": "openai", "model": "m", **OWN}}),
        lambda: find_code_here(True),
    ],
)
def test_a_user_may_name_any_pair(nothing_named, monkeypatch, name):
    monkeypatch.setattr("sys.path", [])
    name()
    assert EndpointSettings("https://models.example/v1", key="AWS_SECRET_ACCESS_KEY").secret()


KEY = "backend.key=AWS_SECRET_ACCESS_KEY"
OWN = {"key": "AWS_SECRET_ACCESS_KEY"}


def test_litellm_sends_no_key_of_its_own_to_a_strange_host():
    strange = EndpointSettings("https://models.example/v1")
    assert litellm_arguments("openai/m", strange, None)["api_key"] == "none"
    assert "api_key" not in litellm_arguments("openai/m", EndpointSettings(None), None)
    for model, address, own in (
        ("openai/m", "https://api.openai.com/v1", True),
        ("openai/m", "https://api.deepseek.com/v1", False),
        ("deepseek/m", "https://api.deepseek.com/v1", True),
        ("gpt-4o", "https://api.mistral.ai/v1", False),
    ):
        settings = LiteLLM(model=model, api_base=address).endpoint_settings
        assert ("api_key" not in litellm_arguments(model, settings, None)) is own


@pytest.mark.parametrize(
    "backend",
    [
        LiteLLM(model="deepseek/m", key="OPENAI_API_KEY"),
        LiteLLM(model="gpt-4o", key="ANTHROPIC_API_KEY"),
        OpenAI(model="m", key="ANTHROPIC_API_KEY"),
    ],
)
def test_a_known_key_is_not_sent_to_another_provider_without_an_address(nothing_named, backend):
    with pytest.raises(InputError, match="is not known as an https host of its provider"):
        backend.endpoint()
