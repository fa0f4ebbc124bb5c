"""The files of a sentence-transformers model: where they are, their revision, and their safety.

A model of the Hugging Face hub is pinned by a commit and kept in the hub's own cache on this
machine; a model in a local folder is pinned by a hash of its files. Either is checked before it is
loaded: only safetensors, nothing pickled, no code of the model's own.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from virsci_society.agents.backends.provider_errors import one_line
from virsci_society.agents.errors import InputError

Announce = Callable[[str], None]
"""Called with a message for the person at the terminal, such as before a download."""

LOADED = ("*.json", "*.txt", "*.model", "*.spm", "*.safetensors")
"""Patterns of the files of a model that are downloaded, hashed and loaded."""
OTHER_FORMATS = ("onnx/*", "openvino/*")
PICKLED = {".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".joblib"}
MODULES = {
    *("Transformer", "Pooling", "Normalize", "Dense", "LayerNorm", "Dropout", "StaticEmbedding"),
}
"""Parts of models that this version loads; others could read files that are not safe."""
WITH_WEIGHTS = {"Transformer", "Dense", "LayerNorm", "StaticEmbedding"}
_COMMIT = re.compile(r"[0-9a-f]{40}")


def print_to_stderr(message: str) -> None:
    """Print a message on the standard error output at once."""
    print(message, file=sys.stderr, flush=True)


@dataclass(frozen=True)
class ModelFiles:
    """The files of one model at one revision.

    Attributes:
        source: name on the hub, or the path of a folder.
        revision: the commit (40 digits), or the hash of the folder's files (16 digits).
        local: whether it is a folder.
    """

    source: str
    revision: str
    local: bool

    @classmethod
    def resolve(cls, named: str, announce: Announce = print_to_stderr) -> ModelFiles:
        """Find the model of a name, ``SOURCE`` or ``SOURCE@REVISION``, and check its files.

        A model of the hub that is not on this machine is downloaded. Without a revision, the one on
        this machine counts, else the newest.

        Args:
            named: name on the hub or path of a folder, with or without a revision.
            announce: called before a download.

        Raises:
            InputError: there is no such model, it is not safe to load, or it is not on this machine
                and the hub cannot or must not be asked.
        """
        source, _, revision = named.rpartition("@")
        if not source or "/" in revision or Path(named).expanduser().is_dir():
            source, revision = named, ""
        path = Path(source).expanduser()
        if path.is_dir() or source.startswith(("/", "./", "../", "~")):
            found = cls(str(path.resolve()), revision or content_hash(_there(path)), local=True)
        else:
            folder = _snapshot(source, revision or None, announce)
            found = cls(source, folder.name, local=False)
        found.folder(announce)
        return found

    @property
    def name(self) -> str:
        """The name without the path of a local folder, which is private."""
        return Path(self.source).name if self.local else self.source

    def folder(self, announce: Announce = print_to_stderr) -> Path:
        """The folder of the files, checked; a model of the hub that is gone is downloaded again.

        Raises:
            InputError: it is not there any more, or has another revision by now.
        """
        if not self.local:
            folder = _snapshot(self.source, self.revision, announce)
        else:
            folder = _there(Path(self.source))
            if (now := content_hash(folder)) != self.revision:
                raise InputError(
                    f"{folder}: its files have the hash {now}, not {self.revision}; put the model "
                    "of that revision there, or make the embedding again"
                )
        require_safe(folder)
        return folder


def content_hash(folder: Path) -> str:
    """Hash all files in a folder that may be loaded: their names and contents; 16 digits."""
    digest = hashlib.sha256()
    for path in _files(folder):
        digest.update(f"{path.relative_to(folder).as_posix()}\0{path.stat().st_size}\0".encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]


def require_safe(folder: Path) -> None:
    """Check a model's folder before anything of it is loaded.

    Raises:
        InputError: its weights are pickled or missing, it names parts or code that are not the
            library's own, or it is the adapter of another model.
    """
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
        listed = [(str(one["type"]), folder / str(one["path"])) for one in _json(path)]
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


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _files(folder: Path) -> list[Path]:
    found = {path for pattern in LOADED for path in folder.rglob(pattern) if path.is_file()}
    within = (path.relative_to(folder).parts for path in found)
    shown = [path for path, parts in zip(found, within, strict=True) if parts[0][0] != "."]
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
