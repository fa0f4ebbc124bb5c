"""The society as it grows, as plain data for the page: who works with whom, teams over time."""

from __future__ import annotations

from typing import Any

from virsci_society.agents.journal.live_view import JournalView

TEAMS = 30
"""Teams of the timeline, those that were asked last."""
PEOPLE = 120
"""People of the network, those who were asked last."""
BUSIEST = 8
"""People who are named as busy."""
RECENT = 30.0
"""Days before the latest call in which somebody asked for a team is at work in it."""


class SocietyView:
    """Draws the society from its journal; places are kept until somebody works with a new person.

    Args:
        journal: what it holds by the latest look.
    """

    def __init__(self, journal: JournalView) -> None:
        self._journal = journal
        self._drawn: tuple[tuple[list[str], list[list[int]]], list[list[float]]] | None = None

    def figures(self) -> dict[str, Any]:
        """``timeline`` (teams), ``busy`` (name and number of teams) and ``network``."""
        view = self._journal
        since = (view.day or 0.0) - RECENT
        load = {
            who: sum(day >= since for day in teams.values()) for who, teams in view.people.items()
        }
        busiest = sorted(load.items(), key=lambda one: (-one[1], one[0]))[:BUSIEST]
        newest = sorted(view.teams.items(), key=lambda one: one[1][1])[-TEAMS:]
        return {
            "timeline": [
                {"team": team, "from": first, "to": latest, "stage": stage}
                for team, (first, latest, stage) in sorted(newest, key=lambda one: one[1][0])
            ],
            "busy": [[who, number] for who, number in busiest if number],
            "network": self._network(load),
        }

    def _network(self, load: dict[str, int]) -> dict[str, Any]:
        held = self._journal.people
        names = sorted(sorted(held, key=lambda who: -max(held[who].values()))[:PEOPLE])
        ties = [
            [first, second]
            for second, other in enumerate(names)
            for first, who in enumerate(names[:second])
            if held[who].keys() & held[other].keys()
        ]
        if self._drawn is None or self._drawn[0] != (names, ties):
            self._drawn = (names, ties), _places(len(names), ties)
        people = [
            {"name": name, "x": x, "y": y, "teams": load[name]}
            for name, (x, y) in zip(names, self._drawn[1], strict=True)
        ]
        return {"people": people, "ties": ties}


def _places(count: int, ties: list[list[int]]) -> list[list[float]]:
    # Imported only where somebody is drawn: a page of a study needs no tables.
    import numpy as np

    from virsci_society.metrics.report.network_layout import force_directed_positions

    if not ties:
        return [[(place + 0.5) / count, 0.5] for place in range(count)]
    places: list[list[float]] = force_directed_positions(count, np.array(ties)).tolist()
    return places
