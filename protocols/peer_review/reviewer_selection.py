"""The draw of reviewers among those who may be asked to review a manuscript."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, Literal

from virsci_society.society.formation.excluded_rows import ExcludedRows
from virsci_society.society.formation.leaders import Anybody, ByProminence, Leaders, Productive

if TYPE_CHECKING:
    import numpy as np

    from virsci_society.society.teams.lab import Lab
    from virsci_society.society.teams.world import World

ReviewerChoice = Literal["interests", "uniform", "standing", "papers"]


def ineligible_rows(
    world: World, authors: Sequence[str], conflicts: bool, most: int
) -> ExcludedRows:
    """Rows of those who may not be asked to review now.

    These are the authors, those who have left the society or come to it just now, those with too
    many open reviews and, with ``conflicts``, everybody who has written with an author.

    Args:
        world: as of now.
        authors: masked names.
        conflicts: are co-authors of the authors ineligible?
        most: open reviews from which a scientist is asked no more (>= 1).
    """
    rows = [world.population.rows[author] for author in authors]
    full = {row for row, open_ in world.reviewing.items() if open_ >= most}
    coauthors: set[int] = set()
    if conflicts:
        coauthors.update(int(other) for row in rows for other in world.network.coauthors(row)[0])
    people = world.population
    return ExcludedRows(people.departed.keys(), {*rows} | people.just_arrived() | full | coauthors)


def draw_reviewer(
    lab: Lab,
    choice: ReviewerChoice,
    manuscript: Any,
    excluded: AbstractSet[int],
    nearest: int,
    rng: np.random.Generator,
    memory: float | None = None,
) -> str | None:
    """Draw one scientist to ask, or None where nobody is left.

    Args:
        lab: of the authors' team.
        choice: ``interests``: one of the ``nearest`` to the manuscript; ``uniform``; ``standing``:
            in proportion to citations + 1; ``papers``: in proportion to papers + 1.
        manuscript: as it was read.
        excluded: rows that may not be asked.
        nearest: among how many ``interests`` draws (>= 1).
        rng: the stream of this draw.
        memory: time in days after which the weight of a paper has fallen to 1/e; None: it stays.
    """
    names = lab.world.population.names
    if choice == "interests":
        without = [names[row] for row in sorted(excluded)]
        near = lab.library.people(manuscript, nearest, without).read()
        return near[int(rng.integers(len(near)))].id if near else None
    rules: dict[str, Leaders] = {
        "uniform": Anybody(),
        "standing": ByProminence(),
        "papers": Productive(memory=memory),
    }
    rule = rules[choice]
    row = rule.choose(excluded, lab.world, rng)
    return None if row is None else names[row]
