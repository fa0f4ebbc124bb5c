"""SentenceTransformers: rows by a neural model on this machine.

The library is the extra ``[semantic]``; nothing of it is imported before the first text. On the
processor every text is read alone, in one thread, so that a row is the same to the last bit
whatever stands beside it and however many texts are read at once.
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
import numpy.typing as npt

from agents.classify import one_line
from agents.errors import InputError
from society.literature.embedding.embedding import Vectors, unit_rows, write_settings
from society.literature.embedding.remembered import Piece, Remembered
from society.literature.embedding.weights import Announce, Weights, say

KIND = "sentence-transformers"
EXTRA = "embeddings of sentence-transformers need an extra: pip install 'virsci-society[semantic]'"
AT_A_TIME = 64
"""Texts after which rows are handed on, and kept."""


class SentenceTransformers(Remembered):
    """Texts to rows by a sentence-transformers model, of which long texts see the beginning only.

    Args:
        weights: the model.
        dim: length of a row; None: the model tells.
        query_prompt: what is put before a text that is searched for.
        device: ``cpu``, or a device of torch, on which texts are read in batches; rows are then
            the same to 1e-5.
        workers: texts that are read at once on the processor; None: one per core.
        announce: told of a download.

    Raises:
        InputError: the extra is not installed.
    """

    def __init__(
        self,
        weights: Weights,
        *,
        dim: int | None = None,
        query_prompt: str = "",
        device: str = "cpu",
        workers: int | None = None,
        announce: Announce = say,
    ) -> None:
        super().__init__(query_prompt)
        self._weights, self._dim, self._announce = weights, dim, announce
        self.device, self.workers = device, workers or os.cpu_count() or 1
        self._model: Any = None

    def __reduce__(self) -> tuple[Callable[..., SentenceTransformers], tuple[Any, ...]]:
        # The weights stay where they are; the copy reads them when it needs them.
        args = self._weights, self._dim, self.query_prompt, self.device, self.workers
        return _again, args

    @classmethod
    def find(
        cls, named: str, *, query_prompt: str = "", device: str = "cpu", announce: Announce = say
    ) -> SentenceTransformers:
        """The model of a name, ``MODEL``, ``MODEL@REVISION`` or a path; see ``Weights.find``."""
        require_extra()
        weights = Weights.find(named, announce)
        return cls(weights, query_prompt=query_prompt, device=device, announce=announce)

    @classmethod
    def from_settings(cls, folder: Path, settings: dict[str, Any]) -> SentenceTransformers:
        """Rebuild from what ``save`` wrote; the weights are looked for at the first text."""
        try:
            weights = Weights(
                str(settings["source"]), str(settings["weights"]), bool(settings["local"])
            )
            dim, prompt = int(settings["dim"]), str(settings.get("query_prompt", ""))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{folder}: not a saved embedding ({error!r}); build again") from error
        return cls(weights, dim=dim, query_prompt=prompt)

    @property
    def name(self) -> str:
        """``sentence-transformers:`` and the model, without its path."""
        return f"{KIND}:{self._weights.name}"

    @property
    def revision(self) -> str:
        """The commit or hash of the weights, and that of the query prompt where there is one."""
        return self._weights.revision + prompt_mark(self.query_prompt)

    @property
    def origin(self) -> str:
        """The weights."""
        return f"{KIND}@{self._weights.revision}"

    @property
    def dim(self) -> int:
        """Length of a row."""
        if self._dim is None:
            self._prepare(None)
            _, rows = next(self._ask(["length"]))
            self._dim = rows.shape[1]
        return self._dim

    @property
    def notes(self) -> tuple[str, ...]:
        """That the past need not be all the model knows, and what a device means."""
        told = (f"{self.name} was trained elsewhere, perhaps on texts from after the boundary",)
        if self.device == "cpu":
            return told
        return (*told, f"vectors were made in batches on {self.device}: the same to 1e-5 only")

    def save(self, folder: Path) -> None:
        """Write which model it is; the weights stay where they are."""
        settings = {
            "kind": KIND,
            "name": self.name,
            "revision": self.revision,
            "dim": self.dim,
            "source": self._weights.source,
            "weights": self._weights.revision,
            "local": self._weights.local,
            "query_prompt": self.query_prompt,
        }
        write_settings(folder, settings)

    def _prepare(self, shelf: object) -> None:
        """Load the model, if that has not been done."""
        if self._model is not None:
            return
        require_extra()
        folder = self._weights.folder(self._announce)
        self._model = _loaded(folder, self.device)
        self._tokenizing = threading.Lock()

    def _ask(self, texts: Sequence[str]) -> Iterator[Piece]:
        """Alone on the processor, in batches of like length elsewhere."""
        if self.device != "cpu":
            yield from self._batches(texts)
            return
        workers = min(self.workers, len(texts))
        with ThreadPoolExecutor(workers, initializer=_in_one_thread) as pool:
            for start in range(0, len(texts), AT_A_TIME):
                rows = list(pool.map(self._read, texts[start : start + AT_A_TIME]))
                yield list(range(start, start + len(rows))), _checked(rows)

    def _read(self, text: str) -> npt.NDArray[np.float32]:
        import torch

        # Tokenizers of the library cannot be used by two threads at once.
        with self._tokenizing:
            said = self._model.preprocess([_writable(text)])
        with torch.inference_mode():
            row: npt.NDArray[np.float32] = self._model(said)["sentence_embedding"][0].numpy()
        return row

    def _batches(self, texts: Sequence[str]) -> Iterator[Piece]:
        order = sorted(range(len(texts)), key=lambda place: (-len(texts[place]), place))
        for start in range(0, len(order), 4 * AT_A_TIME):
            places = order[start : start + 4 * AT_A_TIME]
            rows = self._model.encode(
                [_writable(texts[place]) for place in places],
                prompt="",
                batch_size=AT_A_TIME,
                show_progress_bar=False,
            )
            yield places, _checked(rows)


def require_extra() -> None:
    """Raise InputError where sentence-transformers is not installed."""
    if find_spec("sentence_transformers") is None:
        raise InputError(EXTRA)


def prompt_mark(prompt: str) -> str:
    """What a query prompt adds to a revision."""
    return f"+query.{hashlib.sha256(prompt.encode()).hexdigest()[:8]}" if prompt else ""


def _again(
    weights: Weights, dim: int | None, prompt: str, device: str, workers: int
) -> SentenceTransformers:
    return SentenceTransformers(
        weights, dim=dim, query_prompt=prompt, device=device, workers=workers
    )


def _loaded(folder: Path, device: str) -> Any:
    """The model of a folder, in single precision, asking nobody and running none of its code."""
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


def _checked(rows: Sequence[npt.NDArray[np.float32]] | npt.NDArray[np.float32]) -> Vectors:
    stacked = np.asarray(rows)
    if not np.isfinite(stacked).all():
        raise InputError("the model gives numbers that are not finite; give another model")
    return unit_rows(stacked)


def _writable(text: str) -> str:
    """The text without halves of characters, which tokenizers cannot read."""
    return text.encode("utf-8", "replace").decode("utf-8")
