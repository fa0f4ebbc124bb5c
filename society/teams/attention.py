"""The attention of scientists as SimPy resources: one room and one desk per person.

A scientist can be in one room at a time (its presence) and work on one piece of homework at a time
(its desk). Both are queues, first come, first served. Only meetings and homework use them
(rule 19).
"""

from __future__ import annotations

import simpy


class Attention:
    """The queues for rooms and desks; those of a scientist are made when they are first needed.

    Args:
        env: the SimPy environment.
        limited: False if scientists can be everywhere at once; then nobody uses the queues.
    """

    def __init__(self, env: simpy.Environment, limited: bool = True) -> None:
        self.limited = limited
        self._env = env
        self._presence: dict[str, simpy.Resource] = {}
        self._desks: dict[str, simpy.Resource] = {}
        self._projects: dict[str, str] = {}

    def presence(self, scientist: str) -> simpy.Resource:
        """The queue for the room that this scientist is in."""
        return self._queue(self._presence, scientist)

    def desk(self, scientist: str) -> simpy.Resource:
        """The queue for the desk of this scientist."""
        return self._queue(self._desks, scientist)

    def switch_project(self, scientist: str, project: str) -> bool:
        """Note the project that is taken up at a desk.

        Args:
            scientist: masked name of the owner of the desk.
            project: id of the team.

        Returns:
            True if another project was worked on there before; False for the first one, and where
            attention is unlimited.
        """
        before = self._projects.get(scientist)
        self._projects[scientist] = project
        return self.limited and before not in (None, project)

    def _queue(self, queues: dict[str, simpy.Resource], scientist: str) -> simpy.Resource:
        if scientist not in queues:
            queues[scientist] = simpy.Resource(self._env, capacity=1)
        return queues[scientist]
