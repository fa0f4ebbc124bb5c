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
    "later_leads": f"{_ROOM}.careers.entry:LaterLeads",
    "seniors_last": f"{_ROOM}.careers.entry:SeniorsLast",
    "strongest_partner": f"{_ROOM}.careers.partners:StrongestPartner",
    "super_ties": f"{_ROOM}.careers.partners:SuperTies",
    "best_paper_anywhere": f"{_ROOM}.careers.best_papers:BestPaperAnywhere",
    "hot_streak": f"{_ROOM}.careers.best_papers:HotStreak",
    "citation_spread": f"{_ROOM}.citations.attention:CitationSpread",
    "team_advantage": f"{_ROOM}.citations.attention:TeamAdvantage",
    "super_tie_premium": f"{_ROOM}.citations.attention:SuperTiePremium",
    "reputation": f"{_ROOM}.citations.attention:Reputation",
    "small_teams_disrupt": f"{_ROOM}.citations.disruption:SmallTeamsDisrupt",
    "remote_teams": f"{_ROOM}.citations.disruption:RemoteTeams",
    "atypical_hits": f"{_ROOM}.citations.combinations:AtypicalHits",
    "teams_combine": f"{_ROOM}.citations.combinations:TeamsCombine",
    "new_pairs_pay": f"{_ROOM}.citations.combinations:NewPairsPay",
    "team_growth": f"{_ROOM}.teams.sizes:TeamGrowth",
    "solo_papers": f"{_ROOM}.teams.sizes:SoloPapers",
    "extended_teams": f"{_ROOM}.teams.extended:ExtendedTeams",
    "lead_ratio": f"{_ROOM}.teams.roles:LeadRatio",
    "tall_teams": f"{_ROOM}.teams.roles:TallTeams",
    "panels_disagree": f"{_ROOM}.teams.panels:PanelsDisagree",
    "panels_change": f"{_ROOM}.teams.panels:PanelsChange",
    "repeated_teams": f"{_ROOM}.teams.repeated:TeamsAgain",
}
