"""Print what one team wrote, how its replies were read and where the page of its run is.

``python examples/recorded/abstract.py RUN`` reads the folder of a finished run.
"""

import sys
from pathlib import Path
from textwrap import fill

import virsci_society as vs
from virsci_society.metrics.reply_texts import text_sentences
from virsci_society.metrics.summary import summarise_run

folder = Path(sys.argv[1])
run = vs.Run.open(folder)
for paper in run.table("papers").itertuples():
    print(f"\n{paper.title}\n")
    print(fill(paper.abstract, 96))
print()
print(fill(" ".join(text_sentences(summarise_run(run)["reading"])), 96))
print("A model of this size shows that the program works with a real model, and nothing about")
print("research or about larger models.")
print(f"the page: {(folder / 'report.html').resolve()}")
