"""Numbers, shares and amounts as pages write them."""

from __future__ import annotations

from typing import Any

import pandas as pd

THIN_SPACE, MINUS, MISSING = "\u202f", "\u2212", "–"


def format_number(value: Any, digits: int = 3) -> str:
    """A number as pages show it: grouped thousands, few digits, a dash where it is missing.

    Args:
        value: a number, NaN or None.
        digits: significant digits of a number that is not whole and below 1,000.
    """
    if value is None or pd.isna(value):
        return MISSING
    size = abs(float(value))
    if size >= 1000 or size == int(size):
        text = f"{round(float(value)):,}".replace(",", THIN_SPACE)
    elif size < 0.001:
        text = "< 0.001" if float(value) > 0 else f"{float(value):.1e}"
    else:
        text = f"{float(value):#.{digits}g}".rstrip(".")
    return text.replace("-", MINUS, 1) if text.startswith("-") else text


def format_percent(share: Any) -> str:
    """A share as per cent: whole from 10 % on, with one decimal below; a dash if it is missing.

    Args:
        share: 0..1 for 0 to 100 %, NaN or None.
    """
    if share is None or pd.isna(share):
        return MISSING
    percent = 100 * float(share)
    size = abs(percent)
    if 0 < size < 0.1:
        text = "< 0.1"
    else:
        text = f"{percent:.0f}" if size >= 9.95 or percent == round(percent) else f"{percent:.1f}"
    return f"{text.replace('-', MINUS)}{THIN_SPACE}%"


def count_of(number: Any, noun: str, plural: str = "") -> str:
    """A number with its noun: "1 paper", "2 papers".

    Args:
        number: how many.
        noun: for one.
        plural: for several; the noun with an s if it is not given.
    """
    return f"{format_number(number)} {noun if number == 1 else plural or f'{noun}s'}"


def format_usd(amount: float) -> str:
    """US dollars as people read them; no amount where no price was known."""
    if not amount:
        return "no price known"
    return f"${amount:,.2f}" if amount >= 1 else f"${amount:.4f}"
