"""The co-authorship network of a run in GraphML, the same bytes every time.

GraphML is written here: a run's digest is taken of it, and must not change with networkx.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import chain
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from virsci_society.agents.files.atomic_files import write_atomically
from virsci_society.agents.spelling import plain_text
from virsci_society.society.results.run import Run
from virsci_society.society.results.text_provenance import SPEAKER, speaker_of

GRAPHML = "http://graphml.graphdrawing.org/xmlns"
HEAD = f'<?xml version="1.0" encoding="utf-8"?>\n<graphml xmlns="{GRAPHML}">\n'
EDGE = {"before": "long", "since": "long", "start": "double", "weight": "long"}
"""Attributes of edges and their types in GraphML."""


def graphml_text(run: Run, *, digested: bool = False) -> str:
    """The co-authorship network at the end, with ties before day 0; a digest names no backend."""
    papers = "papers" if digested else "papers_in_run"
    speaker = "" if digested else plain_text(speaker_of(run.manifest))
    written = Counter(who for (who,) in run.rows("authorships", "scientist"))
    topics = dict(run.rows("scientists", "scientist", "topic"))
    ties: dict[tuple[str, str], list[tuple[float, int]]] = defaultdict(list)
    for first, second, date, joint in run.rows("ties", "source", "target", "date", "papers"):
        if None not in (first, second, date):
            ties[first, second].append((date, 1 if joint is None else joint))
    pairs = sorted(ties)
    ends = chain(topics, (one for one, _ in pairs), (other for _, other in pairs))
    place_of = {who: place for place, who in enumerate(dict.fromkeys(ends))}
    kinds = {"node": {papers: "long", "topic": "string"} if place_of else {}}
    kinds |= {"edge": EDGE if pairs else {}, "graph": {SPEAKER: "string"} if speaker else {}}
    lines = [
        f'<key id="{kind}-{name}" for="{kind}" attr.name="{name}" attr.type="{of_type}"/>\n'
        for kind, names in kinds.items()
        for name, of_type in names.items()
    ]
    lines.append('<graph edgedefault="undirected">\n')
    if speaker:
        lines.append(f'<data key="graph-{SPEAKER}">{escape(speaker)}</data>\n')
    quoted = {who: quoteattr(plain_text(who)) for who in place_of}
    for who, name in quoted.items():
        topic = escape(plain_text(topics.get(who) or ""))
        counted = f'<data key="node-{papers}">{written[who]}</data>'
        lines.append(f'<node id={name}>{counted}<data key="node-topic">{topic}</data></node>\n')
    # Edges begin at the person who comes first, and are in its order.
    for pair in sorted(pairs, key=lambda pair: min(map(place_of.__getitem__, pair))):
        first, second = sorted(pair, key=place_of.__getitem__)
        dated = ties[pair]
        before = sum(joint for date, joint in dated if date < 0)
        weight = sum(joint for _, joint in dated)
        values = (before, weight - before, float(min(date for date, _ in dated)), weight)
        data = "".join(
            f'<data key="edge-{name}">{value}</data>'
            for name, value in zip(EDGE, values, strict=True)
        )
        lines.append(f"<edge source={quoted[first]} target={quoted[second]}>{data}</edge>\n")
    return "".join([HEAD, *lines, "</graph>\n</graphml>\n"])


def write_network(run: Run, folder: Path) -> None:
    """Write network.graphml into a folder."""
    write_atomically(folder / "network.graphml", graphml_text(run))
