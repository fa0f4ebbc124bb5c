"""One set of values made from calibrations of several communities.

Printed is, for every key, the mean of the calibrated values on the scale on which the key is
estimated (log odds of a probability, logarithm of a positive number), so that no community counts
more than another for being larger. A value that was not identified is told in brackets and left
out. Numbers of papers a year and their growth belong to a community and are not pooled.

    python benchmarks/pooled.py runs/calibrations/vis runs/calibrations/nlp
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import mean

import pandas as pd

from virsci_society.scenarios.calibration import parameters as keys

OWN = (keys.PAPERS, keys.PAPERS_TREND)
"""Keys of a community of its own."""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path, help="of finished calibrations")
    folders = parser.parse_args().folders
    found = []
    for folder in folders:
        rows = pd.read_csv(folder / "parameters.csv").to_dict("records")
        found.append({row["key"]: (row["value"], "prior" not in row["origin"]) for row in rows})
    print(f"| key | {' | '.join(folder.name for folder in folders)} | pooled |")
    print("|---|" + "---:|" * (len(folders) + 1))
    for key, known in keys.PARAMETERS.items():
        pairs = [one[key] for one in found if key in one]
        values = [value for value, identified in pairs if identified]
        if key in OWN or len(pairs) < len(found):
            continue
        cells = [f"{value:.3g}" if sure else f"({value:.3g})" for value, sure in pairs]
        cells.append(f"{known.value(mean(map(known.level, values))):.3g}" if values else "")
        print(f"| `{key}` | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
