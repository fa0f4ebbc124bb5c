"""The identity of authors, by the source's id or by the name, under a rule of the import."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Literal, NamedTuple

from virsci_society.society.ecosystem.building.raw_records import RawAuthor
from virsci_society.society.ecosystem.importers.report import ImportReport

Identity = Literal["id", "name"]
"""The part of an author's entry that identifies the person."""
Nameless = Literal["name", "drop"]
"""What happens to authors without an id: identified by name, or dropped."""
BY_NAME = "name:"


class AuthorEntry(NamedTuple):
    """An author as a record has it: id (possibly empty), name, affiliation."""

    id: str
    name: str
    affiliation: str = ""


class AuthorIdentityRule(NamedTuple):
    """The rule by which authors are told apart.

    Attributes:
        by: ``id`` takes the source's id where there is one; ``name`` takes the name always.
        nameless: of authors without an id, ``name`` takes the normalised full name for the identity
            within the source, ``drop`` leaves them out.
    """

    by: Identity = "id"
    nameless: Nameless = "name"

    @property
    def description(self) -> str:
        """The rule in a sentence, for the manifest."""
        named = "their normalised full name (NFKC, case folded, single spaces)"
        if self.by == "name":
            return f"authors are told apart by {named}, ids are not used"
        if self.nameless == "drop":
            return "authors are told apart by id; those without one are left out"
        return f"authors are told apart by id; those without one by {named}"

    def authors(self, signed: Iterable[AuthorEntry], report: ImportReport) -> tuple[RawAuthor, ...]:
        """Identify the authors of a record, each person once.

        Args:
            signed: the authors as the record has them.
            report: counts authors identified by name and those left out.
        """
        authors: dict[str, RawAuthor] = {}
        for id_, name, affiliation in signed:
            if id_ and self.by == "id":
                key = id_
            elif name and (self.by == "name" or self.nameless == "name"):
                key = name_key(name)
                report.named += 1
            else:
                report.left_out += 1
                continue
            authors.setdefault(key, RawAuthor(key, name or id_, affiliation))
        return tuple(authors.values())


def name_key(name: str) -> str:
    """The identity of a name: ``name:`` and the name in NFKC, case folded, with single spaces."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return BY_NAME + " ".join(folded.split())
