"""Drift: how interests follow what one writes. A rule; who has come to which is told elsewhere."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from pydantic import Field

from agents.part import Part
from society.durations import Days
from society.interests import Weighed


class Drift(Part):
    """A rule by which a paper changes what its authors are interested in."""

    def begin(self, interests: Sequence[str]) -> Weighed:
        """The weights of interests that somebody comes with, in their order."""
        raise NotImplementedError

    def write(
        self, held: Weighed, days: float, keywords: Sequence[str], rng: np.random.Generator
    ) -> Weighed:
        """The interests of an author once a paper has appeared.

        Args:
            held: those before it, in order.
            days: since they were weighed.
            keywords: of the paper.
            rng: the stream of this author and paper.

        Returns:
            The interests from then on, the main topic first.
        """
        raise NotImplementedError


class Writing(Drift):
    """Interests are what one has written on, the more often and the more lately the more.

    Every keyword of a paper weighs 1 when it appears, and exp(-t / ``memory``) after t days; an
    interest weighs as much as all the papers on it together, and a list holds the heaviest. So
    the first of them, the main topic, may change, and what was not written on for long leaves.
    Heterogeneity and recency are two of the three features that Jia, Wang and Szymanski, Nature
    Human Behaviour 1:0078 (2017), found to govern the choice of subjects; the form is assumed.
    """

    memory: Days = Field(default=1825.0, gt=0)
    """Days after which what was written weighs 1/e of what it did. Assumed."""
    start: float = Field(default=3.0, gt=0, le=10_000)
    """Papers that the first interest stands for when somebody comes; the r-th stands for 1/r of
    them. Assumed."""
    entering: float = Field(default=0.5, ge=0, le=1)
    """Probability that a keyword of a paper which is new to an author enters its interests; 0:
    their order alone changes. Assumed."""
    most: int = Field(default=10, ge=1, le=100)
    """Interests of one scientist, as many as a profile of VirSci holds."""

    def begin(self, interests: Sequence[str]) -> Weighed:
        """Weights as the harmonic series."""
        return tuple((one, self.start / place) for place, one in enumerate(interests, start=1))

    def write(
        self, held: Weighed, days: float, keywords: Sequence[str], rng: np.random.Generator
    ) -> Weighed:
        """The heaviest; where two weigh the same, the one that was there before."""
        fading = math.exp(-days / self.memory)
        weights = {one: weight * fading for one, weight in held}
        for keyword in dict.fromkeys(keywords):
            if keyword in weights:
                weights[keyword] += 1.0
            elif rng.random() < self.entering:
                weights[keyword] = 1.0
        ranked = sorted(weights.items(), key=lambda one: -one[1])
        return tuple(ranked[: self.most])
