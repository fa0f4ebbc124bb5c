"""A run as the tables of pySciSci, whose measures of papers and careers then work on it.

A folder holds one CSV file a table, as pySciSci stores what it has read, and ``ids.csv``::

    publication/ author/ affiliation/ publicationauthoraffiliation/ pub2ref/ pub2field/ fieldinfo/

Papers from before day 0 are in ``pub2ref`` alone: a run folder has their ids and nothing else.

Source: Gates, A. J. and Barabasi, A.-L. (2023). Reproducible science of science at scale:
pySciSci. Quantitative Science Studies 4. Layout of its release 0.92.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from virsci_society.agents.files.atomic_files import make_folder, open_new, replacing
from virsci_society.scenarios.runs.progress import simulated_date
from virsci_society.society.results.run import Run

UNKNOWN_YEAR = 2001
"""The year of day 0 of a run that does not say."""


def write_pyscisci(folder: Path, run: Run) -> dict[str, int]:
    """Write a run as a database of pySciSci.

    Args:
        folder: to write to.
        run: the run; its boundary is the year of day 0 (2001 where it is not known).

    Returns:
        Rows by name of the table.
    """
    tables = pyscisci_tables(run)
    make_folder(folder)
    for name, table in tables.items():
        single = name == "ids"
        place = folder / "ids.csv.gz" if single else folder / name / f"{name}0.csv.gz"
        make_folder(place.parent, within=folder)
        _write(place, table.to_csv(index=False, escapechar="\\", lineterminator="\n"), folder)
    years = tables["publication"].set_index("PublicationId")["Year"]
    text = json.dumps({str(paper): int(year) for paper, year in years.items()})
    _write(folder / "pub2year.json.gz", text, folder)
    return {name: len(table) for name, table in tables.items()}


def pyscisci_tables(run: Run) -> dict[str, pd.DataFrame]:
    """The tables of pySciSci by name, and ``ids``: which number stands for which id of the run."""
    papers, authors, cited = (run.table(one) for one in ("papers", "authorships", "citations"))
    people = run.table("scientists")
    places = sorted(set(people["institution"].dropna()))
    paper_of = _numbers([*papers["paper"], *cited["cited"]])
    author_of = _numbers([*people["scientist"], *authors["scientist"]])
    place_of, field_of = _numbers(places), _numbers(_topics(papers))
    begin = run.boundary or UNKNOWN_YEAR
    dates = [simulated_date(begin, float(day)) for day in papers["published"]]
    at = people.set_index("scientist")["institution"].map(place_of)
    return {
        "publication": pd.DataFrame(
            {
                "PublicationId": papers["paper"].map(paper_of),
                "Year": [int(day[:4]) for day in dates],
                "Date": dates,
                "Title": papers["title"],
                "TeamSize": papers["paper"].map(authors["paper"].value_counts()).fillna(0),
            }
        ).astype({"TeamSize": "int64"}),
        "author": pd.DataFrame({"AuthorId": author_of.values(), "FullName": author_of.keys()}),
        "affiliation": pd.DataFrame({"AffiliationId": place_of.values(), "FullName": places}),
        "publicationauthoraffiliation": pd.DataFrame(
            {
                "PublicationId": authors["paper"].map(paper_of),
                "AuthorId": authors["scientist"].map(author_of),
                "AffiliationId": authors["scientist"].map(at).astype("Int64"),
                "AuthorSequence": authors["position"] + 1,
            }
        ),
        "pub2ref": pd.DataFrame(
            {
                "CitingPublicationId": cited["citing"].map(paper_of),
                "CitedPublicationId": cited["cited"].map(paper_of),
            }
        ),
        "pub2field": pd.DataFrame(
            [
                (paper_of[paper], field_of[topic])
                for paper, keywords in zip(papers["paper"], papers["keywords"], strict=True)
                for topic in _split(keywords)
            ],
            columns=["PublicationId", "FieldId"],
        ),
        "fieldinfo": pd.DataFrame({"FieldId": field_of.values(), "FieldName": field_of.keys()}),
        "ids": pd.DataFrame(
            [
                (kind, number, name)
                for kind, numbers in (("paper", paper_of), ("scientist", author_of))
                for name, number in numbers.items()
            ],
            columns=["kind", "number", "id"],
        ),
    }


def _numbers(names: Iterable[str]) -> dict[str, int]:
    """A number from 0 for each name, in order of first appearance: pySciSci takes no other ids."""
    return {name: number for number, name in enumerate(dict.fromkeys(map(str, names)))}


def _topics(papers: pd.DataFrame) -> list[str]:
    return sorted({topic for keywords in papers["keywords"] for topic in _split(keywords)})


def _split(keywords: object) -> list[str]:
    return [part for part in str(keywords).split("; ") if part] if isinstance(keywords, str) else []


def _write(path: Path, text: str, within: Path) -> None:
    """Write a text compressed, with the same bytes every time: no name and no date in its head."""
    packed = gzip.compress(text.encode("utf-8"), mtime=0)
    with replacing(path, within=within) as new, open_new(new, encoding="latin-1") as file:
        # One character a byte.
        file.write(packed.decode("latin-1"))
