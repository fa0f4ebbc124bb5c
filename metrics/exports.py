"""Exports: the networks of a run as GraphML and GEXF 1.3, the same bytes every time."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import networkx as nx

from society.run import Run

GEXF = "http://gexf.net/1.3"
HEAD = {
    "xmlns": GEXF,
    "xmlns:xsi": "http://www.w3.org/2001/XMLSchema-instance",
    "xsi:schemaLocation": f"{GEXF} {GEXF}/gexf.xsd",
    "version": "1.3",
}
DYNAMIC = {
    "defaultedgetype": "undirected",
    "mode": "dynamic",
    "timeformat": "double",
    "timerepresentation": "interval",
}
ATTRIBUTES = {
    "node": {"topic": "string", "papers": "integer"},
    "edge": {"before": "integer", "since": "integer"},
}

_UNSAFE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_text(text: str) -> str:
    """The text without the characters that XML 1.0 cannot hold (control characters)."""
    return _UNSAFE.sub("", text)


def coauthors(run: Run) -> nx.Graph[str]:
    """The co-authorship network at the end of the run, the ties before day 0 included.

    Nodes are the run's scientists and everybody they have a tie with (``topic``, ``papers``:
    joint authorships in the run); edges have ``weight`` (joint papers), ``before`` and ``since``
    (those before and since day 0) and ``start`` (date of the first, in days; negative before
    day 0).
    """
    graph: nx.Graph[str] = nx.Graph()
    written = run.table("authorships")["scientist"].value_counts()
    people = run.table("scientists")
    for who, topic in zip(people["scientist"], people["topic"].fillna(""), strict=True):
        graph.add_node(xml_text(who), topic=xml_text(topic), papers=int(written.get(who, 0)))
    ties = run.table("ties")
    for row in ties.itertuples(index=False):
        first, second = xml_text(str(row.source)), xml_text(str(row.target))
        for who in (first, second):
            if who not in graph:
                graph.add_node(who, topic="", papers=int(written.get(who, 0)))
        if not graph.has_edge(first, second):
            graph.add_edge(first, second, weight=0, before=0, since=0, start=float(str(row.date)))
        edge = graph.edges[first, second]
        count = int(str(row.papers))
        edge["weight"] += count
        edge["before" if float(str(row.date)) < 0 else "since"] += count
    return graph


def bipartite(run: Run) -> nx.Graph[str]:
    """Scientists and papers; an edge is an authorship with its ``position`` and ``start``."""
    graph: nx.Graph[str] = nx.Graph()
    dates = {}
    papers = run.table("papers")
    for paper, title, date in zip(
        papers["paper"], papers["title"], papers["published"], strict=True
    ):
        dates[paper] = float(date)
        node = xml_text(f"paper:{paper}")
        graph.add_node(node, bipartite=1, kind="paper", title=xml_text(title), date=float(date))
    by = run.table("authorships")
    for paper, who, position in zip(by["paper"], by["scientist"], by["position"], strict=True):
        graph.add_node(xml_text(who), bipartite=0, kind="scientist")
        node = xml_text(f"paper:{paper}")
        start = dates.get(paper, 0.0)
        graph.add_edge(node, xml_text(who), position=int(position), start=start)
    return graph


def graphml(graph: nx.Graph[str]) -> bytes:
    """GraphML of a graph; networkx reads it back."""
    target = BytesIO()
    nx.write_graphml_xml(graph, target)
    return target.getvalue()


def gexf(graph: nx.Graph[str]) -> bytes:
    """GEXF 1.3 of a graph whose edges have ``weight`` and ``start``; Gephi shows it over time.

    Written here and not by networkx, which puts the day of writing into the file.
    """
    root = ElementTree.Element("gexf", HEAD)
    outer = ElementTree.SubElement(root, "graph", DYNAMIC)
    for kind, names in ATTRIBUTES.items():
        declared = ElementTree.SubElement(outer, "attributes", {"class": kind, "mode": "static"})
        for name, of_type in names.items():
            fields = {"id": name, "title": name, "type": of_type}
            ElementTree.SubElement(declared, "attribute", fields)
    nodes = ElementTree.SubElement(outer, "nodes", {"count": str(graph.number_of_nodes())})
    for who, data in graph.nodes(data=True):
        node = ElementTree.SubElement(nodes, "node", {"id": who, "label": who})
        _values(node, data, "node")
    edges = ElementTree.SubElement(outer, "edges", {"count": str(graph.number_of_edges())})
    for number, (first, second, data) in enumerate(graph.edges(data=True)):
        fields = {"id": str(number), "source": first, "target": second}
        fields |= {"weight": str(float(data["weight"])), "start": str(data["start"])}
        _values(ElementTree.SubElement(edges, "edge", fields), data, "edge")
    ElementTree.indent(root)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _values(parent: ElementTree.Element, data: dict[str, Any], kind: str) -> None:
    holder = ElementTree.SubElement(parent, "attvalues")
    for name in ATTRIBUTES[kind]:
        ElementTree.SubElement(holder, "attvalue", {"for": name, "value": str(data[name])})


def write_networks(run: Run, folder: Path | str) -> None:
    """Write network.graphml, network.gexf and bipartite.graphml into a folder."""
    target = Path(folder)
    people = coauthors(run)
    (target / "network.graphml").write_bytes(graphml(people))
    (target / "network.gexf").write_bytes(gexf(people))
    (target / "bipartite.graphml").write_bytes(graphml(bipartite(run)))
