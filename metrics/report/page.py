"""The page of a run, one self-contained HTML file without scripts and requests.

The template escapes every text of a run; only the figures, drawn from numbers, are not.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from markupsafe import Markup

from virsci_society.agents.journal.records import ANSWERED, IN_DOUBT, price_words
from virsci_society.metrics.cost import OUTCOMES, RUNGS, read_ledger
from virsci_society.metrics.inference.intervals import MIN_REPLICATES
from virsci_society.metrics.network_layout import MAX_DRAWN, Communities, run_communities
from virsci_society.metrics.novelty.novelty import COLUMNS, embedding_of, settings_of
from virsci_society.metrics.novelty.training_leaks import training_cutoff
from virsci_society.metrics.population import LEFT, people_ever
from virsci_society.metrics.registry import MEASURES, compute_metric, measure_run
from virsci_society.metrics.report import figures
from virsci_society.metrics.report.overview import first_screen, written_by_rules
from virsci_society.metrics.report.templates import (
    count_of,
    format_number,
    format_percent,
    known_text,
    records,
    style_sheet,
    template_environment,
    write_html,
)
from virsci_society.metrics.summary import NUMBERS, summarise_run
from virsci_society.metrics.summary_file import read_summary
from virsci_society.society.results.dataframes import counts_of
from virsci_society.society.results.run import Run
from virsci_society.society.results.text_provenance import backend_of

PAPERS_SHOWN, PEOPLE_SHOWN = 40, 20
SCENARIO_SHOWN = 40_000
RULE_WORDS, MODEL_WORDS = (8, 20), (60, 600)
"""Words of titles and abstracts that are shown: of those by rules fewer."""
OF_A_MODEL = ("contemporary_words", "contemporary_similarity")
"""Measures of a model's texts: texts by rules cannot leak."""
ALL_FORMS = "all forms"


class Shown(NamedTuple):
    """The input of a page: a run, its summary, and the communities of its network at the end."""

    run: Run
    summary: dict[str, Any]
    whole: Communities

    @property
    def embedding(self) -> str:
        """Suffix of novelty values: their embedding; empty if unknown."""
        name = embedding_of(self.run)
        return f" by {name}" if name else ""


class Picture(NamedTuple):
    """A figure with its caption."""

    picture: Markup | None
    caption: str


class Table(NamedTuple):
    """A table; columns in which every value is zero or missing are left out."""

    rows: Sequence[Mapping[str, Any]]
    named: str
    caption: str = ""

    @property
    def columns(self) -> list[tuple[str, str]]:
        """The key and the label of each column."""
        pairs = (one.partition(": ") for one in self.named.split("; "))
        return [(key, label or key) for key, _, label in pairs]

    @property
    def words(self) -> list[str]:
        """The keys of the columns of texts."""
        return [key for key, _ in self.columns if any(isinstance(r[key], str) for r in self.rows)]


@dataclass(frozen=True)
class PageSection:
    """One section of the page, its parts in the order in which they are shown."""

    title: str
    text: Iterable[str] = ()
    figures: Sequence[Picture] = ()
    tables: Sequence[Table] = ()
    facts: Sequence[tuple[str, str]] = ()
    details: Sequence[tuple[str, Sequence[str]]] = ()
    fine: Iterable[str] = ()
    folded: bool = False


def timeline(shown: Shown) -> PageSection:
    """Teams over time, invitations, and why teams dissolved."""
    run, summary, _ = shown
    teams, invited, text = summary["teams"], summary["invitations"], []
    if run.partial is not None:
        text.append(
            f"{count_of(teams['founded'], 'team')} had ended by day {format_number(run.days)}: "
            f"{format_number(teams['published'])} had published and "
            f"{format_number(sum(teams['dissolved'].values()))} had dissolved. Teams still at work "
            "are not drawn."
        )
    elif summary["max_memberships"]:
        most = count_of(summary["max_memberships"], "team")
        text.append(f"No scientist was in more than {most} at a time.")
    if invited["sent"]:
        [slope] = records(compute_metric(run, "acceptance_slope"))
        load = f"Effect of the invitee's number of teams on acceptance: {slope['note']}."
        if slope["note"] == "estimated":
            ends = f"{format_number(slope['low'])} to {format_number(slope['high'])}"
            load = (
                "Each further team of the invitee changes the log odds of acceptance by "
                f"{format_number(slope['slope'])} (95 % interval {ends}; logistic regression)."
            )
        text.append(
            f"{count_of(invited['sent'], 'invitation')}: {format_number(invited['accepted'])} "
            f"accepted, {format_number(invited['declined'])} declined, "
            f"{format_number(invited['full'])} turned away at the invitee's team limit, "
            f"{format_number(invited['unanswered'])} expired; "
            f"{format_number(invited['cross_team'])} went to members of other teams. {load}"
        )
    if teams["dissolved"]:
        reasons = (f"{reason} ({count})" for reason, count in teams["dissolved"].items())
        text.append(f"Reasons for dissolving: {', '.join(reasons)}.")
    drawn = []
    total = int(run.table("teams")["founded"].notna().sum())
    some = f"all {total}" if total <= figures.ROWS_DRAWN else f"{figures.ROWS_DRAWN} of {total}"
    about = f"Each row is a team, named after its leader, in order of founding ({some} shown)."
    drawn.append(Picture(figures.team_timeline(run), about))
    about = "Teams founded and not yet finished."
    drawn.append(Picture(figures.measured_figure(run, "teams-at-work"), about))
    return PageSection("Timeline", text, drawn)


def network(shown: Shown) -> PageSection:
    """The network at the end by community, and how it grew."""
    run, _, whole = shown
    picture = figures.network_figure(run, whole)
    if picture is None:
        return PageSection("Network", ["There are no co-authors."])
    people = count_of(len(whole.names), "scientist")
    about = f"All {people} with a co-author, by community ({whole.method}). Symbol size: papers in "
    about += "this run. Names are shown where there is room."
    if len(whole.names) > MAX_DRAWN:
        about = f"The {people} with a co-author. Each symbol is a community ({whole.method}); its "
        about += "area is proportional to its size. Lines join the communities with most joint "
        about += "papers. 'society explore' draws every scientist."
    pairs = {
        "giant-share": "Share of scientists with a co-author. All ties: also those before day 0.",
        "degrees": "Scientists with a co-author: complementary cumulative distribution.",
    }
    small = [
        Picture(figures.measured_figure(run, name), caption) for name, caption in pairs.items()
    ]
    return PageSection("Network", (), [Picture(picture, about), *small])


def interventions(shown: Shown) -> PageSection | None:
    """Changes during the run."""
    listed = shown.run.table("interventions")
    if not len(listed):
        return None
    columns = "number; date: day; settings; removed: scientists removed"
    text = (
        "To estimate the effect of an intervention, compare with a run of the same scenario "
        "without it, not the network before with the network after. Numbers: 'society show RUN "
        "--table removals'."
    )
    table = Table(records(listed), f"{columns}; ranked: chosen by", "Each comes first on its day.")
    return PageSection("Interventions", [text], tables=[table])


def novelty(shown: Shown) -> PageSection:
    """HD, CD, CI and ON as means with intervals, with the embedding and the settings."""
    run, by = shown.run, shown.embedding
    table = compute_metric(run, "novelty")
    if not len(table):
        ended = (
            "It is measured at the end of the run, against papers that its folder does not contain."
        )
        return PageSection(
            "Novelty", ["It was not measured in this run." if run.partial is None else ended]
        )
    settings = settings_of(run)
    relative, by_rules = settings.normalise != "none", written_by_rules(run)
    text = (
        "Rules generate the abstracts from their authors' terms, so these values illustrate the "
        "measures, not novelty."
        if by_rules
        else "HD and CD (contemporary dissimilarity) are mean distances of an abstract to its "
        "nearest papers of the past and of the later years that the society could not see; CI is "
        "the mean citation count of the latter; ON = HD × CI / CD per abstract. ON depends heavily "
        "on CI, a mean of a few heavy-tailed counts, so read it together with its parts."
    )
    if by:
        text += f" Distances are computed on vectors{by}; another embedding may rank the abstracts "
        text += "differently."
    rows, method = [], ""
    for name in COLUMNS:
        values = table[name].dropna().to_numpy(dtype=np.float64)
        band = figures.mean_interval(values)
        method = method or band.method
        row = {"name": name, "n": len(values), "mean": band.value}
        rows.append(row | {"low": band.low, "high": band.high})
    title = embedding_of(run, "title")
    measured = f", measured by {title}" if title else ""
    about = f"Means over papers{measured}, with 95 % intervals{f' ({method})' if method else ''}."
    columns = "name: measure; n: papers; mean; low; high"
    tables = [] if by_rules else [Table(rows, columns, about)]
    if agreement := records(compute_metric(run, "novelty_agreement")):
        columns = "measure; papers; embedding: by; mean; other: and by; other_mean: mean"
        labels = "; ".join(compute_metric(run, "novelty_by_embedding")["label"].unique())
        about = f"The same papers in several embeddings: {labels}. Spearman's rank correlation "
        about += "over papers, with its 95 % interval."
        columns += "; rank_correlation: rank correlation; low; high"
        tables.append(Table(agreement, columns, about))
    about = (
        f"Each dot is a paper{measured}; the black dot below is the mean with its 95 % interval."
    )
    about += " Dashed line: mean of the neighbours’ year." if relative else ""
    told = [
        f"{key} {' and '.join(value) if isinstance(value, tuple) else str(value).lower()}"
        for key, value in settings.model_dump().items()
    ]
    fine = [] if by_rules else [f"Settings: {', '.join(told)}."]
    drawn = [Picture(figures.novelty_figure(run), about)]
    return PageSection("Novelty", [text], drawn, tables, fine=fine)


def numbers(shown: Shown) -> PageSection:
    """Measures of teams, network, impact, review and a model's texts, with their labels."""
    rows, names = [], () if written_by_rules(shown.run) else OF_A_MODEL
    for name, value in {**shown.summary["measures"], **measure_run(shown.run, names)}.items():
        if not pd.isna(value):
            unit = " days" if MEASURES[name].unit == "days" else ""
            rows.append({"label": MEASURES[name].label, "value": format_number(value) + unit})
    fine = ["Citations are among the society’s papers. 'society list measures' lists all measures."]
    return PageSection(
        "In numbers", tables=[Table(rows, "label: measure; value")], fine=fine, folded=True
    )


def people(shown: Shown) -> PageSection:
    """The scientists with most papers and teams of the run."""
    run = shown.run
    members, listed = run.table("members"), run.table("scientists")
    names, careers = listed["scientist"], run.table("careers")
    gone = careers[careers["change"].isin(LEFT)].set_index("scientist")["change"].to_dict()
    standing = compute_metric(run, "standing").set_index("scientist")["citations"]
    table = pd.DataFrame(
        {
            "scientist": names,
            "number": [str(name).removeprefix("Scientist") for name in names],
            "topic": listed["topic"].fillna(""),
            "teams": counts_of(names, members["scientist"].value_counts()),
            "led": counts_of(names, members.query("role == 'leader'")["scientist"].value_counts()),
            "papers": counts_of(names, run.table("authorships")["scientist"].value_counts()),
            "cited": counts_of(names, standing),
            "before": listed["papers"],
            "gone": [
                gone.get(name, "").replace("transient", "came for one team") for name in names
            ],
        }
    )
    # By name last, so that the order of equal people is always the same.
    order = table.sort_values(
        ["papers", "teams", "scientist"], ascending=[False, False, True], kind="stable"
    )
    rows, total = records(order.head(PEOPLE_SHOWN)), people_ever(run)
    fine = ["Names are invented. Tables and files identify people as Scientist and this number."]
    if total > len(rows):
        took_part = " who took part" if len(table) < total else ""
        fine.append(f"All scientists{took_part}: 'society show RUN --table scientists'.")
    columns = "scientist; number; topic: main topic; teams; led: led; papers; "
    columns += "cited: citations in the society; before: papers before day 0; gone: left"
    title = f"People ({format_number(total)})"
    return PageSection(title, tables=[Table(rows, columns)], fine=fine, folded=True)


def papers(shown: Shown) -> PageSection:
    """The first papers by date, with authors, novelty, citations and abstracts; texts are cut."""
    run, by_rules = shown.run, written_by_rules(shown.run)
    table = run.table("papers")
    if not len(table):
        return PageSection("Papers", ["No paper was published in this run."])
    title_words, abstract_words = RULE_WORDS if by_rules else MODEL_WORDS
    titles = {row["paper"]: _shortened(row["title"], title_words) for row in records(table)}
    writers = run.table("authorships").groupby("paper")["scientist"].agg(list)
    cites = run.table("citations")
    inside = cites["inside"].fillna(False)
    own = cites[inside].groupby("citing")["cited"].agg(list)
    cited, past = cites[inside]["cited"].value_counts(), cites[~inside]["citing"].value_counts()
    scores = compute_metric(run, "novelty").set_index("paper")
    rows, details = [], []
    for number, paper in enumerate(records(table.head(PAPERS_SHOWN)), 1):
        name = paper["paper"]
        known = scores.loc[name] if name in scores.index else dict.fromkeys(COLUMNS)
        row = {"number": str(number), "title": titles[name], "published": paper["published"]}
        row |= {part: known[part] for part in COLUMNS}
        rows.append(row | {"cited": int(cited.get(name, 0))})
        facts = [f"day {paper['published']:.0f}", known_text(paper["topic"])]
        facts.append(f"cites {count_of(past.get(name, 0), 'past paper')}")
        if rows[-1]["cited"]:
            facts.append(f"cited {count_of(rows[-1]['cited'], 'time')} in the society")
        lines = [", ".join(writers.get(name, [])), "; ".join(filter(None, facts))]
        lines.append(_shortened(paper["abstract"], abstract_words))
        if builds_on := [titles.get(one, one) for one in own.get(name, [])]:
            lines.append(f"Builds on: {'; '.join(builds_on)}")
        details.append((f"{number}. {titles[name]}", lines))
    fine = [f"The first {len(rows)} papers by date."] if len(table) > len(rows) else []
    if by_rules:
        fine.append("Titles and abstracts are generated by rules and shortened.")
    fine.append("Full texts of all papers: 'society show RUN --table papers'.")
    columns = (
        f"number: no.; title; published: day; {'; '.join(COLUMNS)}; cited: citations in the society"
    )
    by = f"HD, CD, CI and ON{shown.embedding}." if shown.embedding else ""
    return PageSection(
        f"Papers ({format_number(len(table))})",
        tables=[Table(rows, columns, by)],
        details=details,
        fine=fine,
        folded=True,
    )


def _shortened(value: Any, words: int) -> str:
    """The first words of a text."""
    listed = known_text(value).split()
    return " ".join(listed[:words]) + (" …" if len(listed) > words else "")


def reading(shown: Shown) -> PageSection | None:
    """How replies were parsed, and what rules notice of their texts; None where rules answered."""
    known, title = shown.summary["reading"], "Parsing of replies"
    if not shown.summary["calls"]["total"]:
        return None
    if known is None:
        return PageSection(title, ["No call was answered."], folded=True)
    if written_by_rules(shown.run) and known["rungs"]["strict"] == known["asked"]:
        return None
    asked, rungs, defaulted = known["asked"], known["rungs"], known["rungs"]["default"]
    text, tables = ["All replies were valid JSON; none was repaired or requested again."], []
    if rungs["strict"] != asked:
        text = [
            "A reply is parsed as strict JSON; otherwise JSON is extracted from it, then repaired, "
            "then requested again at most twice; if parsing still fails, the form’s default is "
            "used."
        ]
        rows = []
        several = {ALL_FORMS: rungs} if len(known["by_form"]) > 1 else {}
        for form, counts in {**several, **known["by_form"]}.items():
            row = {"form": form, "calls": sum(counts.values())}
            row["share"] = format_percent(counts.get("default", 0) / max(row["calls"], 1))
            rows.append({**dict.fromkeys(RUNGS, 0), **counts, **row})
        columns = (
            "form; calls; strict; found: extracted; repaired; re-asked: requested again; default; "
        )
        about = "Calls by form and parsing step; repeated requests are not counted. No reply: "
        about += "nothing could be parsed and the form has no default, so the team ended."
        tables.append(Table(rows, f"{columns}unread: no reply; share: share of defaults", about))
    if verdicts := [f"{count} {name}" for name, count in known["verdicts"].items() if count]:
        text.append(f"Verdicts: {', '.join(verdicts)}.")
    if defaulted:
        text.append(
            f"In {format_number(defaulted)} of {count_of(asked, 'call')} the form’s default "
            "replaced the reply, so the results partly reflect these defaults. Outcomes without "
            "the teams concerned: 'society show RUN --table outcomes_without_defaults'."
        )
    if known.get("texts"):
        text.append(
            "The content of the replies was not judged. Copied, short and repetitive texts by "
            "form: 'society show RUN --table reply_texts'."
        )
    return PageSection(title, text, tables=tables, folded=True)


def cost(shown: Shown) -> PageSection | None:
    """Calls and tokens by act, requests by outcome, and payments."""
    run, ledger, number = shown.run, read_ledger(shown.run), format_number
    if ledger is None or not ledger.attempts:
        return None
    answered, mean = ledger.outcomes.get(ANSWERED, 0), shown.summary["inference_cost"]["mean"]
    text = [
        f"{count_of(ledger.attempts, 'attempt')} gave {count_of(answered, 'answer')} in "
        f"{count_of(len(ledger.sessions), 'session')}, using "
        f"{number(ledger.prompt_tokens)} prompt tokens ({number(ledger.cached_tokens)} from the "
        f"provider's cache) and {number(ledger.completion_tokens)} reply tokens: "
        f"{price_words(ledger.usd, ledger.free)}. Errors of a server, network or budget delay or "
        "stop the run, but never change its results. Full ledger: 'society show RUN --json'."
    ]
    if mean is not None:
        told = count_of(mean, "call")
        text.append(f"Mean inference cost of a paper, as VirSci counts it: {told}.")
    # The ledger names only the first thousand.
    if doubt := max(ledger.outcomes.get(IN_DOUBT, 0), len(ledger.in_doubt)):
        text.append(
            f"{count_of(doubt, 'call')} in progress when the run was stopped may have been billed "
            f"twice: at most {number(ledger.in_doubt_tokens)} tokens, "
            f"{price_words(ledger.in_doubt_usd, ledger.free)}, not counted above. The first: "
            f"{', '.join(ledger.in_doubt[:5]) or 'not named'}."
        )
    columns = "act: call; calls; prompt_tokens: prompt tokens; completion_tokens: reply tokens; "
    columns += "defaulted"
    attempts = [
        {"outcome": name, "attempts": count, "meaning": OUTCOMES.get(name, "")}
        for name, count in ledger.by_outcome()
    ]
    tables = [
        Table(records(compute_metric(run, "calls_by_act")), columns, "Calls by act."),
        Table(attempts, "outcome; attempts; meaning", "Attempts by outcome."),
    ]
    return PageSection("Calls and cost", text, tables=tables, folded=True)


def provenance(shown: Shown) -> PageSection:
    """What made the run: scenario, model, price, digest and versions."""
    run, manifest = shown.run, shown.run.manifest
    backend, cutoff = backend_of(manifest), training_cutoff(manifest)
    # Rules have neither a cut-off nor a price.
    rules = not cutoff.stated and cutoff.after is False
    price = manifest.get("price")
    free = "" if rules else "none"
    facts = [
        ("scenario", run.name or "–"),
        ("seed", str(run.seed)),
        ("simulated days", format_number(run.days)),
        ("first contemporary year", str(run.boundary or "–")),
        ("training cut-off of the model", cutoff.stated or ("" if rules else "not stated")),
        ("backend", " ".join(str(backend[key]) for key in ("use", "model") if backend.get(key))),
        ("price", free if price is None else json.dumps(price, sort_keys=True)),
        ("digest", run.digest or "none: the run is incomplete"),
    ]
    versions = manifest.get("versions")
    if isinstance(versions, dict):
        facts += [(str(k), str(v)) for k, v in sorted(versions.items()) if v is not None]
    notes = [f"Note: {note}" for note in manifest.get("notes", [])]
    if not rules:
        notes.append(
            f"{cutoff.sentence} Passages shared with papers that the society could not read: "
            "'society show RUN --table leaks'."
        )
    # Keys that are null or off have no effect; scenario.yaml has every key.
    lines = run.scenario_text[:SCENARIO_SHOWN].splitlines()
    used = [line for line in lines if not line.endswith((": null", ": off", ": {}", ": []"))]
    details = [("Scenario, without keys that are null or off", ["\n".join(used)])]
    facts = [(key, value) for key, value in facts if value]
    return PageSection(
        "Methods and provenance", facts=facts, details=details, fine=notes, folded=True
    )


SECTIONS: dict[str, Callable[[Shown], PageSection | None]] = {
    one.__name__: one
    for one in (
        *(timeline, network, interventions, novelty),
        *(numbers, people, papers, reading, cost, provenance),
    )
}
"""All sections by the id that they have on the page, in its order."""


def render_page(run: Run) -> str:
    """The page of a run as HTML text; it opens without a network, and with scripts off."""
    environment = template_environment("virsci_society.metrics.report")
    held = _written_measures(run)
    summary = summarise_run(run, held) if held else run.once(summarise_run)
    shown = Shown(run, summary, run.once(run_communities))
    sections = {name: section(shown) for name, section in SECTIONS.items()}
    return environment.get_template("page.html").render(
        style=style_sheet(environment),
        told=shown.summary,
        short=first_screen(*shown),
        by_rules=written_by_rules(run),
        replicates=int(run.manifest.get("replicates", 1)),
        sketch=MIN_REPLICATES,
        network=figures.network_over_time(run, shown.whole),
        sections={name: section for name, section in sections.items() if section is not None},
    )


def _written_measures(run: Run) -> dict[str, float | None]:
    """The measures of the summary written with a run; empty if missing or invalid."""
    held = read_summary(run.folder) if run.folder else None
    measures = held.get("measures") if held else None
    if not isinstance(measures, dict) or [*measures] != [*NUMBERS]:
        return {}
    known = [value for value in measures.values() if value is not None]
    return measures if all(isinstance(one, float) and np.isfinite(one) for one in known) else {}


def write_page(run: Run, folder: Path | str) -> Path:
    """Write ``report.html`` into a folder and return its path; a link there is not followed."""
    return write_html(Path(folder) / "report.html", render_page(run))
