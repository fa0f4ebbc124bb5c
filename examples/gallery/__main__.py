"""Draw every picture of the gallery into the current folder: ``python examples/gallery``.

The runs are made in the folder ``runs`` there, so that scripts of the same run share it. With names
it draws only those: ``python examples/gallery lotka team_sizes``.
"""

import os
import runpy
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
os.environ["MATPLOTLIBRC"] = str(HERE / "matplotlibrc")

from matplotlib import pyplot  # noqa: E402

for name in sys.argv[1:] or sorted(path.stem for path in HERE.glob("[!_]*.py")):
    runpy.run_path(str(HERE / f"{name}.py"))
    pyplot.close("all")
