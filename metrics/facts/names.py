"""The table of all facts, from their names to ``module:Class``.

To add one: write the class in a file of its own and add one line here (docs/extend.md).
"""

from __future__ import annotations

from collections.abc import Mapping

_ROOM = "virsci_society.metrics.facts"

FACTS: Mapping[str, str] = {
    "densification": f"{_ROOM}.structure.densification:Densification",
    "shrinking_diameter": f"{_ROOM}.structure.diameter:ShrinkingDiameter",
    "giant_component": f"{_ROOM}.structure.five_years:GiantComponent",
    "clustering": f"{_ROOM}.structure.five_years:Clustering",
    "assortativity": f"{_ROOM}.structure.five_years:Assortativity",
    "attachment": f"{_ROOM}.structure.attachment:Attachment",
    "mutual_partner": f"{_ROOM}.structure.closure:MutualPartner",
    "more_mutual_partners": f"{_ROOM}.structure.closure:MoreMutualPartners",
    "ties_again": f"{_ROOM}.structure.persistence:TiesAgain",
    "tie_decay": f"{_ROOM}.structure.persistence:TieDecay",
    "rich_club": f"{_ROOM}.structure.rich_club:RichClub",
    "lotka": f"{_ROOM}.careers.productivity:Lotka",
    "one_paper_authors": f"{_ROOM}.careers.productivity:OnePaperAuthors",
    "top_percent": f"{_ROOM}.careers.productivity:TopPercent",
    "stable_output": f"{_ROOM}.careers.productivity:StableOutput",
    "author_growth": f"{_ROOM}.careers.entry:AuthorGrowth",
    "seniors_last": f"{_ROOM}.careers.entry:SeniorsLast",
    "strongest_partner": f"{_ROOM}.careers.partners:StrongestPartner",
    "super_ties": f"{_ROOM}.careers.partners:SuperTies",
    "best_paper_anywhere": f"{_ROOM}.careers.best_papers:BestPaperAnywhere",
    "hot_streak": f"{_ROOM}.careers.best_papers:HotStreak",
    "team_growth": f"{_ROOM}.teams.sizes:TeamGrowth",
    "solo_papers": f"{_ROOM}.teams.sizes:SoloPapers",
    "extended_teams": f"{_ROOM}.teams.extended:ExtendedTeams",
    "repeated_teams": f"{_ROOM}.teams.repeated:TeamsAgain",
}
