"""The audit: clean ecosystems pass, every planted leak is found, and the unknown is said."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.society.ecosystem.raw_records import raw
from virsci_society.agents.errors import InputError
from virsci_society.society.ecosystem import storage as files
from virsci_society.society.ecosystem.audit import audit
from virsci_society.society.ecosystem.building.build_options import BuildOptions
from virsci_society.society.ecosystem.building.builder import build
from virsci_society.society.ecosystem.building.filters import COLLECTED
from virsci_society.society.ecosystem.building.profiles import EVIDENCE
from virsci_society.society.ecosystem.importers.json_papers import JsonLines
from virsci_society.society.ecosystem.rebuild import audit_source
from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic
from virsci_society.society.literature.embedding.base import paper_text
from virsci_society.society.literature.embedding.lsa import LSAEmbedding


@pytest.fixture
def eco(records, tmp_path):
    """An ecosystem of the hand-made records; p5 counts for people but is left out."""
    folder = tmp_path / "eco"
    build(records, BuildOptions(2010), {"source": "by hand"}).save(folder)
    return folder


def states(checks):
    return {check.name: check.state for check in checks}


def leaks(checks):
    return {check.name: check for check in checks if check.state == "leaked"}


def sealed(folder):
    """The folder with hashes that fit again, as a careless hand would leave it."""
    path = folder / files.MANIFEST
    files.write_manifest(folder, json.loads(path.read_text(encoding="utf-8")))
    return folder


def edited(path, change):
    """A table with its rows changed in place."""
    table = pq.read_table(path)
    rows = table.to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)


def scientist(folder, who):
    """The row of a scientist, by the number of papers: a has 4, b 3, c 2."""
    papers = pq.read_table(folder / files.SCIENTISTS)["papers"].to_pylist()
    return papers.index({"a": 4, "b": 3, "c": 2}[who])


def test_an_ecosystem_fresh_from_its_source_passes(eco, records):
    checks = audit(eco)
    assert leaks(checks) == {}
    untold = {name for name, state in states(checks).items() if state == "cannot be told"}
    assert untold == {"affiliations"}
    against = audit_source(eco, records)
    assert set(states(against).values()) == {"passed"}
    assert {"affiliations (source)", "evidence (source)"} <= states(against).keys()


def plant_coauthors(folder):
    """Ada and Ben wrote q1 together, too."""
    counts = files.read_counts(folder / files.COAUTHORS)
    a, b = scientist(folder, "a"), scientist(folder, "b")
    counts[a, b] = counts[b, a] = 3
    files.write_counts(folder / files.COAUTHORS, counts)


def plant_new_tie(folder):
    """Cai's name among the collaborators of nobody it wrote with."""
    edited(folder / files.SCIENTISTS, lambda rows: rows[0]["collaborators"].reverse())


def plant_papers(folder):
    """Ada's q1 is counted."""
    row = scientist(folder, "a")
    edited(folder / files.SCIENTISTS, lambda rows: rows[row].update(papers=5))


def plant_profile_citations(folder):
    """Somebody's citations are those of today."""
    edited(folder / files.SCIENTISTS, lambda rows: rows[0].update(citations=99))


def plant_interest(folder):
    """Nobody spoke of robots before 2010."""
    edited(folder / files.SCIENTISTS, lambda rows: rows[1]["interests"].insert(0, "robots"))


def plant_career_start(folder):
    """A career that begins with a paper of 2010."""
    edited(folder / files.SCIENTISTS, lambda rows: rows[2].update(career_start=2010))


def plant_citations(folder):
    """p1 is cited by q1 and q2, which are contemporary."""
    edited(folder / files.PAPERS, lambda rows: rows[0].update(citations=5))


def plant_citations_and_evidence(folder):
    """The same, in the evidence as well."""
    plant_citations(folder)
    edited(folder / EVIDENCE, lambda rows: rows[0].update(citations=5))


def plant_late_evidence(folder):
    """The evidence itself counts a citation of 2012."""

    def count(rows):
        rows[0].update(citations=4)
        rows[0]["cited"].append(2012)

    edited(folder / EVIDENCE, count)
    edited(folder / files.PAPERS, lambda rows: rows[0].update(citations=4))


def plant_contemporary_paper(folder):
    """q1 stands in the past as if it were of 2009."""

    def backdate(rows):
        row = next(row for row in rows if row["id"] == "q1")
        row.update(year=2009, date=-365.0)

    edited(folder / files.PAPERS, backdate)
    move_a_vector(folder)


def plant_undated_paper(folder):
    """q1 is dated before the boundary, its year is not."""

    def backdate(rows):
        next(row for row in rows if row["id"] == "q1").update(date=-1.0)

    edited(folder / files.PAPERS, backdate)
    move_a_vector(folder)


def plant_paper_and_evidence(folder):
    """A paper of 2010 is counted, and the evidence says so."""

    def count(rows):
        rows[-1].update(year=2010)

    edited(folder / EVIDENCE, count)


def plant_embedding(folder):
    """The embedding was fitted on contemporary papers, too."""
    rows = pq.read_table(folder / files.PAPERS).to_pylist()
    texts = [paper_text(row["title"], row["abstract"]) for row in rows]
    made = LSAEmbedding.fit(texts, seed=0)
    place = folder / files.embedding_folder("lsa")
    made.save(place)
    files.write_rows(place / "past.npy", made.encode(texts[:4]))
    files.write_rows(place / "contemporary.npy", made.encode(texts[4:]))


def plant_vectors(folder):
    """A past paper has the vector of a contemporary one."""
    place = folder / files.embedding_folder("lsa")
    past, later = np.load(place / "past.npy"), np.load(place / "contemporary.npy")
    past[0] = later[0]
    files.write_rows(place / "past.npy", past)


def move_a_vector(folder):
    """The vectors follow the first contemporary paper into the past."""
    place = folder / files.embedding_folder("lsa")
    past, later = np.load(place / "past.npy"), np.load(place / "contemporary.npy")
    files.write_rows(place / "past.npy", np.concatenate([past, later[:1]]))
    files.write_rows(place / "contemporary.npy", later[1:])


PLANTED = [
    (plant_coauthors, "co-author counts", "3 joint papers, but 2 before the boundary"),
    (plant_new_tie, "collaborators", "papers before the boundary give"),
    (plant_papers, "papers of scientists", "5, but papers before the boundary give 4"),
    (plant_profile_citations, "citations of scientists", "99, but"),
    (plant_interest, "interests", "robots"),
    (plant_career_start, "career starts", "2010, but"),
    (plant_citations, "citations of past papers", "p1: 5 citations, but 3 were counted"),
    (plant_citations_and_evidence, "citations of past papers", "5 citations, but 3 before"),
    (plant_late_evidence, "citations of past papers", "4 citations, but 3 before"),
    (plant_contemporary_paper, "what was counted", "q1 is past, but was not counted"),
    (plant_undated_paper, "dates", "q1 of 2010 is dated -1 days"),
    (plant_paper_and_evidence, "what was counted", "of 2010 was counted as past"),
    (plant_embedding, "embedding", "which no past paper says"),
    (plant_vectors, "vectors", "p1: not of its own text"),
]


@pytest.mark.parametrize(
    ("plant", "name", "told"), PLANTED, ids=lambda one: getattr(one, "__name__", "")
)
def test_every_planted_leak_is_found(eco, plant, name, told):
    plant(eco)
    found = leaks(audit(sealed(eco)))
    assert name in found
    assert told in " | ".join(found[name].examples)


@pytest.mark.parametrize("plant", [plant for plant, *_ in PLANTED if "dated" not in plant.__name__])
def test_the_source_finds_most_leaks_without_the_evidence(eco, records, plant):
    """All but those of the embedding, which is not made again from the source."""
    plant(eco)
    (eco / EVIDENCE).unlink()
    found = leaks(audit_source(sealed(eco), records))
    of_embedding = plant in (plant_embedding, plant_vectors)
    only_evidence = plant is plant_paper_and_evidence
    assert bool(found) != (of_embedding or only_evidence)


def test_a_paper_of_the_boundary_year_is_not_counted_again(eco):
    plant_paper_and_evidence(eco)
    found = leaks(audit(sealed(eco)))
    assert "4, but papers before the boundary give 3" in found["papers of scientists"].examples[0]


def test_a_false_affiliation_only_the_source_can_tell(eco, records):
    edited(eco / files.SCIENTISTS, lambda rows: rows[0].update(affiliations=["Place of 2012"]))
    assert leaks(audit(sealed(eco))) == {}
    assert list(leaks(audit_source(eco, records))) == ["affiliations (source)"]


def test_without_evidence_what_was_counted_on_left_out_papers_cannot_be_told(eco):
    (eco / EVIDENCE).unlink()
    found = states(audit(sealed(eco)))
    assert "leaked" not in found.values()
    for name in ("papers of scientists", "co-author counts", "citations of past papers"):
        assert found[name] == "cannot be told"


def test_without_evidence_a_folder_that_left_nothing_out_tells_all(records, tmp_path):
    whole = [record for record in records if record.abstract]
    build(whole, BuildOptions(2010)).ecosystem.save(tmp_path / "eco")
    found = states(audit(tmp_path / "eco"))
    assert found["papers of scientists"] == found["co-author counts"] == "passed"
    plant_coauthors_of(tmp_path / "eco")
    assert "co-author counts" in leaks(audit(sealed(tmp_path / "eco")))


def plant_coauthors_of(folder):
    counts = files.read_counts(folder / files.COAUTHORS)
    counts.data[:] += 1
    files.write_counts(folder / files.COAUTHORS, counts)


def test_a_synthetic_ecosystem_passes(tmp_path):
    Synthetic(scientists=30, papers=200).generate(3).save(tmp_path / "eco")
    checks = audit(tmp_path / "eco")
    assert leaks(checks) == {}
    assert states(checks)["interests"] == "passed"


def test_scientists_know_no_citations_counted_at_collection(tmp_path):
    past = [raw(f"p{n}", 2005, "ab", citations=one) for n, one in enumerate((9, None))]
    later = raw("q", 2012, "a", citations=1)
    build([*past, later], BuildOptions(2010)).save(tmp_path / "eco")
    edited(tmp_path / "eco" / files.SCIENTISTS, lambda rows: rows[0].update(citations=9))
    found = leaks(audit(sealed(tmp_path / "eco")))["citations of scientists"]
    assert "9, counted at collection" in found.examples[0]


def test_citations_at_collection_time_cannot_be_told_and_unknown_ones_pass(tmp_path):
    later = raw("q", 2012, "a", citations=1)
    for name, counts in (("collected", (9, None)), ("unknown", (None, None))):
        past = [raw(f"p{n}", 2005, "ab", citations=one) for n, one in enumerate(counts)]
        build([*past, later], BuildOptions(2010)).save(tmp_path / name)
    collected = {check.name: check for check in audit(tmp_path / "collected")}
    papers = collected["citations of past papers"]
    assert (papers.state, papers.detail) == ("cannot be told", COLLECTED)
    assert collected["citations of scientists"].state == "passed"
    unknown = states(audit(tmp_path / "unknown"))
    assert unknown["citations of past papers"] == unknown["citations of scientists"] == "passed"
    edited(tmp_path / "unknown" / files.PAPERS, lambda rows: rows[0].update(citations=0))
    assert "citations of past papers" in leaks(audit(sealed(tmp_path / "unknown")))


def test_counts_per_year_only_the_source_can_confirm(tmp_path):
    dated = replace(raw("p", 2005, "a", citations=6), citations_by_year=((2008, 2), (2012, 4)))
    source = [dated, raw("q", 2012, "b")]
    build(source, BuildOptions(2010)).save(tmp_path / "eco")
    assert states(audit(tmp_path / "eco"))["citations of past papers"] == "cannot be told"
    assert leaks(audit_source(tmp_path / "eco", source)) == {}
    edited(tmp_path / "eco" / files.PAPERS, lambda rows: rows[0].update(citations=6))
    edited(tmp_path / "eco" / EVIDENCE, lambda rows: rows[0].update(citations=6))
    found = leaks(audit_source(sealed(tmp_path / "eco"), source))
    assert "its citations differ" in found["past papers (source)"].examples[0]


def test_another_source_is_not_that_of_the_folder(eco, records):
    found = leaks(audit_source(eco, records[1:]))
    assert "p1: not among the source's past papers" in found["past papers (source)"].examples


def test_a_folder_without_filters_cannot_be_built_again(tmp_path, records):
    Synthetic(scientists=5, papers=40).generate(1).save(tmp_path / "eco")
    with pytest.raises(InputError, match="audit it without a source"):
        audit_source(tmp_path / "eco", records)


@pytest.mark.parametrize("boundary", [1990, 2050])
def test_an_ecosystem_with_an_empty_side_is_audited(records, tmp_path, boundary):
    build(records, BuildOptions(boundary)).save(tmp_path / "eco")
    assert leaks(audit(tmp_path / "eco")) == {}
    assert leaks(audit_source(tmp_path / "eco", records)) == {}


def test_damage_is_told_before_anything_is_audited(eco):
    (eco / files.PAPERS).write_bytes(b"")
    with pytest.raises(InputError, match="its hash is not the one"):
        audit(eco)


@pytest.fixture(scope="module")
def vis(vis_folder):
    """IEEE VIS at boundary 2012, scientists with five papers."""
    return vis_folder


@pytest.mark.slow
def test_vis_passes(vis, vis_papers):
    assert leaks(audit(vis)) == {}
    assert leaks(audit_source(vis, JsonLines(vis_papers))) == {}
