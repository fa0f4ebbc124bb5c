"""Data of the sections of a run's page, computed from its tables and measures.

A section is a function from a run, and what the page has computed already, to what its template
shows; None where there is nothing to show. Tables that few readers need are not on the page:
``society show RUN --table NAME`` prints any of them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from virsci_society.agents.journal.records import ANSWERED, IN_DOUBT, price_words
from virsci_society.metrics.cost import OUTCOMES, RUNGS, Ledger
from virsci_society.metrics.measures import MEASURES
from virsci_society.metrics.networks.removals import removed_by_date
from virsci_society.metrics.novelty.novelty import COLUMNS, embedding_of, settings_of
from virsci_society.metrics.novelty.training_leaks import LONG_RUN, training_cutoff
from virsci_society.metrics.population import LEFT, people_ever
from virsci_society.metrics.registry import compute_metric, measure_run
from virsci_society.metrics.reply_texts import text_counts
from virsci_society.metrics.report import figures
from virsci_society.metrics.report.figures import draw_run_network
from virsci_society.metrics.report.network_figures import removal_figures
from virsci_society.metrics.report.network_layout import Communities
from virsci_society.metrics.report.templates import format_number, known_text, records
from virsci_society.society.results.dataframes import counts_of
from virsci_society.society.results.run import Run
from virsci_society.society.results.speaker import backend_of

COMMUNITIES_SHOWN = 30
NETWORK_MEASURES = (
    *("authors", "coauthors_per_author", "giant_component_authors", "giant_component_people"),
    *("components", "clustering", "assortativity", "communities", "modularity", "core"),
    *("consultations", "consulted_coauthors"),
)
TEAM_MEASURES = (
    *("team_size", "freshness", "diversity", "newcomers", "members_elsewhere"),
    *("days_to_paper", "waiting", "waiting_round", "memberships_at_homework"),
)
IMPACT_MEASURES = ("gini_papers", "top_tenth_papers", "gini_citations", "disruption")
"""Measures that the sections on the network, on teams and on impact show."""


def presence_section(run: Run) -> list[dict[str, Any]]:
    """Who was there, year by year and on the last day; nothing where nobody comes or goes."""
    table = compute_metric(run, "presence")
    # Dates are multiples of 2^-20 day, so a year is met to within rounding.
    whole = (table["date"] % 365.0 < 1e-6) | (table["date"] == run.days)
    return records(table[whole])


def novelty_section(run: Run) -> dict[str, Any]:
    """HD, CD, CI and ON as means with intervals, and what stood in for missing values."""
    table = compute_metric(run, "novelty")
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
        "settings": ", ".join(f"{key} {_setting(value)}" for key, value in settings.items()),
        "embedding": embedding_of(run),
        "agreement": records(compute_metric(run, "novelty_agreement")),
        "labels": compute_metric(run, "novelty_by_embedding")["label"].unique().tolist(),
    }


def _setting(value: Any) -> str:
    return " and ".join(value) if isinstance(value, tuple) else str(value).lower()


def network_section(run: Run, whole: Communities) -> dict[str, Any] | None:
    """The figures of the network, and the table of its communities where these are drawn."""
    drawn = draw_run_network(run, whole)
    if drawn is None:
        return None
    over_time, at_the_end, found = drawn
    return {
        "over_time": over_time,
        "communities": at_the_end,
        "people": len(whole.names),
        "note": "" if found is None else found.note,
        "map": None
        if found is None
        else {"rows": found.rows(COMMUNITIES_SHOWN), "method": found.method},
    }


def measures_section(run: Run, names: Sequence[str]) -> list[dict[str, Any]]:
    """Some measures of a run as rows, with their labels and units; those that are known."""
    found = measure_run(run, names)
    return [
        {"label": MEASURES[name].label, "value": value, "unit": MEASURES[name].unit, "name": name}
        for name, value in found.items()
        if not np.isnan(value)
    ]


def by_protocol_section(run: Run) -> list[dict[str, Any]]:
    """The main measures by protocol, where there are several."""
    if run.table("teams")["protocol"].nunique() < 2:
        return []
    return records(compute_metric(run, "by_protocol"))


def observed_section(run: Run) -> dict[str, Any]:
    """Rows of the comparison with real papers, if the run has it."""
    if "observed_scores" not in run.metric_names():
        return {"observed": [], "scores": [], "unknown": []}
    return {
        "observed": _observed(run),
        "scores": records(run.metric("observed_scores")),
        "unknown": list(run.metric("observed_unknowns")["unknown"]),
    }


def _observed(run: Run) -> list[dict[str, Any]]:
    """The comparison over the longest window: one entry per column, with its rows."""
    table = run.metric("observed")
    kind = " (" + table["kind"] + ")"
    table = table.assign(
        measure=table["measure"] + kind.mask(table["kind"] == "difference", ""),
        within=table["within"].map({True: "yes", False: "no"}),
    )
    last = table[table["window"] == table["window"].max()]
    return [
        {"side": side, "years": float(rows["window"].iloc[0]), "rows": records(rows)}
        for side, rows in last.groupby("side", sort=False)
    ]


ROWS_SHOWN = 10


def leakage_section(run: Run) -> dict[str, Any]:
    """The training cut-off, and the abstracts that share most with contemporary papers."""
    table = compute_metric(run, "leaks")
    known = table.dropna(subset=["shared"])
    order = known.sort_values(["shared", "similarity", "paper"], ascending=[False, False, True])
    titles = run.table("papers").set_index("paper")["title"]
    first = order.head(ROWS_SHOWN).assign(title=lambda rows: rows["paper"].map(titles))
    return {
        "told": training_cutoff(run.manifest).sentence,
        "measured": len(known),
        "least": LONG_RUN,
        "long": int((known["shared"] >= LONG_RUN).sum()),
        "past_long": int((known["past_shared"] >= LONG_RUN).sum()),
        "similarity": known["similarity"].mean(),
        "past_similarity": known["past_similarity"].mean(),
        "rows": first.to_dict("records"),
    }


IN_DOUBT_SHOWN = 5
SESSIONS_SHOWN = 20
CHANGE_SHOWN = 300


def cost_section(ledger: Ledger | None) -> dict[str, Any] | None:
    """Requests and payments in rows; None where no backend was paid for."""
    if ledger is None or not ledger.attempts:
        return None
    outcomes = [
        {"outcome": name, "attempts": count, "meaning": OUTCOMES.get(name, "")}
        for name, count in ledger.by_outcome()
    ]
    return {
        "attempts": ledger.attempts,
        "answered": ledger.outcomes.get(ANSWERED, 0),
        "outcomes": outcomes,
        "prompt_tokens": ledger.prompt_tokens,
        "completion_tokens": ledger.completion_tokens,
        "cached_tokens": ledger.cached_tokens,
        "estimated": ledger.estimated,
        "usd": price_words(ledger.usd, ledger.free),
        "doubt": _doubt(ledger),
        "cut_off": _cut_off(ledger),
        "sessions": len(ledger.sessions),
        "changes": _changes(ledger)[-SESSIONS_SHOWN:],
        "parted": ledger.parted,
    }


def _doubt(ledger: Ledger) -> dict[str, Any] | None:
    # The ledger names only the first thousand.
    calls = max(ledger.outcomes.get(IN_DOUBT, 0), len(ledger.in_doubt))
    if not calls:
        return None
    cost = {"tokens": ledger.in_doubt_tokens, "usd": price_words(ledger.in_doubt_usd, ledger.free)}
    return {"calls": calls, "named": ledger.in_doubt[:IN_DOUBT_SHOWN], **cost}


def _cut_off(ledger: Ledger) -> dict[str, Any] | None:
    if not ledger.cut_off:
        return None
    cost = {"tokens": ledger.cut_off_tokens, "usd": price_words(ledger.cut_off_usd, ledger.free)}
    return {"attempts": ledger.cut_off, **cost}


def _changes(ledger: Ledger) -> list[dict[str, Any]]:
    """Sessions that went on with another release or other keys than the one before."""
    rows = []
    for before, now in zip(ledger.sessions, ledger.sessions[1:], strict=False):
        changed = [change[:CHANGE_SHOWN] for change in now.changed]
        if changed or now.release != before.release:
            row = {"session": str(now.session), "release": now.release}
            rows.append({**row, "changed": "; ".join(changed) or "–"})
    return rows


ALL = "all forms"


def reply_parsing_section(run: Run, summary: dict[str, Any]) -> dict[str, Any]:
    """Rungs of all questions and of each form, verdicts, and outcomes without defaults."""
    calls, acts = compute_metric(run, "calls_by_rung"), compute_metric(run, "calls_by_act")
    known = summary["reading"] or {"asked": None, "rungs": {}, "verdicts": {}, "by_form": {}}
    defaulted = int(acts["defaulted"].sum())
    outcomes = compute_metric(run, "outcomes_without_defaults") if defaulted else None
    return {
        "asked": known["asked"],
        "rungs": [(rung, count) for rung, count in known["rungs"].items() if count],
        "strict": known["asked"] is not None and known["rungs"]["strict"] == known["asked"],
        "forms": _forms(known["rungs"], known["by_form"]),
        "texts": _text_rows(known.get("texts") or {}),
        "unsent": int(calls.loc[calls["rung"].isna(), "calls"].sum()),
        "verdicts": [(name, count) for name, count in known["verdicts"].items() if count],
        "defaulted": defaulted,
        "unruled": int(acts["unruled"].sum()),
        "outcomes": [] if outcomes is None else outcomes.to_dict("records"),
    }


def _text_rows(texts: dict[str, dict[str, int]]) -> list[dict[str, Any]]:
    """One row for all forms, where there are several, and one for each."""
    rows = [{"form": form, **counts} for form, counts in texts.items()]
    several = [{"form": ALL, **text_counts({"texts": texts})}] if len(rows) > 1 else []
    return [*several, *rows]


def _forms(rungs: dict[str, int], by_form: dict[str, dict[str, int]]) -> list[dict[str, Any]]:
    """One row for all forms, where there are several, and one for each."""
    # Of one form the row of all would say the same twice.
    several = {ALL: rungs} if len(by_form) > 1 else {}
    rows = []
    for form, counts in {**several, **by_form}.items():
        calls = sum(counts.values())
        row = {"form": form, "calls": calls, "share": counts.get("default", 0) / max(calls, 1)}
        rows.append({**dict.fromkeys(RUNGS, 0), **counts, **row})
    return rows


def peer_review_section(run: Run) -> dict[str, Any] | None:
    """Outcomes of all submissions; None where nothing was submitted."""
    if run.table("submissions").empty:
        return None
    return records(compute_metric(run, "review_outcomes"))[0]


REMOVALS_DRAWN = 3
"""Removals that are drawn; the metric ``removals`` has numbers of all."""
NAMES_SHOWN = 20
RANKS = {
    "degree": "with the most co-authors",
    "papers": "with the most papers",
    "citations": "with the most citations",
    "random": "drawn at random",
}


def removal_section(run: Run) -> dict[str, Any] | None:
    """The list of interventions, and figures around each removal; None without any."""
    listed = run.table("interventions")
    if not len(listed):
        return None
    removals = []
    for index, (date, removed) in enumerate(removed_by_date(run)):
        removals.append(
            {
                "date": date,
                "told": _removal_sentence(listed[listed["date"] == date], removed),
                "scene": removal_figures(run, date, removed) if index < REMOVALS_DRAWN else None,
            }
        )
    return {"listed": listed.to_dict("records"), "removals": removals}


def _removal_sentence(listed: pd.DataFrame, removed: list[str]) -> str:
    ranks = [RANKS.get(str(rank), "") for rank in listed["ranked"].dropna()]
    chosen = ", ".join(dict.fromkeys(filter(None, ranks)))
    names = ", ".join(removed[:NAMES_SHOWN]) + (", ..." if len(removed) > NAMES_SHOWN else "")
    return f"{len(removed)} left{f' ({chosen})' if chosen else ''}: {names}."


def claims_section(run: Run) -> dict[str, Any]:
    """What the abstracts claim, and which groups take part more or less than they are there.

    ``unknown`` references are None where the literature is not at hand; ``compared`` papers are
    those held against what they cite.
    """
    table = compute_metric(run, "claims")
    titles = run.table("papers").set_index("paper")["title"]
    copied = table["copied"].dropna()
    found = (table["figures"] > 0) | (table["unknown_references"].fillna(0) > 0)
    found |= table["copied"].fillna(0) >= LONG_RUN
    order = ["figures", "unknown_references", "copied", "paper"]
    shown = table[found].sort_values(order, ascending=[False, False, False, True])
    known = bool(len(table)) and bool(table["unknown_references"].notna().all())
    return {
        "papers": len(table),
        "with_figures": int((table["figures"] > 0).sum()),
        "figures": int(table["figures"].sum()),
        "references": int(table["references"].sum()),
        "unknown": int(table["unknown_references"].sum()) if known else None,
        "compared": len(copied),
        "least": LONG_RUN,
        "long": int((copied >= LONG_RUN).sum()),
        "longest": int(copied.max()) if len(copied) else 0,
        "rows": shown.head(ROWS_SHOWN)
        .assign(title=lambda rows: rows["paper"].map(titles))
        .to_dict("records"),
        "groups": _uneven(compute_metric(run, "representation"))
        .head(ROWS_SHOWN)
        .to_dict("records"),
    }


def _uneven(table: pd.DataFrame) -> pd.DataFrame:
    """Groups whose interval does not hold the share of the population, the farthest first."""
    expected = table["population_share"]
    away = table[(table["low"] > expected) | (table["high"] < expected)]
    farness = (away["share"] - away["population_share"]).abs()
    return away.loc[farness.sort_values(ascending=False, kind="stable").index]


PAPERS_SHOWN = 40
PEOPLE_SHOWN = 20


def _shortened(value: Any, words: int) -> str:
    """A text up to so many words."""
    listed = known_text(value).split()
    return " ".join(listed[:words]) + (" …" if len(listed) > words else "")


def papers_section(run: Run, title_words: int, abstract_words: int) -> list[dict[str, Any]]:
    """The first papers by date, with authors, novelty and citations; texts are shortened.

    ``cites_own`` are titles of papers of the run.
    """
    papers = run.table("papers").head(PAPERS_SHOWN)
    titles = dict(zip(papers["paper"], papers["title"], strict=True))
    by = run.table("authorships")
    writers = by[by["paper"].isin(papers["paper"])].groupby("paper")["scientist"].agg(list)
    cites = run.table("citations")
    inside = cites["inside"].fillna(False)
    own = cites[inside].groupby("citing")["cited"].agg(list)
    past = cites[~inside].groupby("citing").size()
    cited = cites[inside].groupby("cited").size()
    scores = compute_metric(run, "novelty").set_index("paper")
    shown = []
    for number, row in enumerate(papers.to_dict("records"), 1):
        name = row["paper"]
        known = scores.loc[name] if name in scores.index else dict.fromkeys(COLUMNS)
        shown.append(
            {
                "id": name,
                "number": number,
                "title": _shortened(row["title"], title_words),
                "abstract": _shortened(row["abstract"], abstract_words),
                "topic": known_text(row["topic"]),
                "published": row["published"],
                "authors": ", ".join(writers.get(name, [])),
                **{part: known[part] for part in COLUMNS},
                "cites_past": int(past.get(name, 0)),
                "cites_own": [
                    _shortened(titles.get(one, one), title_words) for one in own.get(name, [])
                ],
                "cited": int(cited.get(name, 0)),
            }
        )
    return shown


def people_section(run: Run) -> dict[str, Any]:
    """The scientists with most teams and papers of the run.

    ``total`` counts all people, ``listed`` those in the table ``scientists``: in a large society
    who took part.
    """
    members, people = run.table("members"), run.table("scientists")
    names = people["scientist"]
    led = members[members["role"] == "leader"]["scientist"].value_counts()
    standing = compute_metric(run, "standing").set_index("scientist")["citations"]
    wrote = run.table("authorships")["scientist"].value_counts()
    careers = run.table("careers")
    left = careers[careers["change"].isin(LEFT)]
    gone = dict(zip(left["scientist"], left["change"], strict=True))
    table = pd.DataFrame(
        {
            "scientist": names,
            "number": [str(name).removeprefix("Scientist") for name in names],
            "topic": people["topic"].fillna(""),
            "teams": counts_of(names, members["scientist"].value_counts()),
            "led": counts_of(names, led),
            "papers": counts_of(names, wrote),
            "cited": counts_of(names, standing),
            "before": people["papers"],
            "gone": [gone.get(name, "").replace("one_off", "came for one team") for name in names],
        }
    )
    # By name last, so that equal people stand in one order in every run of this page.
    order = table.sort_values(
        ["papers", "teams", "scientist"], ascending=[False, False, True], kind="stable"
    )
    counts = {"total": people_ever(run), "listed": len(table)}
    return {"rows": records(order.head(PEOPLE_SHOWN)), **counts}


def provenance_section(run: Run, summary: dict[str, Any]) -> list[tuple[str, str]]:
    """What made the run: scenario, model, price, digest and versions."""
    manifest, backend = run.manifest, backend_of(run.manifest)
    price, cutoff = manifest.get("price"), training_cutoff(run.manifest)
    # Rules have neither a cut-off nor a price.
    missing = ("", "") if not cutoff.stated and cutoff.after is False else ("not stated", "none")
    pairs = [
        ("scenario", run.name or "–"),
        ("seed", str(summary["seed"])),
        ("simulated days", format_number(summary["days"])),
        ("first contemporary year", str(run.boundary or "–")),
        ("training cut-off of the model", cutoff.stated or missing[0]),
        ("backend", " ".join(str(backend[key]) for key in ("use", "model") if backend.get(key))),
        ("price", missing[1] if price is None else json.dumps(price, sort_keys=True)),
        ("digest", summary["digest"] or "none: the run is partial, or has not been closed"),
    ]
    versions = manifest.get("versions")
    if isinstance(versions, dict):
        pairs += [(str(k), str(v)) for k, v in sorted(versions.items()) if v is not None]
    return [(key, value) for key, value in pairs if value]
