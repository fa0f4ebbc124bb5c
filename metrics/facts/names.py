"""The table of all facts, from their names to ``module:Class``.

To add one: write its class in a file beside this one and add one line here (docs/extend.md).
"""

from __future__ import annotations

from collections.abc import Mapping

_ROOM = "virsci_society.metrics.facts"

FACTS: Mapping[str, str] = {
    "densification": f"{_ROOM}.structure:Densification",
    "shrinking_diameter": f"{_ROOM}.structure:ShrinkingDiameter",
    "giant_component_authors": f"{_ROOM}.structure:GiantComponentAuthors",
    "transitivity": f"{_ROOM}.structure:Transitivity",
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
