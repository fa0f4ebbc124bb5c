"""An ecosystem of people without a past, for models of how collaborations form.

Nobody in the population has written anything or knows anybody; there is a small literature by
others. So every tie that a run shows was made in the run.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import numpy as np
from pydantic import Field as Setting

from virsci_society.agents.config import Part
from virsci_society.agents.profile import Profile
from virsci_society.society.ecosystem.ecosystem import Ecosystem, encode_interests
from virsci_society.society.ecosystem.people import MASK, People
from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic
from virsci_society.society.literature.papers import Papers

FOUNDERS = 40
"""Invented scientists whose interests and departments the strangers take over."""
NO_PAST = "nobody in the population has a paper or a co-author before day 0"


class Strangers(Part):
    """People who have never written anything, and a small invented literature by others."""

    people: Annotated[int, Setting(ge=2, le=20_000)] = 1000
    """Size of the population. Unit: people. Source: assumed."""
    papers: Annotated[int, Setting(ge=200, le=20_000)] = 300
    """Past and contemporary papers, none of them by anybody in the population. Unit: papers.
    Source: assumed."""
    fields: Annotated[int, Setting(ge=1, le=12)] = 8
    """Number of research fields; everybody's first interest is one of them. Unit: fields. Source:
    assumed; bounded by the vocabulary."""
    boundary: Annotated[int, Setting(ge=1000, le=2999)] = 2024
    """The year in which the society starts. Unit: year. Source: VirSci, section 1 (a community as
    of 1 January 2024)."""
    seed: Annotated[int, Setting(ge=-(2**63), lt=2**63)] | None = None
    """Pins the ecosystem; without it the seed of the run makes it. Source: follows `seed`."""

    @property
    def seedless(self) -> bool:
        """Whether it is the same for every seed of a run: where it has a seed of its own."""
        return self.seed is not None

    def generate(self, seed: int) -> Ecosystem:
        """Make the ecosystem of a seed; the same in every process."""
        from scipy.sparse import csr_array

        seed = (seed if self.seed is None else self.seed) % 2**64
        literature = Synthetic(
            scientists=FOUNDERS, papers=self.papers, fields=self.fields, boundary=self.boundary
        ).generate(seed)
        like = np.random.default_rng([seed, 7]).integers(len(literature.profiles), size=self.people)
        models, embedding = tuple(literature.profiles), literature.embedding
        interests = encode_interests(literature.profiles, embedding)
        return Ecosystem(
            boundary=self.boundary,
            past=_by_others(literature.past),
            contemporary=_by_others(literature.contemporary),
            profiles=People.of(
                Profile(f"{MASK}{row}", models[one].affiliations, models[one].interests)
                for row, one in enumerate(like.tolist())
            ),
            career_starts=np.zeros(self.people, dtype=np.int64),
            coauthors=csr_array((self.people, self.people), dtype=np.int32),
            embedding=embedding,
            past_vectors=literature.past_vectors,
            contemporary_vectors=literature.contemporary_vectors,
            manifest=self._manifest(literature),
            interest_vectors=interests[like],
        )

    def _manifest(self, literature: Ecosystem) -> dict[str, Any]:
        facts = {key: value for key, value in literature.manifest.items() if key != "steps"}
        notes = [NO_PAST, *facts.get("notes", ())]
        return facts | {"filters": self.model_dump(exclude={"seed"}), "notes": notes}


def _by_others(papers: Papers) -> Papers:
    """The same papers, by authors outside the population."""
    return Papers.of(
        tuple(
            replace(paper, authors=tuple(name.replace(MASK, "Elder") for name in paper.authors))
            for paper in papers
        )
    )
