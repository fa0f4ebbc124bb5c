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


def heavy_after(code):
    """The heavy libraries that stand in memory after some code ran in a new process."""
    asked = f"{code}\nimport sys\nprint(*[name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return set(done.stdout.split())


def test_importing_the_modules_imports_nothing_heavy():
    assert heavy_after("\n".join(f"import {name}" for name in MODULES)) == set()


def test_a_loaded_ecosystem_needs_no_fit(nursery, tmp_path):
    make = "from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic; "
    make += f"Synthetic(scientists=6, papers=40).generate(1).save({str(tmp_path)!r})"
    without = "; import sys; assert 'sklearn' not in sys.modules"
    done = nursery.python(make + without)
    assert done.returncode == 0, done.stderr
    load = "from virsci_society.society.ecosystem.ecosystem import Ecosystem; "
    load += f"Ecosystem.load({str(tmp_path)!r}).embedding.encode(['graphs'])"
    assert not {"sklearn", "threadpoolctl"} & heavy_after(load)
