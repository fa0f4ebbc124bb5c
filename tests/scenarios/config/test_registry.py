"""The tables of names, and what may stand instead of a name."""

import importlib
import inspect
import sys
from pkgutil import iter_modules

import pytest

from virsci_society.agents.config import Part
from virsci_society.agents.errors import InputError
from virsci_society.protocols.team_sizes import TeamSize
from virsci_society.scenarios.config.reader import class_of, import_class, table_for
from virsci_society.scenarios.config.registry import (
    BACKENDS,
    DURATIONS,
    ECOSYSTEMS,
    EXPLORE,
    FOUNDING,
    KINDS,
    LEADERS,
    PROTOCOLS,
    PUBLICATION,
    SELECTION,
    SIZES,
    import_path,
    name_of,
)
from virsci_society.society.formation.founding import Founding
from virsci_society.society.formation.leaders import Leaders
from virsci_society.society.formation.selection import SelectionPolicy
from virsci_society.society.kernel.durations import Duration, FixedDuration
from virsci_society.society.teams.contracts import Publication

TABLES = [
    *(PROTOCOLS, FOUNDING, LEADERS, SELECTION, PUBLICATION, SIZES, DURATIONS, EXPLORE, BACKENDS),
    ECOSYSTEMS,
]
ENTRIES = [(name, path) for table in TABLES for name, path in table.items()]


@pytest.mark.parametrize(("name", "path"), ENTRIES)
def test_every_entry_is_a_part_that_says_what_it_is(name, path):
    cls = import_class(path)
    assert issubclass(cls, Part)
    assert inspect.getdoc(cls)
    assert name == name.lower()


@pytest.mark.parametrize("base", KINDS)
def test_every_kind_is_the_base_of_its_table(base):
    cls = import_class(base)
    assert table_for(cls) is KINDS[base]
    for path in KINDS[base].values():
        assert issubclass(import_class(path), cls)


@pytest.mark.parametrize(
    ("base", "modules"),
    [
        (Founding, ["society.formation"]),
        (Leaders, ["society.formation"]),
        (Duration, ["society.kernel"]),
        (SelectionPolicy, ["protocols.policies"]),
        (Publication, ["society.teams.publication", "protocols.peer_review.protocol"]),
        (TeamSize, ["protocols.team_sizes"]),
    ],
)
def test_no_class_is_missing_from_its_table(base, modules):
    found = set()
    for name in modules:
        module = importlib.import_module(f"virsci_society.{name}")
        below = [
            f"{module.__name__}.{one.name}" for one in iter_modules(getattr(module, "__path__", ()))
        ]
        for one in (module, *map(importlib.import_module, below)):
            found |= {
                cls for cls in vars(one).values() if isinstance(cls, type) and issubclass(cls, base)
            }
    listed = set(KINDS[import_path(base)].values())
    leaves = {import_path(cls) for cls in found if not cls.__subclasses__()}
    assert leaves <= listed <= {import_path(cls) for cls in found}


@pytest.mark.parametrize("table", TABLES)
def test_names_and_classes_find_each_other(table):
    for name, path in table.items():
        assert name_of(import_class(path), table) == name


@pytest.mark.parametrize(
    ("use", "hint"),
    [("gama", "; did you mean 'gamma'?"), ("zzz", ""), (3, ""), (None, ""), ([1], "")],
)
def test_an_unknown_name_is_told_with_all_known_ones(use, hint):
    with pytest.raises(InputError) as caught:
        class_of(use, DURATIONS, Duration, trust=True)
    assert str(caught.value) == (
        f"got {use!r}, expected 'fixed' or 'gamma' or 'lognormal' or package.module:Class{hint}"
    )


@pytest.fixture
def stranger(write, here, monkeypatch):
    """A module that leaves a mark when it is imported."""
    write(
        "stranger.py",
        "from pathlib import Path\n"
        "from virsci_society.society.kernel.durations import FixedDuration\n"
        "Path('ran').write_text('')\n"
        "class Slow(FixedDuration):\n    'A slow one.'\n"
        "number = 3\n"
        "class Bare: ...\n",
    )
    monkeypatch.syspath_prepend(str(here))
    yield here / "ran"
    sys.modules.pop("stranger", None)


def test_a_dotted_path_runs_nothing_without_trust(stranger):
    with pytest.raises(InputError) as caught:
        class_of("stranger:Slow", DURATIONS, Duration, trust=False)
    assert str(caught.value) == (
        "'stranger:Slow' is code from outside and would be run; read it, then give --trust"
    )
    assert not stranger.exists()


def test_a_trusted_path_is_imported(stranger):
    found = class_of("stranger:Slow", DURATIONS, Duration, trust=True)
    assert issubclass(found, FixedDuration)
    assert stranger.exists()
    assert name_of(found, DURATIONS) == "stranger:Slow"


def test_a_trusted_class_has_to_be_of_the_right_kind(stranger):
    with pytest.raises(InputError, match="'stranger:Slow' is no Founding; this key takes a sub"):
        class_of("stranger:Slow", FOUNDING, Founding, trust=True)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("stranger:Missing", "cannot be imported"),
        ("no_such_module:Class", "cannot be imported"),
        (":Class", "cannot be imported"),
        ("stranger:", "cannot be imported"),
        ("stranger:number", "is not a part"),
        ("stranger:Bare", "is not a part"),
        ("os:system", "is not a part"),
    ],
)
def test_what_cannot_be_a_part(stranger, path, message):
    with pytest.raises(InputError, match=message):
        class_of(path, DURATIONS, Duration, trust=True)
