"""The figures of a run by name, and as SVG files of their own."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from agents.files.atomic_files import make_folder, write_atomically
from metrics.exports import coauthor_graph
from metrics.novelty.novelty import settings_of
from metrics.registry import measure
from metrics.report import figures
from metrics.report.drawing.standalone import standalone_svg
from metrics.report.layout.drawn_network import DrawnNetwork, draw_network
from metrics.report.network_figures import communities_figure, network_over_time
from metrics.report.timeline_figures import people_timeline, team_timeline
from society.kernel.streams import Streams
from society.results.run import Run


def run_figures(run: Run) -> dict[str, Markup]:
    """Every figure of a run's page that there is data for, by name.

    Args:
        run: the run.

    Returns:
        ``teams``, ``people``, ``network``, ``network-over-time``, ``novelty``, ``teams-at-work``,
        ``memberships``, ``contacts``, ``waiting``, ``delays``, ``acceptance``, ``degrees``,
        ``assembly`` and the measures of ``figures.STRUCTURE``: inline SVG.
    """
    weekly, whole = measure(run, "weekly"), run.partial is None
    timelines = {"teams": team_timeline(run), "people": people_timeline(run)}
    drawn: dict[str, Markup | None] = {
        name: None if one is None else one.figure for name, one in timelines.items()
    }
    if (part := drawn_part(run)) is not None:
        drawn["network"] = communities_figure(part)
        drawn["network-over-time"] = network_over_time(part, run.table("ties"), run.days)
    relative = settings_of(run).normalise != "none"
    drawn["novelty"] = figures.novelty(measure(run, "novelty"), relative)
    if whole:
        drawn["teams-at-work"] = figures.teams_in_flight(weekly)
        drawn["memberships"] = figures.memberships(weekly)
        drawn["contacts"] = figures.contacts(weekly)
    for name in ("waiting", "delays", "acceptance", "degrees", "assembly"):
        drawn[name] = getattr(figures, name)(measure(run, name))
    structure = figures.structure(measure(run, "structure"))
    named = (name.replace("_", "-") for name in figures.STRUCTURE)
    drawn |= dict(zip(named, structure, strict=False))
    return {name: figure for name, figure in drawn.items() if figure is not None}


def drawn_part(run: Run) -> DrawnNetwork | None:
    """The part of the run's co-authorship network that is drawn; None where nobody has a tie."""
    seed = Streams(run.seed, "metrics", "page").key("communities") % 2**31
    return draw_network(coauthor_graph(run), seed)


def write_run_figures(folder: Path, run: Run, *, within: Path | None = None) -> list[Path]:
    """Write each figure of a run as ``NAME.svg``, in the colours of paper.

    Args:
        folder: where to write; it is made.
        run: the run.
        within: a folder above it below which no folder may be a link; None: ``folder``.

    Returns:
        The files.
    """
    make_folder(folder, within=within or folder)
    written = []
    for name, figure in run_figures(run).items():
        path = folder / f"{name}.svg"
        write_atomically(path, standalone_svg(figure), within=within or folder)
        written.append(path)
    return written
