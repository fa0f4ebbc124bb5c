"""Choice of reviewers: who is asked, among those who may be."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, Literal

from society.excluded import Excluded
from society.leaders import Anybody, Standing

if TYPE_CHECKING:
    import numpy as np

    from society.lab import Lab
    from society.world import World

By = Literal["interests", "uniform", "standing"]


def barred(world: World, authors: Sequence[str], conflicts: bool, most: int) -> Excluded:
    """Rows that may not be asked now.

    Authors, those who have left the society or come to it just now, those with as many open
    reviews as one may have and, with ``conflicts``, everybody who has written with an author.
    """
    rows = [world.population.rows[author] for author in authors]
    full = {row for row, open_ in world.reviewing.items() if open_ >= most}
    known: set[int] = set()
    if conflicts:
        known.update(int(other) for row in rows for other in world.network.row(row)[0])
    people = world.population
    return Excluded(people.gone.keys(), {*rows} | people.just_arrived() | full | known)


def drawn(
    lab: Lab,
    by: By,
    manuscript: Any,
    excluded: AbstractSet[int],
    nearest: int,
    rng: np.random.Generator,
) -> str | None:
    """One scientist to ask, or None where nobody is left.

    Args:
        lab: of the authors' team.
        by: ``interests``: one of the ``nearest`` to the manuscript; ``uniform``; ``standing``:
            in proportion to citations + 1.
        manuscript: as it was read.
        excluded: rows that may not be asked.
        nearest: among how many ``interests`` draws.
        rng: the stream of this draw.
    """
    names = lab.world.population.names
    if by == "interests":
        without = [names[row] for row in sorted(excluded)]
        near = lab.people(manuscript, nearest, without).read()
        return near[int(rng.integers(len(near)))].id if near else None
    rule = Anybody() if by == "uniform" else Standing()
    row = rule.choose(excluded, lab.world, rng)
    return None if row is None else names[row]
