"""The comparison of a run folder or a study with a scenario, and folders of an earlier identity.

A scenario's hash is made of its identity keys that differ from the defaults of a numbered identity
(``config.schema.IDENTITY``). Manifests, journals and locks bear the number. What was made under an
earlier one can be shown and measured; only the release that made it can go on with it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.file_hashes import hash_json
from virsci_society.scenarios.config.ecosystem_folder import MANIFEST as ECOSYSTEM_MANIFEST
from virsci_society.scenarios.config.ecosystem_folder import Folder
from virsci_society.scenarios.config.schema import IDENTITY, Scenario

NUMBER = "identity_number"
"""The key of manifests, journals and locks; where there is none, the number is 1."""
RELEASES: Mapping[int, str] = {1: "0.1.0", IDENTITY: "0.2.0"}
"""The last release of each identity."""


def require_identity(number: object, where: Path, what: str) -> None:
    """See that a folder was made under the identity of this release.

    Args:
        number: that the folder bears; None: 1.
        where: the folder, for the message.
        what: cannot be done otherwise, such as ``resuming it``.

    Raises:
        InputError: it was made under another identity.
    """
    held = int(str(number or 1))
    if held == IDENTITY:
        return
    release = RELEASES.get(held)
    which = f"release {release}" if release else "a later release"
    raise InputError(
        f"{where}: was made with identity {held}, this release has identity {IDENTITY}; {what} "
        f"needs {which}. Here it can be shown, measured, compared, reported and exported"
    )


def identity_hash(scenario: Scenario) -> str:
    """sha256 of what happens in a run: identity keys, and the content of an ecosystem folder."""
    return hash_json(identity_data(scenario))


def identity_data(scenario: Scenario) -> dict[str, Any]:
    """The identity keys, with the path of an ecosystem folder replaced by a hash of its content."""
    data = scenario.identity()
    source = scenario.population.ecosystem
    if isinstance(source, Folder):
        source.require()
        content = (source.path / ECOSYSTEM_MANIFEST).read_bytes()
        data["population"]["ecosystem"]["path"] = hashlib.sha256(content).hexdigest()
    return data
