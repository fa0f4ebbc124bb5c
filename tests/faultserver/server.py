"""Server: what each address answers, how a faulty answer is sent, and what is counted.

HTTP/1.1 is read and written by hand, because a connection must be cut, stalled or dropped at any
byte. Errors are worded as OpenAI words them, windows as Ollama 0.33, vLLM and llama.cpp do.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

import numpy as np
from pydantic import ValidationError

from tests.faultserver.plan import EMPTY, KINDS, Drawn, Plan, chance
from tests.faultserver.slots import Unheard, heard
from virsci_society.agents.offline.backend import SchemaFiller, answer_offline
from virsci_society.agents.offline.question_context import Asked as Draws
from virsci_society.agents.offline.text import NEUTRAL, noun_phrases
from virsci_society.agents.prompts.request import Message, Request

LONGEST_BODY = 64 * 2**20
MODELS = {"object": "list", "data": [{"id": "test", "object": "model", "owned_by": "tests"}]}
CHAT, OLLAMA_CHAT = "/chat/completions", "/api/chat"
ROWS, OLLAMA_ROWS = "/embeddings", "/api/embed"
WORDLESS = ("stalled", "dropped")
"""Faults of which the client sees no answer at all."""
GENERATED_IN_VAIN = (*WORDLESS, "malformed_http", "bad_gateway")
"""Faults that hide an answer which was generated; what they send has no usage."""

ANSWERED, REASKED, LIMITED = "answered", "reask", "limit"
"""Outcomes of attempts that met no fault: answered well, answered unreadably because the plan's
``reask`` says so, and cut at the limit of length that the client itself set."""
GONE, MISUNDERSTOOD, FAILED = "gone", "misunderstood", "failed"
"""The client gave up before all was sent; the request is none that the server understands; the
server itself broke down, with a traceback on stderr."""
_BROKEN = {"cut_body", "dropped", "stalled", GONE}
"""Outcomes after which the connection is of no more use."""

INVALID = "invalid_request_error"
ERRORS = {
    "unauthorised": (401, "Incorrect API key provided.", INVALID, "invalid_api_key"),
    "forbidden": (403, "Country not supported", "request_forbidden", "unsupported_country"),
    "not_found": (404, "The model does not exist.", INVALID, "model_not_found"),
    "quota": (
        *(429, "You exceeded your current quota, please check your plan and billing details."),
        *("insufficient_quota", "insufficient_quota"),
    ),
    "rate_limited": (429, "Rate limit reached for requests", "requests", "rate_limit_exceeded"),
    "rate_limited_bare": (429, "Rate limit reached", "requests", "rate_limit_exceeded"),
    "server_error": (500, "The server had an error. Sorry about that!", "server_error", None),
    "unavailable": (503, "The engine is currently overloaded", "server_error", None),
}
"""Status, message, type and code of each kind that is an error and no more."""
HTML = b"<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"
WRONG = (
    {"prompt_tokens": -5, "completion_tokens": -7, "total_tokens": -12},
    {"prompt_tokens": "many", "completion_tokens": "a few", "total_tokens": "plenty"},
    {"prompt_tokens": 10**18, "completion_tokens": 10**18, "total_tokens": 2},
)
SENTENCE = "This is the test server: without slots or a schema it has only this sentence to say."
UNREADABLE = "I would rather talk about this than fill in a form, and so I do not."

DIMENSIONS, FIXED = 16, "fixed"
"""Length of a row, and a model whose rows have it whatever is asked for."""
LONGEST = 2000
"""Characters of the longest text of which a row is made."""
WINDOW = 4096
"""Tokens of the window of Ollama on a small machine, and of the others if the plan names none."""
KEPT = 5
"""Tokens at the beginning that Ollama keeps: ``num_keep``, and that which begins a text."""


class Misunderstood(ValueError):
    """The request is none that this server answers; the message says why."""


@dataclass(frozen=True)
class HttpRequest:
    """One request; the names of headers are in lower case."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    @property
    def data(self):
        """The JSON object in the body."""
        try:
            data = json.loads(self.body)
        except (ValueError, RecursionError) as wrong:
            raise Misunderstood(f"the body is no JSON: {wrong}") from None
        if not isinstance(data, dict):
            raise Misunderstood("the body is no JSON object")
        return data


@dataclass(frozen=True)
class HttpResponse:
    """One response with its whole body."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    kind: str = "application/json"

    @classmethod
    def of(cls, status, data):
        """A response in JSON."""
        return cls(status, json.dumps(data).encode())

    def head(self):
        """Status line and headers, the true length of the body among them."""
        lines = [
            f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}",
            f"Content-Type: {self.kind}",
            f"Content-Length: {len(self.body)}",
            *(f"{name}: {value}" for name, value in self.headers.items()),
        ]
        return "\r\n".join([*lines, "", ""]).encode("latin-1")


def error(status, message, kind=INVALID, code=None):
    """An error as OpenAI puts it."""
    said = {"message": message, "type": kind, "param": None, "code": code}
    return HttpResponse.of(status, {"error": said})


@dataclass(frozen=True)
class Answer:
    """A response, what came of the attempt, and the true tokens of a completion that it holds."""

    response: HttpResponse
    outcome: str
    usage: tuple[int, int] | None = None


def tokens(characters):
    """Four characters a token, rounded up: the count of ``agents/offline/backend.py``."""
    return (characters + 3) // 4


@dataclass
class CallCount:
    """What happened to one call id; ``answers`` are those that the client can keep."""

    attempts: int = 0
    answers: int = 0
    streak: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    outcomes: list[str] = field(default_factory=list)


@dataclass
class Counts:
    """All counts since the start or the last reset; ``README.md`` explains each."""

    requests: int = 0
    under_way: int = 0
    most_at_once: int = 0
    connections: int = 0
    open_connections: int = 0
    cut: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    tokens: dict[str, list[int]] = field(default_factory=dict)
    windows: Counter[int] = field(default_factory=Counter)
    generated: Counter[str] = field(default_factory=Counter)
    calls: dict[str, CallCount] = field(default_factory=dict)

    def leave(self, outcome, counted, usage, faults):
        """A request is done with."""
        self.under_way -= 1
        self.outcomes[outcome] += 1
        self.faults.update(faults)
        if counted is not None:
            counted.outcomes.append(outcome)
        if usage is None:
            return
        spent = self.tokens.setdefault(outcome, [0, 0])
        spent[:] = [spent[0] + usage[0], spent[1] + usage[1]]
        kept = KINDS[outcome].kept if outcome in KINDS else outcome in (ANSWERED, REASKED, LIMITED)
        if counted is not None and kept:
            counted.answers += 1
            counted.prompt_tokens += usage[0]
            counted.completion_tokens += usage[1]

    def shown(self, *, full):
        """All of it as plain data; ``full`` with one entry for each call id."""
        calls = self.calls.values()
        shown = vars(self) | {
            "calls": len(calls),
            "answers": sum(call.answers for call in calls),
            "repeated_answers": sum(call.answers > 1 for call in calls),
            "prompt_tokens": sum(call.prompt_tokens for call in calls),
            "completion_tokens": sum(call.completion_tokens for call in calls),
        }
        return shown | ({"by_call": {k: vars(v) for k, v in self.calls.items()}} if full else {})


@dataclass(frozen=True)
class Asked:
    """One question, and what it says of the context window."""

    id: str
    model: str
    messages: tuple[Message, ...]
    request: Request | None
    form: dict
    limit: int | None
    by_ollama: bool = False
    num_ctx: int | None = None
    refusing: bool = False

    @classmethod
    def read(cls, data):
        """Understand the body of a completion as OpenAI has it."""
        if data.get("stream"):
            raise Misunderstood("streaming is not served by the test server; leave stream out")
        given = data.get("messages")
        if not isinstance(given, list) or not given:
            raise Misunderstood("messages: expected a list of at least one message")
        messages = []
        for one in given:
            if not isinstance(one, dict) or "role" not in one:
                raise Misunderstood("messages: expected objects with role and content")
            content = one.get("content") or ""
            text = content if isinstance(content, str) else json.dumps(content)
            messages.append(Message(str(one["role"]), text))
        try:
            request = heard(data["slots"], tuple(messages)) if "slots" in data else None
        except Unheard as wrong:
            raise Misunderstood(str(wrong)) from None
        told = json.dumps([[one.role, one.content] for one in messages])
        form = data.get("response_format")
        limit = data.get("max_completion_tokens", data.get("max_tokens"))
        return cls(
            id=request.id if request else hashlib.sha256(told.encode()).hexdigest()[:16],
            model=str(data.get("model", "test")),
            messages=tuple(messages),
            request=request,
            form=form if isinstance(form, dict) else {},
            limit=limit if type(limit) is int and limit > 0 else None,
        )

    @classmethod
    def read_ollama(cls, data):
        """Understand a body of Ollama's own API."""
        if data.get("stream", True):
            raise Misunderstood("streaming is not served by the test server; send stream: false")
        options = data.get("options") or {}
        said = {name: data[name] for name in ("model", "messages", "slots") if name in data}
        if "format" in data:
            schema = {"name": "format", "schema": data["format"]}
            said["response_format"] = {"type": "json_schema", "json_schema": schema}
        if "num_predict" in options:
            said["max_tokens"] = options["num_predict"]
        refusing = data.get("truncate") is False or data.get("shift") is False
        window = {"num_ctx": options.get("num_ctx"), "refusing": refusing}
        return replace(cls.read(said), by_ollama=True, **window)

    @property
    def first(self):
        """True unless it asks once more for words that could not be read."""
        if self.request is not None:
            return self.request.attempt == 0
        return all(message.role != "assistant" for message in self.messages)

    @cached_property
    def prompt_tokens(self):
        """Tokens of the messages."""
        return tokens(sum(len(message.content) for message in self.messages))

    def words(self):
        """The good answer: the offline scientist's, or a value of the schema, or a sentence."""
        if self.request is not None:
            return answer_offline(self.request).text
        if self.form.get("type") != "json_schema":
            return SENTENCE
        try:
            schema = self.form["json_schema"]["schema"]
            rng = np.random.default_rng(int(chance("fill", self.id) * 2**53))
            terms = list(noun_phrases(self.messages[-1].content)[:6]) or list(NEUTRAL)
            made = SchemaFiller(terms, Draws({}, rng)).value(schema)
            return json.dumps(made, ensure_ascii=False)
        except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as wrong:
            raise Misunderstood(f"response_format: it cannot be filled: {wrong!r}") from None


class AskedRows(NamedTuple):
    """One request for rows; its id is a hash of model and texts."""

    id: str
    model: str
    texts: tuple[str, ...]
    dimensions: int
    by_ollama: bool

    @classmethod
    def read(cls, data, by_ollama):
        """Understand one body."""
        given = data.get("input")
        texts = [given] if isinstance(given, str) else given
        if not isinstance(texts, list) or not all(isinstance(one, str) and one for one in texts):
            raise Misunderstood("input: expected a text or a list of texts, none of them empty")
        if not 0 < len(texts) <= 2048 or data.get("encoding_format", "float") != "float":
            raise Misunderstood("expected 1 to 2048 texts, and rows of floats to be asked for")
        model = str(data.get("model", "test"))
        dimensions = DIMENSIONS if model == FIXED else data.get("dimensions", DIMENSIONS)
        said = "\0".join((model, *texts)).encode("utf-8", "surrogatepass")
        id_ = hashlib.sha256(said).hexdigest()[:16]
        return cls(id_, model, tuple(texts), dimensions, by_ollama)


def row_of(text, model="test", dimensions=DIMENSIONS):
    """The row of a text, the sum of fixed rows of its words: texts that share words are near."""
    row = np.zeros(dimensions)
    for word in text.lower().split():
        seed = hashlib.sha256(f"{model} {word}".encode("utf-8", "surrogatepass")).digest()
        row += np.random.default_rng(list(seed)).standard_normal(dimensions)
    return [float(number) for number in row]


def instead(way, plan, secret):
    """What is sent in place of any answer; ``secret`` is the Authorization header."""
    if way in ERRORS:
        response = error(*ERRORS[way])
        if way == "rate_limited":
            response.headers["Retry-After"] = f"{plan.retry_after:g}"
    elif way == "malformed_http":
        response = HttpResponse(200, b'{"choices": [{"message": <<<')
    elif way == "bad_gateway":
        response = HttpResponse(502, HTML, kind="text/html")
    elif way == "echo_key":
        why = f"Unexpected failure; the request had Authorization: {secret}"
        response = error(500, why, "server_error")
    else:
        return None
    return Answer(response, way)


def spoil(body, kind, call):
    """Falsify the usage of a body."""
    if kind == "missing_usage":
        del body["usage"]
    elif kind == "zero_usage":
        body["usage"] = dict.fromkeys(body["usage"], 0)
    elif kind == "wrong_usage":
        body["usage"] = WRONG[int(chance(call, kind) * len(WRONG))]


def answer_rows(asked, drawn, plan, secret):
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
    if asked.by_ollama:
        body = {"embeddings": rows, "prompt_eval_count": counted}
    else:
        data = [{"object": "embedding", "index": n, "embedding": row} for n, row in enumerate(rows)]
        usage = {"prompt_tokens": counted, "total_tokens": counted}
        # Backwards, as nothing promises an order.
        body = {"object": "list", "data": data[::-1], "model": asked.model, "usage": usage}
        spoil(body, drawn.usage, asked.id)
    return Answer(HttpResponse.of(200, body), way or drawn.usage or ANSWERED, (counted, 0))


def answer(asked, drawn, plan, secret):
    """The response to one question; how it is sent is the server's affair."""
    way = drawn.way
    if (other := instead(way, plan, secret)) is not None:
        return other
    if drawn.words == "overflow":
        why = f"This model's maximum context length is {max(1, asked.prompt_tokens - 1)} tokens."
        return Answer(error(400, why, code="context_length_exceeded"), way or "overflow")
    text, finish, refusal, outcome = _said(asked, drawn, plan, secret)
    usage = (asked.prompt_tokens, tokens(len(text or refusal or "")))
    message = {"role": "assistant", "content": text, "refusal": refusal}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
    body = {
        "id": f"chatcmpl-{int(chance(asked.id) * 2**53):014x}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": asked.model,
        "choices": [] if way == "no_choices" else [choice],
        "usage": {
            "prompt_tokens": usage[0],
            "completion_tokens": usage[1],
            "total_tokens": sum(usage),
        },
    }
    spoil(body, drawn.usage, asked.id)
    if asked.by_ollama and body["choices"]:
        counted = body.get("usage", {})
        body = {
            "model": asked.model,
            "created_at": "2026-01-01T00:00:00Z",
            "message": {"role": "assistant", "content": text or ""},
            "done": True,
            "done_reason": finish,
            "prompt_eval_count": counted.get("prompt_tokens"),
            "eval_count": counted.get("completion_tokens"),
        }
    return Answer(HttpResponse.of(200, body), outcome, usage)


def _said(asked, drawn, plan, secret):
    """Words, reason to finish, refusal and outcome; the first thing that goes wrong names it."""
    named, finish, refusal = drawn.way or drawn.words or drawn.usage, "stop", None
    if drawn.way in EMPTY:
        return None if drawn.way == "null_content" else "", finish, refusal, drawn.way
    text = asked.words()
    match drawn.words:
        case None if asked.first and plan.happens(plan.reask, "reask", asked.id):
            text, named = UNREADABLE, named or REASKED
        case "refusal":
            text, refusal = None, "I'm sorry, but I cannot help with that."
        case "content_filter":
            text, finish = "", "content_filter"
        case "length":
            text, finish = text[: len(text) // 2], "length"
        case "malformed_reply":
            text = UNREADABLE
        case "prose_reply":
            text = (
                f"Gladly, here is what I think.\n\n```json\n{text}\n```\n\nI hope that this helps."
            )
        case "echo_key_200":
            text = _with_secret(text, secret)
    if asked.limit is not None and text is not None and tokens(len(text)) > asked.limit:
        text, finish, named = text[: 4 * asked.limit], "length", named or LIMITED
    return text, finish, refusal, named or ANSWERED


def _with_secret(text, secret):
    """The answer with a secret behind its longest prose, or else before the JSON."""
    try:
        data = json.loads(text)
    except ValueError:
        data = None
    prose = [one for one in data.values() if isinstance(one, str)] if isinstance(data, dict) else []
    longest = max((one for one in prose if len(one.split()) >= 5), key=len, default=None)
    if longest is None:
        return f"My key is {secret}. {text}"
    told = {name: f"{one} ({secret})" if one == longest else one for name, one in data.items()}
    return json.dumps(told, ensure_ascii=False)


def fit(asked, plan):
    """What the model sees of a question through its window, or the error in place of an answer."""
    window, prompt = plan.window or WINDOW, asked.prompt_tokens
    if plan.plays == "vllm" and prompt + (asked.limit or 0) > window:
        words = (
            f"This model's maximum context length is {window} tokens. However, you requested "
            f"{asked.limit or 0} output tokens and your prompt contains {prompt} input tokens. "
            "Please reduce the length of the input prompt or the number of requested output tokens."
        )
        return asked, Answer(error(400, words, "BadRequestError"), "overflow")
    if plan.plays == "llama.cpp" and prompt >= window:
        return asked, Answer(HttpResponse.of(400, _too_long(prompt, window)), "overflow")
    if plan.plays == "ollama":
        # Ollama asks nothing more of a model than it was made for.
        window = min(asked.num_ctx if asked.num_ctx else window, plan.trained)
        if prompt > window - 1 and asked.refusing:
            inner = json.dumps(_too_long(prompt, window))
            return asked, Answer(HttpResponse.of(400, {"error": inner}), "overflow")
        if prompt > window - 1:
            # Older messages go first, then the beginning of the text. Releases since 0.30 leave
            # half of the window free.
            room = 4 * (window - (window - KEPT) // 2)
            kept = [one for one in asked.messages[:-1] if one.role == "system"]
            text = "".join(message.content for message in [*kept, asked.messages[-1]])
            if len(text) > room:
                text = text[: 4 * KEPT] + text[len(text) - room + 4 * KEPT :]
            return replace(asked, messages=(Message("user", text),)), None
    return asked, None


def _too_long(prompt, window):
    why = f"request ({prompt} tokens) exceeds the available context size ({window} tokens)"
    kind = "exceed_context_size_error"
    said = {"code": 400, "message": f"{why}, try increasing it", "type": kind}
    return {"error": said | {"n_prompt_tokens": prompt, "n_ctx": window}}


def about_window(http, plan):
    """What the server that is played tells of its window; None: nothing at this address."""
    own = plan.window or WINDOW
    match plan.plays, http.method, http.path:
        case "vllm", "GET", "/v1/models":
            card = {"id": "test", "object": "model", "owned_by": "vllm", "max_model_len": own}
            return HttpResponse.of(200, {"object": "list", "data": [card]})
        case "llama.cpp", "GET", "/props":
            slot = {"id": 0, "n_ctx": own, "params": {"n_predict": -1}}
            return HttpResponse.of(200, {"default_generation_settings": slot, "total_slots": 4})
        case "ollama", "GET", "/api/ps":
            loaded = {"name": "test:latest", "model": "test:latest", "context_length": plan.window}
            return HttpResponse.of(200, {"models": [loaded] if plan.window else []})
        case "ollama", "POST", "/api/show":
            if (model := json.loads(http.body).get("model")) not in ("test", "test:latest"):
                return HttpResponse.of(404, {"error": f"model '{model}' not found"})
            info = {"general.architecture": "llama", "llama.context_length": plan.trained}
            given = f"\nnum_ctx                        {plan.window}" if plan.window else ""
            lines = f'stop                           "<|eot_id|>"{given}'
            return HttpResponse.of(200, {"model_info": info, "parameters": lines})
    return None


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
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            self._open.discard(writer)
            if writer in self._clients:
                self._clients.discard(writer)
                self.counts.open_connections -= 1
            writer.close()

    async def _exchange(self, reader, writer):
        """Answer one request; False when the connection is to be closed."""
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")[:-2]
        try:
            method, target, _ = first.split(" ")
            pairs = (line.split(":", 1) for line in lines)
            headers = {name.strip().lower(): value.strip() for name, value in pairs}
            length = int(headers.get("content-length", 0))
            if not 0 <= length <= LONGEST_BODY:
                raise ValueError
        except ValueError:
            await self._write(writer, error(400, f"no HTTP that is served: {first[:80]!r}"))
            return False
        url = urlsplit(target)
        body = await reader.readexactly(length)
        http = HttpRequest(method, url.path, dict(parse_qsl(url.query)), headers, body)
        again = True
        asking = (CHAT, OLLAMA_CHAT, ROWS, OLLAMA_ROWS)
        if method == "POST" and http.path.removeprefix("/v1") in asking:
            again = await self._chat(http, reader, writer)
        else:
            await self._write(writer, self._about(http))
        return again and headers.get("connection", "").lower() != "close"

    async def _write(self, writer, response):
        """Send all of it; returns when the system has taken the last byte."""
        writer.write(response.head() + response.body)
        await writer.drain()

    async def _chat(self, http, reader, writer):
        """Answer one request for a completion or for rows, and count what came of it."""
        counts, outcome = self.counts, GONE  # a reset leaves what is under way to the old counts
        if writer not in self._clients:
            self._clients.add(writer)
            counts.connections += 1
            counts.open_connections += 1
        counts.requests += 1
        counts.under_way += 1
        counts.most_at_once = max(counts.most_at_once, counts.under_way)
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
            if http.path.endswith((ROWS, OLLAMA_ROWS)):
                asked = AskedRows.read(http.data, http.path.endswith(OLLAMA_ROWS))
            elif http.path.endswith(OLLAMA_CHAT):
                asked = Asked.read_ollama(http.data)
            else:
                asked = Asked.read(http.data)
            case.counted = counted = counts.calls.setdefault(asked.id, CallCount())
            counted.attempts += 1
            spared = counts.requests <= plan.from_n or counted.streak >= plan.streak
            case.drawn = drawn = plan.draw(asked.id, counted.attempts, spared=spared)
            counted.streak = counted.streak + 1 if drawn.way is not None else 0
            case.delay = plan.delay(asked.id, counted.attempts)
            if drawn.way == "slow":
                case.delay += plan.slow_seconds
            if isinstance(asked, AskedRows):
                if drawn.way not in WORDLESS:
                    case.answer = answer_rows(asked, drawn, plan, secret)
                return case
            if drawn.way not in WORDLESS:
                if asked.num_ctx is not None:
                    counts.windows[asked.num_ctx] += 1
                seen, refused = fit(asked, plan)
                counts.cut += seen is not asked
                case.answer = refused or answer(seen, drawn, plan, secret)
            # An answer may be generated, whether or not it arrives.
            generated = case.answer
            if drawn.way in GENERATED_IN_VAIN:
                generated = answer(asked, drawn._replace(way=None), plan, "")
            made = generated is not None and generated.usage is not None
            prompt, completion = generated.usage if made else (0, 0)
            more = {"prompt_tokens": prompt, "completion_tokens": completion}
            counts.generated.update({"answers": int(made), **more})
        except Misunderstood as wrong:
            case.answer = Answer(error(400, str(wrong)), MISUNDERSTOOD)
        except Exception:
            traceback.print_exc()
            case.answer = Answer(error(500, "the test server has broken down"), FAILED)
        return case

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
        await self._write(writer, response)
        return case.answer.outcome

    def _about(self, http):
        """The answer to anything but a request for a completion."""
        told = about_window(http, self.plan)
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
