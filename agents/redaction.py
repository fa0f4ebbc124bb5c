"""Removes secrets from text that goes to a file or a screen.

A secret that was cut in two is not found.
"""

from __future__ import annotations

import base64
import json
import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import AnyStr
from urllib.parse import quote, quote_plus

HIDDEN = "[redacted]"
"""Text that replaces a secret."""

SHORTEST = 8
"""Shorter values are not looked for: they would be found in ordinary words."""

LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy", "openai", "httpx", "httpcore", "aiohttp")
"""Loggers of others that may speak of requests and their headers."""

_NAME = re.compile(
    r"(?:^|_)(?:KEYS?|APIKEY|TOKEN|SECRETS?|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|AUTH)(?:_|$)"
)
_SETTINGS = {"required", "optional", "disabled", "external", "internal", "automatic"}
"""Values of variables such as AUTH_MODE: words that a model must be able to say."""
_MOST_PASSES = 8

# A text is searched as ASCII bytes, one for each character. In the patterns, group 1 is what is
# hidden. Every run is bounded, or ends where the next match may begin, so that time grows with
# the length of a text and not with its square. Each pattern begins with a literal, and stands
# beside a character without which it cannot match: both are fast.
_CHAR = r"[^\s\"'\\,;&<>(){}\[\]`]"
_QUOTES = r"[\"'\\]{0,4}"
_QUOTED = rf"(?:{_QUOTES}\s{{0,4}}[:=]|[\"'],)\s{{0,4}}b?[\"'\\]{{1,4}}"
_IS = rf"(?:{_QUOTES}\s{{0,4}}(?:=>|[:=])\s{{0,4}}{_QUOTES}|{_QUOTED})"
_OPAQUE = rf"(?=(?={_CHAR}{{0,99}}[0-9]){_CHAR}{{6}}|{_CHAR}{{20}})"
_SOME = rf"(?!(?:none|null|true|false)(?!{_CHAR}))"
_SCHEME = r"(?:bearer|basic|digest|token|apikey|negotiate|aws4-hmac-sha256)\s"
_NO_PROSE = rf"(?!\s{{0,4}}:\s{{0,4}}(?!{_SCHEME})[a-z]{{1,19}}[ ,][a-z ])"
_ASKED = "|".join(rf"(?<=[?&;]{name}=)" for name in ("key", "token", "auth", "sig", "code"))
_ASSIGNED = "|".join(
    rf"(?<={name}=)" for name in ("[_-]key", "token", "secret", "passwd", "password", "signature")
)
_KEY = r"(?:key|token|secret|passwd|password|signature|credential)"
_ANY_CASE = (
    ("z", rf"authorization{_NO_PROSE}{_IS}(?:{_SCHEME}{{1,4}})?((?!{_SCHEME}){_CHAR}{{3,}})"),
    ("k", rf"api[-_ ]?key(?: provided)?{_NO_PROSE}{_IS}({_SOME}{_CHAR}{{3,}})"),
    (
        " ",
        rf"bearer\s{{1,4}}((?:(?={_CHAR}{{0,99}}[0-9_~+/=-]){_CHAR}{{6}}|{_CHAR}{{20}}){_CHAR}*)",
    ),
    ("@", r"://([^\s/?#\"'<>\\\[\]]+)@"),
    ("=", rf"=(?:{_ASKED})({_SOME}{_CHAR}+)"),
    ("=", rf"=(?:{_ASSIGNED})[\"']?({_SOME}{_CHAR}{{6,}})"),
    ("-", rf"-{_KEY}(?:{_QUOTED}(?={_CHAR}{{6}})|{_IS}{_OPAQUE})({_CHAR}+)"),
    ("_", rf"_{_KEY}(?:{_QUOTED}(?={_CHAR}{{6}})|{_IS}{_OPAQUE})({_CHAR}+)"),
)
"""Looked for in the text in lower case."""
_KEPT_CASE = (
    ("-", r"(sk-(?<![A-Za-z0-9]sk-)(?!learn)[A-Za-z0-9_*-]{13,})"),
    ("x", r"(xai-(?<![A-Za-z0-9]xai-)(?=[a-z]{0,99}[0-9A-Z]|[a-z]{20})[A-Za-z0-9]{12,})"),
    ("_", r"(gsk_(?<![A-Za-z0-9]gsk_)[A-Za-z0-9]{12,})"),
    ("_", r"(hf_(?<![A-Za-z0-9]hf_)[A-Za-z0-9]{13,})"),
    ("z", r"(AIza(?<![A-Za-z0-9]AIza)[A-Za-z0-9_-]{12,})"),
)
"""Keys of providers; SK-channels and XAI-based methods are words of science."""
_RAREST = b"~^`|%+@#=Q/X_ZJqKz*&?Vj!YWUGHODNLFBxRPMECIST"
"""Characters by how seldom they stand in prose."""

_Find = Callable[[bytes], Iterator[re.Match[bytes]]]


def _finders(table: Iterable[tuple[str, str]]) -> tuple[tuple[bytes, _Find], ...]:
    return tuple((gate.encode(), re.compile(pattern.encode()).finditer) for gate, pattern in table)


_LOW, _AS_IS = _finders(_ANY_CASE), _finders(_KEPT_CASE)


def secrets_in(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Values that are secret by their variable's name, or passwords of addresses, longest first."""
    secrets: set[str] = set()
    for name, value in environ.items():
        if _NAME.search(name.upper()):
            secrets.add(value.strip())
            secrets.update(line.strip() for line in value.splitlines() if len(line) > 2 * SHORTEST)
        elif "@" in value and (user := re.search(r"://[^\s/:@]*:([^\s/@]+)@", value)):
            secrets.add(user[1])
    return tuple(sorted(filter(_is_worth_hiding, secrets), key=lambda value: (-len(value), value)))


def redact(text: str) -> str:
    """The text with every secret replaced by ``[redacted]``; it is idempotent."""
    # Until nothing is found: what a replacement leaves may look like a secret to another pattern.
    for _ in range(_MOST_PASSES):
        spans = _spans(text)
        if not spans:
            break
        # Each stretch of overlapping or touching spans is replaced once.
        pieces: list[str] = []
        end = 0
        for start, stop in sorted(spans):
            if start > end or not pieces:
                pieces += (text[end:start], HIDDEN)
            end = max(end, stop)
        text = "".join((*pieces, text[end:]))
    return text


def remember_secret(secret: str) -> None:
    """Redact this value as well from now on; values under eight characters are ignored."""
    _known.add((secret.strip(),))


def shield_logs() -> None:
    """Redact what root logger and libraries write; again after one brought handlers of its own."""
    for logger in (logging.getLogger(), *map(logging.getLogger, LOGGERS)):
        logger.addFilter(_SHIELD)
        # Records of loggers below this one pass its handlers, and not its filters.
        for outlet in logger.handlers:
            outlet.addFilter(_SHIELD)
    if logging.lastResort is not None:
        logging.lastResort.addFilter(_SHIELD)


class RedactingFilter(logging.Filter):
    """Log filter that passes every record, with message, traceback and extra texts redacted."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Render the record's text now, so that nothing is left to be rendered unredacted."""
        try:
            message = record.getMessage()
        except Exception:  # arguments that do not fit are a fault of the caller, not of the log
            message = f"{record.msg!r} {record.args!r}"
        record.msg, record.args = message, None
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        record.exc_info = None
        for name, value in list(vars(record).items()):
            if isinstance(value, str):
                setattr(record, name, redact(value))
        return True


_SHIELD = RedactingFilter()


class _Known:
    """Secrets that are known by value."""

    def __init__(self) -> None:
        self.forms: tuple[tuple[bytes, bytes], ...] = ()
        self.wide: tuple[str, ...] = ()
        self._values: tuple[str, ...] | None = None

    def load(self) -> None:
        """Read the environment, if that has not been done."""
        if self._values is None:
            self.add(())

    def add(self, secrets: Iterable[str]) -> None:
        """Register more values."""
        known_secrets = secrets_in(os.environ) if self._values is None else self._values
        values = tuple(dict.fromkeys((*known_secrets, *filter(_is_worth_hiding, secrets))))
        forms = dict.fromkeys(form for value in values for form in _forms(value))
        self.wide = tuple(form for form in forms if not form.isascii())
        plain = [form.encode() for form in forms if form.isascii()]
        self.forms = tuple(
            (next((bytes([rare]) for rare in _RAREST if rare in form), b""), form) for form in plain
        )
        self._values = values  # last: another thread may look meanwhile


_known = _Known()


def _is_worth_hiding(value: str) -> bool:
    return len(value) >= SHORTEST and value not in _SETTINGS and value not in HIDDEN


def _forms(value: str) -> Iterator[str]:
    """The value as it is, in JSON and reprs, in addresses, and inside of base64."""
    escaped = json.dumps(value)[1:-1]
    yield from (value, escaped, json.dumps(value, ensure_ascii=False)[1:-1], repr(value)[1:-1])
    # Twice, as where an error quotes a body of JSON that itself holds JSON.
    yield json.dumps(escaped)[1:-1]
    raw = value.encode("utf-8", "surrogatepass")
    for address in (quote(raw, safe=""), quote(raw), quote_plus(raw)):
        yield address
        yield re.sub("%..", lambda code: code[0].lower(), address)
    for before in range(3):
        # Characters that depend on what stands before or after the value are left out.
        # Behind 0, 1 or 2 other bytes: base64 writes three bytes at a time.
        coded = base64.b64encode(b"\0" * before + raw).decode()
        inner = coded[(0, 2, 3)[before] : 8 * (before + len(raw)) // 6]
        yield inner
        yield inner.replace("+", "-").replace("/", "_")


def _spans(text: str) -> list[tuple[int, int]]:
    """Start and end of every secret in the text, in no order."""
    _known.load()
    plain = text.encode("ascii", "replace")
    low = plain.lower()
    spans: list[tuple[int, int]] = []
    for gate, form in _known.forms:
        if gate in plain and form in plain:
            spans += _occurrences(form, plain)
    for wide in _known.wide:
        if wide in text:
            spans += _occurrences(wide, text)
    for searched, finders in ((low, _LOW), (plain, _AS_IS)):
        for gate, find in finders:
            if gate in searched:
                for match in find(searched):
                    spans.append(match.span(1))
    return spans


def _occurrences(form: AnyStr, text: AnyStr) -> Iterator[tuple[int, int]]:
    at = text.find(form)
    while at >= 0:
        yield at, at + len(form)
        at = text.find(form, at + len(form))
