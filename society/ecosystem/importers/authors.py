"""Who an author is: by the source's id, or by the name under a rule that can be switched."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Literal, NamedTuple

from society.ecosystem.importers.reading import Reading
from society.ecosystem.records import RawAuthor

Identity = Literal["id", "name"]
Nameless = Literal["name", "drop"]
BY_NAME = "name:"


class Signature(NamedTuple):
    """An author as a record writes it: id (maybe empty), name, affiliation."""

    id: str
    name: str
    affiliation: str = ""


class Authorship(NamedTuple):
    """The rule by which authors are told apart.

    Attributes:
        by: ``id`` takes the source's id where there is one; ``name`` takes the name always.
        nameless: of authors without an id, ``name`` takes the normalised full name for the
            identity within the source, ``drop`` leaves them out.
    """

    by: Identity = "id"
    nameless: Nameless = "name"

    @property
    def stated(self) -> str:
        """The rule in a sentence."""
        named = "their normalised full name (NFKC, case folded, single spaces)"
        if self.by == "name":
            return f"authors are told apart by {named}, ids are not used"
        if self.nameless == "drop":
            return "authors are told apart by id; those without one are left out"
        return f"authors are told apart by id; those without one by {named}"

    def authors(self, signed: Iterable[Signature], reading: Reading) -> tuple[RawAuthor, ...]:
        """The authors of a record, nobody twice, counted in the reading."""
        found: dict[str, RawAuthor] = {}
        for id_, name, affiliation in signed:
            if id_ and self.by == "id":
                key = id_
            elif name and (self.by == "name" or self.nameless == "name"):
                key = name_key(name)
                reading.named += 1
            else:
                reading.left_out += 1
                continue
            found.setdefault(key, RawAuthor(key, name or id_, affiliation))
        return tuple(found.values())


def name_key(name: str) -> str:
    """The identity of a name: ``name:`` and the name in NFKC, case folded, single spaces."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return BY_NAME + " ".join(folded.split())
