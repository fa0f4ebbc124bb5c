"""Checks of a scenario and its environment, before anything is simulated or paid."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.config.ecosystem_folder import Folder
from virsci_society.scenarios.config.schema import Scenario

SECONDS = 5.0
"""For which an endpoint is waited for."""


def check_before_run(scenario: Scenario, folder: Path | None = None, *, keys: bool = True) -> None:
    """Check what a run needs besides a valid scenario."""
    source: Any = scenario.population.ecosystem
    if isinstance(source, Folder):
        source.require()
    people = getattr(source, "people", None) or getattr(source, "scientists", None)
    faults = [*teams_too_large(scenario, people)] if isinstance(people, int) else []
    if keys:
        paid: Any = scenario.backend.backend.paid
        endpoint = getattr(paid, "endpoint_settings", None)
        try:
            if endpoint is not None:
                endpoint.secret()  # is it set, and may it be sent to the address?
        except InputError as error:
            faults.append(str(error))
        refusal = getattr(paid, "refusal", None)
        if reason := refusal() if callable(refusal) else "":
            faults.append(reason)
    if folder is not None:
        faults += _other_scenario(scenario, folder)
    if faults:
        raise InputError("\n".join(faults))


def teams_too_large(scenario: Scenario, people: int) -> Iterator[str]:
    """Team sizes above the population."""
    for protocol in scenario.protocol.components:
        # The keys of a protocol are its own fields, or those of the settings that it has.
        size = getattr(getattr(protocol, "settings", protocol), "team_size", None)
        wanted = size if isinstance(size, int) else getattr(size, "smallest", None)
        if isinstance(wanted, int) and wanted > people:
            yield (
                f"protocol.team_size: a team of {wanted} is impossible with {people} scientists; "
                f"give --set protocol.team_size={min(people, 4)}, or more scientists"
            )


def key_routes(scenario: Scenario) -> Iterator[str]:
    """Say which environment variable is sent to which host."""
    endpoint = getattr(scenario.backend.backend.paid, "endpoint_settings", None)
    if endpoint is not None and endpoint.key:
        yield f"key: the value of {endpoint.key} is sent to {endpoint.place}"


def _other_scenario(scenario: Scenario, folder: Path) -> Iterator[str]:
    """A run folder of another scenario, or of another seed: no call of it could be used."""
    if not (folder / "journal.sqlite").is_file():
        return
    from virsci_society.scenarios.runs.run_state import held_note, journal_notes

    held: dict[str, Any] = held_note(journal_notes(folder), "scenario", {})
    name, seed = held.get("name"), held.get("seed")

    def kind(data: Mapping[str, Any]) -> Any:
        """What sort of scenario it is: the protocol, and where people come from."""
        return data.get("protocol", {}).get("use"), data.get("population", {}).get("ecosystem")

    renamed = name != scenario.name and kind(held) != kind(scenario.to_data())
    if held and (seed != scenario.seed or renamed):
        yield (
            f"{folder}: contains the scenario {name!r} with seed {seed}, not {scenario.name!r} "
            f"with seed {scenario.seed}; give another folder: --out {folder}-new"
        )


def silent_servers(scenario: Scenario) -> Iterator[str]:
    """The address of a model on this machine if nothing answers there, with what to do."""
    endpoint: Any = getattr(scenario.backend.backend.paid, "endpoint_settings", None)
    if endpoint is None or endpoint.api_base is None or not endpoint.is_local:
        return
    address = endpoint.api_base
    parts = urlsplit(address)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        # A connection alone: to ask for anything could cost money, and many servers refuse it.
        socket.create_connection((parts.hostname or "", port), timeout=SECONDS).close()
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        yield (
            f"backend.api_base: no server answers at {address} ({reason}); start the server, or "
            "correct it with --set backend.api_base=ADDRESS"
        )
