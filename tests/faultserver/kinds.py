"""Kinds: everything that the server can do instead of answering well.

A fault on the way (``each``) is drawn anew for each attempt at a call; what the words or the
counts of tokens are is drawn once for a call, so that the words of a run do not depend on how
often a call was attempted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """One way of not answering well.

    Attributes:
        sort: transport, verdict, words, usage or secret.
        what: what the client sees, in one line.
        each: drawn for each attempt; otherwise once for the call.
        kept: the client has the call's words, or a verdict on it, and need not ask again.
    """

    sort: str
    what: str
    each: bool = False
    kept: bool = True


def _way(what: str, kept: bool = False) -> Kind:
    return Kind("transport", what, each=True, kept=kept)


KINDS: Mapping[str, Kind] = {
    "slow": _way("the answer, `slow_seconds` late", kept=True),
    "stalled": _way("nothing, until the client gives up or `stalled_seconds` have passed"),
    "cut_body": _way("200, and the connection closed in the middle of the body"),
    "dropped": _way("the connection closed before any answer"),
    "malformed_http": _way("200 with a body that is no JSON"),
    "no_choices": _way("200 with an empty list of choices"),
    "null_content": _way("200 with null for the words"),
    "empty_content": _way("200 with empty words"),
    "unauthorised": _way("401, as for a wrong key"),
    "forbidden": _way("403"),
    "not_found": _way("404, as for a model that does not exist"),
    "quota": _way("429 with the code insufficient_quota"),
    "rate_limited": _way("429 with Retry-After: `retry_after` seconds"),
    "rate_limited_bare": _way("429 that does not say when to come back"),
    "server_error": _way("500"),
    "bad_gateway": _way("502 with a page of HTML"),
    "unavailable": _way("503"),
    "refusal": Kind("verdict", "200 with a refusal and null for the words"),
    "content_filter": Kind("verdict", "200 with finish_reason content_filter and no words"),
    "overflow": Kind("verdict", "400 with the code context_length_exceeded"),
    "length": Kind("words", "200 with finish_reason length, the words cut in the middle"),
    "malformed_reply": Kind("words", "200 with words that hold no JSON"),
    "prose_reply": Kind("words", "200 with the right JSON fenced inside prose"),
    "missing_usage": Kind("usage", "the answer without usage"),
    "zero_usage": Kind("usage", "the answer with a usage of zero tokens"),
    "wrong_usage": Kind("usage", "the answer with negative, textual or enormous counts"),
    "echo_key": Kind(
        "secret", "500 whose body repeats the Authorization header", each=True, kept=False
    ),
    "echo_key_200": Kind("secret", "the answer with the Authorization header in its words"),
}
"""Every kind of fault, by the name that ``Plan.rates`` uses."""
EMPTY = ("no_choices", "null_content", "empty_content")
"""Those that are completions without words; they have usage."""


def table() -> str:
    """The kinds as a table in Markdown, one line each."""
    lines = ["| kind | sort | drawn for each | what the client sees |", "|---|---|---|---|"]
    for name, kind in KINDS.items():
        drawn = "attempt" if kind.each else "call"
        lines.append(f"| `{name}` | {kind.sort} | {drawn} | {kind.what} |")
    return "\n".join(lines)
