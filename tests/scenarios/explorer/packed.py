"""Reads packed values and arrays of the explorer's page, as its script does."""

import base64
import json
import struct
import zlib

import numpy as np

from virsci_society.scenarios.explorer.explorer_data import KINDS


def unpack(packed):
    """The values and arrays of a packed text, as the script reads them."""
    raw = zlib.decompress(base64.b64decode(packed), -15)
    (length,) = struct.unpack_from("<I", raw)
    head = json.loads(raw[4 : 4 + length])
    kinds = {name: kind for kind, name in KINDS.items()}
    arrays = {
        name: np.frombuffer(raw, f"<{kinds[kind]}", count, 4 + length + place)
        for name, kind, place, count in head["arrays"]
    }
    return head["values"], arrays
