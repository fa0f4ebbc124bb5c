"""Corpora with planted effects and without, for the tests of facts."""

from dataclasses import replace

import numpy as np
import pandas as pd

from virsci_society.metrics.facts.tables import FactPaper, make_tables


def corpus(papers, years, name="made"):
    """Tables of papers given as (year, authors) or (year, authors, references, topics)."""
    listed = [
        FactPaper(
            year,
            f"p{place:05}",
            tuple(map(str, authors)),
            *([tuple(more[1])] if len(more) > 1 else [()]),
            tuple(more[0]) if more else (),
        )
        for place, (year, authors, *more) in enumerate(papers)
    ]
    return make_tables(name, years, listed)


def teams(rng, years=10, groups=12, size=5, papers=8, team=3, growth=0.0):
    """Fixed groups of people, who write among themselves; a fact of ties has something to find."""
    made = []
    for year in range(years):
        for group in range(groups):
            for _ in range(round(papers * (1 + growth) ** year / groups) or 1):
                people = rng.choice(size, min(size, team), replace=False)
                made.append((year, [f"g{group}-{one}" for one in people]))
    return made


def society(rng, years=10, papers=40, size=3.0, newcomers=0.4, friends=0.6):
    """Papers a year by newcomers, former partners and anybody; much of what fields have."""
    made, known, partners = [], [], {}
    for year in range(years):
        for number in range(round(papers * 1.05**year)):
            team = []
            for seat in range(1 + rng.poisson(size - 1)):
                drawn = rng.random()
                pool = [p for one in team for p in partners[one] if p not in team]
                if drawn < newcomers or not known:
                    who = f"n{year}-{number}-{seat}"
                elif pool and drawn < newcomers + friends * (1 - newcomers):
                    who = pool[rng.integers(len(pool))]
                else:
                    who = known[rng.integers(len(known))]
                if who not in team:
                    team.append(who)
                    partners.setdefault(who, [])
            for one in team:
                partners[one] += [other for other in team if other != one]
            known += team
            made.append((year, team))
    return made


def literature(rng, years=10, papers=40):
    """Tables with everything that a fact can need: references, topics, places, panels."""
    listed, written = [], society(rng, years, papers)
    for place, (year, team) in enumerate(written):
        first = next(n for n, (when, _) in enumerate(written) if when >= year - 5)
        drawn = first + (rng.random(6) ** 2 * (place - first)).astype(int) if place else []
        topics = rng.choice(12, 2, replace=False)
        references = [f"p{n:05}" for n in np.unique(drawn)]
        listed.append((year, team, references, [f"t{topic}" for topic in topics]))
    made = corpus(listed, years)
    names = list(made.cited[: len(made.works)])
    panels = {
        "team": names * 2,
        "submission": 1,
        "panel": ["first"] * len(names) + ["second"] * len(names),
        "decision": np.where(rng.random(2 * len(names)) < 0.3, "accept", "reject"),
    }
    further = {"panels": pd.DataFrame(panels)}
    return replace(made, further=further)


def generator(seed):
    return np.random.Generator(np.random.PCG64(seed))
