"""Hosted: rows by a model behind HTTP, through litellm.

Nobody can pin what stands behind a name there. In its place the row of one fixed sentence is
kept with the vectors, and asked for again before anything else: where the model answers it
differently, it is not the one that made them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from agents.embedded import Embedded
from agents.errors import InputError
from agents.litellm_embedding import LiteLLMEmbedding
from agents.request import Usage
from agents.secrets import redact
from society.literature.embedding.cache import Shelf
from society.literature.embedding.embedding import Vectors, unit_rows, write_settings
from society.literature.embedding.remembered import Piece, Remembered
from society.literature.embedding.semantic import prompt_mark

KIND = "litellm"
PROBE = "A society of virtual scientists reads, argues and writes."
LIKE = 0.999
"""Cosine that two answers to the probe have at least, if one model gave them."""
_KEPT = ("model", "api_base", "key", "dimensions")


@dataclass(slots=True)
class Spent:
    """What has been asked of the model by this process.

    Attributes:
        requests: HTTP requests, failed ones included where another brought the rows.
        texts: texts that were answered, the probe included.
        tokens: tokens of these.
        usd: their price in US dollars; 0 where no price is known.
        cut: texts that were longer than the model reads, of which the beginning counts.
    """

    requests: int = 0
    texts: int = 0
    tokens: int = 0
    usd: float = 0.0
    cut: int = 0


class Hosted(Remembered):
    """Texts to rows by a model behind HTTP.

    Args:
        model: which model, where, and how it is asked.
        query_prompt: what is put before a text that is searched for.
        probe: the row of ``PROBE`` when the vectors were made; None: not asked yet.

    Attributes:
        spent: what has been asked so far.
    """

    def __init__(
        self, model: LiteLLMEmbedding, *, query_prompt: str = "", probe: Vectors | None = None
    ) -> None:
        super().__init__(query_prompt)
        self.model, self.spent = model, Spent()
        self._probe = probe
        self._now: Vectors | None = None

    def __reduce__(self) -> tuple[Callable[..., Hosted], tuple[Any, ...]]:
        return _again, (self.model.model_dump(), self.query_prompt, self._probe)

    @classmethod
    def from_settings(cls, folder: Path, settings: dict[str, Any]) -> Hosted:
        """Rebuild from what ``save`` wrote; the model is asked at the first text."""
        try:
            probe = np.array(settings["probe"], dtype=np.float32)
            if probe.shape != (int(settings["dim"]),):
                raise ValueError("the probe has another length")
            prompt = str(settings.get("query_prompt", ""))
            model = model_of({name: settings[name] for name in _KEPT})
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{folder}: not a saved embedding ({error!r}); build again") from error
        return cls(model, query_prompt=prompt, probe=probe)

    @property
    def name(self) -> str:
        """``litellm:`` and the model."""
        return f"{KIND}:{self.model.model}"

    @property
    def revision(self) -> str:
        """Hash of the model's name and of how it answers the probe."""
        digest = hashlib.sha256(self.origin.encode())
        digest.update(self._known_probe().tobytes())
        return digest.hexdigest()[:16] + prompt_mark(self.query_prompt)

    @property
    def origin(self) -> str:
        """The model by its name, and the length that was chosen."""
        chosen = self.model.dimensions
        return self.name + (f"@{chosen}" if chosen is not None else "")

    @property
    def dim(self) -> int:
        """Length of a row."""
        return len(self._known_probe())

    @property
    def notes(self) -> tuple[str, ...]:
        """What nobody can know of it, and how many texts were cut."""
        told = [
            f"{self.name} was trained elsewhere, perhaps on texts from after the boundary, and "
            "its provider may change it"
        ]
        if self.spent.cut:
            told.append(f"{self.spent.cut:,} texts were longer than it reads, and were cut")
        return tuple(told)

    def save(self, folder: Path) -> None:
        """Write which model it is and how it answers the probe; keys are named, never written."""
        settings = {
            "kind": KIND,
            "name": self.name,
            "revision": self.revision,
            "dim": self.dim,
            **{name: getattr(self.model, name) for name in _KEPT},
            "query_prompt": self.query_prompt,
            "probe": [round(float(number), 5) for number in self._known_probe()],
        }
        write_settings(folder, settings)

    def _known_probe(self) -> Vectors:
        with self._turn:
            if self._probe is None:
                self._probe = self._asked_probe()
        return self._probe

    def _prepare(self, shelf: Shelf | None) -> None:
        """See that this is still the model that made the other rows."""
        now, kept = self._asked_probe(), None if shelf is None else shelf.get(PROBE)
        for known in (self._probe, kept):
            if known is not None and (len(known) != len(now) or float(known @ now) < LIKE):
                raise InputError(
                    f"{self.name} now answers differently than when the other vectors were made; "
                    "it is another model by that name: embed everything again, without the cache"
                )
        if shelf is not None and kept is None:
            shelf.add([PROBE], now[None])
        self._probe = now if self._probe is None else self._probe

    def _asked_probe(self) -> Vectors:
        """How the model answers the probe now; asked once in a process."""
        if self._now is None:
            ((_, answer),) = self.model.pieces([PROBE])
            self._now = self._count(answer)[0]
            self._require_length(len(self._now), self.model.dimensions)
        return self._now

    def _require_length(self, length: int, expected: int | None) -> None:
        if expected is not None and length != expected:
            raise InputError(
                f"{self.name} has answered with rows of length {length}, not {expected}; set "
                "dimensions to a length that it offers, or to none"
            )

    def _ask(self, texts: Sequence[str]) -> Iterator[Piece]:
        for places, answer in self.model.pieces(texts):
            rows = self._count(answer)
            self._require_length(rows.shape[1], self.dim)
            yield places, rows

    def _count(self, answer: Embedded) -> Vectors:
        """Book an answer; its rows at unit length."""
        spent = self.spent
        spent.requests += answer.requests
        spent.texts += len(answer.rows)
        spent.tokens += answer.usage.prompt_tokens
        spent.usd += self.model.price(Usage(answer.usage.prompt_tokens, 0))
        spent.cut += answer.cut
        return unit_rows(answer.rows)


def model_of(settings: dict[str, Any]) -> LiteLLMEmbedding:
    """The model of these settings.

    Raises:
        InputError: one of them cannot be; no value is repeated, as it may hold a secret.
    """
    try:
        return LiteLLMEmbedding.model_validate(settings)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "embedding"
        raise InputError(f"embedding litellm: {place}: {redact(str(first['msg']))}") from None


def _again(settings: dict[str, Any], prompt: str, probe: Vectors | None) -> Hosted:
    return Hosted(model_of(settings), query_prompt=prompt, probe=probe)
