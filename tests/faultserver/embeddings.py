"""Embeddings: rows for texts, the same for the same words, with the faults of the plan.

A row is the sum of fixed rows of the text's words, so texts that share words are near each other.
A request is known by a hash of its texts; tokens are counted text by text, so that totals can be
predicted however the texts are divided among requests.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from tests.faultserver.asked import Misunderstood, read_object, tokens
from tests.faultserver.bodies import INVALID, Answer, error, instead, spoil
from tests.faultserver.counts import ANSWERED
from tests.faultserver.plan import EMPTY
from tests.faultserver.wire import HttpResponse

ROWS, OLLAMA = "/embeddings", "/api/embed"
"""Addresses: as OpenAI has it (below ``/v1``), and as Ollama has it."""
DIMENSIONS = 16
LONGEST = 2000
"""Characters of the longest text that this model reads."""
FIXED = "fixed"
"""A model whose rows have one length, whatever is asked for."""


@dataclass(frozen=True)
class AskedRows:
    """One request for rows; its id is a hash of model and texts."""

    id: str
    model: str
    texts: tuple[str, ...]
    dimensions: int
    ollama: bool

    @classmethod
    def read(cls, body, *, ollama=False):
        """Understand one body."""
        data = read_object(body)
        given = data.get("input")
        texts = [given] if isinstance(given, str) else given
        if not isinstance(texts, list) or not all(isinstance(one, str) and one for one in texts):
            raise Misunderstood("input: expected a text or a list of texts, none of them empty")
        if not 0 < len(texts) <= 2048 or data.get("encoding_format", "float") != "float":
            raise Misunderstood("expected 1 to 2048 texts, and rows of floats to be asked for")
        model = str(data.get("model", "test"))
        dimensions = DIMENSIONS if model == FIXED else data.get("dimensions", DIMENSIONS)
        said = "\0".join((model, *texts)).encode("utf-8", "surrogatepass")
        return cls(hashlib.sha256(said).hexdigest()[:16], model, tuple(texts), dimensions, ollama)


def rows_answer(asked, drawn, plan, secret):
    """The response to one request for rows; what goes wrong with words alone does not matter."""
    way = drawn.way or ""
    if (other := instead(way, plan, secret)) is not None:
        return other
    if any(len(text) > LONGEST for text in asked.texts):
        said = f"This model's maximum context length is {tokens(LONGEST)} tokens."
        return Answer(error(400, said, INVALID, "context_length_exceeded"), "overflow")
    counted = sum(tokens(len(text)) for text in asked.texts)
    texts = () if way in EMPTY else asked.texts
    rows = [row_of(text, asked.model, asked.dimensions) for text in texts]
    if asked.ollama:
        body = {"embeddings": rows, "prompt_eval_count": counted}
    else:
        data = [{"object": "embedding", "index": n, "embedding": row} for n, row in enumerate(rows)]
        usage = {"prompt_tokens": counted, "total_tokens": counted}
        # Backwards, as nothing promises an order.
        body = {"object": "list", "data": data[::-1], "model": asked.model, "usage": usage}
        spoil(body, drawn.usage, asked.id)
    return Answer(HttpResponse.of(200, body), way or drawn.usage or ANSWERED, (counted, 0))


def row_of(text, model="test", dimensions=DIMENSIONS):
    """The row of a text: the same everywhere, of no particular length."""
    row = np.zeros(dimensions)
    for word in text.lower().split():
        seed = hashlib.sha256(f"{model} {word}".encode("utf-8", "surrogatepass")).digest()
        row += np.random.default_rng(list(seed)).standard_normal(dimensions)
    return [float(number) for number in row]
