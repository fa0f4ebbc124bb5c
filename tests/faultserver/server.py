"""Server: connections, what each address answers, and how a faulty answer is sent."""

from __future__ import annotations

import asyncio
import contextlib
import math
import traceback
from dataclasses import dataclass, field

from pydantic import ValidationError

from tests.faultserver.asked import Asked, Misunderstood
from tests.faultserver.bodies import Answer, answer, error
from tests.faultserver.counts import FAILED, GONE, MISUNDERSTOOD, CallCount, Counts
from tests.faultserver.embeddings import OLLAMA, ROWS, AskedRows, rows_answer
from tests.faultserver.plan import Drawn, Plan
from tests.faultserver.windows import CHAT, AskedWindow, about, as_ollama, fit, read_ollama
from tests.faultserver.wire import BadRequest, HttpResponse, read_request, write_response

MODELS = {"object": "list", "data": [{"id": "test", "object": "model", "owned_by": "tests"}]}
_ASKING = {("POST", path) for path in ("/chat/completions", CHAT, ROWS, OLLAMA)}
WORDLESS = ("stalled", "dropped")
"""Faults of which the client sees no answer at all."""
GENERATED_IN_VAIN = (*WORDLESS, "malformed_http", "bad_gateway")
"""Faults that hide an answer which was generated; what they send has no usage."""
_BROKEN = {"cut_body", "dropped", "stalled", GONE}
"""Outcomes after which the connection is of no more use."""


@dataclass
class Case:
    """One request for a completion, from its arrival to what is sent for it."""

    counted: CallCount | None = None
    drawn: Drawn = field(default_factory=Drawn)
    delay: float = 0.0
    answer: Answer | None = None


class Server:
    """One server on the loopback address; all of it runs on one event loop."""

    def __init__(self, plan):
        self.plan, self.counts = plan, Counts()
        self._listening = None
        self._open = set()
        self._clients = set()

    async def start(self, port):
        """Listen; returns the port, which is a free one if 0 is given."""
        listening = await asyncio.start_server(self._serve, "127.0.0.1", port, backlog=1024)
        self._listening = listening
        return int(listening.sockets[0].getsockname()[1])

    async def stop(self):
        """Listen no more and drop every connection."""
        if self._listening is not None:
            self._listening.close()
        for writer in list(self._open):
            writer.transport.abort()
        await asyncio.sleep(0)

    async def _serve(self, reader, writer):
        self._open.add(writer)
        # So that a drained answer is one that the system has taken whole.
        writer.transport.set_write_buffer_limits(high=0)
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            self._open.discard(writer)
            if writer in self._clients:
                self._clients.discard(writer)
                self.counts.open_connections -= 1
            writer.close()

    async def _one(self, reader, writer):
        """Answer one request; False when the connection is to be closed."""
        try:
            http = await read_request(reader)
        except BadRequest as wrong:
            await write_response(writer, error(400, str(wrong)))
            return False
        if http is None:
            return False
        again = True
        if (http.method, http.path.removeprefix("/v1")) in _ASKING:
            again = await self._chat(http, reader, writer)
        else:
            await write_response(writer, self._about(http))
        return again and http.headers.get("connection", "").lower() != "close"

    async def _chat(self, http, reader, writer):
        """Answer one request for a completion or for rows, and count what came of it."""
        counts, outcome = self.counts, GONE  # a reset leaves what is under way to the old counts
        if writer not in self._clients:
            self._clients.add(writer)
            counts.connect()
        counts.arrive()
        case = self._case(http, counts)
        try:
            outcome = await self._send(case, reader, writer)
        finally:
            whole = outcome not in _BROKEN
            usage = case.answer.usage if case.answer is not None and whole else None
            if outcome == GONE:  # who gave up has seen no more than lateness
                met = ["slow"] if case.drawn.way == "slow" else []
            else:
                met = [] if outcome in (MISUNDERSTOOD, FAILED) else case.drawn.met
            counts.leave(outcome, case.counted, usage, met)
        return whole

    def _case(self, http, counts):
        """What is to be sent, and when."""
        case, plan, secret = Case(), self.plan, http.headers.get("authorization", "")
        try:
            asked, window = _asked(http)
            case.counted = counted = counts.attempt(asked.id)
            case.drawn = drawn = self._draw(asked.id, counted, counts)
            case.delay = plan.delay(asked.id, counted.attempts)
            if drawn.way == "slow":
                case.delay += plan.slow_seconds
            if isinstance(asked, AskedRows):
                if drawn.way not in WORDLESS:
                    case.answer = rows_answer(asked, drawn, plan, secret)
                return case
            if drawn.way not in WORDLESS:
                case.answer = self._answer(asked, window, drawn, secret)
            generated = case.answer
            if drawn.way in GENERATED_IN_VAIN:
                generated = answer(asked, drawn._replace(way=None), plan, "")
            counts.generate(None if generated is None else generated.usage)
        except Misunderstood as wrong:
            case.answer = Answer(error(400, str(wrong)), MISUNDERSTOOD)
        except Exception:
            traceback.print_exc()
            case.answer = Answer(error(500, "the test server has broken down"), FAILED)
        return case

    def _answer(self, asked, window, drawn, secret):
        """The answer to what a model sees of a question through its context window."""
        if window.num_ctx is not None:
            self.counts.windows[window.num_ctx] += 1
        seen, refused = fit(asked, window, self.plan)
        if refused is not None:
            return refused
        self.counts.cut += seen is not asked
        made = answer(seen, drawn, self.plan, secret)
        return as_ollama(made) if window.own_api else made

    def _draw(self, call, counted, counts):
        last = math.inf if self.plan.until_n is None else self.plan.until_n
        within = self.plan.from_n < counts.requests <= last
        spared = not within or counted.streak >= self.plan.streak
        drawn = self.plan.draw(call, counted.attempts, spared=spared)
        counted.streak = counted.streak + 1 if drawn.way is not None else 0
        return drawn

    async def _send(self, case, reader, writer):
        """Send what is to be sent; returns the outcome."""
        if case.delay > 0.0:
            await asyncio.sleep(case.delay)
        if reader.at_eof():
            return GONE
        if case.answer is None:
            if case.drawn.way == "stalled":
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(reader.read(1), self.plan.stalled_seconds)
            writer.transport.abort()
            return case.drawn.way or GONE
        response = case.answer.response
        if case.drawn.way == "cut_body":
            writer.write(response.head() + response.body[: len(response.body) // 2])
            await writer.drain()
            return "cut_body"
        await write_response(writer, response)
        return case.answer.outcome

    def _about(self, http):
        """The answer to anything but a request for a completion."""
        told = about(http, self.plan)
        if told is not None:
            return told
        match http.method, http.path.removeprefix("/v1"):
            case "GET", "/models":
                return HttpResponse.of(200, MODELS)
            case "GET", "/counts":
                return HttpResponse.of(200, self.counts.shown(full=http.query.get("full") == "1"))
            case "POST", "/plan":
                try:
                    self.plan = Plan.model_validate_json(http.body)
                except ValidationError as wrong:
                    return error(400, f"no plan: {wrong}")
                return HttpResponse.of(200, {})
            case "POST", "/reset":
                held = self.counts.open_connections
                self.counts = Counts(connections=held, open_connections=held)
                return HttpResponse.of(200, {})
        return error(404, f"{http.method} {http.path} is not served by the test server")


def _asked(http):
    """What a request is for, by its address, and what it says of the context window."""
    if http.path.endswith((ROWS, OLLAMA)):
        return AskedRows.read(http.body, ollama=http.path.endswith(OLLAMA)), AskedWindow()
    if http.path.endswith(CHAT):
        return read_ollama(http.body, http.headers)
    return Asked.read(http.body, http.headers), AskedWindow()
