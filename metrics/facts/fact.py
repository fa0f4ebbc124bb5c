"""A known fact is a published regularity with its measure on tables."""

from __future__ import annotations

from inspect import getdoc
from typing import ClassVar

from virsci_society.agents.config import Part
from virsci_society.metrics.facts.tables import FactTables


class Fact(Part):
    """Base of all facts; the first line of a docstring is the fact in words.

    Attributes:
        source: who published it, where.
        published: the published value, or the middle of several.
        low: the least value that counts as the fact.
        high: the largest; of several published values both are the extremes.
        population: of whom, in which years, and where ``low`` and ``high`` are from; "judged"
            where nothing published gives them.
        needs: tables beyond papers and authors: ``references``, ``topics``, or the name of a
            table of a run, such as ``interventions``.
        null: the name of the null model that destroys the effect, a key of ``NULLS``.
        least_years: the shortest run that can tell.

    Example:
        >>> class Growing(vs.Fact):
        ...     'Fields grow (an example).'
        ...     source, population = "nobody", "judged"
        ...     published, low, high = 100.0, 1.0, 1000.0
        ...     null, least_years = "shuffled dates", 1
        ...     def measure(self, tables):
        ...         'Papers.'
        ...         return float(len(tables.works))
        >>> dict(Growing.card())["published"]
        '100; what counts: 1 to 1000'
    """

    source: ClassVar[str]
    published: ClassVar[float]
    low: ClassVar[float]
    high: ClassVar[float]
    population: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()
    null: ClassVar[str]
    least_years: ClassVar[int]

    def measure(self, tables: FactTables) -> float:
        """The value; NaN where these papers do not define it.

        The docstring of a fact's own method is its definition, with the unit.
        """
        raise NotImplementedError

    @classmethod
    def card(cls) -> list[tuple[str, str]]:
        """Everything that is stated of the fact, as heads and texts."""
        from virsci_society.metrics.facts.nulls import NULLS

        return [
            ("fact", (getdoc(cls) or "").splitlines()[0]),
            ("measured", " ".join((getdoc(cls.measure) or "").split())),
            ("published", f"{cls.published:g}; what counts: {cls.low:g} to {cls.high:g}"),
            ("of whom", cls.population),
            ("source", cls.source),
            ("needs", ", ".join(("papers", "authors", *cls.needs))),
            ("null model", f"{cls.null}: {NULLS[cls.null].words}"),
            ("shortest run", f"{cls.least_years} years"),
        ]
