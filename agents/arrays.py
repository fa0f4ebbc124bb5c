"""Names for the types of numpy arrays, one for each kind of number, and the errors of their files.

The shape of an array is said where it is used: ``(rows,)``, ``(papers, dimensions)``.
"""

from __future__ import annotations

import struct
import tokenize
import zipfile
import zlib
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
"""Float64: measures, weights, dates, distances."""
VectorArray: TypeAlias = npt.NDArray[np.float32]
"""Float32: embeddings, one unit vector a row."""
IntArray: TypeAlias = npt.NDArray[np.int64]
"""Int64: counts, years, and row numbers of people and papers."""
WordArray: TypeAlias = npt.NDArray[np.uint32]
"""Uint32: words of hashes and random generators."""
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
