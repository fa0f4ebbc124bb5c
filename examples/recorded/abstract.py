"""Print what one team wrote, how its replies were read and where the page of its run is.

``python examples/recorded/abstract.py RUN`` reads the folder of a finished run.
"""

import sys
from pathlib import Path
from textwrap import fill

import virsci_society as vs

folder = Path(sys.argv[1])
run = vs.Run.open(folder)
for paper in run.table("papers").itertuples():
    print(f"\n{paper.title}\n")
    print(fill(paper.abstract, 96))
print()
counts = vs.compute_metric(run, "reply_texts").sum(numeric_only=True)
noticed = ", ".join(f"{number} {what}" for what, number in counts.items() if what != "asked")
print(f"The content of the replies was not judged. Of {counts['asked']}: {noticed}.")
print("A model of this size shows that the program works with a real model, and nothing about")
print("research or about larger models.")
print(f"the page: {(folder / 'report.html').resolve()}")
