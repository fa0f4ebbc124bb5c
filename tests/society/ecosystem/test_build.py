"""Filters, population and masks, worked by hand; and nothing from the future."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.society.ecosystem.raw_records import build_ecosystem, corpus_of, raw
from virsci_society.agents.errors import InputError
from virsci_society.society.ecosystem import build as building
from virsci_society.society.ecosystem import ecosystem
from virsci_society.society.ecosystem.build import (
    BY_YEAR,
    COLLECTED,
    COLLECTED_LATER,
    COUNTED,
    COUNTED_BOTH_WAYS,
    NO_CI,
    NO_COUNTS,
    UNDATED,
    RawCorpus,
    build,
    count_joint_papers,
    select_papers,
    select_scientists,
)
from virsci_society.society.ecosystem.build_options import (
    PRESETS,
    BuildOptions,
    PaperFilters,
    PeopleFilters,
    build_options,
)
from virsci_society.society.ecosystem.ecosystem import require_past
from virsci_society.society.ecosystem.importers.records import RawAuthor
from virsci_society.society.ecosystem.summary import measure


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
    assert {COUNTED, COLLECTED_LATER} <= {*ecosystem.manifest["notes"]}


def test_without_references_the_collected_count_stands_and_is_noted():
    bare = [raw("p1", 2005, "a", citations=9), raw("p2", 2006, "a", citations=None)]
    fewer = build_ecosystem(bare, boundary=2007, min_citations_past=5)
    assert removed(fewer)["past: at least 5 citations at collection"] == (2, 1)
    ecosystem = build_ecosystem(bare, boundary=2007)
    assert [p.citations for p in ecosystem.past] == [9, None]
    assert COLLECTED in ecosystem.manifest["notes"]
    # They may be of after the boundary, so nobody is known, chosen or joined for them.
    assert ecosystem.profiles[0].citations is None
    assert UNDATED in ecosystem.manifest["notes"]
    assert np.isnan(measure(ecosystem)["citations per past paper"])


def test_without_any_count_citations_are_unknown_not_zero():
    ecosystem = build_ecosystem([raw("p1", 2005, "a"), raw("p2", 2008, "b")], boundary=2007)
    assert ecosystem.past[0].citations is None
    assert ecosystem.profiles[0].citations is None
    assert NO_COUNTS in ecosystem.manifest["notes"]
    assert NO_CI in ecosystem.manifest["notes"]


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


def built_or_refused(records, options):
    """The ecosystem, or why there is none."""
    try:
        return build_ecosystem(records, **options)
    except InputError as refused:
        return str(refused)


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
    without = built_or_refused([*past, marker], options)
    planted = built_or_refused([*past, marker, *future], options)
    if isinstance(without, str) or isinstance(planted, str):
        assert without == planted
        return
    assert planted.past == without.past
    assert planted.profiles == without.profiles
    assert (planted.coauthors != without.coauthors).nnz == 0


@pytest.mark.parametrize("boundary", [2013, 2050])
def test_a_boundary_after_the_data_leaves_a_side_empty_and_says_so(records, boundary):
    ecosystem = build_ecosystem(records, boundary=boundary)
    assert (ecosystem.counts["past"], ecosystem.counts["contemporary"]) == (6, 0)
    told = f"EMPTY: no contemporary papers from {boundary} on: the source has only papers of 2005"
    assert any(note.startswith(told) for note in ecosystem.manifest["notes"])
    ecosystem.require_runnable()


@pytest.mark.parametrize("boundary", [2005, 1990])
def test_a_boundary_before_the_data_is_refused_with_those_that_are_not(records, boundary):
    told = rf"no past papers before {boundary}: .* 2005 to 2012.*a boundary from 2006 to 2013"
    with pytest.raises(InputError, match=told):
        build_ecosystem(records, boundary=boundary)


def test_no_records_is_an_input_error():
    with pytest.raises(InputError, match="no record"):
        build_ecosystem([], boundary=2000)


def test_filters_that_keep_nobody_build_and_do_not_run_and_without_papers_neither(records):
    nobody = build_ecosystem(records, boundary=2010, min_papers=50)
    assert nobody.counts == {"past": 4, "contemporary": 2, "scientists": 0}
    with pytest.raises(InputError, match="no scientists"):
        nobody.require_runnable()
    with pytest.raises(InputError, match="no past papers before 2010: the filters leave none"):
        build_ecosystem(records, boundary=2010, min_citations_past=50)


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
    assert any("no text to fit" in note for note in ecosystem.manifest["notes"])


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

    read, kept_papers = RawCorpus.read, building._kept_papers

    def later(source, _, *more):
        made = read(source, 2011, *more)
        made.boundary = 2010
        return made

    monkeypatch.setattr(RawCorpus, "read", later)
    monkeypatch.setattr(RawCorpus, "known", property(lambda self: self.years <= self.boundary))
    monkeypatch.setattr(building, "_kept_papers", swapped)
    for module in (building, ecosystem):
        monkeypatch.setattr(module, "require_past", require)
    monkeypatch.setattr(ecosystem, "_require_split", lambda made: None)
    with pytest.raises(InputError, match=f"{what} would contain a paper of 201"):
        build_ecosystem(records, boundary=2010)


def test_only_listed_people_are_scientists(records):
    listed = build(records, BuildOptions(2010, scientists=["a", "c", "stranger"]))
    assert sorted(by_source(listed)) == ["a", "c"]
    assert removed(listed)["people: listed"] == (3, 1)


class Chosen:
    """A selection: of each side, the ids of its papers with their citations, by year, then id."""

    def __init__(self, source, boundary, filters=None):
        corpus = corpus_of(sorted(source, key=lambda r: (r.year, r.id)), boundary)
        self.selection = select_papers(corpus, filters or PaperFilters())
        ids, counts = corpus.ids.to_pylist(), self.selection.citations.tolist()
        sides = {"known": corpus.known}
        sides |= {"past": self.selection.past, "contemporary": self.selection.contemporary}
        for side, rows in sides.items():
            setattr(self, side, {ids[row]: counts[row] for row in rows.nonzero()[0]})


def test_a_paper_cites_another_once_and_itself_never():
    source = [raw("a", 2000, "x"), raw("b", 2001, "x", ("a", "a", "b")), raw("c", 2003, "x")]
    selection = Chosen(source, 2002)
    assert selection.past == {"a": 1, "b": 0}


def test_papers_of_unknown_citations_are_left_out_by_a_least_one_and_that_is_said():
    source = [raw("a", 2000, "x"), raw("b", 2001, "x", citations=9), raw("c", 2005, "x")]
    least = PaperFilters(min_citations_past=5, min_citations_contemporary=1)
    chosen = Chosen(source, 2003, least)
    assert list(chosen.past) == ["b"]
    past, contemporary = chosen.selection.notes
    assert past.startswith("1 past papers were left out")
    assert contemporary.startswith("1 contemporary papers were left out")
    assert "theirs is unknown" in past
    assert Chosen(source, 2003).selection.notes == []


def dated(name, year, counts, references=(), citations=None):
    """A record whose source counts citations per year; their sum is the count unless given."""
    total = sum(counts.values()) if citations is None else citations
    record = raw(name, year, "x", references, citations=total)
    return replace(record, citations_by_year=tuple(sorted(counts.items())))


def test_counts_per_year_leave_out_those_from_the_boundary_on():
    source = [
        dated("a", 2000, {2010: 4, 2011: 2, 2012: 7}),
        dated("b", 2001, {2012: 3}, citations=8),
        raw("c", 2002, "x", citations=6),
        raw("d", 2002, "x"),
    ]
    chosen = Chosen(source, 2012)
    assert chosen.past == {"a": 6, "b": 5, "c": 6, "d": -1}
    assert chosen.selection.citation_source == BY_YEAR


def test_counts_per_year_that_begin_after_the_boundary_tell_nothing_of_it():
    source = [dated("a", 2000, {2010: 4, 2012: 7}), dated("b", 2003, {2011: 1})]
    chosen = Chosen(source, 2005)
    assert chosen.past == {"a": 11, "b": 1}
    assert chosen.selection.citation_source == COLLECTED


def test_references_inside_and_counts_per_year_are_both_heard():
    """The source's count covers citing papers that are not in it, and may miss some that are."""
    source = [
        dated("a", 2000, {2003: 4, 2005: 9}),
        dated("b", 2001, {2004: 0}, ("a",)),
        dated("c", 2002, {2004: 0}, ("a", "b")),
        dated("d", 2006, {}, ("a", "b")),
    ]
    chosen = Chosen(source, 2005)
    assert chosen.past == {"a": 4, "b": 1, "c": 0}
    assert chosen.selection.citation_source == COUNTED_BOTH_WAYS


def chosen(records, filters, boundary=2010, papers=None):
    """The ids of the scientists, sorted, and the steps that led to them."""
    corpus = corpus_of(records, boundary)
    columns, steps = select_scientists(
        corpus, select_papers(corpus, papers or PaperFilters()), filters
    )
    return "".join(sorted(corpus.author_ids.take(columns).to_pylist())), steps


def people_of(records, boundary=2010, **filters):
    """Profiles by source id, and the ecosystem's names of everybody."""
    plan = BuildOptions(boundary, PaperFilters(require_abstract=False), PeopleFilters(**filters))
    ecosystem = build(records, plan)
    names = {source: masked for masked, (source, _) in ecosystem.key.items()}
    by_name = {profile.id: profile for profile in ecosystem.profiles}
    return {who: by_name[name] for who, name in names.items() if name in by_name}, names


LEAST = [(1, 0, "abc"), (3, 0, "ab"), (4, 0, "a"), (1, 3, "a"), (1, 2, "abc"), (5, 0, "")]


@pytest.mark.parametrize(("papers", "coauthors", "expected"), LEAST)
def test_least_papers_and_coauthors(records, papers, coauthors, expected):
    assert chosen(records, PeopleFilters(papers, coauthors))[0] == expected


def test_a_scientist_has_a_kept_paper_however_many_others(records):
    only_first = PaperFilters(last_year=2005)
    found, steps = chosen(records, PeopleFilters(2), papers=only_first)
    assert found == "ab"
    assert steps[0] == {"filter": "people: at least one kept past paper", "in": 4, "removed": 2}


def test_people_without_a_paper_in_the_last_years_are_left_out():
    source = [raw("p1", 2000, "ab"), raw("p2", 2006, "bc"), raw("p3", 2009, "d")]
    for years, left in ((1, "d"), (4, "bcd"), (10, "abcd"), (None, "abcd")):
        found, steps = chosen(source, PeopleFilters(active_years=years))
        assert found == left
    assert steps[-1]["filter"] == "people: at least 0 co-authors"
    _, steps = chosen(source, PeopleFilters(active_years=4))
    assert steps[-1] == {"filter": "people: a kept past paper from 2006 on", "in": 4, "removed": 1}


def test_a_term_counts_once_per_paper():
    source = [raw("p1", 2000, "a", (), ("x", "X", "x", "y")), raw("p2", 2001, "a", (), ("y",))]
    assert people_of(source)[0]["a"].interests == ("y", "x")


def test_at_most_ten_interests_and_collaborators_and_three_places():
    source = [
        raw(f"p{n:02}{m:02}", 1990 + n, ["a", f"b{m}"], (), (f"word{n}", f"term{n}"))
        for n in range(12)
        for m in range(n + 1)
    ]
    moving = [
        replace(one, authors=(one.authors[0]._replace(affiliation=one.title), one.authors[1]))
        for one in source
    ]
    people, names = people_of(moving)
    found = people["a"]
    assert len(found.interests) == len(found.collaborators) == 10
    assert len(found.affiliations) == 3
    assert found.collaborators[0] == names["b0"]


def test_the_latest_place_comes_first_among_equals():
    first, second = raw("p1", 2000, "a"), raw("p2", 2005, "a")
    moved = replace(second, authors=(second.authors[0]._replace(affiliation="New place"),))
    assert people_of([moved, first])[0]["a"].affiliations == ("New place", "Place a")


def test_unknown_citations_stay_unknown_only_if_all_are():
    counted = replace(raw("p2", 2001, "a", citations=4), citations_by_year=((2001, 4),))
    people, _ = people_of([raw("p1", 2000, "ab"), counted])
    assert people["a"].citations == 4
    assert people["b"].citations is None


TEAMS = st.lists(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=5, unique=True))


@given(TEAMS)
def test_joint_papers_are_counted_pair_by_pair(teams):
    corpus = corpus_of([raw(f"p{n}", 2000, team) for n, team in enumerate(teams)], 2001)
    known = corpus.author_ids.to_pylist()
    there = [who for who in "abcd" if who in known]
    columns = [known.index(who) for who in there]
    joint = count_joint_papers(corpus.people, columns)
    assert joint.dtype == np.int64
    assert not (joint.data == 0).any()
    dense = joint.toarray()
    for row, one in enumerate(there):
        for column, other in enumerate(there):
            expected = sum(one in team and other in team for team in teams if one != other)
            assert dense[row, column] == expected


def test_the_presets_are_those_of_the_paper():
    """2000 to 2010 and 2010 to 2020 are past (VirSci, appendix A)."""
    assert build_options("virsci-cs", {}) == BuildOptions(
        2011, PaperFilters(2000, 2014, True, 10, 5), PeopleFilters(50, 50)
    )
    assert build_options("virsci-oag", {}) == BuildOptions(
        2021, PaperFilters(2010, 2023, True, 200, 50), PeopleFilters(40, 50)
    )


def test_what_is_given_beside_a_preset_holds():
    given = {"min_papers": 3, "boundary": 2012, "require_abstract": False, "first_year": None}
    plan = build_options("virsci-cs", given | {"out": "eco"}, seed=7)
    assert (plan.boundary, plan.people.min_papers, plan.people.min_coauthors) == (2012, 3, 50)
    assert (plan.papers.require_abstract, plan.papers.first_year, plan.seed) == (False, 2000, 7)
    assert build_options(None, {"boundary": 2012, "min_papers": None}) == BuildOptions(2012)


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_the_boundary_year_of_the_paper_is_past(preset):
    """People are counted on all papers before the boundary, but need a kept one."""
    plan = PRESETS[preset]
    last, later = plan.boundary - 1, plan.boundary
    kept = [raw("k", last, "ab"), raw("l", last, "c")]
    citing = [raw(f"r{n}", last, "x", ("k",)) for n in range(plan.papers.min_citations_past)]
    many = range(max(plan.people.min_papers, plan.people.min_coauthors))
    early = [raw(f"e{n}", 1980, ["a", f"m{n}"]) for n in many]
    others = [raw(f"o{n}", 1980, ["z", f"m{n}"]) for n in many]
    new = [raw("q", later, "a", citations=plan.papers.min_citations_contemporary)]
    built = build([*kept, *citing, *early, *others, *new], plan)
    assert [paper.id for paper in built.past] == ["k"]
    assert [paper.id for paper in built.contemporary] == ["q"]
    assert [built.key[profile.id][0] for profile in built.profiles] == ["a"]
