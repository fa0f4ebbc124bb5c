"""Which interests a prompt shows, by document frequencies that are counted by hand."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from virsci_society.agents.profile import Profile
from virsci_society.society.ecosystem import interest_vocabulary
from virsci_society.society.ecosystem.ecosystem import Ecosystem
from virsci_society.society.ecosystem.interest_vocabulary import (
    InterestVocabulary,
    TermFrequency,
    cleaned_interests,
)
from virsci_society.society.ecosystem.people import People
from virsci_society.society.literature.papers import Paper, Papers


def paper(number, abstract, *keywords, title="On it"):
    return Paper(f"p{number:03d}", title, abstract, number - 999.0, 2010, (), (), keywords)


def people(*interests):
    return People.of(Profile(f"Scientist{n}", (), one) for n, one in enumerate(interests))


def vocabulary(papers=100, keywords_known=True, **counts):
    """Frequencies as stated: term (``_`` for a blank) to texts, keywords, people."""
    known = {term.replace("_", " "): TermFrequency(*three) for term, three in counts.items()}
    return InterestVocabulary(known, papers, papers, keywords_known)


def shown(interests, known):
    return cleaned_interests(Profile("Scientist0", (), tuple(interests)), known)


def test_frequencies_by_hand():
    """Texts that hold the words in a row; keywords and people once each, in any case of letters."""
    past = Papers.of(
        [
            paper(1, "Vector fields; vector field topology.", "Vector Field", "vector field"),
            paper(2, "A field of vectors.", "trees", title="The Focus+Context vector"),
            paper(3, "field, vector field", "vector fields", title="Ends in a vector"),
            paper(4, "field", title="Ends in a vector"),
            paper(5, "", "focus+context"),
        ]
    )
    stated = people(
        ("vector field", "Trees", "focus+context"), ("trees", "trees", "c++"), (), ("vector field",)
    )
    known = InterestVocabulary.count(past, stated)
    assert known.frequencies == {
        "vector field": TermFrequency(texts=2, keywords=1, people=2),
        "trees": TermFrequency(texts=0, keywords=1, people=2),
        "focus+context": TermFrequency(texts=1, keywords=1, people=1),
        "c++": TermFrequency(texts=0, keywords=0, people=1),
    }
    assert (known.papers, known.texts, known.keywords_known) == (5, 5, True)
    assert not InterestVocabulary.count(past[3:4], stated).keywords_known
    nobody = InterestVocabulary.count(past[:0], people())
    assert (nobody.frequencies, nobody.papers, nobody.keywords_known) == ({}, 0, False)
    assert nobody.fault("maps") is None


def test_frequencies_do_not_depend_on_how_columns_are_cut():
    past = Papers.of([paper(n, "graph layout", *("graph layout",) * (n % 2)) for n in range(9)])
    stated = people(*(("graph layout", "trees")[: n % 3] for n in range(7)))

    def cut(columns, place):
        return type(columns)(
            pa.concat_tables([columns.table.slice(0, place), columns.table.slice(place)])
        )

    whole, parts = (
        InterestVocabulary.count(*both) for both in ((past, stated), (cut(past, 4), cut(stated, 2)))
    )
    assert whole.frequencies == parts.frequencies
    assert whole.frequencies["graph layout"] == TermFrequency(9, 4, 4)
    assert whole.frequencies["trees"] == TermFrequency(0, 0, 2)


def test_of_many_papers_some_are_looked_at_at_equal_steps(monkeypatch):
    """Of 95 papers at most 10: every tenth, of which those with an even tenth say it."""
    monkeypatch.setattr(interest_vocabulary, "SAMPLE", 10)
    past = Papers.of([paper(n, "maps" if n % 20 == 0 else "", "maps") for n in range(95)])
    known = InterestVocabulary.count(past, people(("maps",)))
    assert (known.papers, known.texts) == (95, 10)
    # Keywords are counted in all of them.
    assert known.frequencies["maps"] == TermFrequency(texts=5, keywords=95, people=1)


@pytest.mark.parametrize(("keywords", "fault"), [(49, "common"), (50, None)])
def test_the_papers_that_were_not_looked_at_are_like_those_that_were(keywords, fault):
    """50 of 100 papers that were looked at contain it, so about 500 of all 1000."""
    known = InterestVocabulary({"models": TermFrequency(50, keywords, 9)}, 1000, 100, True)
    assert known.fault("models") == fault


@pytest.mark.parametrize(
    ("term", "counts", "fault"),
    [
        # A single word of three characters, whoever uses it.
        ("lic", (14, 6, 4), "short"),
        ("2d", (160, 90, 2), "short"),
        ("map", (0, 0, 0), "short"),
        ("maps", (9, 1, 1), None),
        ("a b", (9, 1, 1), None),
        ("绘图", (9, 1, 1), None),
        # 5 % of 1000 papers contain it, and fewer than a tenth of these name it.
        ("techniques", (50, 4, 9), "common"),
        ("techniques", (50, 5, 9), None),
        ("techniques", (49, 1, 9), None),
        ("case study", (138, 3, 14), "common"),
        ("volume rendering", (206, 122, 53), None),
        # Nobody's keyword: a word needs three people, a phrase three people or three papers.
        ("university", (10, 0, 2), "rare"),
        ("university", (10, 0, 3), None),
        ("university", (10, 1, 1), None),
        ("work progress", (2, 0, 2), "rare"),
        ("work progress", (3, 0, 1), None),
        ("work progress", (0, 0, 3), None),
    ],
)
def test_the_fault_of_a_term(term, counts, fault):
    known = InterestVocabulary({term: TermFrequency(*counts)}, 1000, 1000, True)
    assert known.fault(term) == known.fault(term.upper()) == fault


def test_a_few_papers_make_no_term_common():
    """In a small corpus a twentieth is one or two papers."""
    assert vocabulary(100, techniques=(24, 0, 9)).fault("techniques") is None
    assert vocabulary(100, techniques=(25, 0, 9)).fault("techniques") == "common"


def test_where_no_paper_has_keywords_only_single_words_are_common():
    known = vocabulary(1000, False, system=(260, 0, 76), machine_translation=(180, 0, 271))
    assert known.fault("system") == "common"
    assert known.fault("machine translation") is None


def test_of_an_unknown_term_nothing_is_said():
    """Newcomers and drift bring no new ones, but a hand-made profile may hold any."""
    assert vocabulary().fault("proteins") is None
    assert shown(["proteins", "gas"], vocabulary()) == ("proteins", "gas")


SOUND = (0, 5, 5)


def test_parts_of_other_terms_are_left_out():
    known = vocabulary()
    terms = ["vector field", "flow", "vector field topology", "fields", "overflow", "Vector"]
    # "flow" is a part of the word "overflow" and of no term; "fields" is "field" in the singular.
    expected = ("flow", "vector field topology", "overflow")
    assert shown(terms, known) == expected
    assert shown(["field topology", "vector field topology"], known) == ("vector field topology",)
    apart = ["vector topology", "vector field topology"]
    assert shown(apart, known) == tuple(apart)


def test_a_part_of_a_term_that_is_left_out_stays():
    known = vocabulary(1000, case_study=(138, 3, 14), study=SOUND, maps=SOUND, trees=SOUND)
    assert shown(["case study", "study", "maps", "trees"], known) == ("study", "maps", "trees")


def test_of_singular_and_plural_the_better_known_stands():
    known = vocabulary(tensor_fields=(9, 4, 5), tensors_field=(0, 1, 1), maps=SOUND, trees=SOUND)
    terms = ["maps", "tensors field", "tensor fields", "trees"]
    assert shown(terms, known) == ("maps", "tensor fields", "trees")
    # Of equally known ones the first.
    assert shown(["tree", "trees", "maps"], vocabulary()) == ("tree", "maps")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("morse-smale complex", "morse-smale complexes"),
        ("hierarchy", "hierarchies"),
        ("class", "classes"),
        ("sketch", "sketches"),
        ("Graphs", "graph"),
    ],
)
def test_plurals(one, other):
    assert shown([one, other], vocabulary()) == (one,)


@pytest.mark.parametrize(
    "pair", [("analysis", "analysi"), ("glass", "glas"), ("locus", "locu"), ("c++", "v&v")]
)
def test_no_plurals(pair):
    assert interest_vocabulary._singular_words(pair[0]) != interest_vocabulary._singular_words(
        pair[1]
    )


def test_if_few_are_left_the_first_with_a_fault_come_back():
    known = vocabulary(maps=SOUND)
    assert shown(["big", "lic", "maps", "vs"], known) == ("big", "lic", "maps")
    assert shown(["big", "lic"], known) == ("big", "lic")
    assert shown(["big"], known) == ("big",)
    assert shown([], known) == ()
    # Parts of other terms do not: they are shown already.
    assert shown(["maps", "old maps", "big"], known) == ("old maps", "big")


TERMS = ["big", "lic", "maps", "map", "old maps", "maps of trees", "trees", "techniques", "work"]


@settings(max_examples=80, deadline=None)
@given(
    interests=st.lists(st.sampled_from(TERMS), max_size=10),
    counts=st.dictionaries(st.sampled_from(TERMS), st.tuples(*[st.integers(0, 60)] * 3)),
    keywords_known=st.booleans(),
)
def test_what_is_shown_is_a_part_of_the_profile_in_its_order(interests, counts, keywords_known):
    known = InterestVocabulary(
        {term: TermFrequency(*three) for term, three in counts.items()}, 100, 100, keywords_known
    )
    profile = Profile("Scientist0", ("Here",), tuple(interests), 3, 4)
    found = cleaned_interests(profile, known)
    left = iter(dict.fromkeys(interests))
    assert all(term in left for term in found)
    assert bool(found) == bool(interests)
    assert profile == Profile("Scientist0", ("Here",), tuple(interests), 3, 4)
    assert cleaned_interests(profile, known) == found


@pytest.mark.slow
def test_profiles_of_a_real_community(vis_folder):
    """Those whose junk was found by a reader of prompts (boundary 2012)."""
    vis = Ecosystem.load(vis_folder)
    known = InterestVocabulary.count(vis.past, vis.profiles)
    listed = [term for one in vis.profiles for term in one.interests]
    faults = {term: known.fault(term) for term in listed}
    assert {term: faults[term] for term in ("big", "lic", "case study", "work progress")} == {
        "big": "short",
        "lic": "short",
        "case study": "common",
        "work progress": "rare",
    }
    good = ["volume rendering", "information visualization", "treemaps", "parallel coordinates"]
    assert [faults[term] for term in good] == [None] * 4
    by_name = {one.id: cleaned_interests(one, known) for one in vis.profiles}
    assert by_name["Scientist122"] == (
        *("fluid dynamics", "probing", "flow features", "vortex", "interaction"),
    )
    assert "tensors field" not in by_name["Scientist234"]
    assert "tensor fields" in by_name["Scientist234"]
    # Most of what people state stays, and nobody is left with nothing.
    left = np.array([len(one) for one in by_name.values()])
    assert left.min() >= 3
    assert 0.75 < left.sum() / len(listed) < 0.95
