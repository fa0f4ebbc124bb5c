"""Hand-made records, and the folder of real papers where it is there."""

import os
from pathlib import Path

import pytest

from tests.society.ecosystem.raw_records import raw

VIS_PAPERS = Path(__file__).parents[4] / "shared" / "data" / "vis" / "papers.jsonl.gz"


@pytest.fixture
def records():
    """Five past papers, two contemporary ones; boundary 2010.

    Ada (a) wrote p1, p2, p3, p5; Ben (b) p1, p2, p4; Cai (c) p2, p3; Dee (d) p5 alone with a.
    """
    return [
        raw("p1", 2005, "ab", (), ("graphs", "trees"), 90),
        raw("p2", 2006, "abc", ("p1",), ("trees",), 80),
        raw("p3", 2007, "ac", ("p1", "p2", "q9"), ("maps",), 70),
        raw("p4", 2008, "b", ("p1",), ("trees", "Graphs"), 60),
        raw("p5", 2009, "ad", ("p2", "p2"), ("maps",), 50, abstract=""),
        raw("q1", 2010, "ae", ("p1", "p5"), ("robots",), 7),
        raw("q2", 2012, "bcz", ("p1", "q1"), ("robots",), None),
    ]


@pytest.fixture(scope="session")
def vis_papers():
    """The file of real papers; tests that need it are skipped where it is not there."""
    if not VIS_PAPERS.is_file():
        pytest.skip("the folder with the VIS papers is not beside the repository")
    return VIS_PAPERS


@pytest.fixture(scope="session")
def vis_folder(vis_papers, tmp_path_factory):
    """IEEE VIS at boundary 2012, scientists with five papers; made once for all workers."""
    from filelock import FileLock

    from virsci_society.society.ecosystem.build import build
    from virsci_society.society.ecosystem.build_options import (
        BuildOptions,
        PaperFilters,
        PeopleFilters,
    )
    from virsci_society.society.ecosystem.importers.json_papers import JsonLines

    place = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        place = place.parent
    with FileLock(place / "vis.lock"):
        if not (place / "vis").is_dir():
            plan = BuildOptions(2012, PaperFilters(), PeopleFilters(5))
            build(JsonLines(vis_papers), plan).save(place / "vis.part")
            (place / "vis.part").rename(place / "vis")
    return place / "vis"
