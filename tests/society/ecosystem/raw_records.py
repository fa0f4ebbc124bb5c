"""Records written by hand, in few words, and ecosystems built from them."""

from pathlib import Path
from tempfile import TemporaryDirectory

from virsci_society.society.ecosystem.build import RawCorpus, build
from virsci_society.society.ecosystem.build_options import build_options
from virsci_society.society.ecosystem.importers.records import RawAuthor, RawRecord
from virsci_society.society.ecosystem.summary import FIGURES

SHAPE = tuple(FIGURES)[4:]
"""The figures that do not grow with the size of the data, so that two ecosystems compare."""


def build_ecosystem(records, *, embedding="lsa", seed=0, source="", licence="", **given):
    """An ecosystem with the boundary and the filters as plain arguments."""
    options = build_options(None, given, embedding=embedding, seed=seed)
    return build(records, options, lambda: {"source": source, "licence": licence})


def corpus_of(records, boundary):
    """The corpus of some records, whose words are gone."""
    with TemporaryDirectory() as folder:
        return RawCorpus.read(records, boundary, Path(folder, "records.parquet"))


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
