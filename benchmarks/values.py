"""Prints again what the pages of the documentation show as printed (``make values``).

A block of printed results stands between two marks. The first is a stamp: the command, a hash of
what was run (every key of every arm, seeds, prompts, ecosystem), the seed, a hash of what the
program does (the measures of a small run), and the release. A block is out of date where one of
the two hashes is another than the one that the program finds now; ``tests/test_values.py`` looks.

    python benchmarks/values.py             # prints what is out of date
    python benchmarks/values.py PAGE ...    # only of these pages, such as life.md
    python benchmarks/values.py --all       # everything, also what is in order
    python benchmarks/values.py --list      # one line a block: state, minutes, command
    python benchmarks/values.py --by-hand --only NAME PAGE   # stamps what you have put in yourself

What cannot be printed from the repository alone (papers that are not distributed) is named and
left; ``--by-hand`` stamps it. Timings differ from run to run and are no part of this: ``make values
TIMINGS=1``. Runs are kept in ``runs/values``; a second call goes on with what the first has left.
"""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks import printed  # noqa: E402
from benchmarks.page import release  # noqa: E402
from benchmarks.printed import DOCS, LENGTH, Source, probe, scenario, study  # noqa: E402

PENDING = "not printed since this stamp was introduced"
END = "<!-- end of values -->\n"
STAMP = re.compile(r"<!-- values (?P<name>[\w ,-]+): (?P<command>.*?) \| (?P<facts>.*?) -->\n")


class Block(NamedTuple):
    """One block of printed results.

    Attributes:
        page: in which it stands.
        name: in its stamp.
        command: that a reader would type.
        source: of which runs it is.
        text: prints it; None where that needs more than the repository has.
        minutes: of processor time, about.
        probe: the small run by which a change of the program is seen; empty where none can matter.
        needs: what is missing where ``text`` is None.
    """

    page: Path
    name: str
    command: str
    source: Callable[[], Source]
    text: Callable[[], str] | None
    minutes: float
    probe: str = "words"
    needs: str = ""


class Stamped(NamedTuple):
    """A block as it stands in a page.

    Attributes:
        line: its number in the page, from 1.
        facts: scenario, seed, code and release, or that it is pending.
        text: what lies between the marks.
    """

    name: str
    line: int
    command: str
    facts: str
    text: str


README, TUTORIAL = ROOT / "README.md", DOCS / "tutorial-removal.md"
REPRODUCTION, CALIBRATION = DOCS / "reproduction.md", DOCS / "calibration.md"
PAPERS = "papers that are not distributed"
FIELD = ("community/assembly", "community/vis-assembly")
GRIDS = tuple(f"virsci/table-{number}" for number in printed.SWITCHES)
FIGURES = tuple(f"virsci/figure-{number}" for number in (5, 6, 8))


def _study(
    name: str, *studies: str, text: Callable[[], str], minutes: float, few: bool = False
) -> Block:
    """A block of docs/reproduction.md that is printed from studies of the library."""
    settings = printed.SKETCH if few else ()
    more = "".join(f" --set {one}" for one in settings)
    command = "; ".join(f"society study run {one}{more}" for one in studies)
    return Block(REPRODUCTION, name, command, study(*studies, settings=settings), text, minutes)


def _held(page: Path, name: str, command: str) -> Block:
    """A block that is printed from papers that are not distributed."""
    return Block(page, name, command, scenario(*FIELD), None, 60, "no words", PAPERS)


def _tutorial(
    name: str, which: int, page: str, minutes: float, base: str = "community/assembly"
) -> Block:
    """What block number ``which`` of the Python of a tutorial prints; most have no words."""
    path = DOCS / f"tutorial-{page}.md"
    source = printed.page_code(path, base)
    text = printed.printed_by(path, which, source)
    probed = "no words" if base == "community/assembly" else "words"
    return Block(path, name, "the commands and the Python above", source, text, minutes, probed)


EXAMPLE = scenario("quickstart")
FORKED, REMOVAL = scenario("community/assembly", until="2y"), study("removal")
BLOCKS: tuple[Block, ...] = (
    Block(
        README,
        "first example",
        "the Python above",
        EXAMPLE,
        printed.printed_by(README, 0, EXAMPLE),
        0.1,
    ),
    Block(
        TUTORIAL,
        "fork",
        "the commands and the Python above",
        FORKED,
        printed.printed_by(TUTORIAL, 0, FORKED),
        0.3,
        "no words",
    ),
    Block(
        TUTORIAL,
        "study",
        "society study run removal",
        REMOVAL,
        printed.printed_by(TUTORIAL, 1, REMOVAL),
        5,
        "no words",
    ),
    _tutorial("means", 0, "question", 4),
    _tutorial("differences", 1, "question", 4),
    _tutorial("repeats", 0, "policy", 3),
    _tutorial("differences", 1, "policy", 3),
    _tutorial("stages", 0, "virsci", 0.2, "virsci/paper"),
    _tutorial("costs", 1, "virsci", 1, "virsci/paper"),
    _tutorial("graph", 0, "networks", 0.3),
    _tutorial("bridges", 1, "networks", 0.3),
    _tutorial("without", 2, "networks", 0.3),
    _tutorial("held out", 0, "forecast", 2),
    _tutorial("scores", 1, "forecast", 3),
    _tutorial("fewer newcomers", 2, "forecast", 3),
    Block(
        REPRODUCTION,
        "plan of one run",
        "society plan virsci/paper --set protocol.topic.leaving=off $MODEL",
        scenario("virsci/paper", tokens=True, **printed.STAYING),
        printed.plan_of_one_run,
        0.5,
    ),
    Block(
        REPRODUCTION,
        "plans of the studies",
        "society study plan NAME $MODEL",
        study(*printed.PLANNED, tokens=True),
        printed.plans_of_studies,
        8,
    ),
    _study("table 1", "virsci/table-1", text=printed.table_1, minutes=3),
    _study("table 2", "virsci/table-2", text=printed.table_2, minutes=1, few=True),
    _study(
        "tables 3 and 4",
        "virsci/table-3",
        "virsci/table-4",
        text=printed.tables_3_and_4,
        minutes=12,
    ),
    _study("tables 5 to 8", *GRIDS, text=printed.tables_5_to_8, minutes=25, few=True),
    _study("table 9", "virsci/table-9", text=printed.table_9, minutes=6),
    _study("figure 4", "virsci/figure-4", text=printed.figure_4, minutes=10, few=True),
    _study("figures 5, 6 and 8", *FIGURES, text=printed.figures_5_6_and_8, minutes=20),
    _study("paper and code", "paper-vs-code", text=printed.paper_and_code, minutes=12),
    Block(
        DOCS / "life.md",
        "delays",
        "society run community/closed",
        scenario("community/closed"),
        printed.delays,
        3,
    ),
    Block(
        DOCS / "life.md",
        "waiting",
        "society study run waiting",
        study("waiting"),
        printed.waiting,
        10,
    ),
    Block(
        DOCS / "life.md",
        "assistance",
        "society study run assistance",
        study("assistance"),
        lambda: printed.by_arm(printed.measured("assistance"), printed.ASSISTED),
        40,
    ),
    *(
        Block(
            DOCS / "discovery.md",
            name,
            f"society study run {name}",
            study(name),
            partial(printed.found_out, name),
            12,
            "no words",
        )
        for name in (
            "discovery",
            "funding",
            "who-learns",
            "execution-gap",
            "zollman",
            "weisberg-muldoon",
        )
    ),
    Block(
        DOCS / "statistics.md",
        "coverage",
        "python benchmarks/coverage.py --write",
        printed.content(printed.COVERAGE),
        printed.coverage,
        0,
        "",
    ),
    Block(
        DOCS / "assembly.md",
        "giant component",
        "society study run guimera --set replicates=20",
        study("guimera", settings=("replicates=20",)),
        printed.giant_component,
        30,
        "no words",
    ),
    _held(
        DOCS / "assembly.md",
        "outside seats",
        "society run community/vis-assembly, as above",
    ),
    Block(
        DOCS / "reviews.md",
        "survey",
        f"society ask runs/quickstart-1 {printed.SURVEY}",
        scenario("quickstart"),
        printed.survey,
        0.5,
    ),
    Block(
        DOCS / "reviews.md",
        "plan",
        f"society ask runs/quickstart-1 {printed.SURVEY} {printed.ASKED}",
        scenario("quickstart", tokens=True),
        lambda: printed.survey(*shlex.split(printed.ASKED)),
        0.5,
    ),
    Block(
        DOCS / "studies.md",
        "systems",
        "society study plan systems",
        study("systems", tokens=True),
        printed.systems,
        3,
    ),
    Block(
        DOCS / "prompts.md",
        "tokens",
        "python -m benchmarks.profile_tokens",
        scenario("virsci/paper", tokens=True, **printed.STAYING),
        printed.tokens,
        0.5,
    ),
    _held(
        CALIBRATION,
        "held-out years",
        "python benchmarks/calibration.py NAME=FILE --boundaries YEAR --years N --points N",
    ),
    _held(
        CALIBRATION,
        "quantities",
        "python benchmarks/calibration.py NAME=FILE --boundaries 2012",
    ),
    _held(CALIBRATION, "forecasts", "python benchmarks/forecasts.py vis=FILE nlp=FILE"),
    _held(CALIBRATION, "track record", "python -m benchmarks.track_record vis=FILE nlp=FILE"),
    _held(CALIBRATION, "pooled values", "python benchmarks/pooled.py FOLDER FOLDER"),
    _held(CALIBRATION, "shipped values", "python benchmarks/realism.py vis=FILE nlp=FILE"),
    Block(
        DOCS / "facts.md",
        "card",
        "python -m benchmarks.facts vis=FILE@1995-2023 nlp=FILE@2000-2021",
        scenario(*FIELD),
        None,
        30,
        "words",
        PAPERS,
    ),
    Block(
        DOCS / "metrics.md",
        "ideas",
        "python -m benchmarks.backtest vis=FILE@2012-2023 nlp=FILE@2014-2021",
        scenario("quickstart"),
        None,
        15,
        "words",
        PAPERS,
    ),
    _held(DOCS / "odd.md", "quantities", "society compare RUN --with eco/vis"),
)
"""All of them, page by page."""


def facts_of(block: Block) -> str:
    """What the stamp of a block says today."""
    source = block.source()
    code = probe(block.probe) if block.probe else "none"
    return f"scenario {source.hash[:LENGTH]}, seed {source.seed}, code {code}, release {release()}"


def is_current(held: str, now: str) -> bool:
    """Whether a stamp says what it would say today; the release alone makes no difference."""
    return held.rpartition(", release")[0] == now.rpartition(", release")[0]


def stamped(page: Path) -> Iterator[Stamped]:
    """The blocks of a page, in their order."""
    text = page.read_text(encoding="utf-8")
    for found in STAMP.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        end = text.index(END, found.end())
        yield Stamped(
            found["name"], line, found["command"], found["facts"], text[found.end() : end].strip()
        )


def replace(page: Path, block: Block, facts: str, text: str) -> None:
    """Put a text with its stamp in the place of the block of the same name."""
    old = page.read_text(encoding="utf-8")
    (found,) = (one for one in STAMP.finditer(old) if one["name"] == block.name)
    end = old.index(END, found.end())
    stamp = f"<!-- values {block.name}: {block.command} | {facts} -->\n"
    new = f"{old[: found.start()]}{stamp}\n{text.strip()}\n\n{old[end:]}"
    if new != old:
        page.write_text(new, encoding="utf-8")


def state_of(block: Block, there: Stamped) -> str:
    """In a word, whether the block holds."""
    if there.facts == PENDING:
        return "pending"
    return "current" if is_current(there.facts, facts_of(block)) else "out of date"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what is asked for into the pages; 1 where something could not be printed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="such as life.md; default: all")
    parser.add_argument("--only", metavar="NAME", help="the block of this name")
    parser.add_argument("--all", action="store_true", help="print what is current as well")
    parser.add_argument("--list", action="store_true", help="only say how the blocks stand")
    parser.add_argument("--by-hand", action="store_true", help="stamp what needs more than this")
    args = parser.parse_args(arguments)
    pages = {Path(page).name for page in args.pages}
    failed = 0
    for block in BLOCKS:
        if (pages and block.page.name not in pages) or args.only not in (None, block.name):
            continue
        (there,) = (one for one in stamped(block.page) if one.name == block.name)
        state = state_of(block, there)
        where = f"{block.page.relative_to(ROOT)}:{there.line}"
        if args.list or (state == "current" and not args.all):
            print(f"{where}: {state}, {block.minutes:g} min: {block.command}", flush=True)
        elif block.text is None and args.by_hand:
            replace(block.page, block, facts_of(block), there.text)
        elif block.text is None:
            print(f"{where}: {state}, needs {block.needs}: {block.command}", flush=True)
            failed += state != "current"
        else:
            print(f"{where}: printing, {block.minutes:g} min: {block.command}", flush=True)
            facts = facts_of(block)
            replace(block.page, block, facts, block.text())
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
