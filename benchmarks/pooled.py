"""One set of values made from calibrations of several communities.

Printed is, for every key, the mean of the calibrated values on the scale on which the key is
estimated (log odds of a probability, logarithm of a positive number), so that no community counts
more than another for being larger. Numbers of papers a year and their growth are left out, because
they belong to a community.

    python benchmarks/pooled.py vis/calibrated.yaml nlp/calibrated.yaml
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import mean

from scenarios.calibration import parameters as keys
from scenarios.calibration.reader import values_of
from scenarios.config.schema import load_scenario

OWN = (keys.PAPERS, keys.PAPERS_TREND)
"""Keys of a community of its own."""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("scenarios", nargs="+", type=Path, help="calibrated scenarios")
    files = parser.parse_args().scenarios
    found = [values_of(load_scenario(file)) for file in files]
    print(f"| key | {' | '.join(file.parent.name for file in files)} | pooled |")
    print("|---|" + "---:|" * (len(files) + 1))
    for key, known in keys.PARAMETERS.items():
        values = [one.get(key) for one in found]
        if key in OWN or any(value is None for value in values):
            continue
        # A share of 0 or 1 has no log odds; such values lie at the ends of what is told apart.
        levels = [
            known.level(min(max(value, known.low + 1e-3), known.high - 1e-3)) for value in values
        ]
        cells = [f"{value:.3g}" for value in (*values, known.value(mean(levels)))]
        print(f"| `{key}` | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
