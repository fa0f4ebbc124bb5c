"""Filters, population and masks, worked by hand; and nothing from the future."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.society.ecosystem.raw_records import build_ecosystem, raw
from virsci_society.agents.errors import InputError
from virsci_society.society.ecosystem import ecosystem
from virsci_society.society.ecosystem.building import builder, profiles
from virsci_society.society.ecosystem.building.build_options import BuildOptions
from virsci_society.society.ecosystem.building.builder import build
from virsci_society.society.ecosystem.building.filters import COLLECTED, COUNTED, NO_COUNTS, UNDATED
from virsci_society.society.ecosystem.building.raw_corpus import RawCorpus
from virsci_society.society.ecosystem.ecosystem import require_past
from virsci_society.society.ecosystem.importers.records import RawAuthor
from virsci_society.society.ecosystem.summary import measure
from virsci_society.society.literature.embedding.base import paper_text


def real(ecosystem, masked):
    """The source id behind a masked name."""
    return ecosystem.key[masked][0]


def by_source(ecosystem):
    return {real(ecosystem, profile.id): profile for profile in ecosystem.profiles}


def removed(ecosystem):
    return {step["filter"]: (step["in"], step["removed"]) for step in ecosystem.manifest["steps"]}


def test_papers_are_split_at_the_boundary_and_dated(records):
    ecosystem = build_ecosystem(records, boundary=2010)
    assert [(p.id, p.date) for p in ecosystem.past] == [
        ("p1", -1825.0),
        ("p2", -1460.0),
        ("p3", -1095.0),
        ("p4", -730.0),
    ]
    assert [(p.id, p.date) for p in ecosystem.contemporary] == [("q1", 0.0), ("q2", 730.0)]


def test_each_filter_tells_what_it_removed(records):
    ecosystem = build_ecosystem(
        records,
        boundary=2010,
        min_papers=2,
        min_coauthors=2,
        min_citations_past=1,
        min_citations_contemporary=5,
        first_year=2006,
        last_year=2011,
    )
    assert [p.id for p in ecosystem.past] == ["p2"]
    assert [p.id for p in ecosystem.contemporary] == ["q1"]
    assert removed(ecosystem) == {
        "past: year range 2006 to 2011": (5, 1),
        "past: abstract required": (4, 1),
        "past: at least 1 citations": (3, 2),
        "contemporary: year range 2006 to 2011": (2, 1),
        "contemporary: abstract required": (1, 0),
        "contemporary: at least 5 citations at collection": (1, 0),
        "people: at least one kept past paper": (4, 1),
        "people: at least 2 papers": (3, 0),
        "people: at least 2 co-authors": (3, 0),
    }


def test_citations_of_the_past_are_counted_from_papers_before_the_boundary(records):
    ecosystem = build_ecosystem(records, boundary=2010)
    assert {p.id: p.citations for p in ecosystem.past} == {"p1": 3, "p2": 2, "p3": 0, "p4": 0}
    assert {p.id: p.citations for p in ecosystem.contemporary} == {"q1": 7, "q2": None}
    assert COUNTED in ecosystem.manifest["notes"]


def test_without_references_the_collected_count_stands_and_is_noted():
    bare = [raw("p1", 2005, "a", citations=9), raw("p2", 2006, "a", citations=None)]
    ecosystem = build_ecosystem(bare, boundary=2007)
    assert [p.citations for p in ecosystem.past] == [9, None]
    assert COLLECTED in ecosystem.manifest["notes"]
    # They may be of after the boundary, so nobody is known, chosen or joined for them.
    assert ecosystem.profiles[0].citations is None
    assert UNDATED in ecosystem.manifest["notes"]
    assert np.isnan(measure(ecosystem)["citations per past paper"])


def test_a_least_number_of_citations_says_of_which_day_they_are(records):
    bare = [raw("p1", 2005, "a", citations=9), raw("p2", 2006, "a", citations=1)]
    steps = build_ecosystem(bare, boundary=2007, min_citations_past=5).manifest["steps"]
    named = [step["filter"] for step in steps if "citations" in step["filter"]]
    assert named[0] == "past: at least 5 citations at collection"
    least = {"min_citations_past": 1, "min_citations_contemporary": 5}
    steps = build_ecosystem(records, boundary=2010, **least).manifest["steps"]
    named = [step["filter"] for step in steps if "citations" in step["filter"]]
    assert named == [
        "past: at least 1 citations",
        "contemporary: at least 5 citations at collection",
    ]


def test_without_any_count_citations_are_unknown_not_zero():
    ecosystem = build_ecosystem([raw("p1", 2005, "a"), raw("p2", 2008, "b")], boundary=2007)
    assert ecosystem.past[0].citations is None
    assert ecosystem.profiles[0].citations is None
    assert NO_COUNTS in ecosystem.manifest["notes"]
    assert any("CI and ON are not available" in note for note in ecosystem.manifest["notes"])


def test_people_are_counted_on_all_papers_before_the_boundary(records):
    people = by_source(build_ecosystem(records, boundary=2010))
    assert sorted(people) == ["a", "b", "c"]
    assert {who: p.papers for who, p in people.items()} == {"a": 4, "b": 3, "c": 2}
    assert {who: p.citations for who, p in people.items()} == {"a": 5, "b": 5, "c": 2}


def test_a_profile_by_hand(records):
    ecosystem = build_ecosystem(records, boundary=2010)
    ada, ben = by_source(ecosystem)["a"], by_source(ecosystem)["b"]
    assert ada.interests == ("trees", "maps", "graphs")
    assert ben.interests == ("trees", "graphs")
    assert ben.topic == "trees"
    assert ada.affiliations == ("Place a",)
    assert [real(ecosystem, name) for name in ben.collaborators] == ["a", "c"]
    starts = dict(zip(ecosystem.profiles, ecosystem.career_starts, strict=True))
    assert starts[ada] == 2005


def test_names_are_masked_and_others_keep_a_neutral_one(records):
    ecosystem = build_ecosystem(records, boundary=2010)
    assert [p.id for p in ecosystem.profiles] == ["Scientist0", "Scientist1", "Scientist2"]
    last = ecosystem.contemporary[-1]
    assert {real(ecosystem, a): a[:6] for a in last.authors} == {
        "b": "Scient",
        "c": "Scient",
        "z": "Author",
    }
    papers = (*ecosystem.past, *ecosystem.contemporary)
    text = repr((papers, tuple(ecosystem.profiles), ecosystem.manifest))
    assert "Name " not in text


def test_the_seed_shuffles_the_masks_and_nothing_else():
    many = [raw(f"p{n}", 2000, f"{chr(97 + n)}", keywords=("graphs",)) for n in range(20)]
    one, two, again = (build_ecosystem(many, boundary=2001, seed=s) for s in (1, 2, 1))
    orders = [[e.key[p.id][0] for p in e.profiles] for e in (one, two, again)]
    assert orders[0] == orders[2] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1])


def test_vectors_are_those_of_title_and_abstract(records):
    ecosystem = build_ecosystem(records, boundary=2010)
    for papers, rows in (
        (ecosystem.past, ecosystem.past_vectors),
        (ecosystem.contemporary, ecosystem.contemporary_vectors),
    ):
        texts = [paper_text(p.title, p.abstract) for p in papers]
        assert np.array_equal(rows, ecosystem.embedding.encode(texts))


def test_terms_of_the_text_stand_in_for_missing_keywords():
    texts = ("volume rendering of scans", "volume rendering of clouds", "graph layout")
    bare = [raw(f"p{n}", 2000, "ab"[n == 2], abstract=t) for n, t in enumerate(texts)]
    ecosystem = build_ecosystem(bare, boundary=2001)
    people = by_source(ecosystem)
    assert any("layout" in term or "graph" in term for term in people["b"].interests)
    assert not any("volume" in term for term in people["b"].interests)
    assert any("own text" in note for note in ecosystem.manifest["notes"])


FUTURE = [
    raw("q3", 2011, "abcd", ("p4", "p3"), ("oracles",), 999),
    raw("q4", 2013, "abd", ("p4",), ("oracles",), 999),
    raw("q5", 2013, "d", ("p5",), ("oracles",), 999),
]


def test_planted_future_papers_change_nothing_of_the_past(records):
    options = {"boundary": 2010, "min_papers": 1, "min_citations_past": 0}
    without = build_ecosystem(records, **options)
    planted = build_ecosystem([*FUTURE, *records], **options)
    assert planted.past == without.past
    assert planted.profiles == without.profiles
    assert np.array_equal(planted.career_starts, without.career_starts)
    assert (planted.coauthors != without.coauthors).nnz == 0
    assert planted.embedding.revision == without.embedding.revision
    assert np.array_equal(planted.past_vectors, without.past_vectors)
    assert "oracles" not in repr((tuple(planted.profiles), tuple(planted.past)))
    assert "oracle" not in " ".join(planted.embedding._terms)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_no_future_paper_ever_changes_the_past(data):
    letters, keywords = st.sampled_from("abcdefgh"), st.sampled_from(["graphs", "trees", "maps"])

    def draw_some(prefix, first, last, count):
        return [
            raw(
                f"{prefix}{n}",
                data.draw(st.integers(first, last)),
                data.draw(st.lists(letters, min_size=1, max_size=4, unique=True)),
                data.draw(st.lists(st.sampled_from(["p0", "p1", "p2", "f0"]), max_size=3)),
                data.draw(st.lists(keywords, min_size=1, max_size=3, unique=True)),
                data.draw(st.none() | st.integers(0, 9)),
            )
            for n in range(count)
        ]

    past = draw_some("p", 2000, 2009, data.draw(st.integers(1, 8)))
    future = draw_some("f", 2010, 2014, data.draw(st.integers(1, 6)))
    options = {"boundary": 2010, "min_papers": 2, "min_coauthors": 1, "min_citations_past": 1}
    marker = raw("m", 2010, "y")
    if not any(record.references for record in past):
        options["min_citations_past"] = 0
    without = build_ecosystem([*past, marker], **options)
    planted = build_ecosystem([*past, marker, *future], **options)
    assert planted.past == without.past
    assert planted.profiles == without.profiles
    assert (planted.coauthors != without.coauthors).nnz == 0


@pytest.mark.parametrize(
    ("boundary", "empty"), [(2005, "past"), (1990, "past"), (2013, "contemporary"), (2050, "con")]
)
def test_a_boundary_outside_the_data_leaves_a_side_empty_and_says_so(records, boundary, empty):
    ecosystem = build_ecosystem(records, boundary=boundary)
    assert ecosystem.counts["past"] == (0 if empty == "past" else 6)
    assert ecosystem.counts["contemporary"] == (6 if empty == "past" else 0)
    told = [note for note in ecosystem.manifest["notes"] if note.startswith("EMPTY")]
    assert f"EMPTY: no {empty}" in told[0]
    assert "2005 to 2012" in told[0]
    if empty == "past":
        assert "a boundary from 2006 to 2013" in told[0]
        with pytest.raises(InputError, match="no past papers"):
            ecosystem.require_runnable()
    else:
        ecosystem.require_runnable()


def test_no_records_is_an_input_error():
    with pytest.raises(InputError, match="no record"):
        build_ecosystem([], boundary=2000)


def test_filters_that_keep_nothing_build_but_do_not_run(records):
    nobody = build_ecosystem(records, boundary=2010, min_papers=50)
    assert nobody.counts == {"past": 4, "contemporary": 2, "scientists": 0}
    with pytest.raises(InputError, match="no scientists"):
        nobody.require_runnable()
    nothing = build_ecosystem(records, boundary=2010, min_citations_past=50)
    with pytest.raises(InputError, match="no past papers"):
        nothing.require_runnable()


def test_the_order_of_the_source_does_not_matter(records):
    one = build_ecosystem(records, boundary=2010)
    two = build_ecosystem(records[::-1], boundary=2010)
    assert one.past == two.past
    assert one.profiles == two.profiles


def test_papers_without_words_give_zero_vectors_and_say_so():
    bare = [raw("p1", 2005, "a", abstract="of the"), raw("p2", 2008, "b")]
    wordless = [replace(record, title="Of") for record in bare]
    ecosystem = build_ecosystem(wordless, boundary=2007)
    assert not ecosystem.past_vectors.any()
    assert any("no words to fit" in note for note in ecosystem.manifest["notes"])


def test_a_source_is_read_once(records):
    once = build_ecosystem((record for record in records), boundary=2010)
    assert once.past == build_ecosystem(records, boundary=2010).past


def test_a_real_name_is_the_one_of_the_newest_paper(records):
    married = replace(raw("q3", 2012, "b"), authors=(RawAuthor("a", "Name anew"),))
    for source in ([*records, married], [married, *records]):
        key = build_ecosystem(source, boundary=2010).key
        assert dict(key.values())["a"] == "Name anew"


def test_the_same_source_gives_the_same_files(records, tmp_path):
    for name in ("one", "two"):
        build(records, BuildOptions(2010), lambda: {"source": "by hand"}).save(tmp_path / name)
    files = sorted(p.relative_to(tmp_path / "one") for p in (tmp_path / "one").rglob("*.*"))
    assert len(files) >= 7
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


@pytest.mark.parametrize("what", ["the vectors", "profiles and interests", "the knowledge bank"])
def test_a_planted_leak_stops_the_build(records, what, monkeypatch):
    """Papers of the boundary year are taken for past ones; each place notices by itself."""

    def require(years, boundary, place):
        if place == what:
            require_past(years, boundary, place)

    def swapped(*given):
        past, contemporary, key = kept_papers(*given)
        return contemporary, past, key

    read, kept_papers = RawCorpus.read, builder._kept_papers

    def later(source, _, *more):
        made = read(source, 2011, *more)
        made.boundary = 2010
        return made

    monkeypatch.setattr(RawCorpus, "read", later)
    monkeypatch.setattr(RawCorpus, "known", property(lambda self: self.years <= self.boundary))
    monkeypatch.setattr(builder, "_kept_papers", swapped)
    for module in (builder, profiles, ecosystem):
        monkeypatch.setattr(module, "require_past", require)
    monkeypatch.setattr(ecosystem, "_require_split", lambda made: None)
    with pytest.raises(InputError, match=f"{what} would hold a paper of 201"):
        build_ecosystem(records, boundary=2010)


def test_only_listed_people_are_scientists(records):
    listed = build(records, BuildOptions(2010, scientists=["a", "c", "stranger"]))
    assert sorted(by_source(listed)) == ["a", "c"]
    assert removed(listed)["people: listed"] == (3, 1)
