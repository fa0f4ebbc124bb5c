"""Tables of a run as pySciSci reads them: python examples/recipes/pyscisci.py RUN."""

import sys
from pathlib import Path

import pandas as pd

import virsci_society as vs

run, folder = vs.Run.open(sys.argv[1]), Path("pyscisci")
papers, by, cites = (run.table(name) for name in ("papers", "authorships", "citations"))
number = {paper: n for n, paper in enumerate(dict.fromkeys([*papers.paper, *cites.cited]))}
year = (run.boundary or 2001) + papers.published // 365
publication = {"PublicationId": papers.paper.map(number), "Year": year, "Title": papers.title}
author = {"PublicationId": by.paper.map(number), "AuthorId": pd.factorize(by.scientist)[0]}
author["AuthorSequence"] = by.position + 1
reference = {"CitingPublicationId": cites.citing.map(number)}
reference["CitedPublicationId"] = cites.cited.map(number)
tables: dict[str, dict] = {"publication": publication, "pub2ref": reference}
tables["publicationauthoraffiliation"] = author
for name, columns in tables.items():
    (folder / name).mkdir(parents=True, exist_ok=True)
    pd.DataFrame(columns).to_csv(folder / name / f"{name}0.csv.gz", index=False)
