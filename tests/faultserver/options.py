"""Options: a plan as people write it on the command line."""

from __future__ import annotations

import argparse
import sys
from typing import Any, NoReturn

from pydantic import ValidationError

from tests.faultserver.kinds import KINDS
from tests.faultserver.plan import Plan

_NUMBERS = ("latency", "slow_seconds", "retry_after", "wordy", "accept", "reask", "seed", "streak")


def add_options(parser: argparse.ArgumentParser) -> None:
    """What a plan can be told on the command line."""
    parser.add_argument("--plan", metavar="JSON", default="{}", help="a whole plan; see plan.py")
    parser.add_argument(
        "--fault",
        action="append",
        default=[],
        metavar="KIND=RATE",
        help=f"how often an attempt fails so; can be repeated; KIND is {', '.join(KINDS)}",
    )
    for name in _NUMBERS:
        parser.add_argument(f"--{name.replace('_', '-')}", metavar="X", dest=name)


def plan_of(given: argparse.Namespace) -> Plan:
    """The plan; what is wrong with it ends the program with a sentence and exit code 2."""
    rates: dict[str, Any] = {}
    for fault in given.fault:
        kind, is_, rate = fault.partition("=")
        rates[kind] = rate if is_ else "1"
    stated = {name: getattr(given, name) for name in _NUMBERS if getattr(given, name) is not None}
    try:
        plan = Plan.model_validate_json(given.plan)
        return Plan.model_validate(plan.model_dump() | stated | {"rates": plan.rates | rates})
    except ValidationError as wrong:
        _end(wrong)


def _end(wrong: ValidationError) -> NoReturn:
    for one in wrong.errors():
        place = ".".join(map(str, one["loc"])) or "plan"
        print(f"{place}: {one['msg']} (got {one['input']!r})", file=sys.stderr)
    raise SystemExit(2)
