"""Page: one run as one self-contained HTML page. No script, no request, nothing to click out.

Every text of a run is escaped by the template; only the figures, drawn from numbers, are not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from metrics.cost import RUNGS
from metrics.exports import coauthors, xml_text
from metrics.leaks import cutoff_of
from metrics.ledger import ledger_of
from metrics.novelty import COLUMNS, settings_of
from metrics.report import figures
from metrics.report.community import community
from metrics.report.layout import drawn
from metrics.report.leaking import leaking
from metrics.report.network import picture
from metrics.report.paid import paid
from metrics.report.reading import reading
from metrics.report.refereeing import refereeing
from metrics.report.removing import removing
from metrics.statistics import SKETCH
from metrics.summary import summary
from metrics.table import measure
from society.run import Run

PAPERS_SHOWN = 40
ROWS_SHOWN = 30
TEXT_SHOWN = 4000
SCENARIO_SHOWN = 40_000


def page(run: Run) -> str:
    """The page as text. It opens without a network, and with scripts off."""
    environment = pages("metrics.report")
    template = environment.get_template("page.html")
    return template.render(style=style(environment), **_contents(run))


def pages(*packages: str) -> Environment:
    """Templates of these packages, the first that has one; every text is escaped."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package, ".") for package in packages]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = number
    return environment


def style(environment: Environment) -> Markup:
    """The style sheet that all pages share."""
    text = environment.loader.get_source(environment, "page.css")[0] if environment.loader else ""
    return Markup(text)  # noqa: S704 - our own file


def write_page(run: Run, folder: Path | str) -> Path:
    """Write ``report.html`` into a folder and return its path; a link there is not followed."""
    path, text = Path(folder) / "report.html", page(run)
    path.unlink(missing_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def number(value: Any, digits: int = 3) -> str:
    """A number as people read it: grouped thousands, few digits, a dash where missing."""
    if value is None or pd.isna(value):
        return "–"
    size = abs(float(value))
    if size >= 1000 or size == int(size):
        text = f"{round(float(value)):,}".replace(",", "\u202f")
    elif size < 0.001:
        text = "< 0.001" if float(value) > 0 else f"{float(value):.1e}"
    else:
        text = f"{float(value):#.{digits}g}".rstrip(".")
    return text.replace("-", "\u2212", 1) if text.startswith("-") else text


def _visible(value: Any) -> Any:
    """Leave out the control characters that a page cannot show."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return xml_text(value)


def _contents(run: Run) -> dict[str, Any]:
    weekly = measure(run, "weekly")
    told = summary(run)
    return {
        "told": told,
        "backend": _backend(run),
        "replicates": int(run.manifest.get("replicates", 1)),
        "sketch": SKETCH,
        "notes": [str(note) for note in run.manifest.get("notes", [])],
        "headline": _headline(run, told),
        "papers": _papers(run),
        "papers_total": told["papers"],
        "novelty": _novelty(run),
        "leaks": leaking(run),
        "network": _network(run),
        "community": community(run),
        "interventions": removing(run),
        "presence": _presence(run),
        "structure": figures.structure(measure(run, "structure")),
        "final": measure(run, "structure").groupby("network").last().to_dict("index"),
        "flight": figures.teams_in_flight(weekly),
        "memberships": figures.memberships(weekly),
        "contacts": figures.contacts(weekly),
        "waiting": figures.waiting(measure(run, "waiting")),
        "waiting_rows": _rows(measure(run, "waiting")),
        "queueing_rows": _rows(measure(run, "queueing")),
        "acceptance": figures.acceptance(measure(run, "acceptance")),
        "slope": _rows(measure(run, "acceptance_slope"))[0],
        "reading": reading(run, told),
        "refereeing": refereeing(run),
        "ladder": RUNGS,
        "paid": paid(ledger_of(run)),
        "acts": _rows(measure(run, "calls_by_act")),
        "stages": _rows(measure(run, "calls_by_stage")),
        "costs": _costs(run),
        "made_of": _made_of(run),
        "by_protocol": _by_protocol(run),
        "provenance": _provenance(run, told),
        "scenario": run.scenario_text[:SCENARIO_SHOWN],
    }


def _backend(run: Run) -> dict[str, str]:
    given = run.manifest.get("backend")
    backend = given if isinstance(given, dict) else {"use": given or ""}
    return {name: str(backend.get(name) or "") for name in ("use", "model", "about")}


def _headline(run: Run, told: dict[str, Any]) -> list[tuple[str, str]]:
    novelty, whole = told["ON"], told["partial"] is None
    cost = told["inference_cost"]["mean"]
    return [
        (number(told["scientists"]), "scientists"),
        (number(told["days"]), "simulated days"),
        (number(told["teams"]["founded"]), "teams founded" if whole else "teams that had ended"),
        (number(told["papers"]), "papers published"),
        (number(told["max_memberships"]), "most teams of one scientist at once"),
        (number(told["invitations"]["cross_team"]), "invitations to members of other teams"),
        (number(told["calls"]["total"]), "calls to the model"),
        (number(cost), "mean inference cost of a paper, calls"),
        (number(novelty["mean"] if novelty else None), "mean overall novelty (ON)"),
    ]


def _presence(run: Run) -> list[dict[str, Any]]:
    """Who was there, year by year and on the last day; nothing where nobody comes or goes."""
    table = measure(run, "presence")
    whole = (table["date"] % 365.0 < 1e-6) | (table["date"] == run.days)
    return _rows(table[whole])


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
        band = figures.interval(values.to_numpy(dtype=np.float64))
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
    graph = coauthors(run)
    part = drawn(graph)
    if part is None:
        return None
    wrote = np.array([graph.nodes[who]["papers"] > 0 for who in part.names], dtype=bool)
    pictures = [picture(part, wrote, late) for late in (False, True)]
    return {"figures": pictures, "note": part.note}


def _costs(run: Run) -> dict[str, Any]:
    table = measure(run, "inference_cost")
    table = table.merge(run.table("teams")[["team", "state"]], on="team", how="left")
    first = table.sort_values(["inference_cost", "team"], ascending=[False, True], kind="stable")
    return {"rows": _rows(first.head(ROWS_SHOWN)), "total": len(table)}


def _made_of(run: Run) -> list[dict[str, Any]]:
    """Mean composition of the teams, by what became of them."""
    names = ["size", "freshness", "diversity", "newcomers", "elsewhere"]
    names += ["days_to_paper", "waiting", "tied"]
    table = measure(run, "teams")
    grouped = table.groupby("state")[names].mean()
    grouped.insert(0, "teams", table.groupby("state").size())
    return _rows(grouped.reset_index())


def _by_protocol(run: Run) -> list[dict[str, Any]]:
    """The main measures by protocol, where there are several."""
    table = measure(run, "by_protocol")
    return _rows(table) if len(table) > 1 else []


def _provenance(run: Run, told: dict[str, Any]) -> list[tuple[str, str]]:
    manifest = run.manifest
    price = manifest.get("price")
    pairs = [
        ("scenario", run.name or "–"),
        ("seed", str(told["seed"])),
        ("simulated days", number(told["days"])),
        ("first contemporary year", str(run.boundary or "–")),
        ("training cut-off of the model", cutoff_of(manifest).stated or "not stated"),
        ("backend", " ".join(filter(None, (_backend(run)["use"], _backend(run)["model"])))),
        ("price", "none" if price is None else json.dumps(price, sort_keys=True)),
        ("digest", told["digest"] or "none: the run is partial, or has not been closed"),
    ]
    versions = manifest.get("versions")
    pairs += [(str(k), str(v)) for k, v in _items(versions) if v is not None]
    return [(key, value) for key, value in pairs if value]


def _items(given: Any) -> Iterable[tuple[Any, Any]]:
    return sorted(given.items()) if isinstance(given, dict) else ()


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(key): value for key, value in row.items()} for row in table.to_dict("records")]


def _text(value: Any) -> str:
    return "" if value is None or pd.isna(value) else str(value)
