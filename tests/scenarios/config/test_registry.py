"""The tables of names, and what may stand instead of a name."""

import importlib
import inspect
from pkgutil import iter_modules

import pytest

from virsci_society.agents.config import Part
from virsci_society.agents.errors import InputError
from virsci_society.protocols.team_sizes import TeamSize
from virsci_society.scenarios.config.reader import class_of, import_class, table_for
from virsci_society.scenarios.config.registry import DURATIONS, KINDS, TABLES, import_path
from virsci_society.society.formation.founding import Founding
from virsci_society.society.formation.leaders import Leaders
from virsci_society.society.formation.selection import SelectionPolicy
from virsci_society.society.kernel.durations import Duration
from virsci_society.society.teams.contracts import Publication

ENTRIES = [
    (name, path)
    for kind, table in TABLES.items()
    for name, path in table.items()
    if kind != "importers"
]


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
        (Publication, ["society.teams", "protocols.peer_review.protocol"]),
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
