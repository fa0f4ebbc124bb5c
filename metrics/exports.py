"""The co-authorship network of a run in GraphML, the same bytes every time.

GraphML is written here: a run's digest is taken of it, and must not change with networkx.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from virsci_society.agents.files.atomic_files import open_new, replacing
from virsci_society.agents.lazy_imports import nx
from virsci_society.agents.spelling import plain_text
from virsci_society.society.results.run import Run
from virsci_society.society.results.text_provenance import SPEAKER, speaker_of

HEAD = '<?xml version="1.0" encoding="utf-8"?>\n'
GRAPHML = "http://graphml.graphdrawing.org/xmlns"
TYPES: dict[type, str] = {str: "string", int: "long", float: "double"}
"""Python type -> name of the type in GraphML."""


def coauthor_graph(run: Run) -> nx.Graph[str]:
    """The co-authorship network at the end of the run, the ties before day 0 included."""
    graph: nx.Graph[str] = nx.Graph()
    if speaker := speaker_of(run.manifest):
        graph.graph[SPEAKER] = plain_text(speaker)
    written = Counter(who for (who,) in run.rows("authorships", "scientist"))
    topics = dict(run.rows("scientists", "scientist", "topic"))
    ties: dict[tuple[str, str], list[tuple[float, int]]] = {}
    for *pair, date, joint in run.rows("ties", "source", "target", "date", "papers"):
        if None not in (*pair, date):
            ties.setdefault(tuple(pair), []).append((date, 1 if joint is None else joint))
    pairs = sorted(ties)
    ends = chain(topics, (first for first, _ in pairs), (second for _, second in pairs))
    for who in dict.fromkeys(ends):
        topic = plain_text(topics.get(who) or "")
        graph.add_node(plain_text(who), topic=topic, papers_in_run=written[who])
    for first, second in pairs:
        dated = ties[first, second]
        before = sum(joint for date, joint in dated if date < 0)
        since = sum(joint for _, joint in dated) - before
        counts = {"weight": before + since, "before": before, "since": since}
        start = float(min(date for date, _ in dated))
        graph.add_edge(plain_text(first), plain_text(second), **counts, start=start)
    return graph


def digested_network(graph: nx.Graph[str]) -> bytes:
    """The co-authorship network as the digest of a run counts it; the graph itself is changed."""
    # Without the backend: equal texts have one digest, whatever wrote them.
    graph.graph.clear()
    for _, data in graph.nodes(data=True):
        data["papers"] = data.pop("papers_in_run")
    return "".join(graphml_text(graph)).encode()


def graphml_text(graph: nx.Graph[str]) -> Iterator[str]:
    """GraphML of a graph with its own attributes, in pieces; networkx reads it back."""
    yield f'{HEAD}<graphml xmlns="{GRAPHML}">\n'
    data_of = {
        "node": [data for _, data in graph.nodes(data=True)],
        "edge": [data for *_, data in graph.edges(data=True)],
    }
    for kind, rows in data_of.items():
        types: dict[str, type] = {}
        for data in rows:
            for name, value in data.items():
                types.setdefault(name, type(value))
        for name, of_type in sorted(types.items()):
            attributes = f'attr.name="{name}" attr.type="{TYPES[of_type]}"'
            yield f'<key id="{kind}-{name}" for="{kind}" {attributes}/>\n'
    for name in sorted(graph.graph):
        yield f'<key id="graph-{name}" for="graph" attr.name="{name}" attr.type="string"/>\n'
    yield '<graph edgedefault="undirected">\n'
    if graph.graph:
        yield f"{_pieces('graph', graph.graph)}\n"
    quoted = {node: quoteattr(node) for node in graph}
    for node, data in graph.nodes(data=True):
        yield f"<node id={quoted[node]}>{_pieces('node', data)}</node>\n"
    for first, second, data in graph.edges(data=True):
        ends = f"source={quoted[first]} target={quoted[second]}"
        yield f"<edge {ends}>{_pieces('edge', data)}</edge>\n"
    yield "</graph>\n</graphml>\n"


def _pieces(kind: str, data: Mapping[str, Any]) -> str:
    items = ((name, escape(v) if isinstance(v, str) else v) for name, v in sorted(data.items()))
    return "".join(f'<data key="{kind}-{name}">{v}</data>' for name, v in items)


def write_network(run: Run, folder: Path | str) -> nx.Graph[str]:
    """Write network.graphml into a folder."""
    graph = coauthor_graph(run)
    with replacing(Path(folder) / "network.graphml") as path, open_new(path) as file:
        file.writelines(graphml_text(graph))
    return graph
