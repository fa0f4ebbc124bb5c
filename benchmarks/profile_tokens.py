"""Tokens of one ``virsci/paper`` run by page, in each profile side by side, as Markdown.

``python -m benchmarks.profile_tokens`` prints the table of
docs/prompts.md. It rehearses the run with rule-based scientists, four members and five turns,
nobody leaving, so that the same questions are asked in every profile; a language model writes
longer texts. The figures are means over several seeds, because how often guests are consulted is
chance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.planning.prompt_pages import totals_by
from virsci_society.scenarios.planning.prompt_recording import (
    RecordedCall,
    TokenCounts,
    rehearse_pages,
    tokenizer_name,
)

SCENARIO = "virsci/paper"
PROFILES = ("paper", "full")
SETTINGS = {"protocol.topic.leaving": "off", "protocol.team_size": 4, "protocol.turns": 5}
SEEDS = range(1, 7)
PAGES = "../protocols/virsci/prompts"
"""Folder of the pages, seen from the documentation."""
ALL = "all"


def tokens_by_page(profile: str, seeds: Sequence[int] = SEEDS) -> dict[str, TokenCounts]:
    """Mean tokens of a run by page, and those of all pages under ``all``.

    Args:
        profile: of the protocol.
        seeds: of the rehearsals.
    """
    calls: list[RecordedCall] = []
    for seed in seeds:
        changed: dict[str, Any] = {**SETTINGS, "protocol.profile": profile, "seed": seed}
        calls += rehearse_pages(load_scenario(SCENARIO, **changed)).calls
    sums = {**totals_by(calls, lambda call: call.page), **totals_by(calls, lambda _: ALL)}
    return {page: _mean(one, len(seeds)) for page, one in sums.items()}


def _mean(counts: TokenCounts, runs: int) -> TokenCounts:
    parts = asdict(counts)
    return TokenCounts(**{name: round(value / runs) for name, value in parts.items()})


def table(counts: Mapping[str, Mapping[str, TokenCounts]]) -> str:
    """A Markdown table with one row for each page, and calls, prompt and reply by profile.

    Args:
        counts: by profile, then by page.
    """
    heads = [f"{profile}: {part}" for profile in counts for part in ("calls", "prompt", "reply")]
    pages = dict.fromkeys(page for by in counts.values() for page in by if page != ALL)
    lines = [_line(["page", *heads]), _line(["---", *["---:"] * len(heads)])]
    for page in (*pages, ALL):
        cells = [f"[`{page}`]({PAGES}/{page}.txt)" if page != ALL else ALL]
        for by in counts.values():
            one = by.get(page, TokenCounts())
            cells += [f"{n:,}" if one.calls else "" for n in (one.calls, one.prompt, one.reply)]
        lines.append(_line(cells))
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def page_text() -> str:
    """What the documentation shows."""
    counted = {profile: tokens_by_page(profile) for profile in PROFILES}
    return f"Tokens of {tokenizer_name()}, means of {len(SEEDS)} seeds:\n\n{table(counted)}\n"


if __name__ == "__main__":
    print(page_text(), end="")
