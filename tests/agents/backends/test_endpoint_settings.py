"""Whom clients of model servers trust: authorities that are read once and always asked."""

from __future__ import annotations

import asyncio
import ssl

from virsci_society.agents.backends.http_client import trusted_certificates
from virsci_society.agents.backends.openai import OpenAI


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
