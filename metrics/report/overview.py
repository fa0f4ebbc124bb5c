"""The first screen of a run's page, with what happened, who mattered, and checks."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import numpy as np

from virsci_society.agents.journal.records import ANSWERED, price_words, spent_in
from virsci_society.metrics.cost import VERDICTS, read_ledger
from virsci_society.metrics.network_layout import Communities
from virsci_society.metrics.novelty.novelty import embedding_of, settings_of
from virsci_society.metrics.population import initial_population, people_ever
from virsci_society.metrics.registry import compute_metric
from virsci_society.metrics.report import figures
from virsci_society.metrics.report.templates import (
    THIN_SPACE,
    count_of,
    format_number,
    format_percent,
    records,
)
from virsci_society.metrics.summary import team_sizes
from virsci_society.metrics.summary_file import ended_words, text_sentences
from virsci_society.society.literature.papers import DAYS_PER_YEAR
from virsci_society.society.results.run import Run
from virsci_society.society.results.text_provenance import speaker_of

PROTOCOLS = {"virsci": "VirSci", "wordless": "a protocol without dialogue"}
"""Names of protocols that are written otherwise than their key."""
LANGUAGE_MODEL = "the language model "
"""How backends that ask a server call what answers."""
RULES = "rule-based scientists"
"""First words of the description of a backend without a language model."""
NAMED = 3
"""People who are named for their papers, and for their co-authors in other communities."""


def first_screen(run: Run, summary: dict[str, Any], whole: Communities) -> dict[str, Any]:
    """``sentences`` (what happened), ``rows`` (name and text), ``status`` and ``trouble``."""
    rows = {
        "Most papers": _most_papers(run),
        "Bridges between communities": _bridges(whole),
        "How novel": _novelty_sentence(run),
    }
    ledger, stopped = summary["ledger"] or {}, summary["partial"] is not None
    days, until = format_number(summary["days"]), summary["until"]
    state = f"finished, {days} days"
    if stopped:
        state = ended_words(summary, days).removeprefix("was ")
        state += f" of {format_number(until)}" if until else ""
    # A person's words have neither tokens nor a price.
    _, tokens, spent = spent_in(ledger)
    status = {
        "state": state,
        "answers": speaker(run) or "not stated",
        "cost": price_words(spent, ledger.get("free", False)) if tokens or spent else "",
    }
    return {
        "sentences": [people_sentence(run), f"{publishing(summary)}.", network_sentence(run)],
        "rows": [(name, text) for name, text in rows.items() if text],
        "status": [(name, text) for name, text in status.items() if text],
        "trouble": trouble_sentence(run, summary),
        "texts": text_sentences(summary["reading"]),
    }


def head_count(run: Run) -> str:
    """How many scientists of how many fields, and when: of a society that people join or leave."""
    ever, there = people_ever(run), compute_metric(run, "presence")
    invented = (run.manifest.get("ecosystem") or {}).get("source") == "synthetic"
    ecosystem = (run.scenario.get("population") or {}).get("ecosystem") or {}
    fields = ecosystem.get("fields") if invented else None
    noun = "invented scientist" if invented else "scientist"
    of = f" from {count_of(fields, 'field')}" if isinstance(fields, int) else ""
    if not len(there):
        return f"{count_of(ever, noun)}{of}"
    last = format_number(there["present"].iloc[-1])
    first = f"{count_of(initial_population(run), noun)}{of}"
    return f"{first} at first, {last} at the end ({format_number(ever)} in all),"


def people_sentence(run: Run) -> str:
    """Who did what: people, fields, teams, protocol and time."""
    teams, years = run.table("teams"), run.days / DAYS_PER_YEAR
    span = count_of(run.days, "simulated day")
    if years == int(years) and years > 0:
        span = "one year" if years == 1 else f"{int(years)} years"
    if not len(teams):
        return f"{head_count(run)} founded no team in {span}."
    known = teams["target_size"].dropna().astype(int)
    sizes = " to ".join(map(str, dict.fromkeys(team_sizes(run))))
    planned = " to ".join(map(str, sorted({known.min(), known.max()}))) if len(known) else ""
    of = f" of {sizes}" if sizes else ""
    of += f" (planned: {planned})" if planned not in ("", sizes) else ""
    ended = "" if run.partial is None else " that had ended"
    names = sorted(set(teams["protocol"].dropna()))
    told = [PROTOCOLS.get(name, name.replace("_", " ")) for name in names] or ["no protocol"]
    under = " and ".join([", ".join(told[:-1]), told[-1]] if told[1:] else told)
    turns = (run.scenario.get("protocol") or {}).get("turns")
    if names == ["virsci"] and isinstance(turns, int):
        under += f" with {count_of(turns, 'turn')}"
    founded = f"{head_count(run)} founded {count_of(len(teams), 'team')}{ended}{of}"
    return f"{founded} in {span}, under {under}."


def publishing(summary: dict[str, Any]) -> str:
    """How many of the teams published a paper, and what became of the others."""
    teams, ended = summary["teams"], "" if summary["partial"] is None else " that had ended"
    founded, published = teams["founded"], teams["published"]
    if not published:
        return f"{count_of(founded, 'team')}{ended} published no paper"
    if published == founded:
        whole = "The one team" if founded == 1 else f"All {count_of(founded, 'team')}"
        return f"{whole}{ended} published a paper"
    others = {
        "had a paper in press": teams["finished"],
        "was at work" if teams["running"] == 1 else "were at work": teams["running"],
        "had dissolved": sum(teams["dissolved"].values()),
    }
    rest = ", ".join(f"{format_number(count)} {what}" for what, count in others.items() if count)
    of = f"{format_number(published)} of {count_of(founded, 'team')}{ended}"
    return f"{of} published a paper ({rest})"


def network_sentence(run: Run) -> str:
    """The co-authorship network on day 0 and at the end, ties before day 0 included."""
    network = compute_metric(run, "structure")
    first, last = records(network[network["network"] == "all"].iloc[[0, -1]])
    if not last["edges"]:
        return "There are no co-authors."

    def connected(row: dict[str, Any], people: int) -> str:
        held = round(row["giant_share"] * row["nodes"])
        share = "all" if held == people else f"{format_number(held)} of"
        return f"{share} {count_of(people, 'scientist')} were connected"

    now = f"on day {run.days:.0f}, {count_of(last['edges'], 'pair')} had, and "
    now += connected(last, people_ever(run))
    if not first["edges"]:
        return f"On day 0 there were no co-authors; {now}."
    then = f"On day 0, {count_of(first['edges'], 'pair')} of scientists had co-authored papers, and"
    start = connected(first, initial_population(run))
    return f"{then} {start} through co-authors; {now}."


def _most_papers(run: Run) -> str:
    """Those with the most papers of the run, by name."""
    wrote = run.table("authorships")["scientist"].value_counts()
    ranked = sorted((-int(count), str(who)) for who, count in wrote.items())
    told = ", ".join(f"{who} ({count_of(-papers, 'paper')})" for papers, who in ranked[:NAMED])
    equal = sum(papers == ranked[NAMED - 1][0] for papers, _ in ranked[NAMED:])
    return f"{told}; {format_number(equal)} more with {-ranked[NAMED - 1][0]}" if equal else told


def _bridges(whole: Communities) -> str:
    """Those with the most co-authors in other communities, by name."""
    across, reached = whole.outside.T
    order = np.lexsort((np.arange(len(across)), -across))
    return ", ".join(
        f"{whole.names[row]} ({count_of(int(across[row]), 'co-author')} in "
        f"{count_of(int(reached[row]), 'other community', 'other communities')})"
        for row in order[:NAMED]
        if across[row]
    )


def _novelty_sentence(run: Run) -> str:
    """A sentence about mean overall novelty; empty if not measured, or if rules wrote the texts."""
    values = compute_metric(run, "novelty")["ON"].dropna().to_numpy(dtype=np.float64)
    if not len(values) or written_by_rules(run):
        return ""
    band = figures.mean_interval(values)
    # Ends that are missing are not in order either.
    known = len(values) > 1 and band.low < band.high
    told = f"the mean overall novelty (ON) of the papers is {format_number(band.value)}"
    if title := embedding_of(run, "title"):
        told += f" by {title}"
    if known:
        ends = f"{format_number(band.low)} to {format_number(band.high)}"
        told += f" (95{THIN_SPACE}% interval {ends})"
    if settings_of(run).normalise == "none":
        return told
    average = "the average paper of its year (1)"
    if not known:
        return f"{told}: one value, to be compared with {average}"
    if band.low <= 1 <= band.high:
        return f"{told}: about as novel as {average}"
    return f"{told}: {'less' if band.high < 1 else 'more'} novel than {average}"


def trouble_sentence(run: Run, summary: dict[str, Any]) -> str:
    """A sentence about problems: a stop, failed attempts, replies that were replaced."""
    rungs = (summary["reading"] or {}).get("rungs", {})
    faults, ledger = [], read_ledger(run)
    if summary["partial"] is not None:
        faults.append(f"the run {ended_words(summary, format_number(summary['days']))}")
    if ledger is not None:
        # A refusal is an answer, too: the provider did not fail (rule 1).
        useful = sum(ledger.outcomes.get(kind, 0) for kind in (ANSWERED, *VERDICTS))
        if (failed := ledger.attempts - useful) > 0:
            faults.append(f"{count_of(failed, 'attempt')} failed and had to be repeated")
    if rungs.get("default"):
        share = format_percent(summary["reading"]["defaulted"])
        number = count_of(rungs["default"], "reply", "replies")
        faults.append(f"{number} ({share}) could not be parsed and were replaced by defaults")
    if rungs.get("unread"):
        faults.append(f"{count_of(rungs['unread'], 'call')} gave no reply, which ended a team")
    if faults:
        return f"Problems: {'; '.join(faults)}."
    asked = "" if summary["calls"]["total"] else " and without calls"
    return f"The run finished without errors{asked}."


def written_by_rules(run: Run) -> bool:
    """Did rules write all texts, so that they show nothing about a language model?"""
    return speaker(run).startswith(RULES)


def speaker(run: Run) -> str:
    """Who spoke in a run; empty if that is not stated."""
    text, settings = speaker_of(run.manifest), run.scenario.get("backend") or {}
    for given in (settings, settings.get("live")):
        if LANGUAGE_MODEL in text and isinstance(given, dict) and given.get("api_base"):
            # Without user and path.
            host = urlsplit(str(given["api_base"])).hostname or "an address"
            return text.replace(LANGUAGE_MODEL, f"the server {host} as ", 1)
    return text
