"""What is imported when: the command line starts quickly only if these modules do."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
HEAVY = ("pandas", "pyarrow", "sklearn", "scipy", "faiss", "threadpoolctl")
ECOSYSTEM = (
    "build build_options ecosystem importers.json_papers importers.source "
    "summary knowledge_bank importers.records synthetic.synthetic synthetic.text"
)
LITERATURE = (
    "papers vector_index embedding.base embedding.hosted embedding.registry embedding.lsa "
    "embedding.sentence_transformer"
)
MODULES = [f"virsci_society.society.ecosystem.{name}" for name in ECOSYSTEM.split()]
MODULES += [f"virsci_society.society.literature.{name}" for name in LITERATURE.split()]


def imported(code):
    """What a fresh process prints after some code."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return done.stdout.split()


def test_importing_the_modules_imports_nothing_heavy():
    imports = "\n".join(f"import {name}" for name in MODULES)
    code = f"{imports}\nimport sys\nprint(*[name for name in {HEAVY!r} if name in sys.modules])"
    assert imported(code) == []


THREADS = """
from virsci_society.agents.arrays import one_blas_thread
with one_blas_thread():
    import scipy.linalg, threadpoolctl
    print(*{pool["num_threads"] for pool in threadpoolctl.threadpool_info()})
"""


def test_one_blas_thread_holds_for_libraries_that_are_imported_at_their_first_use():
    assert imported(THREADS) == ["1"]


COMMAND = """
import os, sys
os.environ.pop("OPENBLAS_NUM_THREADS", None)
from virsci_society.scenarios.cli.app import main
sys.argv = ["society", "check", "quickstart", "--json"]
sys.stdout = sys.stderr
try:
    main()
except SystemExit:
    sys.stdout = sys.__stdout__
import scipy.linalg, scipy.special, threadpoolctl
print(*{pool["num_threads"] for pool in threadpoolctl.threadpool_info()})
"""


def test_a_command_has_one_blas_thread():
    assert imported(COMMAND) == ["1"]
