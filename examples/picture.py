"""Draw the picture of the README from a run: its teams over time and its co-authorship network.

Usage: ``python examples/picture.py RUN FILE.svg``, for example with the run of ``make demo``.
It needs the extra ``[plots]``::

    python examples/picture.py runs/demo docs/quickstart.svg
"""

from __future__ import annotations

import sys

import matplotlib as mpl

mpl.use("svg")
import matplotlib.pyplot as plt

import virsci_society as vs


def draw(folder: str, target: str) -> None:
    """Write one figure with the timeline and the network of a run; the same bytes every time.

    Args:
        folder: of the run.
        target: the SVG file to write.
    """
    run = vs.Run.open(folder)
    # Otherwise the ids within the file would be drawn at random.
    with mpl.rc_context({"svg.hashsalt": "virsci-society", "font.size": 9}):
        figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), width_ratios=(1.4, 1))
        run.plot.timeline(ax=left)
        run.plot.network(ax=right)
        figure.tight_layout()
        figure.savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    draw(*sys.argv[1:])
