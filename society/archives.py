"""Archives: what may go wrong when arrays are read from a file that is damaged, or no archive."""

from __future__ import annotations

import struct
import zipfile
import zlib

TROUBLE = (
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
)
