"""Paid: what the page tells of a run's ledger."""

from __future__ import annotations

from typing import Any

from agents.ledger import ANSWERED, IN_DOUBT
from metrics.ledger import OUTCOMES, Ledger

NAMED = 5
SESSIONS_SHOWN = 20
CHANGE_SHOWN = 300


def paid(ledger: Ledger | None) -> dict[str, Any] | None:
    """What was asked and paid, in rows; None where no backend was paid for.

    Returns:
        ``attempts``, ``answered``, ``outcomes`` (rows with ``outcome``, ``attempts``,
        ``meaning``), ``prompt_tokens``, ``completion_tokens``, ``estimated``, ``usd``, ``doubt``
        (None, or ``calls``, ``tokens``, ``usd``, and ``named``: the first ids), ``sessions`` (how
        many), ``changes`` (rows with ``session``, ``release``, ``changed``: the last of those in
        which something was new) and ``parted``.
    """
    if ledger is None or not ledger.attempts:
        return None
    outcomes = [
        {"outcome": name, "attempts": count, "meaning": OUTCOMES.get(name, "")}
        for name, count in ledger.by_outcome()
    ]
    return {
        "attempts": ledger.attempts,
        "answered": ledger.outcomes.get(ANSWERED, 0),
        "outcomes": outcomes,
        "prompt_tokens": ledger.prompt_tokens,
        "completion_tokens": ledger.completion_tokens,
        "estimated": ledger.estimated,
        "usd": dollars(ledger.usd),
        "doubt": _doubt(ledger),
        "sessions": len(ledger.sessions),
        "changes": _changes(ledger)[-SESSIONS_SHOWN:],
        "parted": ledger.parted,
    }


def dollars(amount: float) -> str:
    """US dollars as people read them; no amount where no price was known."""
    if not amount:
        return "no price known"
    return f"${amount:,.2f}" if amount >= 1 else f"${amount:.4f}"


def _doubt(ledger: Ledger) -> dict[str, Any] | None:
    calls = max(ledger.outcomes.get(IN_DOUBT, 0), len(ledger.in_doubt))
    if not calls:
        return None
    told = {"tokens": ledger.in_doubt_tokens, "usd": dollars(ledger.in_doubt_usd)}
    return {"calls": calls, "named": ledger.in_doubt[:NAMED], **told}


def _changes(ledger: Ledger) -> list[dict[str, Any]]:
    """Sessions that went on with another release or other keys than the one before."""
    rows = []
    for before, now in zip(ledger.sessions, ledger.sessions[1:], strict=False):
        changed = [change[:CHANGE_SHOWN] for change in now.changed]
        if changed or now.release != before.release:
            row = {"session": str(now.session), "release": now.release}
            rows.append({**row, "changed": "; ".join(changed) or "–"})
    return rows
