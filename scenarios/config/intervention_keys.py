"""Keys that an intervention may change during a run, and the documents that hold after each change.

A key that cannot change during a run is refused by its name, with the reason and the line in which
it stands. What is set is read and checked as the scenario itself is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from virsci_society.scenarios.config.diagnostics import Diagnostics
from virsci_society.scenarios.config.document import Document, key_path, single_key
from virsci_society.society.interventions import Intervention

CHANGEABLE = {
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
    "begin": "it is the beginning of the whole run",
    "step": "periods are counted from day 0",
    "out": "a run has one folder",
    "population": "who lived and what was published before day 0 is past",
    "attention": "meetings that are under way hold rooms and desks, or hold none",
    "backend": "who speaks is settled by seed and call id for the whole run (rule 6)",
    "metrics": "measures are taken of the whole run",
    "novelty": "measures are taken of the whole run",
    "interventions": "an intervention cannot set another; give each its own entry",
}


def sort_by_date(interventions: Sequence[Intervention]) -> list[tuple[int, Intervention]]:
    """Interventions by date, each with its index in the scenario; those of one date as listed."""
    return sorted(enumerate(interventions), key=lambda one: one[1].at)


def check_interventions(
    diagnostics: Diagnostics, known: Sequence[str], interventions: Sequence[Intervention]
) -> None:
    """Note a fault for each key that no intervention may set; ``known`` are those of a scenario."""
    for place, intervention in enumerate(interventions):
        for key in intervention.set:
            path = key_path(key)
            at = ("interventions", place, "set", key)
            if path is None or path[0] not in known:
                known_ones = ", ".join(CHANGEABLE)
                diagnostics.add(
                    at,
                    "no key of a scenario that an intervention can set; expected one of "
                    f"{known_ones}",
                )
            elif path[0] not in CHANGEABLE:
                why = REFUSED.get(str(path[0]), "it holds for the whole run")
                diagnostics.add(at, f"{path[0]} cannot change in mid-run: {why}")


def documents_after(
    start: Document, interventions: Sequence[Intervention]
) -> Iterator[tuple[Intervention, Document]]:
    """The document that holds after each intervention, in order of date.

    Every key that an intervention set has the line of that intervention as its origin.
    """
    now = Document(dict(start.data), dict(start.origins))
    now.data.pop("interventions", None)
    for place, intervention in sort_by_date(interventions):
        for key, value in intervention.set.items():
            at = start.origin(("interventions", place, "set", key))
            now = now.merged_with(single_key(key_path(key) or (), value, at))
        yield intervention, now


def settings_json(intervention: Intervention) -> str | None:
    """The keys that an intervention sets, as JSON; None where it sets none."""
    return json.dumps(intervention.set, sort_keys=True) if intervention.set else None
