"""The page of a run, one self-contained HTML file without requests, complete without its script.

On top stand three sentences and a strip of facts: what was simulated, what came out, and whether
anything went wrong. Every text of a run is escaped by the template; only the figures, drawn from
numbers, are not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pandas as pd

from virsci_society.agents.journal.records import ANSWERED, spent_in
from virsci_society.metrics.cost import RUNGS, VERDICTS, Ledger, read_ledger
from virsci_society.metrics.inference.intervals import MIN_REPLICATES, Interval, wilson_interval
from virsci_society.metrics.novelty.novelty import COLUMNS, settings_of
from virsci_society.metrics.novelty.training_leaks import training_cutoff
from virsci_society.metrics.population import initial_population, people_ever
from virsci_society.metrics.registry import measure
from virsci_society.metrics.report import figures
from virsci_society.metrics.report.figures import (
    STRUCTURE_FIGURES,
    draw_run_network,
    measure_figures,
)
from virsci_society.metrics.report.network_figures import NAMED
from virsci_society.metrics.report.network_layout import CommunityMap
from virsci_society.metrics.report.people_and_papers import (
    decisions_section,
    papers_section,
    people_section,
    persons_sentence,
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
    THIN_SPACE,
    content_policy,
    count_of,
    format_number,
    format_percent,
    format_usd,
    own_file,
    records,
    style_sheet,
    template_environment,
    write_html,
)
from virsci_society.metrics.report.timeline_figures import people_timeline, team_timeline
from virsci_society.metrics.summary import summarise_run
from virsci_society.metrics.summary_file import ended_words
from virsci_society.society.literature.papers import DAYS_PER_YEAR
from virsci_society.society.results.run import Run
from virsci_society.society.results.speaker import backend_of, speaker_of

PROTOCOLS = {"virsci": "VirSci", "wordless": "a protocol without words"}
"""Names of protocols that are written otherwise than their key."""
LANGUAGE_MODEL = "the language model "
"""How backends that ask a server call what answers."""


def in_short(run: Run, summary: dict[str, Any]) -> dict[str, Any]:
    """The first screen of a run's page."""
    ledger = read_ledger(run)
    return {
        "sentences": [
            simulated_sentence(run),
            outcome_sentence(run, summary),
            trouble_sentence(summary, ledger),
        ],
        "status": _status(run, summary, ledger),
    }


def head_count(run: Run) -> str:
    """How many scientists of how many fields, and when: of a society that people join or leave."""
    ever = people_ever(run)
    there = measure(run, "presence")
    invented = "invented " if _is_invented(run) else ""
    if not len(there):
        return f"{count_of(ever, f'{invented}scientist')}{_fields(run)}"
    last = int(there["present"].iloc[-1])
    first = f"{count_of(initial_population(run), f'{invented}scientist')}{_fields(run)}"
    return f"{first} at first, {format_number(last)} at the end ({format_number(ever)} in all),"


def simulated_sentence(run: Run) -> str:
    """What was simulated: people, fields, teams, protocol and time."""
    about = f"This run simulates {head_count(run)} for {_span(run.days)}"
    sizes = run.table("teams")["target_size"].dropna()
    if not len(sizes):
        return f"{about}; no team is founded."
    teams = _range(int(sizes.min()), int(sizes.max()))
    return f"{about}, in teams of {teams} under {_protocols(run)}."


def outcome_sentence(run: Run, summary: dict[str, Any]) -> str:
    """What came out: papers, and their overall novelty with interval and plain reading."""
    made = _publishing(summary)
    if not summary["papers"]:
        return f"{made}."
    values = measure(run, "novelty")["ON"].dropna().to_numpy(dtype=np.float64)
    if not len(values):
        return f"{made}; how novel they are was not measured."
    band = figures.mean_interval(values)
    value = f"{made}; the mean overall novelty (ON) is {format_number(band.value)}"
    if len(values) > 1 and band.low < band.high:
        ends = f"{format_number(band.low)} to {format_number(band.high)}"
        value += f" (95{THIN_SPACE}% interval {ends})"
    if settings_of(run).normalise == "none":
        return f"{value}."
    return f"{value}: {_reading(band, len(values))}."


def _publishing(summary: dict[str, Any]) -> str:
    """How many of the teams published a paper, and what became of the others."""
    teams, ended = summary["teams"], "" if summary["partial"] is None else " that had ended"
    founded, published = teams["founded"], summary["papers"]
    if not published:
        return f"{count_of(founded, 'team')}{ended} published no paper"
    if published == founded:
        whole = "The one team" if founded == 1 else f"All {count_of(founded, 'team')}"
        return f"{whole}{ended} published a paper"
    number = f"{format_number(published)} of {count_of(founded, 'team')}"
    others = {
        "had finished one that was not visible yet": teams["finished"],
        "was at work" if teams["running"] == 1 else "were at work": teams["running"],
        "had dissolved": sum(teams["dissolved"].values()),
    }
    rest = ", ".join(f"{format_number(count)} {what}" for what, count in others.items() if count)
    return f"{number}{ended} published a paper ({rest})"


def trouble_sentence(summary: dict[str, Any], ledger: Ledger | None) -> str:
    """Whether anything went wrong: a stop, failed attempts, replies that were replaced."""
    reading, faults = summary["reading"], []
    if summary["partial"] is not None:
        faults.append(f"the run {ended_words(summary, format_number(summary['days']))}")
    if failed := _failed(ledger):
        faults.append(f"{count_of(failed, 'attempt')} failed and had to be repeated")
    if reading and reading["rungs"].get("default"):
        share = format_percent(reading["defaulted"])
        number = count_of(reading["rungs"]["default"], "reply", "replies")
        faults.append(f"{number} ({share}) could not be read and a default took their place")
    if reading and reading["rungs"].get("unread"):
        number = count_of(reading["rungs"]["unread"], "question")
        faults.append(f"{number} brought no words, which ended a team")
    if faults:
        return f"Something went wrong: {'; '.join(faults)}."
    if not summary["calls"]["total"]:
        return "Nothing went wrong: the run finished, and nobody was asked anything."
    return "Nothing went wrong: the run finished, and every reply that counts could be read."


def _status(run: Run, summary: dict[str, Any], ledger: Ledger | None) -> list[tuple[str, str]]:
    reading, failed = summary["reading"], _failed(ledger)
    defaulted = "–"
    if reading:
        number = format_number(reading["rungs"].get("default", 0))
        defaulted = f"{number} of {format_number(reading['asked'])}"
    days = format_number(summary["days"])
    until = summary["until"]
    whole = summary["partial"] is None
    of = f" of {format_number(until)}" if until else ""
    reached = "" if whole else ended_words(summary, days).removeprefix("was ") + of
    # A person's words have neither tokens nor a price.
    _, tokens, spent = spent_in(summary["ledger"] or {})
    paid = tokens or spent
    return [
        ("state", f"finished, {days} days" if whole else reached),
        ("failed attempts", format_number(failed) if failed is not None else "–"),
        ("defaulted answers", defaulted if summary["calls"]["total"] else "none asked"),
        ("cost", format_usd(spent) if paid else "nothing was paid"),
        ("who spoke", speaker(run) or speaker_of(run.manifest) or "not stated"),
    ]


def _failed(ledger: Ledger | None) -> int | None:
    """Attempts that brought neither an answer nor a verdict; None where not known."""
    if ledger is None:
        return None
    # A verdict is an answer too: the provider did what it was asked (rule 1).
    useful = sum(ledger.outcomes.get(kind, 0) for kind in (ANSWERED, *VERDICTS))
    return max(0, ledger.attempts - useful)


def speaker(run: Run) -> str:
    """Who spoke in a run; empty if that is not stated.

    Where the scenario gives an address, nothing shows that a language model answers there: it may
    be a server of tests. So the model is named, but not called a language model.
    """
    text = str(backend_of(run.manifest).get("about") or "")
    settings: Any = run.scenario.get("backend") or {}
    hosts = _hosts(settings) or _hosts(settings.get("live") or {})
    if LANGUAGE_MODEL not in text or not hosts:
        return text
    there = f"what answers at {', '.join(hosts)} as "
    return text.replace(LANGUAGE_MODEL, there, 1)


def _hosts(settings: Any) -> list[str]:
    """Names of the servers whose addresses a backend's section gives, without users and paths."""
    if not isinstance(settings, dict):
        return []
    given = [settings, *(settings.get("via") or [])]
    addresses = [
        str(one["api_base"]) for one in given if isinstance(one, dict) and one.get("api_base")
    ]
    return list(dict.fromkeys(urlsplit(one).hostname or "an address" for one in addresses))


def _is_invented(run: Run) -> bool:
    return bool((run.manifest.get("ecosystem") or {}).get("source") == "synthetic")


def _fields(run: Run) -> str:
    """Of how many fields the people are, where that is known."""
    given: Any = run.scenario.get("population")
    fields = (given or {}).get("ecosystem", {}).get("fields")
    known = isinstance(fields, int) and _is_invented(run)
    return f" of {count_of(fields, 'field')}" if known else ""


def _protocols(run: Run) -> str:
    names = sorted(set(run.table("teams")["protocol"].dropna()))
    told = [PROTOCOLS.get(name, name.replace("_", " ")) for name in names] or ["no protocol"]
    turns = (run.scenario.get("protocol") or {}).get("turns")
    if names == ["virsci"] and isinstance(turns, int):
        return f"{told[0]} with {count_of(turns, 'turn')}"
    return told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}"


def _span(days: float) -> str:
    years = days / DAYS_PER_YEAR
    if years == 1:
        return "one year"
    if years == int(years) and years > 0:
        return f"{int(years)} years"
    return count_of(days, "simulated day")


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} to {high}"


def _reading(band: Interval, papers: int) -> str:
    """In plain words: novelty beside that of the average paper of the same year, which is 1."""
    average = "the average paper of its year"
    if papers == 1 or not band.low < band.high or pd.isna(band.low):
        return f"one value, to be read beside that of {average} (1)"
    if band.high < 1:
        return f"less novel than {average} (1)"
    if band.low > 1:
        return f"more novel than {average} (1)"
    return f"about as novel as {average} (1)"


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
    summary = summarise_run(run)
    return {
        "told": summary,
        "short": in_short(run, summary),
        "timeline": {"teams": team_timeline(run), "people": people_timeline(run)},
        "dissolved": [
            {"reason": reason, "teams": count}
            for reason, count in summary["teams"]["dissolved"].items()
        ],
        "about": speaker(run),
        "replicates": int(run.manifest.get("replicates", 1)),
        "sketch": MIN_REPLICATES,
        "notes": [str(note) for note in run.manifest.get("notes", [])],
        "people": people_section(run),
        "persons": persons_sentence(run),
        "papers": papers_section(run),
        "papers_total": summary["papers"],
        "novelty": _novelty(run),
        "leaks": leakage_section(run),
        "claims": claims_section(run),
        "network": _network(run),
        "community": community_section(run),
        "interventions": removal_section(run),
        "presence": _presence(run),
        "drawn": drawn,
        "share_interval": wilson_interval(1, 2).method,
        "structure": [drawn[name] for name in STRUCTURE_FIGURES if name in drawn],
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


def _network(run: Run) -> dict[str, Any] | None:
    drawn = draw_run_network(run)
    if drawn is None:
        return None
    found = drawn.shown if isinstance(drawn.shown, CommunityMap) else None
    return {
        "over_time": drawn.over_time,
        "communities": drawn.at_the_end,
        "note": drawn.shown.note,
        "named": NAMED,
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
    price = manifest.get("price")
    pairs = [
        ("scenario", run.name or "–"),
        ("seed", str(summary["seed"])),
        ("simulated days", format_number(summary["days"])),
        ("first contemporary year", str(run.boundary or "–")),
        ("training cut-off of the model", training_cutoff(manifest).stated or "not stated"),
        ("backend", _backend(run)),
        ("price", "none" if price is None else json.dumps(price, sort_keys=True)),
        ("digest", summary["digest"] or "none: the run is partial, or has not been closed"),
    ]
    versions = manifest.get("versions")
    pairs += [(str(k), str(v)) for k, v in _items(versions) if v is not None]
    return [(key, value) for key, value in pairs if value]


def _items(given: Any) -> Iterable[tuple[Any, Any]]:
    return sorted(given.items()) if isinstance(given, dict) else ()
