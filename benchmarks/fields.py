"""Fields for `benchmarks/calibration.py`, from the public lists of papers of Paper Copilot.

    git clone https://github.com/papercopilot/paperlists
    python benchmarks/fields.py paperlists rss aistats:2009 nips::2018 --out runs/fields

Each field is a venue, from one year to another, and becomes a file VENUE.jsonl.gz. Authors have no
ids there: an author is a name without accents, case and dots, so that namesakes are one person.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path


def author_id(name: str) -> str:
    """A name in small letters without accents, dots and numbers of namesakes."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode() or name
    return " ".join(re.sub(r"[^\w\s]|\d", " ", plain).casefold().split())


def papers(folder: Path, first: int, last: int) -> Iterator[dict[str, object]]:
    """The accepted papers of a venue in some years."""
    for file in sorted(folder.glob("*.json")):
        year = int(file.stem[-4:])
        for number, one in enumerate(json.loads(file.read_text("utf-8"))):
            names = re.split(r"[;,]" if ";" not in one["author"] else ";", one["author"])
            known = {author_id(name): name.strip() for name in names if author_id(name)}
            accepted = one.get("status") not in ("Reject", "Withdraw", "Desk Reject", "Active")
            if first <= year <= last and known and accepted:
                authors = [{"id": key, "name": name} for key, name in known.items()]
                head = {"id": f"{file.stem}-{number}", "year": year, "title": one["title"]}
                yield head | {"abstract": one.get("abstract") or None, "authors": authors}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("lists", type=Path, help="a clone of papercopilot/paperlists")
    parser.add_argument("fields", nargs="+", metavar="VENUE[:FIRST[:LAST]]")
    parser.add_argument("--out", type=Path, default=Path("runs/fields"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for field in given.fields:
        venue, first, last = [*field.split(":"), "", ""][:3]
        found = [*papers(given.lists / venue, int(first or 0), int(last or 9999))]
        with gzip.open(given.out / f"{venue}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(one, ensure_ascii=False) + "\n" for one in found)
        print(f"{venue}: {len(found)} papers")
