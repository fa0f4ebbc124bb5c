"""What others may know of a scientist, as of a date."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Profile:
    """One scientist as the paper's Figure 16 introduces it.

    Attributes:
        id: the masked name (``Scientist12``), unique in the society; also the row's key.
        affiliations: up to three.
        interests: up to ten research interests, the most frequent first.
        papers: number of papers published before the date of the profile.
        citations: citations received before that date; None where the source knows none.
        collaborators: masked names of the ten most frequent co-authors, most frequent first.

    Example:
        >>> ada = vs.Profile("Scientist12", interests=("networks", "cells"), papers=4)
        >>> ada.topic, ada.citations
        ('networks', 0)
    """

    id: str
    affiliations: tuple[str, ...] = ()
    interests: tuple[str, ...] = ()
    papers: int = 0
    citations: int | None = 0
    collaborators: tuple[str, ...] = ()

    @property
    def topic(self) -> str:
        """The main topic: the first interest, or an empty string."""
        return self.interests[0] if self.interests else ""
