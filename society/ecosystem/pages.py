"""Pages: the words of very many invented papers, thousands at a time, straight into columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from society.ecosystem.vocabulary import Field, theme_weights, write_paper
from society.ecosystem.works import Works
from society.literature.embedding import paper_text

if TYPE_CHECKING:
    import pyarrow as pa

Numbers = npt.NDArray[np.int64]

AT_ONCE = 20_000


@dataclass(eq=False)
class Pages:
    """Titles, abstracts and keywords of works; every ``AT_ONCE`` have a random stream of their own.

    Attributes:
        known: the fields, by number.
        words: every keyword: of each field its head, themes and methods.
        titles: one per work, in pieces.
        abstracts: likewise.
        keywords: a row per work: head, two themes, method, as numbers into ``words``.
        sample: texts of the works that were asked for, by number of the work.
    """

    known: Sequence[Field]
    words: list[str] = field(default_factory=list)
    titles: list[Any] = field(default_factory=list)
    abstracts: list[Any] = field(default_factory=list)
    keywords: Numbers = field(default_factory=lambda: np.zeros((0, 4), dtype=np.int64))
    sample: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for one in self.known:
            self.words += [one.head, *one.themes, *one.methods]
        self._number_of = {word: number for number, word in enumerate(self.words)}

    def write(
        self,
        works: Works,
        now: npt.NDArray[np.float64],
        seed: int,
        asked: Numbers,
        count: Callable[[int], None],
    ) -> None:
        """Write every work.

        Args:
            works: who cites whom does not matter, only years and fields do.
            now: where the attention of a field stands at each work, from 0 to 1.
            seed: of every word.
            asked: works whose texts are kept in ``sample``.
            count: is told how many are written.
        """
        self.keywords = np.empty((len(works), 4), dtype=np.int64)
        wanted = frozenset(asked.tolist())
        for start in range(0, len(works), AT_ONCE):
            rng = np.random.default_rng([seed, 2, start])
            rows = range(start, min(start + AT_ONCE, len(works)))
            self._write(rows, works, now, rng, wanted)
            count(rows.stop)

    def columns(self) -> tuple[pa.ChunkedArray, pa.ChunkedArray]:
        """Titles and abstracts."""
        import pyarrow as pa

        text = pa.large_string()
        return pa.chunked_array(self.titles, text), pa.chunked_array(self.abstracts, text)

    def _write(
        self,
        rows: range,
        works: Works,
        now: npt.NDArray[np.float64],
        rng: np.random.Generator,
        wanted: frozenset[int],
    ) -> None:
        import pyarrow as pa

        titles, abstracts = [], []
        pairs = _pairs(now[rows.start : rows.stop], len(self.known[0].themes), rng)
        own = works.fields[rows.start : rows.stop].tolist()
        for row, number, (first, second) in zip(rows, own, pairs.tolist(), strict=True):
            one = self.known[number]
            neighbour = self.known[int(rng.random() * len(self.known))]
            themes = (one.themes[first], one.themes[second])
            title, abstract, keywords = write_paper(rng, one, neighbour, themes)
            titles.append(title)
            abstracts.append(abstract)
            self.keywords[row] = [self._number_of[word] for word in keywords]
            if row in wanted:
                self.sample[row] = paper_text(title, abstract)
        self.titles.append(pa.array(titles, pa.large_string()))
        self.abstracts.append(pa.array(abstracts, pa.large_string()))


def _pairs(now: npt.NDArray[np.float64], themes: int, rng: np.random.Generator) -> Numbers:
    """Two different themes for each moment, by weight, one after the other."""
    # The largest of weights with Gumbel noise are draws without replacement.
    keys = np.log(theme_weights(now[:, None], themes)) + rng.gumbel(size=(len(now), themes))
    return np.argsort(-keys, axis=1)[:, :2].astype(np.int64)
