"""Attention: people in one room, work on one desk.

A scientist has a presence (one room at a time) and a desk (one piece of homework at a time),
both first come, first served. Only meetings and homework ask for them.
"""

from __future__ import annotations

import simpy


class Attention:
    """The queues of everybody; made when a person is first needed.

    Args:
        env: the clock.
        limited: False switches queues off: everybody can be everywhere.
    """

    def __init__(self, env: simpy.Environment, limited: bool = True) -> None:
        self.limited = limited
        self._env = env
        self._presence: dict[str, simpy.Resource] = {}
        self._desks: dict[str, simpy.Resource] = {}
        self._projects: dict[str, str] = {}

    def presence(self, scientist: str) -> simpy.Resource:
        """The one room this scientist can be in."""
        return self._queue(self._presence, scientist)

    def desk(self, scientist: str) -> simpy.Resource:
        """The one piece of homework this scientist can be at."""
        return self._queue(self._desks, scientist)

    def turn(self, scientist: str, project: str) -> bool:
        """A project is taken up at this desk; is it another one than lay there before?

        Nothing is turned from by who sits down for the first time, nor where attention is
        unlimited.
        """
        before = self._projects.get(scientist)
        self._projects[scientist] = project
        return self.limited and before not in (None, project)

    def _queue(self, queues: dict[str, simpy.Resource], scientist: str) -> simpy.Resource:
        if scientist not in queues:
            queues[scientist] = simpy.Resource(self._env, capacity=1)
        return queues[scientist]
