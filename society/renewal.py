"""Renewal: a paper appears, and its authors' interests follow it."""

from __future__ import annotations

import math
from dataclasses import replace

from society.drift import Drift
from society.ecosystem.knowledge import interests_text
from society.findings import vector_of_paper
from society.interests import Weighed
from society.literature.paper import Paper
from society.world import World


def renew_interests(world: World, paper: Paper) -> None:
    """By the rule of the society, if it has one: told in profiles and searched from now on."""
    rule = world.drift
    if rule is None:
        return
    for author in paper.authors:
        before, after = _weighed(world, rule, paper, author)
        if before != after:
            _tell(world, paper, author, before, after)


def _weighed(world: World, rule: Drift, paper: Paper, author: str) -> tuple[list[str], list[str]]:
    """An author's interests before and after the paper, weighed anew."""
    interests, row = world.population.interests, world.population.rows[author]
    held = interests.latest(row)
    came = world.population.arrived.get(row, 0.0)
    date, old = held or (came, rule.begin(world.profile(author).interests))
    rng = world.streams.stream("drift", paper.id, author)
    new = rule.write(old, world.day - date, paper.keywords, rng)
    interests.renew(row, world.day, new)
    return _names(old), _names(new)


def _tell(world: World, paper: Paper, author: str, before: list[str], after: list[str]) -> None:
    """Write a changed list down and let it be searched."""
    entered = [one for one in after if one not in before]
    dropped = [one for one in before if one not in after]
    lists = (after[:1], after, entered, dropped)
    told = ("; ".join(one) or None for one in lists)
    world.log.row("interests", author, world.day, paper.id, *told)
    row = world.population.rows[author]
    profile = world.population.profile(row, math.nextafter(world.day, math.inf))
    profile = replace(profile, interests=tuple(after))
    place = (f"{paper.id}/interests/{author}", world.day)
    vector = vector_of_paper(world, place, interests_text(profile))
    world.knowledge.update(world.day, profile, vector)


def _names(interests: Weighed) -> list[str]:
    return [name for name, _ in interests]
