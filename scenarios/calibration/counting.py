"""Parameters that can be counted from papers, with standard errors."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from virsci_society.agents.arrays import BoolArray, FloatArray, IntArray
from virsci_society.scenarios.calibration import parameters as keys
from virsci_society.scenarios.calibration.rates import (
    Estimate,
    Trend,
    fit_beta_binomial,
    fit_gamma_poisson,
    fit_trend,
    share_never_again,
)
from virsci_society.scenarios.calibration.seats import (
    CareerHistory,
    Leader,
    Seats,
    fit_conditional_logit,
    fit_memory,
    partner_choices,
    past_papers,
)
from virsci_society.scenarios.calibration.windows import Corpus, Window
from virsci_society.society.literature.papers import DAYS_PER_YEAR

RATE_YEARS = 10
"""Years over which rates and their trends are followed, or longer where the fit windows are."""
LEVEL_MEMORY = 3.0
"""Years after which the weight of a year in a level has fallen to 1/e."""
HORIZON = 5
"""Years without a further paper after which a newcomer counts as one-off."""
BOOTSTRAP = 200
MOST_CHOICES = 4000
"""Seats by which the choice of partners is estimated, at most."""
TREND_OF = {
    keys.PAPERS: keys.PAPERS_TREND,
    keys.SIZE: keys.SIZE_TREND,
    keys.LEAD: keys.LEAD_TREND,
    keys.SEAT: keys.NEW_TREND,
}
"""The key of the trend of each rate."""


def known_values(estimates: Mapping[str, Estimate]) -> dict[str, float]:
    """Every key whose estimate is known, within its range."""
    return {
        key: keys.PARAMETERS[key].clip(one.value)
        for key, one in estimates.items()
        if math.isfinite(one.value)
    }


class Counting:
    """What can be counted in the papers before ``end``; those before ``since`` are only known."""

    def __init__(self, corpus: Corpus, end: int, since: int, leader: Leader, seed: int) -> None:
        self.corpus, self.seed = corpus, seed
        self.history = CareerHistory(corpus.before(end), leader)
        self.first, self.last = since - corpus.origin, end - corpus.origin
        # Ten years for a trend, or from the first fit window on where that is longer.
        rated = min(self.first, max(int(self.history.periods[0]) + 1, self.last - RATE_YEARS))
        self.years: IntArray = np.arange(rated, self.last)
        self.rated = Seats.of(self.history, rated, self.last)
        self.seats = self.rated.at(self.rated.period >= self.first)

    def in_window(self, window: Window) -> dict[str, float]:
        """Levels of the rates in a window itself; their trends within it are left at zero."""
        low, high = (year - self.corpus.origin for year in (window.first, window.last + 1))
        seats = self.seats.at((self.seats.period >= low) & (self.seats.period < high))
        papers = np.unique(seats.paper, return_index=True)[1]
        fresh = papers[~seats.repeated[papers]]
        lead, other = seats.leads, _further(seats)
        return {
            keys.PAPERS: len(papers) / window.years,
            keys.SIZE: float(seats.size[fresh].mean()) if len(fresh) else math.nan,
            keys.LEAD: _share(seats.entries[lead].sum(), int(lead.sum())),
            keys.SEAT: _share(seats.entries[other].sum(), int(other.sum())),
            **dict.fromkeys(TREND_OF.values(), 0.0),
        }

    def estimates(self) -> dict[str, Estimate]:
        """Every counted key, at 1 January of ``end``, in the units of the scenario."""
        found: dict[str, Estimate] = {}
        for key, one in self._trends().items():
            rate = one.estimate
            found[key] = Estimate(rate.value + keys.PARAMETERS[key].floor, rate.error, one.n)
            found[TREND_OF[key]] = Estimate(one.damped_slope, one.slope_error, one.n)
        seats = self.seats
        papers = np.unique(seats.paper, return_index=True)[1]
        found[keys.SIZE_DISPERSION] = fit_gamma_poisson(
            seats.size[papers[~seats.repeated[papers]]] - 1
        )
        other = _further(seats)
        _, team = np.unique(seats.paper[other], return_inverse=True)
        new = np.bincount(team, weights=(seats.entries[other] > 0).astype(float))
        found[keys.SPREAD] = fit_beta_binomial(np.round(new).astype(np.int64), np.bincount(team))
        # Of those who came since the horizon before the first year looked at.
        history, periods = self.history, self.history.periods
        came = np.flatnonzero((history.first >= self.first - HORIZON) & (history.first < self.last))
        gaps: FloatArray = np.full(len(came), np.inf)
        for row, person in enumerate(came.tolist()):
            later = [n for n in history.papers_of[person] if periods[n] > history.first[person]]
            if later:
                gaps[row] = periods[later[0]] - history.first[person]
        observed = (self.last - 1 - history.first[came]).astype(float)
        found[keys.TRANSIENT_SHARE] = share_never_again(gaps, observed, float(HORIZON))
        known = seats.leads & (seats.entries == 0)
        groups = (
            (known, keys.LEAD_MEMORY, (keys.LEAD_EXPONENT, keys.COAUTHORED, keys.LEAD_LIMIT)),
            (seats.relation == 3, keys.MEMORY, (keys.EXPONENT,)),
        )
        for mask, memory, names in groups:
            drawn = seats.person[mask], seats.period[mask]
            past = past_papers(self.history, *drawn, self.first, self.last)
            years, *others = fit_memory(past, leaders=keys.COAUTHORED in names)
            found |= zip(names, others, strict=True)
            days = years.value * DAYS_PER_YEAR, years.error * DAYS_PER_YEAR
            found[memory] = Estimate(*days, years.n)
        found |= self._shares()
        rng = np.random.default_rng([self.seed, 1])
        chosen = fit_conditional_logit(*partner_choices(self.history, seats, rng, MOST_CHOICES))
        found |= zip((keys.JOINT, keys.RECENCY, keys.OWN_PAPERS), chosen, strict=True)
        return {key: found[key] for key in keys.PARAMETERS if key in found}

    def _trends(self) -> dict[str, Trend]:
        seats, years = self.rated, self.years

        def trend(totals: list[float], exposures: list[float], link: keys.Link) -> Trend:
            times = np.asarray(years + 0.5, dtype=np.float64)
            counts = np.array(totals), np.array(exposures)
            return fit_trend(times, *counts, link, at=float(self.last), memory=LEVEL_MEMORY)

        def share(mask: BoolArray) -> Trend:
            inside = [mask & (seats.period == year) for year in years]
            events = [float(seats.entries[one].sum()) for one in inside]
            return trend(events, [float(one.sum()) for one in inside], "logit")

        index = np.unique(seats.paper, return_index=True)[1]
        by_year = [float((seats.period[index] == year).sum()) for year in years]
        fresh = [index[(seats.period[index] == year) & ~seats.repeated[index]] for year in years]
        excess = [float((seats.size[one] - 1).sum()) for one in fresh]
        return {
            keys.PAPERS: trend(by_year, [1.0] * len(years), "log"),
            keys.SIZE: trend(excess, [float(len(one)) for one in fresh], "log"),
            keys.LEAD: share(seats.leads),
            keys.SEAT: share(_further(seats)),
        }

    def _shares(self) -> dict[str, Estimate]:
        """Shares of seats and teams, with errors by a bootstrap over papers."""
        # Papers are drawn, not seats: the seats of one paper are not independent.
        papers = np.unique(self.seats.paper)
        rng = np.random.default_rng([self.seed, 2])
        samples = (
            self.seats.of_papers(rng.choice(papers, size=len(papers))) for _ in range(BOOTSTRAP)
        )
        drawn = [list(shares(one).values()) for one in samples]
        found = {}
        for (key, value), column in zip(shares(self.seats).items(), np.array(drawn).T, strict=True):
            known = column[np.isfinite(column)]
            error = float(np.std(known)) if len(known) else math.nan
            found[key] = Estimate(value, error, len(papers))
        return found


def shares(seats: Seats) -> dict[str, float]:
    """Shares of seats and of teams, by their keys."""
    partner, friend, stranger = (~seats.repeated & (seats.relation == one) for one in (1, 2, 3))
    partners, friends, strangers = (int(one.sum()) for one in (partner, friend, stranger))
    known = seats.leads & (seats.entries == 0) & (seats.size > 1)
    # Authorships are summed over papers, each paper by as many rows as it has authors.
    papers = float((1 / seats.size[seats.repeated]).sum())
    others = float((seats.others / seats.size)[seats.repeated].sum())
    stayed = float((seats.repeated & seats.stayed).sum()) - papers
    return {
        # Of incumbents' seats in teams that do not write again: those of a former partner.
        keys.Q: _share(partners, partners + friends + strangers),
        # Of those seats without partners': those of a partner of a partner.
        keys.FRIENDS: _share(friends, friends + strangers),
        # Of the teams of known leaders: those that write again.
        keys.REPEAT_TEAMS: _share((known & seats.repeated & seats.stayed).sum(), int(known.sum())),
        # Of the people of the earlier paper beside one: those who are there again.
        keys.STAY: stayed / others if others else math.nan,
    }


def _further(seats: Seats) -> BoolArray:
    """Seats that are drawn one by one: not the leader's, nor of those who stay."""
    return ~seats.leads & ~(seats.repeated & seats.stayed)


def _share(part: float, whole: int) -> float:
    return float(part) / whole if whole else math.nan
