"""A compact seat-by-seat assembly of teams, for the tests of calibration.

It follows the mechanism of the simulator that calibration is made for, roughly and without care
for speed: ``StandIn().simulate(parameters, before, begin, until, seed)``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

import numpy as np

from virsci_society.society.literature.authorships import Authorships

YEAR = 365.0
RECENT = 3 * YEAR


class StandIn:
    """Teams are founded at a rate and assembled seat by seat."""

    def simulate(
        self,
        parameters: Mapping[str, float],
        before: Authorships,
        begin: float,
        until: float,
        seed: int,
    ) -> Authorships:
        return _Run(dict(parameters), before, begin, seed).until(until)


class _Run:
    def __init__(self, given, before, begin, seed):
        self.rng = np.random.default_rng(seed)
        self.p = given
        self.begin = begin
        self.people = before.people
        most = before.people + 40_000
        self.memory = given["founding.leaders.memory"]
        self.fading = np.zeros(most)
        age = begin - np.repeat(before.dates, np.diff(before.starts))
        np.add.at(self.fading, before.authors, np.exp(-age / self.memory))
        self.alive = np.ones(most, dtype=bool)
        self.partners: list[Counter | None] = [None] * most
        self.last: dict[tuple[int, int], float] = {}
        self.recent: dict[int, list[tuple[float, tuple[int, ...]]]] = {}
        starts, authors = before.starts.tolist(), before.authors.tolist()
        for number, date in enumerate(before.dates.tolist()):
            self.note(date, tuple(authors[starts[number] : starts[number + 1]]))
        shape = given["founding.leaders.shape"]
        self.rate = self.rng.gamma(shape, 1 / shape, most)

    def note(self, date, team):
        for one in team:
            if self.partners[one] is None:
                self.partners[one] = Counter()
            for other in team:
                if other != one:
                    self.partners[one][other] += 1
                    self.last[one, other] = date
        for one in team:
            self.recent.setdefault(one, []).append((date, team))

    def until(self, until):
        p, rng = self.p, self.rng
        years = (until - self.begin) / YEAR
        grid = np.arange(0, math.ceil(years) + 1)
        teams, dates = [], []
        for year in grid[:-1]:
            span = min(1.0, years - year)
            mean = p["founding.teams_per_year"] * math.exp(p["founding.growth"] * (year + 0.5))
            count = rng.poisson(mean * span)
            dates += (self.begin + YEAR * (year + span * np.sort(rng.random(count)))).tolist()
        last = self.begin
        for date in dates:
            self.fading[: self.people] *= math.exp(-(date - last) / self.memory)
            last = date
            team = self.team(date)
            teams.append(team)
            self.fading[list(team)] += 1
            self.note(date, team)
        sizes = np.array([len(one) for one in teams], dtype=np.int64)
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        authors = np.array([one for team in teams for one in team], dtype=np.int64)
        return Authorships(np.array(dates, dtype=float), starts, authors, self.people)

    def newcomer(self):
        number = self.people
        self.people += 1
        if self.rng.random() < self.p["protocol.newcomers.one_off"]:
            self.alive[number] = False
        return number

    def by_papers(self, exponent, besides, rate=False):
        weight = np.where(self.alive[: self.people], self.fading[: self.people], 0.0)
        with np.errstate(divide="ignore"):
            weight = np.where(weight > 0, weight**exponent, 0.0)
        if rate:
            weight = weight * self.rate[: self.people]
        weight[list(besides)] = 0.0
        total = np.cumsum(weight)
        if not total.size or total[-1] <= 0:
            return self.newcomer()
        return int(np.searchsorted(total, self.rng.random() * total[-1], side="right"))

    def team(self, date):
        p, rng = self.p, self.rng
        year = (date - self.begin) / YEAR
        mean = p["protocol.team_size.mean"] * math.exp(p["protocol.team_size.growth"] * year)
        shape = p["protocol.team_size.dispersion"]
        size = 1 + rng.poisson(rng.gamma(shape, max(mean - 1, 0) / shape))
        if rng.random() < p["protocol.newcomers.lead"]:
            team = [self.newcomer()]
        else:
            team = [self.by_papers(p["founding.leaders.exponent"], (), rate=True)]
        lead = team[0]
        if rng.random() < p["protocol.again.share"]:
            known = [t for when, t in self.recent.get(lead, ()) if when > date - RECENT]
            if known:
                old = known[rng.integers(len(known))]
                team += [o for o in old if o != lead and rng.random() < p["protocol.again.stay"]]
                size = max(size, len(team))
        chance = p["protocol.newcomers.seat"]
        logit = math.log(chance / (1 - chance)) + p["protocol.newcomers.trend"] * year
        chance = 1 / (1 + math.exp(-logit))
        spread = p["protocol.newcomers.spread"]
        new = rng.beta(chance * spread, (1 - chance) * spread)
        while len(team) < size:
            team.append(self.seat(team, new, date))
        return tuple(team)

    def seat(self, team, new, date):
        p, rng = self.p, self.rng
        if rng.random() < new:
            return self.newcomer()
        if rng.random() < p["protocol.selection.q"]:
            found = self.partner(team, date)
            if found is not None:
                return found
        elif rng.random() < p["protocol.selection.friends"]:
            found = self.friend(team)
            if found is not None:
                return found
        return self.by_papers(p["protocol.selection.exponent"], team)

    def partner(self, team, date):
        joint, recency = Counter(), {}
        for one in team:
            for other, count in (self.partners[one] or {}).items():
                if other not in team and self.alive[other]:
                    joint[other] += count
                    when = self.last[one, other]
                    recency[other] = max(recency.get(other, when), when)
        if not joint:
            return None
        names = list(joint)
        years = (date - np.array([recency[o] for o in names])) / YEAR
        value = self.p["protocol.selection.joint"] * np.log([joint[o] for o in names])
        value += self.p["protocol.selection.recency"] * np.exp(-years / 3)
        weight = np.cumsum(np.exp(value - value.max()))
        return names[int(np.searchsorted(weight, self.rng.random() * weight[-1], side="right"))]

    def friend(self, team):
        near = {o for one in team for o in (self.partners[one] or {})}
        far = Counter()
        for one in sorted(near):
            for other in self.partners[one] or {}:
                if other not in near and other not in team and self.alive[other]:
                    far[other] += 1
        if not far:
            return None
        names = list(far)
        weight = np.cumsum([far[o] for o in names])
        return names[int(np.searchsorted(weight, self.rng.random() * weight[-1], side="right"))]
