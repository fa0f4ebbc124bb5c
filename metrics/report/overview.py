"""The first screen of a run's page, with what happened, who mattered, and checks.

Numbers come from the tables and measures of the run; communities are those that the page draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pandas as pd

from virsci_society.agents.journal.records import ANSWERED, price_words, spent_in
from virsci_society.metrics.cost import VERDICTS, Ledger, read_ledger
from virsci_society.metrics.inference.intervals import Interval
from virsci_society.metrics.novelty.novelty import embedding_of, settings_of
from virsci_society.metrics.population import initial_population, people_ever
from virsci_society.metrics.registry import compute_metric
from virsci_society.metrics.reply_texts import text_sentences
from virsci_society.metrics.report import figures
from virsci_society.metrics.report.network_layout import Communities
from virsci_society.metrics.report.templates import (
    THIN_SPACE,
    count_of,
    format_number,
    format_percent,
    records,
)
from virsci_society.metrics.summary import team_sizes
from virsci_society.metrics.summary_file import ended_words
from virsci_society.society.literature.papers import DAYS_PER_YEAR
from virsci_society.society.results.run import Run
from virsci_society.society.results.speaker import backend_of, speaker_of

PROTOCOLS = {"virsci": "VirSci", "wordless": "a protocol without words"}
"""Names of protocols that are written otherwise than their key."""
LANGUAGE_MODEL = "the language model "
"""How backends that ask a server call what answers."""
RULES = "rule-based scientists"
"""How the sentence about a backend begins where rules alone speak."""
NAMED = 3
"""People who are named for their papers, and for their co-authors in other communities."""


def first_screen(run: Run, summary: dict[str, Any], whole: Communities) -> dict[str, Any]:
    """``sentences`` (what happened), ``rows`` (name and text), ``status`` and ``trouble``."""
    rows = {
        "Most papers": _most_papers(run),
        "Bridges between communities": _bridges(whole),
        "Co-authors": _coauthors(run),
        "How novel": _novelty_sentence(run),
    }
    return {
        "sentences": [people_sentence(run), f"{_publishing(summary)}.", network_sentence(run)],
        "rows": [(name, text) for name, text in rows.items() if text],
        "status": _status(run, summary),
        "trouble": trouble_sentence(summary, read_ledger(run)),
        "texts": text_sentences(summary["reading"]),
    }


def head_count(run: Run) -> str:
    """How many scientists of how many fields, and when: of a society that people join or leave."""
    ever = people_ever(run)
    there = compute_metric(run, "presence")
    invented = "invented " if _is_invented(run) else ""
    if not len(there):
        return f"{count_of(ever, f'{invented}scientist')}{_fields(run)}"
    last = format_number(there["present"].iloc[-1])
    first = f"{count_of(initial_population(run), f'{invented}scientist')}{_fields(run)}"
    return f"{first} at first, {last} at the end ({format_number(ever)} in all),"


def people_sentence(run: Run) -> str:
    """Who did what: people, fields, teams, protocol and time."""
    teams, people = run.table("teams"), head_count(run)
    if not len(teams):
        return f"{people} founded no team in {_span(run.days)}."
    known = teams["target_size"].dropna().astype(int)
    came, wanted = _range(team_sizes(run)), _range([known.min(), known.max()] if len(known) else [])
    of = (came and f" of {came}") + (f" (planned: {wanted})" if wanted not in ("", came) else "")
    ended = "" if run.partial is None else " that had ended"
    founded = f"{people} founded {count_of(len(teams), 'team')}{ended}{of} in {_span(run.days)}"
    return f"{founded}, under {_protocols(run)}."


def _range(ends: Sequence[int]) -> str:
    """The least and the largest in words; empty where none is known."""
    return " to ".join(map(str, dict.fromkeys(ends)))


def _publishing(summary: dict[str, Any]) -> str:
    """How many of the teams published a paper, and what became of the others."""
    teams, ended = summary["teams"], "" if summary["partial"] is None else " that had ended"
    founded, published = teams["founded"], teams["published"]
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


def network_sentence(run: Run) -> str:
    """The co-authorship network on day 0 and at the end."""
    first, last = _first_and_last(run)
    if not last["edges"]:
        return "Nobody has published with anybody else."
    end = _connected(last, people_ever(run))
    now = f"on day {run.days:.0f} it was {count_of(last['edges'], 'pair')}, and {end}"
    if not first["edges"]:
        return f"On day 0 nobody had published with anybody else; {now}."
    then = f"On day 0, {count_of(first['edges'], 'pair')} of scientists had published together, and"
    start = _connected(first, initial_population(run))
    return f"{then} {start}, directly or through others; {now}."


def _first_and_last(run: Run) -> list[dict[str, Any]]:
    """The network, ties before day 0 included, on day 0 and at the end."""
    network = compute_metric(run, "structure")
    return records(network[network["network"] == "all"].iloc[[0, -1]])


def _connected(network: dict[str, Any], people: int) -> str:
    held = round(network["giant_share"] * network["nodes"])
    of = "all" if held == people else f"{format_number(held)} of"
    return f"{of} {count_of(people, 'scientist')} were connected"


def _coauthors(run: Run) -> str:
    """The mean number of co-authors of those who have any, on day 0 and at the end."""
    first, last = (one["mean_degree"] for one in _first_and_last(run))
    if pd.isna(last):
        return ""
    before = "" if pd.isna(first) else f", {format_number(first)} on day 0"
    return f"scientists with a co-author have {format_number(last)} of them on average{before}"


def _most_papers(run: Run) -> str:
    """Those with the most papers of the run, by name."""
    wrote = run.table("authorships")["scientist"].value_counts()
    ranked = sorted((-int(count), str(who)) for who, count in wrote.items())
    told = ", ".join(f"{who} ({count_of(-papers, 'paper')})" for papers, who in ranked[:NAMED])
    equal = sum(papers == ranked[NAMED - 1][0] for papers, _ in ranked[NAMED:])
    return f"{told}; {format_number(equal)} more wrote {-ranked[NAMED - 1][0]}" if equal else told


def _bridges(whole: Communities) -> str:
    """Those with the most co-authors in other communities, by name."""
    across, reached = whole.outside.T
    order = np.lexsort((np.arange(len(across)), -across))
    told = [
        f"{whole.names[row]} ({count_of(int(across[row]), 'co-author')} in "
        f"{count_of(int(reached[row]), 'other community', 'other communities')})"
        for row in order[:NAMED]
        if across[row]
    ]
    return ", ".join(told)


def _novelty_sentence(run: Run) -> str:
    """The mean overall novelty in words; empty where rules wrote, or nothing was measured."""
    values = compute_metric(run, "novelty")["ON"].dropna().to_numpy(dtype=np.float64)
    if not len(values) or written_by_rules(run):
        return ""
    band = figures.mean_interval(values)
    told = f"the mean overall novelty (ON) of the papers is {format_number(band.value)}"
    if title := embedding_of(run, "title"):
        told += f" by {title}"
    if len(values) > 1 and band.low < band.high:
        ends = f"{format_number(band.low)} to {format_number(band.high)}"
        told += f" (95{THIN_SPACE}% interval {ends})"
    if settings_of(run).normalise == "none":
        return told
    return f"{told}: {_reading(band, len(values))}"


def written_by_rules(run: Run) -> bool:
    """Did rules alone write the words, so that they show nothing about a language model?"""
    return speaker(run).startswith(RULES)


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
        return "The run finished without errors, and nobody was asked anything."
    return "The run finished without errors."


def _status(run: Run, summary: dict[str, Any]) -> list[tuple[str, str]]:
    """How the run ended, who spoke, and what was paid, if anything was."""
    days, until = format_number(summary["days"]), summary["until"]
    of = f" of {format_number(until)}" if until else ""
    stopped = summary["partial"] is not None
    reached = ended_words(summary, days).removeprefix("was ") + of
    # A person's words have neither tokens nor a price.
    ledger = summary["ledger"] or {}
    _, tokens, spent = spent_in(ledger)
    facts = {
        "state": reached if stopped else f"finished, {days} days",
        "who spoke": speaker(run) or speaker_of(run.manifest) or "not stated",
        "cost": price_words(spent, ledger.get("free", False)) if tokens or spent else "",
    }
    return [(name, text) for name, text in facts.items() if text]


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
    host = _host(settings) or _host(settings.get("live") or {})
    if LANGUAGE_MODEL not in text or not host:
        return text
    there = f"what answers at {host} as "
    return text.replace(LANGUAGE_MODEL, there, 1)


def _host(settings: Any) -> str:
    """Name of the server whose address a backend's section gives, without user and path."""
    if not isinstance(settings, dict) or not settings.get("api_base"):
        return ""
    return urlsplit(str(settings["api_base"])).hostname or "an address"


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


def _reading(band: Interval, papers: int) -> str:
    """In plain words: novelty beside that of the average paper of the same year, which is 1."""
    average = "the average paper of its year"
    # Ends that are missing are not in order either.
    if papers == 1 or not band.low < band.high:
        return f"one value, to be read beside that of {average} (1)"
    if band.low <= 1 <= band.high:
        return f"about as novel as {average} (1)"
    return f"{'less' if band.high < 1 else 'more'} novel than {average} (1)"
