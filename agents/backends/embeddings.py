"""An embedding model behind HTTP, asked through litellm; batches, waits and retries are ours."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import hashlib
import json
import math
import os
import re
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from functools import cache
from time import monotonic
from typing import Any

from pydantic import Field, PrivateAttr

from virsci_society.agents.backends.endpoint_settings import Address, EndpointSettings, Variable
from virsci_society.agents.backends.http import Deadlines
from virsci_society.agents.backends.http_client import prepare_environment, probe
from virsci_society.agents.backends.litellm import (
    litellm_arguments,
    litellm_for,
    provider_of,
    recorded_exchange,
)
from virsci_society.agents.backends.responses import get_field, one_line
from virsci_society.agents.config import Part
from virsci_society.agents.errors import Fault, InputError, Overflow, Stopped, Verdict
from virsci_society.agents.gateway.retry import Retry, wait_after
from virsci_society.agents.loop_thread import LoopThread


@dataclass(frozen=True, slots=True)
class EmbeddingBatch:
    """The answer to one batch of texts."""

    rows: list[list[float]]
    cut: int = 0


def read_rows(answer: Any, count: int) -> list[list[float]]:
    """Return the ``count`` vectors of an answer, in the order of the texts."""
    data = get_field(answer, "data")
    # By their numbers: nothing says that a server keeps the order of the texts.
    try:
        by_number = {int(get_field(one, "index")): get_field(one, "embedding") for one in data}
        rows = [[float(number) for number in by_number[index]] for index in range(count)]
    except (KeyError, TypeError, ValueError, OverflowError):
        raise Fault(f"the response does not contain {count} rows of numbers", "garbled") from None
    if len(data) != count or not rows[0] or len({len(row) for row in rows}) > 1:
        raise Fault(f"the response does not contain {count} rows of one length", "garbled")
    if not all(math.isfinite(number) for row in rows for number in row):
        raise Fault("the response contains numbers that are not finite", "garbled")
    return rows


SHORTEST = 16
"""Characters to which a text that is too long is cut at most."""
WRONG = "see the embedding's model, api_base and dimensions"
GOES_ON = "a cache keeps finished embeddings; repeat the command to resume"


class EmbeddingLoop(LoopThread):
    """The loop thread of all embedding requests of a process, whose connections litellm shares."""

    def __init__(self) -> None:
        super().__init__("embedding")
        self.transports: set[Any] = set()
        """Connections that are closed when the process ends."""
        atexit.register(self._stop_at_exit)

    def close_transports(self, transports: set[Any]) -> None:
        """Close these connections and empty the set."""

        async def close() -> None:
            while transports:
                await transports.pop().aclose()

        self.submit(close()).result(timeout=10)

    def _stop_at_exit(self) -> None:
        if not self.is_alive:  # in a process that was forked off
            return
        with contextlib.suppress(TimeoutError):
            self.close_transports(self.transports)
        self.stop()


@cache
def _loop_of_process(process: int) -> EmbeddingLoop:
    """The embedding loop of a process by its id: a forked one has no thread of its parent."""
    return EmbeddingLoop()


class LiteLLMEmbedding(Part):
    """A model that turns texts into rows, through litellm."""

    model: str = Field(min_length=1, max_length=200, pattern=r"^[!-~]+$")
    """Name of the model as litellm knows it: ``provider/name``."""
    api_base: Address = None
    """Address of the API; null: the provider's own."""
    key: Variable = None
    """Name of the environment variable that holds the key; null: the provider's usual one."""
    dimensions: int | None = Field(default=None, ge=1, le=100_000)
    """Length of the rows, for models that let it be chosen; null: the model's own."""
    batch: int = Field(default=64, ge=1, le=2048)
    """Texts in one request."""
    in_flight: int = Field(default=4, ge=1, le=1000)
    """Most requests at a time."""
    deadlines: Deadlines = Field(default_factory=Deadlines)
    """How long one request may take."""
    retry: Retry = Field(default_factory=Retry)
    """How often and after which waits a request is made again."""

    _transports: set[Any] = PrivateAttr(default_factory=set)
    _answered: float = PrivateAttr(default=0.0)

    def embed(self, texts: Sequence[str]) -> Iterator[tuple[list[int], EmbeddingBatch]]:
        """Embed texts in batches, each yielded when it is answered, also where another fails."""
        loop_thread = _loop_of_process(os.getpid())
        arguments = self._settings()
        starts = range(0, len(texts), self.batch)
        batches = deque(list(range(at, min(at + self.batch, len(texts)))) for at in starts)
        open_: dict[Future[EmbeddingBatch], list[int]] = {}
        failure: BaseException | None = None
        try:
            while open_ or (batches and failure is None):
                while batches and failure is None and len(open_) < self.in_flight:
                    numbers = batches.popleft()
                    answer = self._batch([texts[number] for number in numbers], arguments)
                    open_[loop_thread.submit(answer)] = numbers
                done, _ = wait(open_, return_when=FIRST_COMPLETED)
                # A set has no order of its own, and the first failure is the one reported.
                for future in sorted(done, key=lambda future: open_[future]):
                    numbers, error = open_.pop(future), future.exception()
                    failure = failure or error
                    if error is None:
                        yield numbers, future.result()
        finally:
            for future in open_:
                future.cancel()
            loop_thread.transports |= self._transports
        if failure is not None:
            raise failure

    def close(self) -> None:
        """Close all connections; the next ``embed`` opens new ones."""
        _loop_of_process(os.getpid()).close_transports(self._transports)

    def _settings(self) -> dict[str, Any]:
        """The arguments of every request."""
        endpoint = EndpointSettings(self.api_base, self.key, provider_of(self.model))
        prepare_environment(self.api_base)
        arguments = litellm_arguments(self.model, endpoint, endpoint.secret())
        arguments["timeout"] = self.deadlines.read
        if self.dimensions is not None:
            arguments |= {"dimensions": self.dimensions, "allowed_openai_params": ["dimensions"]}
        return arguments

    async def _batch(self, texts: Sequence[str], arguments: dict[str, Any]) -> EmbeddingBatch:
        """Make attempts at a batch until it is answered; a batch that is too long is divided."""
        # The waits are drawn from the name of the batch.
        id = hashlib.sha256(json.dumps(list(texts)).encode()).hexdigest()[:16]
        began, faults = monotonic(), list[Fault]()
        while True:
            try:
                # A model may take minutes over its first batch, so silence after one says nothing.
                if self.api_base is not None and not self._answered:
                    found = await probe(self.api_base, self.deadlines.connect)
                    if isinstance(found, Fault):
                        raise found
                rows = await self._attempt(texts, arguments)
                self._answered = monotonic()
                return EmbeddingBatch(rows)
            except Overflow as verdict:
                too_long = verdict
                break
            except Verdict as verdict:
                raise Stopped(f"{verdict}; {WRONG}") from None
            except Fault as fault:
                faults.append(fault)
            silent = monotonic() - max(began, self._answered)
            contact = None if self._answered else self.deadlines.connect
            try:
                wait = wait_after(id, faults, self.retry, silent, contact)
            except (InputError, Stopped) as error:
                message = re.sub(r"(?:--set )?backend\.", "the embedding's ", str(error))
                raise type(error)(f"{message}; {GOES_ON}") from None
            await asyncio.sleep(wait)
        half = len(texts) // 2
        if half == 0:
            beginning = texts[0][: len(texts[0]) * 3 // 4]
            if len(beginning) < SHORTEST:
                raise Stopped(f"{too_long}; {WRONG}")
            return EmbeddingBatch((await self._batch([beginning], arguments)).rows, cut=1)
        left = await self._batch(texts[:half], arguments)
        right = await self._batch(texts[half:], arguments)
        return EmbeddingBatch(left.rows + right.rows, left.cut + right.cut)

    async def _attempt(self, texts: Sequence[str], arguments: dict[str, Any]) -> list[list[float]]:
        """Make one request; raises Verdict or Fault only."""
        litellm, total = litellm_for(self.model), self.deadlines.total
        litellm.DEFAULT_MAX_RETRIES = 0  # else it would make retries of its own
        with recorded_exchange() as passed:
            try:
                async with asyncio.timeout(total):
                    answer = await litellm.aembedding(input=list(texts), **arguments)
            except TimeoutError:
                failure: Verdict | Fault = Fault(
                    f"no answer within {total:g} seconds (deadlines.total)", "timeout"
                )
            except Exception as error:
                known = passed.failure(error)
                if known is None:
                    # A status of success, and an answer that litellm could not read.
                    try:
                        complaint = get_field(json.loads(passed.response.text), "error")
                    except (ValueError, RecursionError):
                        complaint = "no JSON"
                    why = one_line(f"{complaint or type(error).__name__}")
                    known = Fault(f"the response is not a list of embeddings ({why})", "garbled")
                failure = known
            else:
                return read_rows(answer, len(texts))
            finally:
                self._transports.update(passed.transports)
        raise failure
