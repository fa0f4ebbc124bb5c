"""The page of a run, one self-contained HTML file without requests, complete without its script.

On top stands what happened (``overview``), below it a strip of checks and cautions. Every text of
a run is escaped by the template; only the figures, drawn from numbers, are not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from virsci_society.metrics.cost import RUNGS, read_ledger
from virsci_society.metrics.inference.intervals import MIN_REPLICATES, wilson_interval
from virsci_society.metrics.novelty.novelty import COLUMNS, settings_of
from virsci_society.metrics.novelty.training_leaks import training_cutoff
from virsci_society.metrics.registry import measure
from virsci_society.metrics.report import figures
from virsci_society.metrics.report.figures import (
    FOLDED_FIGURES,
    draw_run_network,
    measure_figures,
)
from virsci_society.metrics.report.network_layout import (
    Communities,
    run_communities,
)
from virsci_society.metrics.report.overview import first_screen, speaker, written_by_rules
from virsci_society.metrics.report.people_and_papers import (
    decisions_section,
    papers_section,
    people_section,
)
from virsci_society.metrics.report.sections import (
    LABELS,
    claims_section,
    community_section,
    cost_section,
    leakage_section,
    peer_review_section,
    removal_section,
    reply_parsing_section,
)
from virsci_society.metrics.report.templates import (
    content_policy,
    format_number,
    own_file,
    records,
    style_sheet,
    template_environment,
    write_html,
)
from virsci_society.metrics.report.timeline_figures import people_timeline, team_timeline
from virsci_society.metrics.summary import summarise_run
from virsci_society.society.results.run import Run
from virsci_society.society.results.speaker import backend_of

ROWS_SHOWN = 30
SCENARIO_SHOWN = 40_000


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
    return {
        "told": summary,
        "short": first_screen(run, summary, whole),
        "timeline": {"teams": team_timeline(run), "people": people_timeline(run, whole)},
        "dissolved": [
            {"reason": reason, "teams": count}
            for reason, count in summary["teams"]["dissolved"].items()
        ],
        "about": speaker(run),
        "by_rules": written_by_rules(run),
        "replicates": int(run.manifest.get("replicates", 1)),
        "sketch": MIN_REPLICATES,
        "notes": [str(note) for note in run.manifest.get("notes", [])],
        "people": people_section(run),
        "papers": papers_section(run),
        "papers_total": summary["papers"],
        "novelty": _novelty(run),
        "leaks": leakage_section(run),
        "claims": claims_section(run),
        "network": _network(run, whole),
        "community": community_section(run),
        "interventions": removal_section(run),
        "presence": _presence(run),
        "drawn": drawn,
        "share_interval": wilson_interval(1, 2).method,
        "structure": [drawn[name] for name in FOLDED_FIGURES if name in drawn],
        "final": _final(run),
        "waiting_rows": records(measure(run, "waiting")),
        "queueing_rows": records(measure(run, "queueing")),
        "slope": records(measure(run, "acceptance_slope"))[0],
        "reading": reply_parsing_section(run, summary),
        "decisions": decisions_section(run),
        "refereeing": peer_review_section(run),
        "ladder": RUNGS,
        "paid": cost_section(read_ledger(run)),
        "acts": records(measure(run, "calls_by_act")),
        "stages": records(measure(run, "calls_by_stage")),
        "costs": _costs(run),
        "made_of": _composition(run),
        "by_protocol": _by_protocol(run),
        "provenance": _provenance(run, summary),
        "scenario": run.scenario_text[:SCENARIO_SHOWN],
    }


def _backend(run: Run) -> str:
    """The kind of backend and its model, as the scenario names them."""
    backend = backend_of(run.manifest)
    return " ".join(str(backend[key]) for key in ("use", "model") if backend.get(key))


def _presence(run: Run) -> list[dict[str, Any]]:
    """Who was there, year by year and on the last day; nothing where nobody comes or goes."""
    table = measure(run, "presence")
    # Dates are multiples of 2^-20 day, so a year is met to within rounding.
    whole = (table["date"] % 365.0 < 1e-6) | (table["date"] == run.days)
    return records(table[whole])


def _novelty(run: Run) -> dict[str, Any]:
    table = measure(run, "novelty")
    parts, method = [], ""
    for name in COLUMNS:
        values = table[name].dropna()
        band = figures.mean_interval(values.to_numpy(dtype=np.float64))
        parts.append({"name": name, "mean": band.value, "low": band.low, "high": band.high})
        parts[-1]["n"] = len(values)
        method = method or band.method
    fallbacks = {part: int(table[f"{part}_fallbacks"].sum()) for part in ("HD", "CD", "CI")}
    settings = settings_of(run).model_dump()
    return {
        "measured": len(table) > 0,
        "parts": parts,
        "method": method,
        "fallbacks": fallbacks,
        "unknown": int(table["CI_unknown"].sum()),
        "relative": settings["normalise"] != "none",
        "settings": ", ".join(f"{key} {str(value).lower()}" for key, value in settings.items()),
    }


def _network(run: Run, whole: Communities) -> dict[str, Any] | None:
    drawn = draw_run_network(run, whole)
    if drawn is None:
        return None
    over_time, at_the_end, found = drawn
    return {
        "over_time": over_time,
        "communities": at_the_end,
        "people": len(whole.names),
        "note": "" if found is None else found.note,
        "map": None if found is None else {"rows": found.rows(ROWS_SHOWN), "method": found.method},
    }


def _final(run: Run) -> list[dict[str, Any]]:
    """Both networks at the end, in numbers."""
    last = measure(run, "structure").groupby("network").last().reset_index()
    last["network"] = last["network"].map(LABELS)
    return records(last)


def _costs(run: Run) -> dict[str, Any]:
    table = measure(run, "inference_cost")
    table = table.merge(run.table("teams")[["team", "state"]], on="team", how="left")
    first = table.sort_values(["inference_cost", "team"], ascending=[False, True], kind="stable")
    return {"rows": records(first.head(ROWS_SHOWN)), "total": len(table)}


def _composition(run: Run) -> list[dict[str, Any]]:
    """Mean composition of the teams, by what became of them."""
    names = ["size", "freshness", "diversity", "newcomers", "elsewhere"]
    names += ["days_to_paper", "waiting", "tied"]
    table = measure(run, "teams")
    grouped = table.groupby("state")[names].mean()
    grouped.insert(0, "teams", table.groupby("state").size())
    return records(grouped.reset_index())


def _by_protocol(run: Run) -> list[dict[str, Any]]:
    """The main measures by protocol, where there are several."""
    if run.table("teams")["protocol"].nunique() < 2:
        return []
    return records(measure(run, "by_protocol"))


def _provenance(run: Run, summary: dict[str, Any]) -> list[tuple[str, str]]:
    manifest = run.manifest
    price, cutoff = manifest.get("price"), training_cutoff(run.manifest)
    # Rules have neither a cut-off nor a price.
    missing = ("", "") if not cutoff.stated and cutoff.after is False else ("not stated", "none")
    pairs = [
        ("scenario", run.name or "–"),
        ("seed", str(summary["seed"])),
        ("simulated days", format_number(summary["days"])),
        ("first contemporary year", str(run.boundary or "–")),
        ("training cut-off of the model", cutoff.stated or missing[0]),
        ("backend", _backend(run)),
        ("price", missing[1] if price is None else json.dumps(price, sort_keys=True)),
        ("digest", summary["digest"] or "none: the run is partial, or has not been closed"),
    ]
    versions = manifest.get("versions")
    pairs += [(str(k), str(v)) for k, v in _items(versions) if v is not None]
    return [(key, value) for key, value in pairs if value]


def _items(given: Any) -> Iterable[tuple[Any, Any]]:
    return sorted(given.items()) if isinstance(given, dict) else ()
