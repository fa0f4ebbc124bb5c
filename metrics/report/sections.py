"""Data of single sections of a run's page, computed from measures of the run.

``community_section`` (structure, impact, waiting), ``leakage_section`` (what the model could know
of the society's future), ``cost_section`` (the ledger), ``reply_parsing_section`` (how replies
were read, and what defaults did to the results), ``peer_review_section`` and ``removal_section``
(interventions). The templates of the same folder render them.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from virsci_society.agents.journal.records import ANSWERED, IN_DOUBT
from virsci_society.metrics.cost import OUTCOMES, RUNGS, Ledger
from virsci_society.metrics.networks.removals import removed_by_date
from virsci_society.metrics.novelty.training_leaks import LONG_RUN, training_cutoff
from virsci_society.metrics.registry import FAMILIES, measure
from virsci_society.metrics.report.network_figures import removal_figures, snapshot_title
from virsci_society.metrics.report.templates import format_usd, records
from virsci_society.society.results.run import Run

MOST_CITED_SHOWN = 10
LABELS = {"all": "with day 0", "grown": "since day 0"}


def community_section(run: Run) -> dict[str, Any]:
    """Rows of the sections on structure, impact, chance and what was observed.

    Measures of the family ``chance``, and the comparison with an ecosystem, are shown only where
    the run holds them.
    """
    held = set(run.measure_names())
    return {
        "structure": _structure(run),
        "consulting": records(measure(run, "consulting"))[0],
        "inequality": records(measure(run, "inequality")),
        "advantage": records(measure(run, "cumulative_advantage")),
        "disruption": _disruption(run),
        "famous": _famous(run),
        "attention": {"idle_share": _known(measure(run, "held_attention")["idle_share"])},
        "chance": {
            name: records(_labelled(run.measure(name))) if name in held else []
            for name in FAMILIES["chance"]
        },
        "observed": _observed(run) if "observed_scores" in held else [],
        "scores": records(run.measure("observed_scores")) if "observed_scores" in held else [],
        "unknown": _unknown(run) if "observed_unknowns" in held else [],
    }


def _known(values: pd.Series) -> float | None:
    """The first value; None where it is missing."""
    return None if pd.isna(values.iloc[0]) else float(values.iloc[0])


def _structure(run: Run) -> list[dict[str, Any]]:
    groups = measure(run, "communities")
    last = groups[groups["date"] == groups["date"].max()].drop(columns="date")
    return records(_labelled(last.merge(measure(run, "core_periphery"), on="network")))


def _disruption(run: Run) -> dict[str, Any]:
    index = measure(run, "disruption")["CD"].dropna()
    return {
        "papers": len(index),
        "mean": float(index.mean()) if len(index) else None,
        "disrupting": float((index > 0).mean()) if len(index) else None,
    }


def _famous(run: Run) -> list[dict[str, Any]]:
    table = measure(run, "standing")
    order = ["h", "citations", "papers", "scientist"]
    table = table.sort_values(order, ascending=[False, False, False, True], kind="stable")
    return records(table[table["citations"] > 0].head(MOST_CITED_SHOWN))


def _observed(run: Run) -> list[dict[str, Any]]:
    """The comparison over the longest window: one entry per column, with its rows."""
    table = run.measure("observed")
    kind = " (" + table["kind"] + ")"
    table = table.assign(
        quantity=table["quantity"] + kind.mask(table["kind"] == "difference", ""),
        within=table["within"].map({True: "yes", False: "no"}),
    )
    last = table[table["window"] == table["window"].max()]
    return [
        {"side": side, "years": float(rows["window"].iloc[0]), "rows": records(rows)}
        for side, rows in last.groupby("side", sort=False)
    ]


def _unknown(run: Run) -> list[str]:
    return [str(one) for one in run.measure("observed_unknowns")["unknown"]]


def _labelled(table: pd.DataFrame) -> pd.DataFrame:
    return table.replace({"network": LABELS}) if "network" in table else table


ROWS_SHOWN = 10


def leakage_section(run: Run) -> dict[str, Any]:
    """The training cut-off, and the abstracts that share most with contemporary papers."""
    table = measure(run, "leaks")
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
        "estimated": ledger.estimated,
        "usd": format_usd(ledger.usd),
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
    cost = {"tokens": ledger.in_doubt_tokens, "usd": format_usd(ledger.in_doubt_usd)}
    return {"calls": calls, "named": ledger.in_doubt[:IN_DOUBT_SHOWN], **cost}


def _cut_off(ledger: Ledger) -> dict[str, Any] | None:
    if not ledger.cut_off:
        return None
    cost = {"tokens": ledger.cut_off_tokens, "usd": format_usd(ledger.cut_off_usd)}
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
    calls, acts = measure(run, "calls_by_rung"), measure(run, "calls_by_act")
    known = summary["reading"] or {"asked": None, "rungs": {}, "verdicts": {}, "by_form": {}}
    defaulted = int(acts["defaulted"].sum())
    outcomes = measure(run, "outcomes_without_defaults") if defaulted else None
    return {
        "asked": known["asked"],
        "rungs": [(rung, count) for rung, count in known["rungs"].items() if count],
        "strict": known["asked"] is not None and known["rungs"]["strict"] == known["asked"],
        "forms": _forms(known["rungs"], known["by_form"]),
        "unsent": int(calls.loc[calls["rung"].isna(), "calls"].sum()),
        "verdicts": [(name, count) for name, count in known["verdicts"].items() if count],
        "defaulted": defaulted,
        "unruled": int(acts["unruled"].sum()),
        "outcomes": [] if outcomes is None else outcomes.to_dict("records"),
    }


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
    """Outcomes, decisions by round and the busiest reviewers; None where nothing was submitted."""
    if run.table("submissions").empty:
        return None
    whole = records(measure(run, "review_outcomes"))[0]
    rows = records(measure(run, "reviewers").head(ROWS_SHOWN))
    return {"whole": whole, "rounds": _rounds(run.table("submissions")), "reviewers": rows}


def _rounds(submissions: pd.DataFrame) -> list[dict[str, Any]]:
    rows = submissions.assign(
        **{one: submissions["decision"].isin([one]) for one in ("accept", "revise", "reject")},
        open=submissions["decision"].isna(),
    )
    counted = ["accept", "revise", "reject", "open"]
    rows[counted] = rows[counted].fillna(False).astype("Int64")
    grouped = rows.groupby("round")
    return records(grouped[counted].sum().join(grouped["score"].mean()).reset_index())


REMOVALS_DRAWN = 3
"""Removals that are drawn; of all there are numbers."""
NAMES_SHOWN = 20
SOCIETY = {
    "people": "scientists in the society",
    "papers": "papers of half a year",
    "papers_each": "papers of each, per year",
}
ROWS = {
    "nodes": "scientists with a co-author",
    "isolated": "of them, whose co-authors are gone",
    "edges": "pairs of co-authors",
    "mean_degree": "co-authors of each",
    "giant_share": "share in the largest component",
    "components": "components",
    "clustering": "clustering",
    "path": "steps in the largest component",
    "communities": "communities",
    "modularity": "modularity",
}
RANKS = {
    "degree": "with the most co-authors",
    "papers": "with the most papers",
    "citations": "with the most citations",
    "random": "drawn at random",
}


def removal_section(run: Run) -> dict[str, Any] | None:
    """The list of interventions, and figures and numbers around each removal; None without any."""
    listed = run.table("interventions")
    if not len(listed):
        return None
    removals = []
    for index, (date, removed) in enumerate(removed_by_date(run)):
        removals.append(
            {
                "date": date,
                "told": _removal_sentence(listed[listed["date"] == date], removed),
                "tables": _tables(measure(run, "removals"), date),
                "scene": removal_figures(run, date, removed) if index < REMOVALS_DRAWN else None,
            }
        )
    return {"listed": listed.to_dict("records"), "removals": removals}


def _removal_sentence(listed: pd.DataFrame, removed: list[str]) -> str:
    ranks = [RANKS.get(str(rank), "") for rank in listed["ranked"].dropna()]
    chosen = ", ".join(dict.fromkeys(filter(None, ranks)))
    names = ", ".join(removed[:NAMES_SHOWN]) + (", ..." if len(removed) > NAMES_SHOWN else "")
    return f"{len(removed)} left{f' ({chosen})' if chosen else ''}: {names}."


def _tables(table: pd.DataFrame, date: float) -> dict[str, dict[str, Any]]:
    """Of each network: ``columns`` (moments and their heads) and ``rows`` (measures)."""
    here = table[table["removal"] == date]
    tables: dict[str, dict[str, Any]] = {}
    for network in here["network"].unique():
        own = here[here["network"] == network].set_index("moment")
        columns = [
            (name, snapshot_title(str(name), float(own.at[name, "date"]))) for name in own.index
        ]
        shown = {**SOCIETY, **ROWS} if not tables else ROWS
        rows = [
            {"measure": label, **{str(name): own.at[name, key] for name in own.index}}
            for key, label in shown.items()
        ]
        tables[str(network)] = {"columns": columns, "rows": rows}
    return tables


def claims_section(run: Run) -> dict[str, Any]:
    """What the abstracts claim, and which groups take part more or less than they are there.

    ``unknown`` references are None where the literature is not at hand; ``compared`` papers are
    those held against what they cite.
    """
    table = measure(run, "claims")
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
        "groups": _uneven(measure(run, "representation")).head(ROWS_SHOWN).to_dict("records"),
    }


def _uneven(table: pd.DataFrame) -> pd.DataFrame:
    """Groups whose interval does not hold the share of the population, the farthest first."""
    expected = table["population_share"]
    away = table[(table["low"] > expected) | (table["high"] < expected)]
    farness = (away["share"] - away["population_share"]).abs()
    return away.loc[farness.sort_values(ascending=False, kind="stable").index]
