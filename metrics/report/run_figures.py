"""The figures of a run by name, and as SVG files of their own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from virsci_society.agents.files.atomic_files import make_folder, write_atomically
from virsci_society.metrics.exports import coauthor_graph
from virsci_society.metrics.novelty.novelty import settings_of
from virsci_society.metrics.registry import measure
from virsci_society.metrics.report import figures
from virsci_society.metrics.report.drawing.svg import standalone_svg
from virsci_society.metrics.report.network_figures import (
    communities_figure,
    community_map_figure,
    community_map_over_time,
    network_over_time,
)
from virsci_society.metrics.report.network_layout import (
    MAX_SAMPLED,
    CommunityMap,
    DrawnNetwork,
    draw_network,
    map_communities,
)
from virsci_society.metrics.report.timeline_figures import people_timeline, team_timeline
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.results.run import Run

STRUCTURE_FIGURES = tuple(name.replace("_", "-") for name in figures.STRUCTURE)


def run_figures(run: Run) -> dict[str, Markup]:
    """Every figure of a run's page that there is data for, by name.

    Returns:
        ``teams``, ``people``, ``network``, ``network-over-time``, ``novelty``, ``teams-at-work``,
        ``memberships``, ``contacts``, ``waiting``, ``delays``, ``acceptance``, ``degrees``,
        ``assembly`` and the measures of ``figures.STRUCTURE``: inline SVG.

    Example:
        >>> figures = vs.run_figures(run)
        >>> figures["teams"][:4], "network" in figures
        (Markup('<svg'), True)
    """
    timelines = {"teams": team_timeline(run), "people": people_timeline(run)}
    drawn: dict[str, Markup | None] = {
        name: None if one is None else one.figure for name, one in timelines.items()
    }
    if (network := draw_run_network(run)) is not None:
        drawn["network"] = network.at_the_end
        drawn["network-over-time"] = network.over_time
    known = {name: figure for name, figure in drawn.items() if figure is not None}
    return known | measure_figures(run)


def measure_figures(run: Run) -> dict[str, Markup]:
    """The figures that are drawn from measures alone, by the names of ``run_figures``."""
    weekly, relative = measure(run, "weekly"), settings_of(run).normalise != "none"
    drawn: dict[str, Markup | None] = {}
    drawn["novelty"] = figures.novelty(measure(run, "novelty"), relative)
    # Teams at work when a run was stopped are not in its tables: counts would sink.
    if run.partial is None:
        drawn["teams-at-work"] = figures.teams_in_flight(weekly)
        drawn["memberships"] = figures.memberships(weekly)
        drawn["contacts"] = figures.contacts(weekly)
    for name in ("waiting", "delays", "acceptance", "degrees", "assembly"):
        drawn[name] = getattr(figures, name)(measure(run, name))
    structure = figures.structure(measure(run, "structure"))
    drawn |= dict(zip(STRUCTURE_FIGURES, structure, strict=False))
    return {name: figure for name, figure in drawn.items() if figure is not None}


@dataclass(frozen=True)
class RunNetwork:
    """The co-authorship network of a run as its page shows it."""

    over_time: Markup
    at_the_end: Markup
    shown: DrawnNetwork | CommunityMap


def draw_run_network(run: Run) -> RunNetwork | None:
    """Draw the network of a run; None where nobody has a tie.

    Scientists are drawn where up to ``MAX_SAMPLED`` have a tie, communities where more have one:
    the 400 best connected of a larger network lie in too many communities to show any.
    """
    graph = coauthor_graph(run)
    # A stream of the page: a measure that draws more must not redraw the picture (rule 9).
    seed = Streams(run.seed, "metrics", "page").key("communities") % 2**31
    ties = run.table("ties")
    if sum(degree > 0 for _, degree in graph.degree()) > MAX_SAMPLED:
        found = map_communities(graph, seed)
        over_time = community_map_over_time(found, ties, run.days)
        return RunNetwork(over_time, community_map_figure(found), found)
    part = draw_network(graph, seed)
    if part is None:
        return None
    return RunNetwork(
        network_over_time(part, ties, run.days),
        communities_figure(part),
        part,
    )


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
