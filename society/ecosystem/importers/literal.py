"""One Python literal out of a file, read without ever running anything of it."""

from __future__ import annotations

import ast
import warnings
from typing import Any

LONGEST_LITERAL = 2**18
"""Bytes of the longest literal that is parsed."""


def parse_literal(data: bytes) -> Any:
    """The value of a literal: text, numbers, lists, tuples, sets, dicts, True, False, None.

    ``ast.literal_eval`` builds it from the syntax tree; names, calls and operators are refused.
    Length is bounded here, nesting by Python's own tokenizer and parser. ValueError says why
    there is no value.
    """
    if len(data) > LONGEST_LITERAL:
        raise ValueError(f"longer than {LONGEST_LITERAL:,} bytes")
    try:
        source = data.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise ValueError("not UTF-8") from error
    try:
        with warnings.catch_warnings():
            # An unknown escape such as '\d' is a warning to programmers, not to us.
            warnings.simplefilter("ignore")
            return ast.literal_eval(source)
    except (RecursionError, MemoryError) as error:
        raise ValueError("nested too deeply") from error
    except SyntaxError as error:
        raise ValueError(f"not a Python literal ({error.msg[:60]})") from error
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError("not a Python literal (it holds more than plain values)") from error
