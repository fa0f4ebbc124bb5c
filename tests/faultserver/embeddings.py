"""Embeddings: rows for texts, the same for the same words, with the faults of the plan.

A row is the sum of fixed rows of the text's words, so texts that share words are near each other.
A request is known by a hash of its texts; tokens are counted text by text, so that totals can be
predicted however the texts are divided among requests.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.faultserver.asked import Misunderstood, _object, tokens
from tests.faultserver.bodies import (
    _INSTEAD,
    ERRORS,
    INVALID,
    Answer,
    _error_of,
    _spoil,
    error,
)
from tests.faultserver.counts import ANSWERED
from tests.faultserver.kinds import EMPTY
from tests.faultserver.plan import Drawn, Plan
from tests.faultserver.wire import HttpResponse

ROWS, OLLAMA = "/embeddings", "/api/embed"
"""Addresses: as OpenAI has it (below ``/v1``), and as Ollama has it."""
DIMENSIONS = 16
LONGEST = 2000
"""Characters of the longest text that this model reads."""
FIXED = "fixed"
"""A model whose rows have one length, whatever is asked for."""
_ITEMS = 2048


@dataclass(frozen=True)
class AskedRows:
    """One request for rows.

    Attributes:
        id: a hash of model and texts.
        model: the name under which the answer comes back.
        texts: what is embedded.
        dimensions: length of the rows.
        ollama: to be answered as Ollama does.
    """

    id: str
    model: str
    texts: tuple[str, ...]
    dimensions: int
    ollama: bool

    @classmethod
    def read(cls, body: bytes, *, ollama: bool = False) -> AskedRows:
        """Understand one body.

        Raises:
            Misunderstood: it asks for no rows, or for what is not served.
        """
        data = _object(body)
        given = data.get("input")
        texts = [given] if isinstance(given, str) else given
        if not isinstance(texts, list) or not all(isinstance(one, str) and one for one in texts):
            raise Misunderstood("input: expected a text or a list of texts, none of them empty")
        if not 0 < len(texts) <= _ITEMS:
            raise Misunderstood(f"input: expected 1 to {_ITEMS} texts, got {len(texts)}")
        if data.get("encoding_format", "float") != "float":
            raise Misunderstood("encoding_format: only float is served by the test server")
        dimensions, model = data.get("dimensions", DIMENSIONS), str(data.get("model", "test"))
        if type(dimensions) is not int or not 1 <= dimensions <= 4096:
            raise Misunderstood("dimensions: expected 1 to 4096")
        dimensions = DIMENSIONS if model == FIXED else dimensions
        said = "\0".join((model, *texts)).encode("utf-8", "surrogatepass")
        return cls(hashlib.sha256(said).hexdigest()[:16], model, tuple(texts), dimensions, ollama)


def rows_answer(asked: AskedRows, drawn: Drawn, plan: Plan, secret: str) -> Answer:
    """The response to one request for rows.

    Args:
        asked: the request.
        drawn: what goes wrong with this attempt; what concerns words alone does not.
        plan: how the server behaves otherwise.
        secret: value of the Authorization header.
    """
    way = drawn.way or ""
    if way in ERRORS:
        return Answer(_error_of(way, plan), way)
    if way in _INSTEAD:
        return Answer(_INSTEAD[way](secret), way)
    if any(len(text) > LONGEST for text in asked.texts):
        return Answer(_too_long(), "overflow")
    usage = (sum(tokens(len(text)) for text in asked.texts), 0)
    body = _rows_body(asked, usage[0], whole=way not in EMPTY)
    if drawn.usage is not None and not asked.ollama:
        _spoil(body, drawn.usage, asked.id)
    return Answer(HttpResponse.of(200, body), way or drawn.usage or ANSWERED, usage)


def row_of(text: str, model: str = "test", dimensions: int = DIMENSIONS) -> list[float]:
    """The row of a text: the same everywhere, of no particular length."""
    row = np.zeros(dimensions)
    for word in text.lower().split():
        seed = hashlib.sha256(f"{model} {word}".encode("utf-8", "surrogatepass")).digest()
        row += np.random.default_rng(list(seed)).standard_normal(dimensions)
    return [float(number) for number in row]


def _rows_body(asked: AskedRows, counted: int, *, whole: bool) -> dict[str, Any]:
    if asked.ollama:
        plain = [row_of(text, asked.model, asked.dimensions) for text in asked.texts]
        return {"embeddings": plain if whole else [], "prompt_eval_count": counted}
    rows = [
        {
            "object": "embedding",
            "index": place,
            "embedding": row_of(text, asked.model, asked.dimensions),
        }
        for place, text in enumerate(asked.texts)
    ]
    # Backwards, as nothing promises an order.
    return {
        "object": "list",
        "data": rows[::-1] if whole else [],
        "model": asked.model,
        "usage": {"prompt_tokens": counted, "total_tokens": counted},
    }


def _too_long() -> HttpResponse:
    said = f"This model's maximum context length is {tokens(LONGEST)} tokens."
    return error(400, said, INVALID, "context_length_exceeded")
