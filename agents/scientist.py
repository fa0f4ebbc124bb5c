"""The Mesa agent of one person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from virsci_society.agents.mesa import CellAgent
from virsci_society.agents.profile import Recollection

if TYPE_CHECKING:
    from collections.abc import Callable

    from virsci_society.agents.mesa import Model
    from virsci_society.agents.profile import Profile


class Scientist(CellAgent):
    """One person of the society: masked name, profile, memory and memberships.

    Attributes:
        name: masked name.
        row: its row in the population.
        teams: ids of the teams that it is working in now, in order of joining.
        memory: lines about finished teams, in order of date.
    """

    def __init__(
        self, model: Model, name: str, row: int, present: Callable[[int], Profile]
    ) -> None:
        super().__init__(model)
        # Mesa's counter of ids would keep every model alive for ever; the row is as good an id.
        getattr(CellAgent, "_ids", {}).pop(model, None)
        self.unique_id = row + 1
        self.name = name
        self.row = row
        self.teams: list[str] = []
        self.memory: tuple[Recollection, ...] = ()
        self._present = present

    @property
    def profile(self) -> Profile:
        """The profile as of now."""
        return self._present(self.row)

    @property
    def load(self) -> int:
        """Number of teams that it is working in now."""
        return len(self.teams)

    def remember(self, date: float, team: str, line: str) -> None:
        """Add one line of memory.

        Args:
            date: simulated date in days.
        """
        self.memory = (*self.memory, Recollection(date, team, line))
