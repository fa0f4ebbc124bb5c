"""A run as the tables of pySciSci, whose measures of papers and careers then work on it.

A folder holds one CSV file a table, as pySciSci stores what it has read, and beside
them ``ids.csv.gz`` and ``pub2year.json.gz``::

    publication/ author/ affiliation/ publicationauthoraffiliation/ pub2ref/ pub2field/ fieldinfo/

Papers from before day 0 are cited in ``pub2ref`` and numbered in ``ids``, no more: a run folder has
their ids and nothing else.

Source: Gates, A. J. and Barabasi, A.-L. (2023). Reproducible science of science at scale:
pySciSci. Quantitative Science Studies 4. Layout of its release 0.92.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pandas as pd

from virsci_society.agents.files.atomic_files import make_folder, open_new, replacing
from virsci_society.scenarios.runs.progress import simulated_date
from virsci_society.society.results.dataframes import counts_of
from virsci_society.society.results.run import Run

UNKNOWN_YEAR = 2001
"""The year of day 0 of a run that does not say."""
IDS = "ids"


def write_pyscisci(folder: Path, run: Run, *, within: Path | None = None) -> dict[str, int]:
    """Write a run as a database of pySciSci.

    Args:
        folder: to write to; it is made.
        run: the run; its boundary is the year of day 0 (2001 where it is not known).
        within: a folder above it below which no folder may be a link; None: ``folder``.

    Returns:
        Rows by name of the table.
    """
    tables, above = pyscisci_tables(run), within or folder
    for name, table in tables.items():
        place = folder if name == IDS else folder / name
        file = f"{name}.csv.gz" if name == IDS else f"{name}0.csv.gz"
        make_folder(place, within=above)
        text = table.to_csv(index=False, escapechar="\\", lineterminator="\n")
        _write(place / file, text, above)
    papers = tables["publication"]
    years = zip(papers["PublicationId"].astype(str), papers["Year"].tolist(), strict=True)
    _write(folder / "pub2year.json.gz", json.dumps(dict(years)), above)
    return {name: len(table) for name, table in tables.items()}


def pyscisci_tables(run: Run) -> dict[str, pd.DataFrame]:
    """The tables of pySciSci by name, and ``ids``: which number stands for which id of the run."""
    papers, authors, cited = (run.table(one) for one in ("papers", "authorships", "citations"))
    people = run.table("scientists")
    paper_of = _numbers([*papers["paper"], *cited["cited"]])
    author_of = _numbers([*people["scientist"], *authors["scientist"]])
    place_of = _numbers(sorted(set(people["institution"].dropna())))
    topics = [(paper, word) for paper, words in _keywords(papers) for word in words]
    field_of = _numbers(sorted({word for _, word in topics}))
    numbers = [_listed(paper_of, "number", "id"), _listed(author_of, "number", "id")]
    return {
        "publication": _publications(run, paper_of),
        "author": _listed(author_of, "AuthorId", "FullName"),
        "affiliation": _listed(place_of, "AffiliationId", "FullName"),
        "publicationauthoraffiliation": _authorships(run, paper_of, author_of, place_of),
        "pub2ref": pd.DataFrame(
            {
                "CitingPublicationId": cited["citing"].map(paper_of),
                "CitedPublicationId": cited["cited"].map(paper_of),
            }
        ),
        "pub2field": pd.DataFrame(
            [(paper_of[paper], field_of[word]) for paper, word in topics],
            columns=["PublicationId", "FieldId"],
        ),
        "fieldinfo": _listed(field_of, "FieldId", "FieldName"),
        IDS: pd.concat(numbers, keys=["paper", "scientist"], names=["kind"]).reset_index("kind"),
    }


def _publications(run: Run, paper_of: Mapping[str, int]) -> pd.DataFrame:
    papers, begin = run.table("papers"), run.boundary or UNKNOWN_YEAR
    dates = [simulated_date(begin, float(day)) for day in papers["published"]]
    sizes = run.table("authorships")["paper"].value_counts()
    return pd.DataFrame(
        {
            "PublicationId": papers["paper"].map(paper_of),
            "Year": [int(day[:4]) for day in dates],
            "Date": dates,
            "Title": papers["title"],
            "TeamSize": counts_of(papers["paper"], sizes),
        }
    )


def _authorships(
    run: Run, paper_of: Mapping[str, int], author_of: Mapping[str, int], place_of: Mapping[str, int]
) -> pd.DataFrame:
    authors, people = run.table("authorships"), run.table("scientists")
    at = people.set_index("scientist")["institution"].map(place_of)
    return pd.DataFrame(
        {
            "PublicationId": authors["paper"].map(paper_of),
            "AuthorId": authors["scientist"].map(author_of),
            "AffiliationId": authors["scientist"].map(at).astype("Int64"),
            "AuthorSequence": authors["position"] + 1,
        }
    )


def _numbers(names: Iterable[str]) -> dict[str, int]:
    """A number from 0 for each name, in order of first appearance: pySciSci takes no other ids."""
    return {name: number for number, name in enumerate(dict.fromkeys(map(str, names)))}


def _listed(numbers: Mapping[str, int], number: str, name: str) -> pd.DataFrame:
    """Numbers and names as a table of two columns."""
    return pd.DataFrame({number: numbers.values(), name: numbers.keys()})


def _keywords(papers: pd.DataFrame) -> Iterator[tuple[str, list[str]]]:
    """The keywords of each paper."""
    for paper, keywords in zip(papers["paper"], papers["keywords"].fillna(""), strict=True):
        yield paper, [word for word in keywords.split("; ") if word]


def _write(path: Path, text: str, within: Path) -> None:
    """Write a text compressed, with the same bytes every time: no name and no date in its head."""
    packed = gzip.compress(text.encode("utf-8"), mtime=0)
    with replacing(path, within=within) as new, open_new(new, encoding="latin-1") as file:
        # One character a byte.
        file.write(packed.decode("latin-1"))
