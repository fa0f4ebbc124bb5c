"""The track record: forecasts of real communities, sealed and scored by `society forecast`.

At each boundary the ecosystem of a field is built, its next years are forecast from the papers
before the boundary and sealed (`society forecast ECO --until YEAR --register`), and the sealed
file is scored against the papers that came (`society forecast score`). These papers were there
when the forecasts were sealed, so this is hindsight; the files say so by their date. Of every file
a copy with one changed digit is scored as well, which has to be refused.

    python -m benchmarks.track_record vis=FILE nlp=FILE

Ecosystems and sealed files are kept in ``runs/values``. The first table has a row for each
boundary. The second says of each forecaster, over all boundaries of all fields, how far its
distributions held: mean score and CRPS, coverage, and how many observed values lie in each fifth of
the distribution (integral transform), which is as many in each where distributions are honest.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.facts import field
from benchmarks.library_runs import KEPT, society, table

BOUNDARIES = (2008, 2012, 2014, 2016)
RIVALS = ("forecast", "persistence", "p, q")


def sealed_at(name: str, file: str, boundary: int, years: int) -> tuple[Path, Path]:
    """The ecosystem of a field at a boundary, and the sealed forecast of its next years."""
    ecosystem = field(name, file, boundary=str(boundary))
    until = boundary + years - 1
    place = KEPT / "forecasts" / f"{name}-{boundary}-{until}.json"
    if not place.is_file():
        asked = ("--until", str(until), "--register", "--out", str(place))
        society("forecast", str(ecosystem), *asked)
    return ecosystem, place


def scored(ecosystem: Path, place: Path) -> dict[str, Any]:
    """What `society forecast score` says of a sealed file."""
    said = society("forecast", "score", str(place), "--with", str(ecosystem), "--json")
    found: dict[str, Any] = json.loads(said)
    return found


def is_refused(ecosystem: Path, place: Path) -> bool:
    """Whether a copy of a sealed file in which one digit is another is refused."""
    text = place.read_text(encoding="utf-8")
    first = re.search(r"\d", text[text.index('"forecasters"') :])
    assert first is not None
    at = text.index('"forecasters"') + first.start()
    copy = place.with_suffix(".changed")
    copy.write_text(f"{text[:at]}{(int(text[at]) + 1) % 10}{text[at + 1 :]}", encoding="utf-8")
    try:
        society("forecast", "score", str(copy), "--with", str(ecosystem))
    except subprocess.CalledProcessError as error:
        return error.returncode == 2
    return False


def fifths(pit: pd.Series) -> str:
    """How many integral transforms lie in each fifth of 0..1."""
    places = (pit * 5).astype(int).clip(upper=4)
    return " ".join(str(int((places == place).sum())) for place in range(5))


def by_boundary(found: dict[tuple[str, str], dict[str, Any]]) -> Iterator[list[object]]:
    """The rows of the first table."""
    for (name, years), one in found.items():
        of = {row["forecaster"]: row for row in one["summary"]}
        scores = [f"{of[key]['score']:.2f}" for key in RIVALS]
        crps = [f"{of[key]['crps']:.2f}" for key in RIVALS]
        own, count = of["forecast"], of["forecast"]["quantities"]
        inside = [f"{own[key] * count:.0f}" for key in ("cover_80", "cover_90")]
        pit = pd.DataFrame(one["scores"]).query("forecaster == 'forecast'")["pit"]
        yield [name, years, *scores, *crps, *inside, count, fifths(pit)]


def by_forecaster(found: dict[tuple[str, str], dict[str, Any]]) -> Iterator[list[object]]:
    """The rows of the second table."""
    for key in RIVALS:
        rows = [row for one in found.values() for row in one["summary"] if row["forecaster"] == key]
        summary = pd.DataFrame(rows)
        scores = pd.concat(pd.DataFrame(one["scores"]) for one in found.values())
        pit = scores[scores["forecaster"] == key]["pit"]
        inside = [
            f"{(summary[name] * summary['quantities']).sum() / summary['quantities'].sum():.0%}"
            for name in ("cover_80", "cover_90")
        ]
        yield [
            key,
            *(f"{summary[name].mean():.2f}" for name in ("score", "crps")),
            *inside,
            int(summary["quantities"].sum()),
            fifths(pit),
        ]


def main() -> None:
    """Print both tables, and whether changed files were refused."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("corpora", nargs="+", metavar="NAME=FILE", help="papers as JSON lines")
    parser.add_argument("--boundaries", type=int, nargs="+", default=BOUNDARIES)
    parser.add_argument("--years", type=int, default=2)
    given = parser.parse_args()
    found, refused = {}, 0
    for name, _, file in (one.partition("=") for one in given.corpora):
        for boundary in given.boundaries:
            made = sealed_at(name, file, boundary, given.years)
            found[name, f"{boundary}-{boundary + given.years - 1}"] = scored(*made)
            refused += is_refused(*made)
            print(f"{name} {boundary} is sealed and scored", file=sys.stderr, flush=True)
    heads = [f"{what}{of}" for what in ("score", "CRPS") for of in ("", ", persistence", ", p, q")]
    ends = ["in 80 %", "in 90 %", "of", "in each fifth"]
    print(table(["field", "years", *heads, *ends], by_boundary(found)))
    print()
    print(table(["by", "score", "CRPS", *ends], by_forecaster(found)))
    print(f"\n{len(found)} sealed files; with one digit changed {refused} of them are refused.")


if __name__ == "__main__":
    main()
