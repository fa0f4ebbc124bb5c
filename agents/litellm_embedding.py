"""LiteLLMEmbedding: rows of numbers for texts, by a model of any provider that litellm knows.

As for words, litellm is asked for one HTTP request at a time and for nothing else: batches, the
bound on what is under way, waits and repetitions are ours. Requests run in a thread of their own,
so that whoever asks may be inside of an event loop or not.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from functools import cache
from time import monotonic
from typing import Any

from pydantic import Field, PrivateAttr

from agents.classify import attribute, of_error, of_response, one_line
from agents.desk import our_desk
from agents.embedded import Embedded, rows_of, usage_of
from agents.errors import Overflow, Stopped, Verdict
from agents.faults import Fault
from agents.litellm_backend import NO_KEY, Exchange, LiteLLM, body_of, exchange_of_call, library_for
from agents.live import Deadlines, Price
from agents.part import Part
from agents.request import Usage
from agents.retry import Retry
from agents.way import Address, Variable, Way

SHORTEST = 16
"""Characters to which a text that is too long is cut at most."""

ADVICE = {
    "timeout": "raise deadlines, or see whether the server is alive",
    "connection": "see whether the server runs at api_base",
    "key": "put a valid key into the provider's environment variable",
    "credit": "the account has no credit left",
    "request": "see the embedding's model, api_base and dimensions",
}
"""What can be done about a fault that is not borne any longer."""
GOES_ON = "what has been embedded is kept where there is a cache, and the same command goes on"


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
    prices: Price | None = None
    """What the model costs; null: as litellm's list of prices says, or unknown."""

    _transports: set[Any] = PrivateAttr(default_factory=set)
    _answered: float = PrivateAttr(default=0.0)

    @property
    def priced(self) -> bool:
        """True if ``price`` knows what the tokens cost."""
        return self._words().priced

    def price(self, usage: Usage) -> float:
        """US dollars for these tokens; 0 where no price is known."""
        return self._words().price(usage)

    def pieces(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Embedded]]:
        """Embed texts in batches; each is handed over as soon as it is answered.

        Where one fails for good, those under way are waited for and handed over first.

        Args:
            texts: what is embedded, none of them empty.

        Yields:
            Numbers of texts, and their answer.

        Raises:
            Stopped: the model cannot be reached, or refuses.
            InputError: the environment variable of a key is missing.
        """
        way, desk = Way(self.api_base, key=self.key), our_desk()
        said = self._settings(way)
        starts = range(0, len(texts), self.batch)
        batches = deque(list(range(at, min(at + self.batch, len(texts)))) for at in starts)
        open_: dict[Future[Embedded], list[int]] = {}
        failure: BaseException | None = None
        try:
            while open_ or (batches and failure is None):
                while batches and failure is None and len(open_) < self.in_flight:
                    places = batches.popleft()
                    asked = self._batch([texts[place] for place in places], said)
                    open_[desk.ask(asked)] = places
                done, _ = wait(open_, return_when=FIRST_COMPLETED)
                for future in sorted(done, key=lambda one: open_[one]):
                    places, error = open_.pop(future), future.exception()
                    failure = failure or error
                    if error is None:
                        yield places, future.result()
        finally:
            for future in open_:
                future.cancel()
            desk.note(self._transports)
        if failure is not None:
            raise failure

    def close(self) -> None:
        """Close all connections; the next question opens new ones."""
        our_desk().close(self._transports)

    def _words(self) -> LiteLLM:
        return LiteLLM(model=self.model, prices=self.prices)

    def _settings(self, way: Way) -> dict[str, Any]:
        """What is said with every request."""
        said: dict[str, Any] = {"model": self.model, "num_retries": 0, "max_retries": 0}
        said |= {"timeout": self.deadlines.read, "drop_params": True}
        if self.dimensions is not None:
            said |= {"dimensions": self.dimensions, "allowed_openai_params": ["dimensions"]}
        if way.api_base is not None:
            said["api_base"] = way.api_base
        key = way.secret()
        if key is not None or way.is_local:
            said["api_key"] = key or NO_KEY
        return said

    async def _batch(self, texts: Sequence[str], said: dict[str, Any]) -> Embedded:
        """Attempt after attempt, until there are rows or it is enough."""
        id, began, faults = _id_of(texts), monotonic(), list[Fault]()
        while True:
            try:
                answer = await self._attempt(texts, said)
            except Overflow as verdict:
                return await self._shorter(texts, said, verdict, len(faults) + 1)
            except Verdict as verdict:
                raise Stopped(f"{verdict}; {ADVICE['request']}") from None
            except Fault as fault:
                faults.append(fault)
            else:
                self._answered = monotonic()
                rows, usage = answer
                return Embedded(rows, usage, requests=len(faults) + 1)
            self._bear(faults, monotonic() - max(began, self._answered))
            await asyncio.sleep(self.retry.wait(id, len(faults), faults[-1].after))

    def _bear(self, faults: list[Fault], seconds: float) -> None:
        """Raise Stopped if the last fault is not to be borne any longer.

        Args:
            faults: of this batch, in order.
            seconds: since any batch was answered.
        """
        fault = faults[-1]
        failed = sum(one.kind != "rate" for one in faults)
        if not fault.rule.again:
            why = ""
        elif failed >= self.retry.attempts:
            why = f"; {failed} attempts have failed"
        elif seconds >= self.retry.patience:
            why = f"; nothing has been answered for {seconds:.0f} seconds"
        else:
            return
        advice = ADVICE.get(fault.kind)
        raise Stopped("; ".join(filter(None, (f"{fault}{why}", advice, GOES_ON))))

    async def _shorter(
        self, texts: Sequence[str], said: dict[str, Any], verdict: Verdict, requests: int
    ) -> Embedded:
        """The rows of a batch that was too long: by halves, and of a single text the beginning."""
        if len(texts) == 1:
            kept = texts[0][: len(texts[0]) * 3 // 4]
            if len(kept) < SHORTEST:
                raise Stopped(f"{verdict}; {ADVICE['request']}")
            one = await self._batch([kept], said)
            return Embedded(one.rows, one.usage, cut=1, requests=requests + one.requests)
        half = len(texts) // 2
        left = await self._batch(texts[:half], said)
        right = await self._batch(texts[half:], said)
        tokens = left.usage.prompt_tokens + right.usage.prompt_tokens
        usage = Usage(tokens, 0, left.usage.estimated or right.usage.estimated)
        requests += left.requests + right.requests
        return Embedded(left.rows + right.rows, usage, left.cut + right.cut, requests)

    async def _attempt(
        self, texts: Sequence[str], said: dict[str, Any]
    ) -> tuple[list[list[float]], Usage]:
        """One request. Raises Verdict or Fault only."""
        litellm, total = _library(self.model), self.deadlines.total
        with exchange_of_call() as passed:
            try:
                async with asyncio.timeout(total):
                    answer = await litellm.aembedding(input=list(texts), **said)
            except TimeoutError:
                failure: Verdict | Fault = Fault(
                    f"no answer within {total:g} seconds (deadlines.total)", "timeout"
                )
            except Exception as error:
                failure = _failure(passed, error)
            else:
                return rows_of(answer, len(texts)), usage_of(answer, texts)
            finally:
                self._transports.update(passed.transports)
        raise failure


@cache
def _library(model: str) -> Any:
    """litellm; to it, no repetitions of a request for rows means its usual ones."""
    litellm = library_for(model)
    litellm.DEFAULT_MAX_RETRIES = 0
    return litellm


def _failure(passed: Exchange, error: Exception) -> Verdict | Fault:
    """What litellm's exception means; the answer knows better, where there was one."""
    answer = passed.response
    body = None if answer is None else body_of(answer)
    if answer is not None and answer.status_code >= 300:
        return of_response(answer.status_code, body or "", answer.headers)
    if body is None:
        return of_error(passed.error or error, sent=passed.sent)
    try:
        told = attribute(json.loads(body), "error")
    except (ValueError, RecursionError):
        told = "no JSON"
    why = one_line(f"{told or type(error).__name__}")
    return Fault(f"the answer is no list of embeddings ({why})", "garbled")


def _id_of(texts: Sequence[str]) -> str:
    """What the waits of a batch are drawn by."""
    said = json.dumps(list(texts)).encode()
    return hashlib.sha256(said).hexdigest()[:16]
