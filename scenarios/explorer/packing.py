"""Values and number arrays of a run as one compressed text that a page can hold.

Layout before compression: the length of the JSON text as uint32, the JSON text in UTF-8, then each
array from a multiple of 8 bytes on, all little-endian. The JSON object has ``values`` and
``arrays``, which lists name, type, place and length of each array. The whole is compressed
(DEFLATE, RFC 1951, without a header) and written in base64, so that nothing in it can end the
element of the page that holds it.
"""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

KINDS = {"u1": "Uint8Array", "u2": "Uint16Array", "u4": "Uint32Array", "f4": "Float32Array"}
"""Type of a numpy array -> the typed array of the script."""


def pack(values: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]] | None = None) -> str:
    """Compress values and arrays into one text in base64.

    Args:
        values: plain data that JSON can hold.
        arrays: by name, one-dimensional, of the types in ``KINDS``.
    """
    body, listed = b"", []
    for name, array in (arrays or {}).items():
        kind = f"{array.dtype.kind}{array.dtype.itemsize}"
        listed.append([name, KINDS[kind], len(body), len(array)])
        data = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes()
        body += data + b"\0" * (-len(data) % 8)
    head = json.dumps({"values": values, "arrays": listed}, ensure_ascii=True).encode()
    head += b" " * (-(len(head) + 4) % 8)
    squeezed = zlib.compressobj(6, zlib.DEFLATED, -15)
    raw = struct.pack("<I", len(head)) + head + body
    return base64.b64encode(squeezed.compress(raw) + squeezed.flush()).decode("ascii")


def unpack(packed: str) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """The values and arrays of a packed text, as the script reads them.

    Args:
        packed: made by ``pack``.
    """
    raw = zlib.decompress(base64.b64decode(packed), -15)
    (length,) = struct.unpack_from("<I", raw)
    head = json.loads(raw[4 : 4 + length])
    kinds = {name: kind for kind, name in KINDS.items()}
    arrays = {
        name: np.frombuffer(raw, f"<{kinds[kind]}", count, 4 + length + place)
        for name, kind, place, count in head["arrays"]
    }
    return head["values"], arrays
