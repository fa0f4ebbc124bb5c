"""Embeddings by a neural model on this machine, through the library sentence-transformers.

The library is the extra ``[semantic]``; it is imported before the first text and not earlier. On
the processor every text is encoded alone, in one thread, so that a row is the same to the last bit
whatever other texts are encoded beside it or at the same time.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
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
    write_settings,
)

Announce = Callable[[str], None]
"""Called with a message for the person at the terminal, such as before a download."""

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


def print_to_stderr(message: str) -> None:
    """Print a message on the standard error output at once."""
    print(message, file=sys.stderr, flush=True)


@dataclass(frozen=True)
class ModelFiles:
    """The files of one model at one revision.

    Attributes:
        source: a path, an installed package, or a name on the hub.
        name: the model's own, without the path of a local folder, which is private.
    """

    source: str
    revision: str
    local: bool
    name: str

    @classmethod
    def resolve(cls, named: str, announce: Announce = print_to_stderr) -> ModelFiles:
        """Find the model of a name, ``SOURCE`` or ``SOURCE@REVISION``, and check its files.

        A model of the hub that is not on this machine is downloaded. Without a revision, the one on
        this machine counts, else the newest. InputError where there is no such model, it is not
        safe to load, or it is not on this machine and the hub cannot or must not be asked.
        """
        source, _, revision = named.rpartition("@")
        if not source or "/" in revision or Path(named).expanduser().is_dir():
            source, revision = named, ""
        if (folder := _folder_here(source)) is not None:
            if folder == Path(source).expanduser():
                source = str(folder.resolve())
            revision = revision or content_hash(_there(folder))
            found = cls(source, revision, True, _own_name(folder, source))
        else:
            folder = _snapshot(source, revision or None, announce)
            found = cls(source, folder.name, False, source)
        found.folder(announce)
        return found

    def folder(self, announce: Announce = print_to_stderr) -> Path:
        """The folder of the files, checked; a model of the hub that is gone is downloaded again."""
        if not self.local:
            folder = _snapshot(self.source, self.revision, announce)
        else:
            folder = _there(_folder_here(self.source) or Path(self.source))
            if (now := content_hash(folder)) != self.revision:
                raise InputError(
                    f"{folder}: its files have the hash {now}, not {self.revision}; put the model "
                    "of that revision there, or make the embedding again"
                )
        require_safe(folder)
        return folder


def _folder_here(source: str) -> Path | None:
    """The folder of a model that is named by a path, or by an installed package that holds one."""
    path = Path(source).expanduser()
    if path.is_dir() or source.startswith(("/", "./", "../", "~")):
        return path
    package = find_spec(source) if source.isidentifier() else None
    places = (package and package.submodule_search_locations) or ()
    listed = [found.parent for place in places for found in Path(place).rglob("modules.json")]
    return min(listed, key=lambda one: (len(one.parts), str(one)), default=None)


def _own_name(folder: Path, source: str) -> str:
    """The name that a model's card begins with, or that of the hub's folder, else of its source."""
    hub = _HUB_FOLDER.search(str(folder.resolve()))
    try:
        heading = _CARD_NAME.search((folder / "README.md").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        heading = None
    if hub is not None:
        return f"{hub[1]}/{hub[2]}"
    return heading[1] if heading is not None else Path(source).name


def content_hash(folder: Path) -> str:
    """Hash all files in a folder that may be loaded: their names and contents; 16 digits."""
    digest = hashlib.sha256()
    for path in _files(folder):
        digest.update(f"{path.relative_to(folder).as_posix()}\0{path.stat().st_size}\0".encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


def require_safe(folder: Path) -> None:
    """Check a model's folder before anything of it is loaded: pickled weights run code."""
    adapters = next(folder.rglob("adapter_config.json"), None)
    if adapters is not None:
        raise InputError(f"{adapters}: adapters of other models are not loaded; give whole models")
    for kind, place in _modules(folder):
        if kind not in WITH_WEIGHTS or next(place.glob("*.safetensors"), None) is not None:
            continue
        pickled = sorted(one.name for one in place.glob("*") if one.suffix in PICKLED)
        what = f"only pickled weights ({', '.join(pickled)})" if pickled else "no weights"
        raise InputError(
            f"{place}: {what}; only safetensors are loaded: convert the model or take another"
        )


def _modules(folder: Path) -> Iterator[tuple[str, Path]]:
    """The parts of a model by their class, with their folders."""
    path = folder / "modules.json"
    if not path.is_file():
        yield "Transformer", folder
        return
    try:
        # The cache of a downloaded model consists of links, so the file is read through one.
        parts = parse_json(path.read_text(encoding="utf-8"), path)
        listed = [(str(one["type"]), folder / str(one["path"])) for one in parts]
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
            raise InputError(f"{path}: {place} lies outside of the model's folder")
        yield kind, place


def _files(folder: Path) -> list[Path]:
    found = {path for pattern in LOADED for path in folder.rglob(pattern) if path.is_file()}
    within = (path.relative_to(folder).parts for path in found)
    shown = [path for path, parts in zip(found, within, strict=True) if parts[0][0] != "."]
    # By name: the hash must not depend on the order in which a disk lists files.
    return sorted(shown, key=lambda path: path.relative_to(folder).as_posix())


def _there(folder: Path) -> Path:
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; give one that holds the embedding's model")
    return folder


def _snapshot(name: str, revision: str | None, announce: Announce) -> Path:
    """The folder of a model of the hub, which is asked only where this machine has no copy."""
    here = _kept(name, revision)
    if here is not None:
        return here
    from huggingface_hub import constants

    said = f"{name}@{revision}" if revision else name
    if constants.HF_HUB_OFFLINE:
        raise InputError(
            f"the model {said} is not on this machine, and HF_HUB_OFFLINE forbids to fetch it; "
            "unset that, or give the path of a folder that holds the model"
        )
    announce(f"downloading the model {said} from {constants.ENDPOINT}")
    try:
        return _downloaded(name, revision, offline=False)
    except Exception as error:
        raise InputError(
            f"the model {said} cannot be downloaded ({one_line(str(error))}); see its name and "
            "the network, or give the path of a folder that holds the model"
        ) from error


def _kept(name: str, revision: str | None) -> Path | None:
    """The folder of a model as this machine has it, or None if any of it is missing."""
    try:
        folder = _downloaded(name, revision, offline=True)
        if revision is not None and _COMMIT.fullmatch(revision) and folder.name != revision:
            return None
        require_safe(folder)
    except (OSError, InputError):
        return None
    except ValueError as error:
        raise InputError(f"{name}: not a name of a model ({one_line(str(error))})") from error
    return folder


def _downloaded(name: str, revision: str | None, *, offline: bool) -> Path:
    from huggingface_hub import snapshot_download

    folder = snapshot_download(
        name,
        revision=revision,
        local_files_only=offline,
        allow_patterns=list(LOADED),
        ignore_patterns=list(OTHER_FORMATS),
    )
    return Path(folder)


KIND = "sentence-transformers"
EXTRA = "semantic", "sentence_transformers", "this embedding needs sentence-transformers"
BATCH_TEXTS = 64
"""Texts after which rows are yielded, and so cached."""


class SentenceTransformerEmbedding(CachedEmbedding):
    """Texts to rows by a sentence-transformers model, which truncates long texts.

    Args:
        workers: texts that are encoded at once on the processor; None: one per core.
    """

    def __init__(
        self,
        files: ModelFiles,
        *,
        dim: int | None = None,
        query_prompt: str = "",
        device: str = "cpu",
        workers: int | None = None,
        announce: Announce = print_to_stderr,
    ) -> None:
        super().__init__(query_prompt)
        self._files, self._dim, self._announce = files, dim, announce
        self.device, self.workers = device, workers or os.cpu_count() or 1
        self._model: Any = None

    def __reduce__(self) -> tuple[Callable[..., SentenceTransformerEmbedding], tuple[Any, ...]]:
        # The model is not pickled; the copy loads it from the same files.
        made: dict[str, Any] = {"dim": self._dim, "query_prompt": self.query_prompt}
        made |= {"device": self.device, "workers": self.workers}
        return partial(SentenceTransformerEmbedding, self._files, **made), ()

    @classmethod
    def from_name(
        cls,
        named: str,
        *,
        query_prompt: str = "",
        device: str = "cpu",
        announce: Announce = print_to_stderr,
    ) -> SentenceTransformerEmbedding:
        """Find a model by its name, ``MODEL``, ``MODEL@REVISION`` or a path."""
        require_extra(*EXTRA)
        files = ModelFiles.resolve(named, announce)
        return cls(files, query_prompt=query_prompt, device=device, announce=announce)

    @classmethod
    def from_settings(cls, folder: Path, settings: dict[str, Any]) -> SentenceTransformerEmbedding:
        """Rebuild from what ``save`` wrote; the files are looked for before the first text."""
        try:
            named = str(settings["name"]).removeprefix(f"{KIND}:")
            kept = str(settings["source"]), str(settings["weights"]), bool(settings["local"])
            files = ModelFiles(*kept, named)
            dim, prompt = int(settings["dim"]), str(settings.get("query_prompt", ""))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{folder}: not a saved embedding ({error!r}); build again") from error
        return cls(files, dim=dim, query_prompt=prompt)

    @property
    def name(self) -> str:
        """``sentence-transformers:`` and the model's own name."""
        return f"{KIND}:{self._files.name}"

    @property
    def revision(self) -> str:
        """The commit or hash of the files, and a hash of the query prompt where there is one."""
        return self._files.revision + prompt_suffix(self.query_prompt)

    @property
    def origin(self) -> str:
        """The commit or hash of the files, and a device that reads in batches."""
        # The query prompt is part of the text.
        device = "" if self.device == "cpu" else f" on {self.device}"
        return f"{KIND}@{self._files.revision}{device}"

    @property
    def dim(self) -> int:
        """Length of a row."""
        if self._dim is None:
            self._dim = self.encode(["length"]).shape[1]
        return self._dim

    @property
    def notes(self) -> tuple[str, ...]:
        """That the model may know texts from after the boundary; what a device does to its rows."""
        notes = (f"{self.name} was trained elsewhere, perhaps on texts from after the boundary",)
        if self.device == "cpu":
            return notes
        return (*notes, f"vectors were made in batches on {self.device}: the same to 1e-5 only")

    def save(self, folder: Path) -> None:
        """Write the model's name and revision; its files stay where they are."""
        settings = {
            "kind": KIND,
            "name": self.name,
            "revision": self.revision,
            "dim": self.dim,
            "source": self._files.source,
            "weights": self._files.revision,
            "local": self._files.local,
            "query_prompt": self.query_prompt,
        }
        write_settings(folder, settings)

    def _compute(self, texts: Sequence[str]) -> Iterator[EncodedBatch]:
        """Encode texts one by one on the processor, in batches of similar length elsewhere."""
        if self._model is None:
            require_extra(*EXTRA)
            self._model = _loaded(self._files.folder(self._announce), self.device)
            self._tokenizing = threading.Lock()
        if self.device != "cpu":
            yield from self._batches(texts)
            return
        workers = min(self.workers, len(texts))
        with ThreadPoolExecutor(workers, initializer=_in_one_thread) as pool:
            for start in range(0, len(texts), BATCH_TEXTS):
                rows = list(pool.map(self._read, texts[start : start + BATCH_TEXTS]))
                yield list(range(start, start + len(rows))), _checked(rows)

    def _read(self, text: str) -> VectorArray:
        import torch

        # The library's tokenizers are not thread-safe.
        with self._tokenizing:
            said = self._model.preprocess([_writable(text)])
        with torch.inference_mode():
            row: VectorArray = self._model(said)["sentence_embedding"][0].numpy()
        return row

    def _batches(self, texts: Sequence[str]) -> Iterator[EncodedBatch]:
        # Texts of like length share a batch, so that little is computed on padding.
        order = sorted(range(len(texts)), key=lambda position: (-len(texts[position]), position))
        for start in range(0, len(order), 4 * BATCH_TEXTS):
            positions = order[start : start + 4 * BATCH_TEXTS]
            rows = self._model.encode(
                [_writable(texts[position]) for position in positions],
                prompt="",
                batch_size=BATCH_TEXTS,
                show_progress_bar=False,
            )
            yield positions, _checked(rows)


def prompt_suffix(prompt: str) -> str:
    """The part of a revision that stands for a query prompt; empty without one."""
    return f"+query.{hashlib.sha256(prompt.encode()).hexdigest()[:8]}" if prompt else ""


def _loaded(folder: Path, device: str) -> Any:
    """Load the model of a folder in single precision, without network access or code of its own."""
    from sentence_transformers import SentenceTransformer
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    try:
        model = SentenceTransformer(
            str(folder),
            device=device,
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


def _in_one_thread() -> None:
    import torch

    torch.set_num_threads(1)


def _checked(rows: Sequence[VectorArray] | VectorArray) -> VectorArray:
    stacked = np.asarray(rows)
    if not np.isfinite(stacked).all():
        raise InputError("the model gives numbers that are not finite; give another model")
    return unit_rows(stacked)


def _writable(text: str) -> str:
    """The text without lone surrogates, which tokenizers cannot read."""
    return text.encode("utf-8", "replace").decode("utf-8")
