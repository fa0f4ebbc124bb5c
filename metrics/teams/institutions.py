"""Where authors worked on the date of each paper, and how far apart they were."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import combinations

import pandas as pd

from virsci_society.society.results.dataframes import typed_table
from virsci_society.society.results.run import Run

EARTH_RADIUS = 6371.0088
"""Mean radius of the earth in kilometres (IUGG 1980)."""
UNKNOWN = "not measurable: it is not known where two of its authors worked"
NO_PLACES = "not measurable: the places of its institutions are not known"

Coordinates = Mapping[str, tuple[float, float]]
"""Latitude and longitude in degrees of institutions, by name."""


def institutions(run: Run) -> pd.DataFrame:
    """Where each author worked on the date of each paper (this project).

    Returns:
        One row per authorship: ``paper``, ``date``, ``scientist``, ``position`` (from 0) and
        ``institution``: the first affiliation on that date, before a move of the same date;
        missing where it is not known.
    """
    stays = _stays(run)
    dates = run.table("papers")[["paper", "published"]]
    table = run.table("authorships").merge(dates, on="paper")
    columns = (table[name].tolist() for name in ("paper", "published", "scientist", "position"))
    rows = [
        (paper, date, who, place, _place_on(stays.get(who, []), date))
        for paper, date, who, place in zip(*columns, strict=True)
    ]
    texts = {"scientist": "string", "position": "Int64", "institution": "string"}
    return typed_table(rows, {"paper": "string", "date": "Float64", **texts})


def team_places(run: Run, coordinates: Coordinates | None = None) -> pd.DataFrame:
    """How far apart the authors of each paper worked (Lin et al. 2023).

    Args:
        run: the run.
        coordinates: of institutions, which no table of a run holds. None: distances are missing.

    Returns:
        One row per paper: ``paper``, ``date``, ``authors`` (of the society), ``known`` (those
        whose institution is known), ``institutions`` (different ones), ``apart`` (share of pairs
        of known authors at different institutions, 0..1), ``remote`` (any such pair), ``distance``
        (mean over pairs of known authors, on a great circle, in kilometres) and ``why`` the
        distance is missing.
    """
    table = run.measure(institutions)
    found: dict[str, list[str | None]] = {}
    for paper, place in zip(table["paper"], table["institution"], strict=True):
        found.setdefault(paper, []).append(None if pd.isna(place) else place)
    papers = run.table("papers")
    rows = [
        (paper, date, *_apart(found.get(paper, []), coordinates or {}))
        for paper, date in zip(papers["paper"].tolist(), papers["published"].tolist(), strict=True)
    ]
    counts = dict.fromkeys(("authors", "known", "institutions"), "Int64")
    shares = {"apart": "Float64", "remote": "boolean", "distance": "Float64", "why": "string"}
    return typed_table(rows, {"paper": "string", "date": "Float64", **counts, **shares})


def _apart(authors: Sequence[str | None], coordinates: Coordinates) -> tuple[object, ...]:
    """The columns of ``team_places`` about the institutions of the authors of one paper."""
    places = [place for place in authors if place is not None]
    pairs = list(combinations(places, 2))
    apart = [one != other for one, other in pairs]
    share = sum(apart) / len(apart) if apart else None
    distance = _mean_distance(pairs, coordinates)
    why = UNKNOWN if not pairs else NO_PLACES if distance is None else None
    remote = any(apart) if apart else None
    return len(authors), len(places), len(set(places)), share, remote, distance, why


def great_circle(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Kilometres between two places on a sphere, each a latitude and a longitude in degrees."""
    (lat, lon), (lat_2, lon_2) = (tuple(map(math.radians, place)) for place in (one, other))
    between = math.sin((lat_2 - lat) / 2) ** 2
    between += math.cos(lat) * math.cos(lat_2) * math.sin((lon_2 - lon) / 2) ** 2
    return 2 * EARTH_RADIUS * math.asin(math.sqrt(min(1.0, between)))


def _mean_distance(pairs: Sequence[tuple[str, str]], coordinates: Coordinates) -> float | None:
    """The mean over pairs of institutions; None without a pair, or where a place is not known.

    Who works at one institution is at no distance, wherever that is.
    """
    apart = [pair for pair in pairs if pair[0] != pair[1]]
    if not pairs or any(place not in coordinates for pair in apart for place in pair):
        return None
    return sum(great_circle(coordinates[a], coordinates[b]) for a, b in apart) / len(pairs)


def _stays(run: Run) -> dict[str, list[tuple[float, str]]]:
    """Where each scientist worked from which date on, in order; those of day 0 from -inf on."""
    people = run.table("scientists").dropna(subset=["institution"])
    first = zip(
        people["scientist"], people["arrived"].fillna(-math.inf), people["institution"], strict=True
    )
    stays: dict[str, list[tuple[float, str]]] = {who: [(date, place)] for who, date, place in first}
    moves = run.table("careers")
    moves = moves[(moves["change"] == "moved") & moves["place"].notna()]
    for who, date, place in zip(moves["scientist"], moves["date"], moves["place"], strict=True):
        stays.setdefault(who, []).append((date, place))
    return stays


def _place_on(stays: Sequence[tuple[float, str]], date: float) -> str | None:
    """Where somebody worked just before a date: what changed on it holds after it (rule 16)."""
    index = bisect_left([since for since, _ in stays], date) - 1
    return stays[index][1] if index >= 0 else None
