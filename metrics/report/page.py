"""The page of a run, one self-contained HTML file without requests, complete without its script.

On top stands what happened (``overview``), below it a strip of checks and cautions. Every text of
a run is escaped by the template; only the figures, drawn from numbers, are not.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from virsci_society.metrics.cost import RUNGS, read_ledger
from virsci_society.metrics.inference.intervals import MIN_REPLICATES, wilson_interval
from virsci_society.metrics.registry import compute_metric
from virsci_society.metrics.report import sections
from virsci_society.metrics.report.figures import measure_figures
from virsci_society.metrics.report.network_layout import run_communities
from virsci_society.metrics.report.overview import first_screen, speaker, written_by_rules
from virsci_society.metrics.report.templates import (
    content_policy,
    own_file,
    records,
    style_sheet,
    template_environment,
    write_html,
)
from virsci_society.metrics.report.timeline_figures import people_timeline, team_timeline
from virsci_society.metrics.summary import summarise_run
from virsci_society.society.results.run import Run

SCENARIO_SHOWN = 40_000
RULE_WORDS, MODEL_WORDS = (8, 20), (60, 600)
"""Words of titles and abstracts that are shown: of those by rules fewer."""


def render_page(run: Run) -> str:
    """The page of a run as HTML text; it opens without a network, and with scripts off."""
    environment = template_environment("virsci_society.metrics.report")
    script = own_file(environment, "page.js")
    return environment.get_template("page.html").render(
        style=style_sheet(environment),
        script=script,
        policy=content_policy(script),
        **_page_context(run),
    )


def write_page(run: Run, folder: Path | str) -> Path:
    """Write ``report.html`` into a folder and return its path; a link there is not followed."""
    return write_html(Path(folder) / "report.html", render_page(run))


def _page_context(run: Run) -> dict[str, Any]:
    drawn = measure_figures(run)
    summary, whole = summarise_run(run), run_communities([run])
    by_rules = written_by_rules(run)
    cited = bool(compute_metric(run, "impact")["cited"].any())
    return {
        "told": summary,
        "short": first_screen(run, summary, whole),
        "timeline": {"teams": team_timeline(run), "people": people_timeline(run, whole)},
        "dissolved": [
            {"reason": reason, "teams": count}
            for reason, count in summary["teams"]["dissolved"].items()
        ],
        "about": speaker(run),
        "by_rules": by_rules,
        "replicates": int(run.manifest.get("replicates", 1)),
        "sketch": MIN_REPLICATES,
        "notes": [str(note) for note in run.manifest.get("notes", [])],
        "people": sections.people_section(run),
        "papers": sections.papers_section(run, *(RULE_WORDS if by_rules else MODEL_WORDS)),
        "papers_total": summary["papers"],
        "novelty": sections.novelty_section(run),
        # Texts by rules cannot leak, and claim what their frames say.
        "leaks": None if by_rules else sections.leakage_section(run),
        "claims": None if by_rules else sections.claims_section(run),
        "network": sections.network_section(run, whole),
        "community": sections.observed_section(run),
        "network_measures": sections.measures_section(run, sections.NETWORK_MEASURES),
        "impact": sections.measures_section(run, sections.IMPACT_MEASURES) if cited else [],
        "interventions": sections.removal_section(run),
        "presence": sections.presence_section(run),
        "drawn": drawn,
        "share_interval": wilson_interval(1, 2).method,
        "slope": records(compute_metric(run, "acceptance_slope"))[0],
        "reading": sections.reply_parsing_section(run, summary),
        "refereeing": sections.peer_review_section(run),
        "ladder": RUNGS,
        "paid": sections.cost_section(read_ledger(run)),
        "acts": records(compute_metric(run, "calls_by_act")),
        "stages": records(compute_metric(run, "calls_by_stage")),
        "team_measures": sections.measures_section(run, sections.TEAM_MEASURES),
        "by_protocol": sections.by_protocol_section(run),
        "provenance": sections.provenance_section(run, summary),
        "scenario": run.scenario_text[:SCENARIO_SHOWN],
    }
