"""Changes: what the interventions of a scenario set, key by key, checked like the file itself.

A key that cannot change in mid-run is refused by its name, with the reason, where it stands.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from scenarios.complaints import Complaints
from scenarios.document import Document, Origin, key_path
from scenarios.load import KeyPath
from society.interventions import Intervention

SETTINGS = {
    "founding": "founding",
    "protocol": "protocol",
    "publication": "publication",
    "careers": "careers",
    "time": "times",
    "seed": "seed",
}
"""Keys that an intervention may set, with the names under which the society knows them."""
REFUSED = {
    "name": "it names the whole run",
    "until": "it is the end of the whole run; give it when the run is begun or gone on with",
    "step": "periods are counted from day 0",
    "out": "a run has one folder",
    "population": "who lived and what was published before day 0 is past",
    "attention": "meetings that are under way hold rooms and desks, or hold none",
    "backend": "who speaks is settled by seed and call id for the whole run (rule 6)",
    "metrics": "measures are taken of the whole run",
    "novelty": "measures are taken of the whole run",
    "interventions": "an intervention cannot set another; give each its own entry",
}


def in_order(interventions: Sequence[Intervention]) -> list[tuple[int, Intervention]]:
    """Interventions by date, each with its place in the scenario; those of one date as listed."""
    return sorted(enumerate(interventions), key=lambda one: one[1].at)


def refuse(
    complaints: Complaints, known: Sequence[str], interventions: Sequence[Intervention]
) -> None:
    """Note every key that no intervention may set."""
    for place, intervention in enumerate(interventions):
        for key in intervention.set:
            path = key_path(key)
            at = ("interventions", place, "set", key)
            if path is None or path[0] not in known:
                known_ones = ", ".join(SETTINGS)
                complaints.add(
                    at,
                    "no key of a scenario that an intervention can set; expected one of "
                    f"{known_ones}",
                )
            elif path[0] not in SETTINGS:
                why = REFUSED.get(str(path[0]), "it holds for the whole run")
                complaints.add(at, f"{path[0]} cannot change in mid-run: {why}")


def documents(
    start: Document, interventions: Sequence[Intervention]
) -> Iterator[tuple[Intervention, Document]]:
    """What holds after each intervention, in order of date.

    Every key of it remembers the line of the intervention that set it.
    """
    now = Document(dict(start.data), dict(start.origins))
    now.data.pop("interventions", None)
    for place, intervention in in_order(interventions):
        for key, value in intervention.set.items():
            at = start.origin(("interventions", place, "set", key))
            now = now.lay_over(_single(key, value, at))
        yield intervention, now


def told(intervention: Intervention) -> str | None:
    """What it sets, as JSON; None where it sets nothing."""
    return json.dumps(intervention.set, sort_keys=True) if intervention.set else None


def _single(key: str, value: Any, at: Origin | None) -> Document:
    path: KeyPath = key_path(key) or ()
    data: Any = value
    for step in reversed(path):
        data = {step: data}
    document = Document(data)
    if at is not None:
        document.origins = {path[: n + 1]: at for n in range(len(path))}
    return document
