"""Checks of a scenario against what lies around it, before anything is simulated or paid.

The schema has checked every key by itself. Here the keys meet the population, the environment
variables, the run folder and, where it is wished, the network. ``society check`` and the first
second of ``society run`` make the same checks, and all faults come out at once.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.config.ecosystem_folder import Folder
from virsci_society.scenarios.config.schema import Scenario

SECONDS = 5.0
"""For which an endpoint is waited for."""


def check_before_run(
    scenario: Scenario, folder: Path | None = None, *, online: bool = False, keys: bool = True
) -> None:
    """Check what a run needs besides a right scenario."""
    source = scenario.population.ecosystem
    if isinstance(source, Folder):
        source.require()
    faults = [*_teams_too_large(scenario), *_nobody_outside(scenario)]
    if keys:
        faults += [*_missing_variables(scenario), *_refused_model(scenario)]
    if folder is not None:
        faults += _other_scenario(scenario, folder)
    if online:
        faults += silent_servers(scenario)
    if faults:
        raise InputError("\n".join(faults))


def _teams_too_large(scenario: Scenario) -> Iterator[str]:
    """Team sizes above the population, as far as it is known before it is made."""
    source: Any = scenario.population.ecosystem
    people = getattr(source, "people", None) or getattr(source, "scientists", None)
    if not isinstance(people, int):
        return
    for protocol in scenario.protocol.components:
        settings = getattr(protocol, "settings", protocol)
        size = getattr(settings, "team_size", None)
        wanted = size if isinstance(size, int) else getattr(size, "smallest", None)
        if isinstance(wanted, int) and wanted > people:
            yield (
                f"protocol.team_size: a team of {wanted} cannot be made of {people} scientists; "
                f"give --set protocol.team_size={min(people, 4)}, or more scientists"
            )


def _nobody_outside(scenario: Scenario) -> Iterator[str]:
    """Outside seats beside an ecosystem that has left nobody out, as far as its manifest tells."""
    seats, source = scenario.population.outside_seats, scenario.population.ecosystem
    if seats is not None and seats.counts and getattr(source, "left_out", 1) == 0:
        yield (
            "population.outside_seats: every author of the past papers is in the population, so "
            "nobody is outside: leave it out, or build the ecosystem with a filter on people, such "
            "as --min-papers 5"
        )


def _missing_variables(scenario: Scenario) -> Iterator[str]:
    """The variable of a key, where it is not set or may not be sent to the address."""
    endpoint = getattr(scenario.backend.backend.paid, "endpoint_settings", None)
    try:
        if endpoint is not None:
            endpoint.secret()
    except InputError as error:
        yield str(error)


def key_routes(scenario: Scenario) -> Iterator[str]:
    """Say which environment variable is sent to which host."""
    endpoint = getattr(scenario.backend.backend.paid, "endpoint_settings", None)
    if endpoint is not None and endpoint.key:
        yield f"key: the value of {endpoint.key} is sent to {endpoint.place}"


def _refused_model(scenario: Scenario) -> Iterator[str]:
    """A model that cannot be asked: unknown to the library, or without weights."""
    refusal = getattr(scenario.backend.backend.paid, "refusal", None)
    reason = refusal() if callable(refusal) else ""
    if reason:
        yield reason


def _other_scenario(scenario: Scenario, folder: Path) -> Iterator[str]:
    """A run folder of another scenario, or of another seed: no call of it could be used."""
    held = held_scenario(folder)
    if not held:
        return
    name, seed = held.get("name"), held.get("seed")
    another = seed != scenario.seed or (
        name != scenario.name and _kinds(held) != _kinds(scenario.to_data())
    )
    if another:
        new = folder.with_name(f"{folder.name}-new")
        yield (
            f"{folder}: holds the scenario {name!r} with seed {seed}, not {scenario.name!r} with "
            f"seed {scenario.seed}; give another folder: --out {new}"
        )


def held_scenario(folder: Path) -> dict[str, Any]:
    """The scenario in a run folder, finished or not, as plain data; empty where there is none."""
    import json

    from virsci_society.agents.journal.journal import Journal

    path = folder / "journal.sqlite"
    if not path.is_file():
        return {}
    try:
        with Journal(path, frozen=True) as journal:
            held = json.loads(journal.meta("scenario") or "{}")
    except (InputError, ValueError, RecursionError):
        return {}  # what is wrong with it is told where it is opened to be resumed
    return held if isinstance(held, dict) else {}


def _kinds(data: Any) -> Any:
    """What sort of scenario it is: the protocol, and where people come from."""
    return data.get("protocol", {}).get("use"), data.get("population", {}).get("ecosystem")


def silent_servers(scenario: Scenario, *, local: bool = False) -> Iterator[str]:
    """The address of the model if nothing answers there, with what to do."""
    endpoint: Any = getattr(scenario.backend.backend.paid, "endpoint_settings", None)
    if endpoint is None or endpoint.api_base is None or (local and not endpoint.is_local):
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
            f"backend.api_base: nothing answers at {address} ({reason}); start the server, or "
            "give the right address with --set backend.api_base=ADDRESS"
        )
