"""Network: the picture of who has published with whom, at day 0 and at the end."""

from __future__ import annotations

from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from metrics.report.drawing import BLUE, ORANGE, PAGE, PAST, figure, svg
from metrics.report.layout import Drawn

Floats = NDArray[np.float64]


def picture(part: Drawn, authors: NDArray[np.bool_], late: bool) -> Markup:
    """Co-authorship at day 0 or at the end, everybody in the same place in both.

    Args:
        part: what is drawn, and where.
        authors: for each scientist drawn, whether it published in the run.
        late: at the end of the run, else at day 0.
    """
    crowd = len(part.names)
    dot = float(np.clip(4000 / max(crowd, 1), 11, 60))
    thin = 0.6 if crowd > 120 else 1.0
    title = "At the end" if late else "Day 0"
    with figure(f"network {late}", 4.2, 4.0) as drawn:
        axes = drawn.subplots()
        lines(axes, part.places[part.before], PAST, thin)
        if late:
            lines(axes, part.places[part.since], ORANGE, thin + 0.2)
        face = np.where(authors & late, ORANGE, BLUE).tolist()
        axes.scatter(*part.places.T, s=dot, c=face, edgecolors=PAGE, linewidths=0.4, zorder=3)
        axes.set_title(title)
        axes.set_xlim(-0.03, 1.03)
        axes.set_ylim(-0.03, 1.03)
        axes.set_aspect("equal")
        axes.set_axis_off()
        return svg(drawn, f"Co-authorship network: {title}")


def lines(axes: Any, ends: Floats, colour: str, width: float) -> None:
    """Edges, the fainter the more there are."""
    from matplotlib.collections import LineCollection

    alpha = float(np.clip(350 / max(len(ends), 1), 0.22, 1.0))
    axes.add_collection(LineCollection(list(ends), colors=colour, linewidths=width, alpha=alpha))
