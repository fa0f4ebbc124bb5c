"""A known fact is a published regularity with its measure on tables."""

from __future__ import annotations

from collections.abc import Mapping
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


_ROOM = "virsci_society.metrics.facts"

FACTS: Mapping[str, str] = {
    "densification": f"{_ROOM}.structure:Densification",
    "shrinking_diameter": f"{_ROOM}.structure:ShrinkingDiameter",
    "giant_component": f"{_ROOM}.structure:GiantComponent",
    "clustering": f"{_ROOM}.structure:Clustering",
    "assortativity": f"{_ROOM}.structure:Assortativity",
    "attachment": f"{_ROOM}.structure:Attachment",
    "mutual_partner": f"{_ROOM}.structure:MutualPartner",
    "more_mutual_partners": f"{_ROOM}.structure:MoreMutualPartners",
    "ties_again": f"{_ROOM}.structure:TiesAgain",
    "tie_decay": f"{_ROOM}.structure:TieDecay",
    "rich_club": f"{_ROOM}.structure:RichClub",
    "lotka": f"{_ROOM}.careers:Lotka",
    "one_paper_authors": f"{_ROOM}.careers:OnePaperAuthors",
    "top_percent": f"{_ROOM}.careers:TopPercent",
    "stable_output": f"{_ROOM}.careers:StableOutput",
    "author_growth": f"{_ROOM}.careers:AuthorGrowth",
    "later_leads": f"{_ROOM}.careers:LaterLeads",
    "seniors_last": f"{_ROOM}.careers:SeniorsLast",
    "strongest_partner": f"{_ROOM}.careers:StrongestPartner",
    "super_ties": f"{_ROOM}.careers:SuperTies",
    "best_paper_anywhere": f"{_ROOM}.citations:BestPaperAnywhere",
    "hot_streak": f"{_ROOM}.citations:HotStreak",
    "citation_spread": f"{_ROOM}.citations:CitationSpread",
    "team_advantage": f"{_ROOM}.citations:TeamAdvantage",
    "super_tie_premium": f"{_ROOM}.citations:SuperTiePremium",
    "reputation": f"{_ROOM}.citations:Reputation",
    "small_teams_disrupt": f"{_ROOM}.citations:SmallTeamsDisrupt",
    "remote_teams": f"{_ROOM}.citations:RemoteTeams",
    "atypical_hits": f"{_ROOM}.citations:AtypicalHits",
    "teams_combine": f"{_ROOM}.citations:TeamsCombine",
    "new_pairs_pay": f"{_ROOM}.citations:NewPairsPay",
    "team_growth": f"{_ROOM}.teams:TeamGrowth",
    "solo_papers": f"{_ROOM}.teams:SoloPapers",
    "extended_teams": f"{_ROOM}.teams:ExtendedTeams",
    "lead_ratio": f"{_ROOM}.teams:LeadRatio",
    "tall_teams": f"{_ROOM}.teams:TallTeams",
    "panels_disagree": f"{_ROOM}.teams:PanelsDisagree",
    "panels_change": f"{_ROOM}.teams:PanelsChange",
    "repeated_teams": f"{_ROOM}.teams:TeamsAgain",
}
