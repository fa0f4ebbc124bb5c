"""The hidden worth of ideas, a fixed random function of their vectors that nobody can read.

Random Fourier features (Rahimi and Recht 2007) in place of Weisberg and Muldoon's hills (2009).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.random import Generator
from pydantic import Field

from virsci_society.agents.arrays import FloatArray, VectorArray
from virsci_society.agents.config import Part
from virsci_society.agents.errors import InputError

FEATURES = 256
"""Random Fourier features of a field."""
GROUND = 2000
"""Past papers, at most, by which the field is put on the scale of worth."""
NEIGHBOURS = 400
"""Approximate number of these that show how far a paper is from its nearest one."""
DECIMALS = 6
"""Decimals of a worth: the last bits of products differ between machines."""
HEIGHT = 3.0
"""Height of a peak, in standard deviations of the field."""


class Worth(Part):
    """A rule by which ideas have a hidden worth; subclass it and write ``field``."""

    def field(self, past: VectorArray, rng: Generator) -> WorthField:
        """The worth of every idea, for one run."""
        raise NotImplementedError


class Landscape(Worth):
    """Worth from 0 to 1, a smooth random field over the embedding."""

    ruggedness: float = Field(default=0.5, gt=0, lt=1)
    """1 - the correlation of worth between nearest papers; near 1 every idea is independent. Unit:
    0..1."""
    peaks: int = Field(default=0, ge=0, le=1000)
    """Random past papers around which worth is higher. Unit: peaks."""
    worthless: float = Field(default=0.5, ge=0, lt=1)
    """Share of past papers of worth 0; the others are ranked. Unit: share."""

    def field(self, past: VectorArray, rng: Generator) -> WorthField:
        """The field of a run."""
        rows = np.sort(rng.permutation(len(past))[:GROUND])
        ground = np.asarray(past[rows], dtype=np.float64)
        ground = ground[np.any(ground != 0.0, axis=1)]
        near = nearest_distance(ground)
        if near is None:
            raise InputError(
                "worth: a landscape needs two distinct vectors of past papers, and the ecosystem "
                "has fewer; choose one with past papers, or leave worth out"
            )
        # A field whose covariance is exp(-d^2 / 2 length^2).
        length = near / np.sqrt(-2.0 * np.log(1.0 - self.ruggedness))
        made = WorthField(
            frequencies=rng.standard_normal((FEATURES, ground.shape[1])) / length,
            phases=rng.uniform(0.0, 2.0 * np.pi, FEATURES),
            weights=rng.standard_normal(FEATURES) * np.sqrt(2.0 / FEATURES),
            peaks=ground[rng.permutation(len(ground))[: self.peaks]],
            length=float(length),
            worthless=self.worthless,
        )
        return replace(made, ranked=np.sort(made.heights(ground)))


@dataclass(frozen=True, eq=False)
class WorthField:
    """The worth of every vector: the rank among the past papers of a smooth random function."""

    frequencies: FloatArray
    phases: FloatArray
    weights: FloatArray
    peaks: FloatArray
    length: float
    worthless: float
    """Share of the past papers that have a worth of 0."""
    ranked: FloatArray = field(default_factory=lambda: np.zeros(0))

    def heights(self, vectors: FloatArray) -> FloatArray:
        """The function at each vector (ideas x dim)."""
        waves = np.cos(vectors @ self.frequencies.T + self.phases)
        values: FloatArray = waves @ self.weights
        for peak in self.peaks:
            apart = ((vectors - peak) ** 2).sum(axis=1)
            values = values + HEIGHT * np.exp(-apart / (2.0 * self.length**2))
        return values

    def worth(self, vectors: VectorArray) -> FloatArray:
        """Worth of each vector (ideas x dim), 0..1."""
        heights = self.heights(np.asarray(vectors, dtype=np.float64))
        ranks = np.interp(heights, self.ranked, np.linspace(0.0, 1.0, len(self.ranked)))
        above = np.maximum(ranks - self.worthless, 0.0) / (1.0 - self.worthless)
        return np.round(above, DECIMALS)

    @property
    def moments(self) -> tuple[float, float]:
        """Mean and standard deviation of the worth of the past papers."""
        worthy = 1.0 - self.worthless
        # Of these the worth is uniform; of the others it is 0.
        mean = worthy / 2.0
        return mean, math.sqrt(worthy / 3.0 - mean**2)

    def standardised(self, worth: float) -> float:
        """A worth in standard deviations from the mean, both of the past papers."""
        mean, deviation = self.moments
        return (worth - mean) / deviation


def appearance(signal: float, standardised: float, chance: float) -> float:
    """How good an idea looks before it is carried out, of mean 0 and standard deviation 1."""
    return signal * standardised + math.sqrt(1.0 - signal**2) * chance


def nearest_distance(vectors: FloatArray) -> float | None:
    """Median distance from the nearest other vector, of ``NEIGHBOURS``; None where none differ."""
    some = vectors[:: max(len(vectors) // NEIGHBOURS, 1)]
    squares = (some**2).sum(axis=1)[:, None] + (vectors**2).sum(axis=1)[None, :]
    apart = squares - 2.0 * (some @ vectors.T)
    # The distance to itself and to copies is zero up to rounding.
    apart[apart < 1e-6] = np.inf
    nearest = np.sqrt(apart.min(axis=1, initial=np.inf))
    finite = nearest[np.isfinite(nearest)]
    return float(np.median(finite)) if len(finite) else None
