"""Names for the types of numpy arrays, one for each kind of number, and errors of their files."""

from __future__ import annotations

import struct
import tokenize
import zipfile
import zlib
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from virsci_society.agents.errors import InputError

FloatArray: TypeAlias = npt.NDArray[np.float64]
"""Float64: measures, weights, dates, distances."""
VectorArray: TypeAlias = npt.NDArray[np.float32]
"""Float32: embeddings, one unit vector a row."""
IntArray: TypeAlias = npt.NDArray[np.int64]
"""Int64: counts, years, and row numbers of people and papers."""
BoolArray: TypeAlias = npt.NDArray[np.bool_]
"""Masks."""
Coordinates: TypeAlias = Sequence[float] | npt.NDArray[np.floating] | npt.NDArray[np.integer]
"""Numbers along one direction of a figure."""

DAMAGED_ARCHIVE = (
    OSError,
    ValueError,
    KeyError,
    EOFError,
    # Flipped bits make a member look encrypted, or packed in ways that zipfile does not know.
    RuntimeError,
    NotImplementedError,
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    # NumPy reads a header that is no Python literal a second time, word by word.
    tokenize.TokenError,
    SyntaxError,
)
"""What reading arrays raises where a file is damaged, or is no archive."""


def gini(values: npt.ArrayLike) -> float:
    """Gini coefficient, 0 (all equal) to 1; NaN for no values, negative ones or only zeros."""
    ordered: FloatArray = np.sort(np.asarray(values, dtype=np.float64))
    n = len(ordered)
    if not n or ordered[0] < 0 or ordered.sum() == 0:
        return float("nan")
    return float((2 * np.arange(1, n + 1) - n - 1) @ ordered / (n * ordered.sum()))


def one_blas_thread() -> Any:
    """A block in which BLAS uses one thread, so that sums are the same on any number of cores."""
    # The limit holds for libraries that are loaded by now, and SciPy brings a BLAS of its own.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    return threadpool_limits(limits=1)


AT_ONCE = 65_536
"""Vectors that are checked at a time."""


def zero_rows(vectors: npt.NDArray[Any], what: str, remedy: str, slack: float = np.inf) -> IntArray:
    """The numbers of the zero vectors; the squared lengths of others are one within ``slack``."""
    zero, bad = [np.zeros(0, np.int64)], 0
    for start in range(0, len(vectors), AT_ONCE):
        some = vectors[start : start + AT_ONCE]
        with np.errstate(over="ignore", invalid="ignore"):
            squares = np.einsum("ij,ij->i", some, some)
            bad += int((~(np.abs(squares - 1.0) < slack) & (squares != 0)).sum())
        zero.append(np.flatnonzero(squares == 0) + start)
    if bad:
        raise InputError(
            f"{what}: {bad:,} of {len(vectors):,} vectors contain NaN, infinite or too large "
            f"numbers{'' if np.isinf(slack) else ', or are not of length one'}; {remedy}"
        )
    return np.concatenate(zero)


def require_vectors(vectors: npt.NDArray[np.floating], what: str, remedy: str) -> None:
    """Raise InputError also where a vector is zero."""
    if count := len(zero_rows(vectors, what, remedy)):
        raise InputError(f"{what}: {count:,} of {len(vectors):,} vectors are zero; {remedy}")
