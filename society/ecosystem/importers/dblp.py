"""DBLP citation network: v10 (JSON lines, authors by name) and v12 (one JSON list, by id)."""

from __future__ import annotations

from society.ecosystem.importers.academic_json import AcademicJson


class Dblp(AcademicJson):
    """``dblp-ref-*.json`` of v10 and ``dblp.v12.json``, which is read line by line.

    Authors of v10 have names only, so people who share a name are one scientist.
    """

    kind = "dblp"
    describes = "DBLP citation network (AMiner)"
