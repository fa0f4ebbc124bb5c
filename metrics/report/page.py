"""The page of a run, one self-contained HTML file without scripts and requests.

The template escapes every text of a run; only the figures, drawn from numbers, are not.
"""

from __future__ import annotations

from pathlib import Path

from virsci_society.metrics.inference.intervals import MIN_REPLICATES
from virsci_society.metrics.report.network_figures import network_over_time
from virsci_society.metrics.report.network_layout import run_communities
from virsci_society.metrics.report.overview import first_screen, written_by_rules
from virsci_society.metrics.report.sections import SECTIONS, Shown
from virsci_society.metrics.report.templates import style_sheet, template_environment, write_html
from virsci_society.metrics.summary import summarise_run
from virsci_society.society.results.run import Run


def render_page(run: Run) -> str:
    """The page of a run as HTML text; it opens without a network, and with scripts off."""
    environment = template_environment("virsci_society.metrics.report")
    shown = Shown(run, summarise_run(run), run_communities([run]))
    sections = {name: section(shown) for name, section in SECTIONS.items()}
    return environment.get_template("page.html").render(
        style=style_sheet(environment),
        told=shown.summary,
        short=first_screen(*shown),
        by_rules=written_by_rules(run),
        replicates=int(run.manifest.get("replicates", 1)),
        sketch=MIN_REPLICATES,
        network=network_over_time(run, shown.whole),
        sections={name: section for name, section in sections.items() if section is not None},
    )


def write_page(run: Run, folder: Path | str) -> Path:
    """Write ``report.html`` into a folder and return its path; a link there is not followed."""
    return write_html(Path(folder) / "report.html", render_page(run))
