"""Embeddings by a neural model on this machine, through the library sentence-transformers.

Every text is encoded alone, in one thread, so that a row never depends on its neighbours.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from virsci_society.agents.arrays import VectorArray
from virsci_society.agents.backends.responses import one_line
from virsci_society.agents.errors import InputError
from virsci_society.agents.files.json_files import parse_json
from virsci_society.agents.lazy_imports import require_extra
from virsci_society.society.literature.embedding.base import (
    CachedEmbedding,
    EncodedBatch,
    unit_rows,
)

LOADED = ("*.json", "*.txt", "*.model", "*.spm", "*.safetensors")
"""Patterns of the files of a model that are downloaded, hashed and loaded."""
OTHER_FORMATS = ("onnx/*", "openvino/*")
PICKLED = {".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".joblib"}
MODULES = {
    *("Transformer", "Pooling", "Normalize", "Dense", "LayerNorm", "Dropout", "StaticEmbedding")
}
"""Parts of models that this version loads; others could read files that are not safe."""
WITH_WEIGHTS = {"Transformer", "Dense", "LayerNorm", "StaticEmbedding"}
_COMMIT = re.compile(r"[0-9a-f]{40}")
_CARD_NAME = re.compile(r"^# (?!SentenceTransformer$)([\w.-]+(?:/[\w.-]+)?)$", re.MULTILINE)
"""The first heading of one word in a model's card, as ``# all-MiniLM-L6-v2``."""
_HUB_FOLDER = re.compile(r"models--([\w.-]+?)--([\w.-]+)[/\\]snapshots[/\\]")


KIND = "sentence-transformers"
EXTRA = "semantic", "sentence_transformers", "this embedding needs sentence-transformers"
BATCH_TEXTS = 64
"""Texts after which rows are yielded, and so cached."""


class SentenceTransformerEmbedding(CachedEmbedding):
    """Texts to rows by a sentence-transformers model, which truncates long texts."""

    name, revision, origin = "", "", ""

    def __init__(
        self, source: str, revision: str, local: bool, title: str, dim: int | None = None
    ) -> None:
        super().__init__()
        self._source, self.revision, self._local, self._title = source, revision, local, title
        self.name, self.origin = f"{KIND}:{title}", f"{KIND}@{revision}"
        self._dim = dim
        self._model: Any = None

    def __reduce__(self) -> tuple[type[SentenceTransformerEmbedding], tuple[Any, ...]]:
        # The model is not pickled; the copy loads it from the same files.
        arguments = self._source, self.revision, self._local, self._title, self._dim
        return SentenceTransformerEmbedding, arguments

    @classmethod
    def from_name(cls, named: str) -> SentenceTransformerEmbedding:
        """Find the model of a name, ``SOURCE`` or ``SOURCE@REVISION``, and check its files.

        Without a revision, the one on this machine counts, else the newest of the hub.
        """
        require_extra(*EXTRA)
        source, _, revision = named.rpartition("@")
        if not source or "/" in revision or Path(named).expanduser().is_dir():
            source, revision = named, ""
        if (folder := _folder_here(source)) is not None:
            if folder == Path(source).expanduser():
                source = str(folder.resolve())
            revision = revision or content_hash(_there(folder))
            hub = _HUB_FOLDER.search(str(folder.resolve()))
            try:
                heading = _CARD_NAME.search((folder / "README.md").read_text(encoding="utf-8"))
            except (OSError, ValueError):
                heading = None
            title = f"{hub[1]}/{hub[2]}" if hub else heading[1] if heading else Path(source).name
            made = cls(source, revision, True, title)
        else:
            made = cls(source, _snapshot(source, revision or None).name, False, source)
        made.folder()
        return made

    @classmethod
    def from_settings(cls, folder: Path, settings: dict[str, Any]) -> SentenceTransformerEmbedding:
        """Rebuild from what ``save`` wrote; the files are looked for before the first text."""
        try:
            kept = str(settings["source"]), str(settings["revision"]), bool(settings["local"])
            title = str(settings["name"]).removeprefix(f"{KIND}:")
            return cls(*kept, title, int(settings["dim"]))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{folder}: not a saved embedding ({error!r}); rebuild it") from error

    @property
    def dim(self) -> int:
        """Length of a row."""
        if self._dim is None:
            self._dim = self.encode(["length"]).shape[1]
        return self._dim

    @property
    def notes(self) -> tuple[str, ...]:
        """That the model may know texts from after the boundary."""
        return (f"{self.name} was trained elsewhere, perhaps on texts from after the boundary",)

    def save(self, folder: Path) -> None:
        """Write the model's name and revision; its files stay where they are."""
        self.write_settings(folder, KIND, {"source": self._source, "local": self._local})

    def folder(self) -> Path:
        """The folder of the files, checked; a model of the hub that is gone is downloaded again."""
        if not self._local:
            folder = _snapshot(self._source, self.revision)
        else:
            folder = _there(_folder_here(self._source) or Path(self._source))
            if (now := content_hash(folder)) != self.revision:
                raise InputError(
                    f"{folder}: its files have the hash {now}, not {self.revision}; put the model "
                    "of that revision there, or make the embedding again"
                )
        require_safe(folder)
        return folder

    def _compute(self, texts: Sequence[str]) -> Iterator[EncodedBatch]:
        """Encode texts one by one, several at a time."""
        if self._model is None:
            require_extra(*EXTRA)
            self._model = _loaded(self.folder())
            self._tokenizing = threading.Lock()
        import torch

        one_thread = partial(torch.set_num_threads, 1)
        with ThreadPoolExecutor(os.cpu_count() or 1, initializer=one_thread) as pool:
            for start in range(0, len(texts), BATCH_TEXTS):
                rows = np.array([*pool.map(self._read, texts[start : start + BATCH_TEXTS])])
                if not np.isfinite(rows).all():
                    raise InputError(f"{self.name} gives numbers that are not finite; use another")
                yield list(range(start, start + len(rows))), unit_rows(rows)

    def _read(self, text: str) -> VectorArray:
        import torch

        # The library's tokenizers are not thread-safe, and read no lone surrogates.
        with self._tokenizing:
            said = self._model.preprocess([text.encode("utf-8", "replace").decode("utf-8")])
        with torch.inference_mode():
            row: VectorArray = self._model(said)["sentence_embedding"][0].numpy()
        return row


def _folder_here(source: str) -> Path | None:
    """The folder of a model, given by a path or an installed package."""
    path = Path(source).expanduser()
    if path.is_dir() or source.startswith(("/", "./", "../", "~")):
        return path
    package = find_spec(source) if source.isidentifier() else None
    places = (package and package.submodule_search_locations) or ()
    listed = [found.parent for place in places for found in Path(place).rglob("modules.json")]
    return min(listed, key=lambda one: (len(one.parts), str(one)), default=None)


def content_hash(folder: Path) -> str:
    """Hash all files in a folder that may be loaded: their names and contents; 16 digits."""
    paths = {path for pattern in LOADED for path in folder.rglob(pattern) if path.is_file()}
    within = {path.relative_to(folder): path for path in paths}
    digest = hashlib.sha256()
    # By name: the hash must not depend on the order in which a disk lists files.
    for name in sorted(within, key=Path.as_posix):
        path = within[name]
        if name.parts[0].startswith("."):
            continue
        digest.update(f"{name.as_posix()}\0{path.stat().st_size}\0".encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


def require_safe(folder: Path) -> None:
    """Check a model's folder before anything of it is loaded: pickled weights run code."""
    adapters = next(folder.rglob("adapter_config.json"), None)
    if adapters is not None:
        raise InputError(f"{adapters}: adapters of other models are not loaded; give whole models")
    path, listed = folder / "modules.json", [("sentence_transformers.Transformer", folder)]
    if path.is_file():
        try:
            # The cache of a downloaded model consists of links, so the file is read through one.
            parts = parse_json(path.read_text(encoding="utf-8"), path)
            listed = [(str(part["type"]), folder / str(part["path"])) for part in parts]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}: not a list of a model's parts ({error!r})") from error
    for named, place in listed:
        kind = named.rpartition(".")[2]
        if not named.startswith("sentence_transformers.") or kind not in MODULES:
            raise InputError(
                f"{path}: {named} is not loaded: code of a model's own is never run; parts may "
                f"be {', '.join(sorted(MODULES))}"
            )
        if not place.resolve().is_relative_to(folder.resolve()):
            raise InputError(f"{path}: {place} is outside the model's folder")
        if kind not in WITH_WEIGHTS or next(place.glob("*.safetensors"), None) is not None:
            continue
        pickled = sorted(file.name for file in place.glob("*") if file.suffix in PICKLED)
        what = f"only pickled weights ({', '.join(pickled)})" if pickled else "no weights"
        raise InputError(
            f"{place}: {what}; only safetensors are loaded: convert the model or take another"
        )


def _there(folder: Path) -> Path:
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; give the folder of the embedding's model")
    return folder


def _snapshot(name: str, revision: str | None) -> Path:
    """The folder of a model of the hub, downloaded only if this machine has no copy."""
    from huggingface_hub import constants, snapshot_download

    patterns = {"allow_patterns": list(LOADED), "ignore_patterns": list(OTHER_FORMATS)}
    fetch = partial(snapshot_download, name, revision=revision, **patterns)
    try:
        folder = Path(fetch(local_files_only=True))
        if revision is None or not _COMMIT.fullmatch(revision) or folder.name == revision:
            require_safe(folder)
            return folder
    except (OSError, InputError):
        pass  # It is not here, or not all of it.
    except ValueError as error:
        raise InputError(f"{name}: not a name of a model ({one_line(str(error))})") from error
    said = f"{name}@{revision}" if revision else name
    if constants.HF_HUB_OFFLINE:
        raise InputError(
            f"the model {said} is not on this machine, and HF_HUB_OFFLINE forbids downloads; "
            "unset it, or give the path of a folder with the model"
        )
    print(f"downloading the model {said} from {constants.ENDPOINT}", file=sys.stderr, flush=True)
    try:
        return Path(fetch(local_files_only=False))
    except Exception as error:
        raise InputError(
            f"the model {said} cannot be downloaded ({one_line(str(error))}); see its name and "
            "the network, or give the path of a folder with the model"
        ) from error


def _loaded(folder: Path) -> Any:
    """Load a model from a folder in single precision, without network access or remote code."""
    from sentence_transformers import SentenceTransformer
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    try:
        model = SentenceTransformer(
            str(folder),
            device="cpu",
            trust_remote_code=False,
            local_files_only=True,
            model_kwargs={"use_safetensors": True},
        )
    except Exception as error:
        raise InputError(
            f"{folder}: sentence-transformers cannot load the model "
            f"({type(error).__name__}: {one_line(str(error))}); give another"
        ) from error
    return model.float().eval()
