"""Records written by hand, in few words."""

from virsci_society.society.ecosystem.importers.records import RawAuthor, RawRecord


def raw(name, year, authors, references=(), keywords=(), citations=None, abstract=None):
    """A record by short names: authors are letters."""
    return RawRecord(
        id=name,
        title=f"Title of {name}",
        abstract=f"Text of {name} on {' '.join(keywords)}" if abstract is None else abstract,
        year=year,
        authors=tuple(RawAuthor(a, f"Name {a}", f"Place {a}") for a in authors),
        references=tuple(references),
        keywords=tuple(keywords),
        venue="Venue",
        citations=citations,
    )
