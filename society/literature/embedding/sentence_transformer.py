"""Embeddings by a neural model on this machine, through the library sentence-transformers.

The library is the extra ``[semantic]``; it is imported before the first text and not earlier. On
the processor every text is encoded alone, in one thread, so that a row is the same to the last bit
whatever other texts are encoded beside it or at the same time.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from virsci_society.agents.arrays import VectorArray
from virsci_society.agents.backends.provider_errors import one_line
from virsci_society.agents.errors import InputError
from virsci_society.society.literature.embedding.base import unit_rows, write_settings
from virsci_society.society.literature.embedding.cached import CachedEmbedding, EncodedBatch
from virsci_society.society.literature.embedding.model_files import (
    Announce,
    ModelFiles,
    print_to_stderr,
)

KIND = "sentence-transformers"
EXTRA = "embeddings of sentence-transformers need an extra: pip install 'virsci-society[semantic]'"
BATCH_TEXTS = 64
"""Texts after which rows are yielded, and so cached."""


class SentenceTransformerEmbedding(CachedEmbedding):
    """Texts to rows by a sentence-transformers model, which truncates long texts.

    Args:
        files: the model's files.
        dim: length of a row; None: the model is asked for it.
        query_prompt: put before a text that is searched for.
        device: ``cpu``, or a device of torch, on which texts are encoded in batches; rows are then
            the same to 1e-5.
        workers: texts that are encoded at once on the processor; None: one per core.
        announce: called before a download.

    Raises:
        InputError: the extra is not installed.
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
        args = self._files, self._dim, self.query_prompt, self.device, self.workers
        return _again, args

    @classmethod
    def from_name(
        cls,
        named: str,
        *,
        query_prompt: str = "",
        device: str = "cpu",
        announce: Announce = print_to_stderr,
    ) -> SentenceTransformerEmbedding:
        """Find a model by its name, ``MODEL``, ``MODEL@REVISION`` or a path.

        Args:
            named: the name; see ``ModelFiles.resolve``.
            query_prompt: put before a text that is searched for.
            device: ``cpu``, or a device of torch.
            announce: called before a download.

        Raises:
            InputError: the extra is not installed, or the model cannot be had.
        """
        require_extra()
        files = ModelFiles.resolve(named, announce)
        return cls(files, query_prompt=query_prompt, device=device, announce=announce)

    @classmethod
    def from_settings(cls, folder: Path, settings: dict[str, Any]) -> SentenceTransformerEmbedding:
        """Rebuild from what ``save`` wrote; the files are looked for before the first text.

        Args:
            folder: of the saved embedding, for messages.
            settings: the content of its ``embedding.json``.

        Raises:
            InputError: the settings are not those of such an embedding.
        """
        try:
            files = ModelFiles(
                str(settings["source"]), str(settings["weights"]), bool(settings["local"])
            )
            dim, prompt = int(settings["dim"]), str(settings.get("query_prompt", ""))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{folder}: not a saved embedding ({error!r}); build again") from error
        return cls(files, dim=dim, query_prompt=prompt)

    @property
    def name(self) -> str:
        """``sentence-transformers:`` and the model, without its path."""
        return f"{KIND}:{self._files.name}"

    @property
    def revision(self) -> str:
        """The commit or hash of the files, and a hash of the query prompt where there is one."""
        return self._files.revision + prompt_suffix(self.query_prompt)

    @property
    def origin(self) -> str:
        """The commit or hash of the files; the query prompt is part of the text."""
        return f"{KIND}@{self._files.revision}"

    @property
    def dim(self) -> int:
        """Length of a row."""
        if self._dim is None:
            self._prepare(None)
            _, rows = next(self._compute(["length"]))
            self._dim = rows.shape[1]
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

    def _prepare(self, partition: object) -> None:
        """Load the model before its first text."""
        if self._model is not None:
            return
        require_extra()
        folder = self._files.folder(self._announce)
        self._model = _loaded(folder, self.device)
        self._tokenizing = threading.Lock()

    def _compute(self, texts: Sequence[str]) -> Iterator[EncodedBatch]:
        """Encode texts one by one on the processor, in batches of similar length elsewhere."""
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


def require_extra() -> None:
    """Raise InputError where sentence-transformers is not installed."""
    if find_spec("sentence_transformers") is None:
        raise InputError(EXTRA)


def prompt_suffix(prompt: str) -> str:
    """The part of a revision that stands for a query prompt; empty without one."""
    return f"+query.{hashlib.sha256(prompt.encode()).hexdigest()[:8]}" if prompt else ""


def _again(
    files: ModelFiles, dim: int | None, prompt: str, device: str, workers: int
) -> SentenceTransformerEmbedding:
    return SentenceTransformerEmbedding(
        files, dim=dim, query_prompt=prompt, device=device, workers=workers
    )


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
