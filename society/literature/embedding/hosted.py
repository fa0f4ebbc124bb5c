"""Embeddings by a model behind HTTP, through litellm.

A name does not pin what answers, so the row of a fixed sentence is checked before anything else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from virsci_society.agents.arrays import VectorArray, require_vectors
from virsci_society.agents.backends.embeddings import LiteLLMEmbedding
from virsci_society.agents.errors import InputError
from virsci_society.agents.redaction import redact
from virsci_society.society.literature.embedding.base import (
    CachedEmbedding,
    EncodedBatch,
    unit_rows,
)
from virsci_society.society.literature.embedding.cache import VARIABLE

KIND = "litellm"
PROBE = "A society of virtual scientists reads, argues and writes."
MIN_PROBE_COSINE = 0.999
"""Least cosine between two answers to the probe by one model."""
_KEPT = ("model", "api_base", "key", "dimensions")


class HostedEmbedding(CachedEmbedding):
    """Texts to rows by a model behind HTTP; ``probe`` is its row of PROBE when they were made."""

    name, origin = "", ""

    def __init__(self, model: LiteLLMEmbedding, probe: VectorArray | None = None) -> None:
        super().__init__()
        self.model, self.truncated = model, 0
        self.name = f"{KIND}:{model.model}"
        # With the dimensions that are requested, and the address.
        chosen = "" if model.dimensions is None else f"@{model.dimensions}"
        self._asked_for = self.name + chosen
        self.origin = f"{self._asked_for} at {model.api_base or 'its provider'}"
        self._probe = probe
        self._answered_probe: VectorArray | None = None

    def __reduce__(self) -> tuple[Callable[..., HostedEmbedding], tuple[Any, ...]]:
        return HostedEmbedding.of, (self.model.model_dump(), self._probe)

    @classmethod
    def of(cls, settings: dict[str, Any], probe: VectorArray | None = None) -> HostedEmbedding:
        """Make an embedding from the settings of a model; InputError if they are invalid."""
        try:
            return cls(LiteLLMEmbedding.model_validate(settings), probe)
        except ValidationError as error:
            # Without the value, which may contain a secret.
            first = error.errors(include_input=False, include_url=False)[0]
            setting = ".".join(map(str, first["loc"])) or "embedding"
            raise InputError(f"embedding litellm: {setting}: {redact(str(first['msg']))}") from None

    @classmethod
    def from_settings(cls, folder: Path, settings: dict[str, Any]) -> HostedEmbedding:
        """Rebuild from what ``save`` wrote; no request is made before the first text."""
        try:
            probe = np.array(settings["probe"], dtype=np.float32)
            if probe.shape != (int(settings["dim"]),):
                raise ValueError("the probe has another length")
            require_vectors(probe[None], f"{folder}: the probe", "rebuild it")
            return cls.of({name: settings[name] for name in _KEPT}, probe)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{folder}: not a saved embedding ({error!r}); rebuild it") from error

    @property
    def revision(self) -> str:
        """Hash of the model's name and of its row for the probe."""
        digest = hashlib.sha256(self._asked_for.encode())
        digest.update(self._reference_probe().tobytes())
        return digest.hexdigest()[:16]

    @property
    def dim(self) -> int:
        """Length of a row."""
        return len(self._reference_probe())

    @property
    def notes(self) -> tuple[str, ...]:
        """That the model's training data is unknown, and how many texts were truncated."""
        notes = [
            f"{self.name} was trained elsewhere, perhaps on texts from after the boundary, and "
            "its provider may change it"
        ]
        if self.truncated:
            notes.append(f"{self.truncated:,} texts were longer than it reads, and were cut")
        return tuple(notes)

    def save(self, folder: Path) -> None:
        """Write the model's settings (of a key, the name of its variable) and its probe."""
        settings = {name: getattr(self.model, name) for name in _KEPT}
        probe = [round(float(number), 5) for number in self._reference_probe()]
        self.write_settings(folder, KIND, settings | {"probe": probe})

    def _reference_probe(self) -> VectorArray:
        """The row for the probe when the vectors were made: as saved, as kept, else as of now."""
        with self._lock:
            if self._probe is None:
                self._probe = self.kept_row(PROBE)
            if self._probe is None:
                self._probe = self._current_probe()
        return self._probe

    def _current_probe(self) -> VectorArray:
        """The model's present row for the probe; requested once in a process."""
        if self._answered_probe is None:
            ((_, answer),) = self.model.embed([PROBE])
            rows = unit_rows(answer.rows)
            require_vectors(rows, self.name, "this model cannot be used")
            self._answered_probe = rows[0]
            self._require_length(len(self._answered_probe), self.model.dimensions)
        return self._answered_probe

    def _require_length(self, length: int, expected: int | None) -> None:
        if expected is not None and length != expected:
            raise InputError(
                f"{self.name} has answered with rows of length {length}, not {expected}; set "
                "dimensions to a length that it offers, or to none"
            )

    def _compute(self, texts: Sequence[str]) -> Iterator[EncodedBatch]:
        """Ask for rows, if this is still the model that made the saved and the kept ones."""
        now, kept = self._current_probe(), self.kept_row(PROBE)
        if kept is None:
            self.keep_rows([PROBE], now[None])
        for reference in (self._reference_probe(), now if kept is None else kept):
            if len(reference) != len(now) or float(reference @ now) < MIN_PROBE_COSINE:
                raise InputError(
                    f"{self.name} now answers differently than when the other vectors were made; "
                    "it is another model by that name: embed everything again, with an empty "
                    f"folder as {VARIABLE}"
                )
        for positions, answer in self.model.embed(texts):
            self.truncated += answer.cut
            rows = unit_rows(answer.rows)
            self._require_length(rows.shape[1], self.dim)
            yield positions, rows
