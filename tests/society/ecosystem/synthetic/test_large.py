"""Synthetic ecosystems of very many papers: the same kind of world, straight into columns."""

from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
import pytest

from tests.society.ecosystem.raw_records import SHAPE
from virsci_society.society.ecosystem.audit import audit
from virsci_society.society.ecosystem.ecosystem import Ecosystem, encode_interests
from virsci_society.society.ecosystem.summary import VIS, measure
from virsci_society.society.ecosystem.synthetic import synthetic
from virsci_society.society.ecosystem.synthetic.large import DRAWN_VECTORS
from virsci_society.society.ecosystem.synthetic.synthetic import MANY, Synthetic
from virsci_society.society.literature.embedding.base import paper_text

SIZE = {"scientists": 300, "papers": 2000}


def multitude(seed=5, progress=None, **changes):
    """A few papers, made the way of many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(synthetic, "MANY", 0)
        return Synthetic(**(SIZE | changes)).generate(seed, progress)


@pytest.fixture(scope="module")
def many():
    return multitude()


@pytest.fixture(scope="module")
def few():
    return Synthetic(**SIZE).generate(5)


@pytest.mark.slow
def test_it_has_the_stated_size_and_says_how_it_was_made(many, few):
    assert many.counts == few.counts
    assert many.embedding.dim == 64
    assert DRAWN_VECTORS in many.manifest["notes"]
    assert "the LSA is fitted on a sample of 1,4" in " ".join(many.manifest["notes"])
    assert set(few.manifest["notes"]) < set(many.manifest["notes"])
    assert many.manifest["steps"] == few.manifest["steps"]
    assert DRAWN_VECTORS not in few.manifest["notes"]
    assert SIZE["papers"] < MANY


@pytest.mark.slow
def test_the_community_is_the_one_of_a_small_ecosystem(many, few):
    """Words and vectors differ; who wrote what with whom and cited it does not."""
    for side in ("past", "contemporary"):
        one, other = getattr(many, side), getattr(few, side)
        for column in ("id", "date", "year", "authors", "references", "venue"):
            assert one.table[column].equals(other.table[column]), column
    assert many.past.table["citations"].equals(few.past.table["citations"])
    assert (many.coauthors != few.coauthors).nnz == 0
    assert np.array_equal(many.career_starts, few.career_starts)
    for column in ("id", "papers", "citations", "collaborators"):
        assert many.profiles.table[column].equals(few.profiles.table[column]), column


@pytest.mark.slow
def test_interests_are_the_most_frequent_keywords_of_earlier_papers(many):
    terms = defaultdict(Counter)
    for paper in many.past:
        for author in paper.authors:
            terms[author].update(keyword.lower() for keyword in paper.keywords)
    for profile in many.profiles:
        found = tuple(term for term, _ in terms[profile.id].most_common(10))
        assert profile.interests == found


@pytest.mark.slow
def test_figures_of_scientists_are_those_of_their_papers(many):
    own, joint = defaultdict(list), Counter()
    for paper in many.past:
        for author in paper.authors:
            own[author].append(paper)
        joint.update(combinations(sorted(paper.authors), 2))
    for row, profile in enumerate(many.profiles):
        papers = own[profile.id]
        assert profile.papers == len(papers)
        assert profile.citations == sum(paper.citations for paper in papers)
        assert many.career_starts[row] == min(paper.year for paper in papers)
        for other in profile.collaborators:
            column = many.profiles.row_of(other)
            assert many.coauthors[row, column] == joint[tuple(sorted((profile.id, other)))]


@pytest.mark.slow
def test_affiliations_say_the_field(many):
    of_first = {}
    for paper in many.past:
        for author in paper.authors:
            of_first.setdefault(author, paper.keywords[0])
    for profile in many.profiles:
        assert len(profile.affiliations) == 1
        assert of_first[profile.id].title() in profile.affiliations[0]
    assert len({profile.affiliations for profile in many.profiles}) > 200


def test_the_audit_finds_nothing_of_the_future(many, tmp_path):
    many.save(tmp_path)
    states = {check.name: check.state for check in audit(tmp_path)}
    counted = ("dates", "papers of scientists", "career starts", "co-author counts")
    counted += ("collaborators", "citations of past papers", "citations of scientists")
    counted += ("interests",)
    assert {states[name] for name in counted} == {"passed"}


def test_texts_read_like_those_of_a_small_ecosystem(many):
    assert len({paper.abstract for paper in many.past}) == len(many.past)
    for paper in many.past[:300]:
        assert 120 <= len(paper.abstract.split()) <= 180
        assert "{" not in paper.title + paper.abstract
        head, first, second, method = paper.keywords
        assert first != second
        assert paper.venue == f"Journal of {head.title()}"
        assert method in paper.title + paper.abstract or first in paper.title + paper.abstract


def test_fields_drift_with_the_years(many):
    def mean_age(papers):
        from virsci_society.society.ecosystem.synthetic.text import research_fields

        place = {theme: n for one in research_fields() for n, theme in enumerate(one.themes)}
        return np.mean([place[theme] for paper in papers for theme in paper.keywords[1:3]])

    assert mean_age(many.past[:400]) + 3 < mean_age(many.contemporary)


def test_vectors_are_unit_rows_and_all_different(many):
    vectors = np.concatenate([many.past_vectors, many.contemporary_vectors])
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)
    assert len(np.unique(vectors, axis=0)) == len(vectors)


def test_a_text_finds_papers_of_its_topic(many):
    """Papers of the field, and of the theme, among the nearest ten: far above chance."""
    past, heads, themes = many.past, [], []
    for paper in many.contemporary[::9]:
        query = many.embedding.encode([paper_text(paper.title, paper.abstract)])[0]
        near = np.argsort(-(many.past_vectors @ query))[:10]
        found = [past[int(row)].keywords for row in near]
        heads.append(np.mean([one[0] == paper.keywords[0] for one in found]))
        themes.append(np.mean([bool({*one[1:3]} & {*paper.keywords[1:3]}) for one in found]))
    assert np.mean(heads) > 0.9, "chance is one in eight"
    assert np.mean(themes) > 0.3, "chance is one in thirty-five, embedded texts come to a half"


def test_drawn_vectors_lie_as_far_apart_as_embedded_ones(many):
    texts = [paper_text(paper.title, paper.abstract) for paper in many.past[:500]]
    told, drawn = many.embedding.encode(texts), many.past_vectors[:500]
    heads = np.array([paper.keywords[0] for paper in many.past[:500]])
    alike = heads[:, None] == heads[None, :]
    np.fill_diagonal(alike, False)
    for which in (alike, heads[:, None] != heads[None, :]):
        ours, theirs = ((rows @ rows.T)[which].mean() for rows in (drawn, told))
        assert ours == pytest.approx(theirs, abs=0.12)


def test_vectors_of_interests_are_what_the_knowledge_bank_would_encode(many, tmp_path):
    assert np.array_equal(many.interest_vectors, encode_interests(many.profiles, many.embedding))
    many.save(tmp_path)
    loaded = Ecosystem.load(tmp_path)
    assert np.array_equal(loaded.interest_vectors, many.interest_vectors)
    assert loaded.digest() == many.digest()
    assert loaded.past == many.past
    assert loaded.profiles == many.profiles


def test_a_seed_makes_one_and_only_one():
    small = {"scientists": 40, "papers": 300}
    digests = [multitude(seed, **small).digest() for seed in (1, 1, 2)]
    assert digests[0] == digests[1] != digests[2]


def test_who_listens_is_told_how_it_goes_and_changes_nothing():
    class Heard:
        def __init__(self):
            self.phases, self.counts = [], []

        def begin(self, phase):
            self.phases.append(phase)

        def count(self, done):
            self.counts.append(done)

    heard, small = Heard(), {"scientists": 40, "papers": 300}
    told = multitude(1, **small, progress=heard)
    assert heard.phases[0] == "growing a community that writes 300 papers"
    assert len(heard.phases) == 5
    assert heard.counts.count(300) == 2
    assert told.digest() == multitude(1, **small).digest()


def test_without_contemporary_papers_it_says_so():
    alone = multitude(scientists=20, papers=200, years_contemporary=0)
    assert alone.counts["contemporary"] == 0
    assert any("no contemporary papers" in note for note in alone.manifest["notes"])


def test_its_shape_is_that_of_a_real_community(many):
    figures = measure(many)
    for name in set(SHAPE) - {"papers per scientist"}:
        assert VIS[name] / 2.5 <= figures[name] <= VIS[name] * 2.5, name
