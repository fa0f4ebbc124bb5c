"""The interests of a scientist that a prompt shows.

Where papers have no keywords, interests are terms of their text, and some of these say nothing
("big", "case study", "work progress"). Profiles decide who is found, so such terms stay there.
"""

from __future__ import annotations

from functools import lru_cache

from virsci_society.agents.lazy_imports import pa, pc

SHORT = 3
"""Most characters of a single word that counts as an abbreviation or a scrap."""
COMMON_SHARE = 0.01
"""Share of the scientists who state a word, at which it is common where no paper has keywords."""
LEAST = 3
"""Where fewer interests are left, the first that were left out are shown all the same."""


def general_terms(interests: pa.ChunkedArray, keywords: pa.ChunkedArray) -> frozenset[str]:
    """The interests, in lower case, that are general language, by a list per scientist and paper.

    Those are the terms that no past paper has as a keyword; where no paper has keywords, single
    words that many scientists state.
    """
    stated, named = (
        pc.value_counts(pc.utf8_lower(pc.list_flatten(column))) for column in (interests, keywords)
    )
    if len(named):
        return frozenset(stated.field("values").to_pylist()) - {*named.field("values").to_pylist()}
    people = max(2, COMMON_SHARE * len(interests))
    return frozenset(
        one["values"]
        for one in stated.to_pylist()
        if one["counts"] >= people and len(one["values"].split()) == 1
    )


@lru_cache(maxsize=65_536)
def cleaned_interests(interests: tuple[str, ...], general: frozenset[str]) -> tuple[str, ...]:
    """Leave out short and general terms, and parts of other terms ("map" beside "maps of trees").

    The order is that of the profile; there are none only where it has none.
    """
    # Words between blanks and in the singular, so that a part is a part of the text.
    words = {term: f" {term.lower()} ".replace("s ", " ") for term in interests}
    sound = [
        term
        for term in words
        if term.lower() not in general and not (len(term) <= SHORT and term.isascii())
    ]
    kept = {words[term]: term for term in reversed(sound)}
    whole = [kept[one] for one in kept if not any(one in other for other in kept if one != other)]
    back = [term for term in words if term not in sound][: max(0, LEAST - len(whole))]
    return tuple(term for term in words if term in whole or term in back)
