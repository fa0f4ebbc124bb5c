"""The page of a run, one self-contained HTML file without scripts or requests.

Every text of a run is escaped by the template; only the figures, drawn from numbers, are not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from metrics.cost.call_counts import RUNGS
from metrics.cost.ledger import read_ledger
from metrics.exports import coauthor_graph
from metrics.inference import MIN_REPLICATES
from metrics.novelty.novelty import COLUMNS, settings_of
from metrics.novelty.training_leaks import training_cutoff
from metrics.registry import measure
from metrics.report import figures
from metrics.report.decisions import decisions_section
from metrics.report.network_figures import coauthorship_figure
from metrics.report.network_layout import lay_out
from metrics.report.sections import (
    community_section,
    cost_section,
    leakage_section,
    peer_review_section,
    removal_section,
    reply_parsing_section,
)
from metrics.report.templates import (
    format_number,
    records,
    style_sheet,
    template_environment,
    write_html,
)
from metrics.summary import summarise_run
from society.results.run import Run

PAPERS_SHOWN = 40
ROWS_SHOWN = 30
TEXT_SHOWN = 4000
SCENARIO_SHOWN = 40_000


def render_page(run: Run) -> str:
    """The page of a run as HTML text; it opens without a network, and with scripts off."""
    environment = template_environment("metrics.report")
    template = environment.get_template("page.html")
    return template.render(style=style_sheet(environment), **_page_context(run))


def write_page(run: Run, folder: Path | str) -> Path:
    """Write ``report.html`` into a folder and return its path; a link there is not followed."""
    return write_html(Path(folder) / "report.html", render_page(run))


def _page_context(run: Run) -> dict[str, Any]:
    weekly = measure(run, "weekly")
    summary = summarise_run(run)
    return {
        "told": summary,
        "backend": _backend(run),
        "replicates": int(run.manifest.get("replicates", 1)),
        "sketch": MIN_REPLICATES,
        "notes": [str(note) for note in run.manifest.get("notes", [])],
        "headline": _headline(run, summary),
        "papers": _papers(run),
        "papers_total": summary["papers"],
        "novelty": _novelty(run),
        "leaks": leakage_section(run),
        "network": _network(run),
        "community": community_section(run),
        "interventions": removal_section(run),
        "presence": _presence(run),
        "structure": figures.structure(measure(run, "structure")),
        "final": measure(run, "structure").groupby("network").last().to_dict("index"),
        "flight": figures.teams_in_flight(weekly),
        "memberships": figures.memberships(weekly),
        "contacts": figures.contacts(weekly),
        "waiting": figures.waiting(measure(run, "waiting")),
        "waiting_rows": records(measure(run, "waiting")),
        "queueing_rows": records(measure(run, "queueing")),
        "acceptance": figures.acceptance(measure(run, "acceptance")),
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


def _backend(run: Run) -> dict[str, str]:
    given = run.manifest.get("backend")
    backend = given if isinstance(given, dict) else {"use": given or ""}
    return {name: str(backend.get(name) or "") for name in ("use", "model", "about")}


def _headline(run: Run, summary: dict[str, Any]) -> list[tuple[str, str]]:
    novelty, whole = summary["ON"], summary["partial"] is None
    cost = summary["inference_cost"]["mean"]
    return [
        (format_number(summary["scientists"]), "scientists"),
        (format_number(summary["days"]), "simulated days"),
        (
            format_number(summary["teams"]["founded"]),
            "teams founded" if whole else "teams that had ended",
        ),
        (format_number(summary["papers"]), "papers published"),
        (format_number(summary["max_memberships"]), "most teams of one scientist at once"),
        (
            format_number(summary["invitations"]["cross_team"]),
            "invitations to members of other teams",
        ),
        (format_number(summary["calls"]["total"]), "calls to the model"),
        (format_number(cost), "mean inference cost of a paper, calls"),
        (format_number(novelty["mean"] if novelty else None), "mean overall novelty (ON)"),
    ]


def _presence(run: Run) -> list[dict[str, Any]]:
    """Who was there, year by year and on the last day; nothing where nobody comes or goes."""
    table = measure(run, "presence")
    whole = (table["date"] % 365.0 < 1e-6) | (table["date"] == run.days)
    return records(table[whole])


def _papers(run: Run) -> list[dict[str, Any]]:
    """The first papers by date, with authors, novelty and citations."""
    papers = run.table("papers").head(PAPERS_SHOWN)
    titles = dict(zip(papers["paper"], papers["title"], strict=True))
    by = run.table("authorships")
    writers = by[by["paper"].isin(papers["paper"])].groupby("paper")["scientist"].agg(list)
    cites = run.table("citations")
    inside = cites["inside"].fillna(False)
    own = cites[inside].groupby("citing")["cited"].agg(list)
    past = cites[~inside].groupby("citing").size()
    cited = cites[inside].groupby("cited").size()
    scores = measure(run, "novelty").set_index("paper")
    shown = []
    for row in papers.to_dict("records"):
        name = row["paper"]
        shown.append(
            {
                "id": name,
                "title": _text(row["title"]),
                "abstract": _text(row["abstract"])[:TEXT_SHOWN],
                "topic": _text(row["topic"]),
                "keywords": _text(row["keywords"]),
                "published": row["published"],
                "authors": ", ".join(writers.get(name, [])),
                "scores": {
                    part: scores.at[name, part] if name in scores.index else None
                    for part in COLUMNS
                },
                "cites_past": int(past.get(name, 0)),
                "cites_own": [_text(titles.get(one, one)) for one in own.get(name, [])],
                "cited": int(cited.get(name, 0)),
            }
        )
    return shown


def _novelty(run: Run) -> dict[str, Any]:
    table = measure(run, "novelty")
    parts = []
    for name in COLUMNS:
        values = table[name].dropna()
        band = figures.mean_interval(values.to_numpy(dtype=np.float64))
        parts.append({"name": name, "mean": band.value, "low": band.low, "high": band.high})
        parts[-1]["n"] = len(values)
    fallbacks = {part: int(table[f"{part}_fallbacks"].sum()) for part in ("HD", "CD", "CI")}
    settings = settings_of(run).model_dump()
    relative = settings["normalise"] != "none"
    return {
        "measured": len(table) > 0,
        "figure": figures.novelty(table, relative),
        "parts": parts,
        "fallbacks": fallbacks,
        "unknown": int(table["CI_unknown"].sum()),
        "relative": relative,
        "settings": ", ".join(f"{key} {str(value).lower()}" for key, value in settings.items()),
    }


def _network(run: Run) -> dict[str, Any] | None:
    graph = coauthor_graph(run)
    part = lay_out(graph)
    if part is None:
        return None
    wrote = np.array([graph.nodes[who]["papers"] > 0 for who in part.names], dtype=bool)
    pictures = [coauthorship_figure(part, wrote, late) for late in (False, True)]
    return {"figures": pictures, "note": part.note}


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
    table = measure(run, "by_protocol")
    return records(table) if len(table) > 1 else []


def _provenance(run: Run, summary: dict[str, Any]) -> list[tuple[str, str]]:
    manifest = run.manifest
    price = manifest.get("price")
    pairs = [
        ("scenario", run.name or "–"),
        ("seed", str(summary["seed"])),
        ("simulated days", format_number(summary["days"])),
        ("first contemporary year", str(run.boundary or "–")),
        ("training cut-off of the model", training_cutoff(manifest).stated or "not stated"),
        ("backend", " ".join(filter(None, (_backend(run)["use"], _backend(run)["model"])))),
        ("price", "none" if price is None else json.dumps(price, sort_keys=True)),
        ("digest", summary["digest"] or "none: the run is partial, or has not been closed"),
    ]
    versions = manifest.get("versions")
    pairs += [(str(k), str(v)) for k, v in _items(versions) if v is not None]
    return [(key, value) for key, value in pairs if value]


def _items(given: Any) -> Iterable[tuple[Any, Any]]:
    return sorted(given.items()) if isinstance(given, dict) else ()


def _text(value: Any) -> str:
    return "" if value is None or pd.isna(value) else str(value)
