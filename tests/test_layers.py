"""The floors of the house, its doors, and what is banned (architecture section 2; rules 7, 12).

Everything is read from the source; nothing is imported. Each check is also tried on a planted
module that breaks it.
"""

import ast
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
FLOORS = ("agents", "society", "protocols", "metrics", "scenarios")
BELOW = {
    "agents": set(),
    "society": {"agents"},
    "protocols": {"agents", "society"},
    "metrics": {"agents", "society"},
    "scenarios": {"agents", "society", "protocols", "metrics"},
}
DOORS = {
    "litellm": ("agents/litellm_backend.py",),
    "openai": ("agents/openai_backend.py",),
    "aiohttp": ("agents/litellm_backend.py", "agents/openai_backend.py"),
    "httpx": ("agents/litellm_backend.py", "agents/openai_backend.py"),
    "faiss": ("society/literature/index_cells.py", "society/literature/index_flat.py"),
    "sentence_transformers": ("society/literature/embedding/semantic.py",),
    "transformers": ("society/literature/embedding/semantic.py",),
    "torch": ("society/literature/embedding/semantic.py",),
    "huggingface_hub": ("society/literature/embedding/weights.py",),
    "sklearn": ("society/literature/embedding/lsa.py",),
    "simpy": ("society/",),
    "mesa": ("agents/scientist.py", "society/model.py"),
    "networkit": ("metrics/network/communities.py",),
    "dask": ("scenarios/",),
    "distributed": ("scenarios/",),
    "yaml": ("scenarios/load.py",),
    "json_repair": ("agents/mending.py",),
    "sqlite3": ("agents/journal.py", "agents/database.py"),
}
LAZY = {
    *("litellm", "openai", "aiohttp", "httpx"),
    *("sentence_transformers", "transformers", "huggingface_hub", "torch"),
    *("sklearn", "dask", "distributed", "json_repair", "networkit"),
}
"""Imported only inside functions: they are slow to load and not always there."""
RESERVED = {"scenario", "time", "agents", "steps", "random", "rng"}
"""Names of Mesa's model that the society must leave alone."""


class Import(NamedTuple):
    """One import that runs: of which module, from where, at the top or inside a function."""

    module: str
    names: tuple[str, ...]
    line: int
    lazy: bool


def sources(root):
    """Every module of the five packages, by its path."""
    return {
        path.relative_to(root).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for floor in FLOORS
        for path in sorted((root / floor).rglob("*.py"))
    }


def dotted(path):
    """The name of a module by its path."""
    parts = Path(path).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path, tree):
    """What a module imports when it runs; ``if TYPE_CHECKING:`` does not run."""
    found = []

    def walk(node, lazy):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for child in node.orelse:
                walk(child, lazy)
            return
        if isinstance(node, ast.Import):
            found.extend(Import(alias.name, (), node.lineno, lazy) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names = tuple(alias.name for alias in node.names)
            found.append(Import(absolute(path, node), names, node.lineno, lazy))
        inside = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        for child in ast.iter_child_nodes(node):
            walk(child, lazy or inside)

    walk(tree, False)
    return found


def absolute(path, node):
    """The module of a ``from`` import, also of a relative one."""
    if not node.level:
        return node.module or ""
    package = dotted(path).split(".")
    package = package if path.endswith("__init__.py") else package[:-1]
    base = package[: len(package) - node.level + 1]
    return ".".join([*base, *([node.module] if node.module else [])])


def is_attribute_of(node, owner):
    """Is this ``owner.something``?"""
    return isinstance(node, ast.Attribute) and ast.unparse(node.value) == owner


def wrong_floors(root):
    """Imports that point up, or between protocols and metrics."""
    for path, tree in sources(root).items():
        floor = path.split("/")[0]
        for used in imports(path, tree):
            other = used.module.split(".")[0]
            if other in FLOORS and other != floor and other not in BELOW[floor]:
                yield f"{path}:{used.line} imports {used.module}: {floor} lies below {other}"


def wrong_doors(root):
    """Third parties outside their door."""
    for path, tree in sources(root).items():
        for used in imports(path, tree):
            party = used.module.split(".")[0]
            doors = DOORS.get(party)
            if doors and not any(path == d or (d[-1] == "/" and path.startswith(d)) for d in doors):
                yield f"{path}:{used.line} imports {party}, whose door is {', '.join(doors)}"
            if party in LAZY and not used.lazy:
                yield f"{path}:{used.line} imports {party} at the top; do it inside a function"


def circles(root):
    """Modules that import each other, directly or not."""
    trees = sources(root)
    known = {dotted(path) for path in trees}
    edges = {dotted(path): set() for path in trees}
    for path, tree in trees.items():
        for used in imports(path, tree):
            targets = {f"{used.module}.{name}" for name in used.names} & known
            edges[dotted(path)] |= targets or ({used.module} & known)
    state, trail = {}, []

    def visit(module):
        state[module] = "open"
        trail.append(module)
        for other in sorted(edges[module]):
            if state.get(other) == "open":
                yield " -> ".join([*trail[trail.index(other) :], other])
            elif other not in state:
                yield from visit(other)
        trail.pop()
        state[module] = "done"

    for module in sorted(edges):
        if module not in state:
            yield from visit(module)


BANNED_CALLS = {"eval", "exec", "compile", "__import__"}
BANNED_MODULES = {"pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}
UNSAFE_YAML = {"load", "load_all", "unsafe_load", "full_load", "UnsafeLoader", "FullLoader"}


def banned_everywhere(root):
    """What would run a stranger's file."""
    for path, tree in sources(root).items():
        for used in imports(path, tree):
            if used.module.split(".")[0] in BANNED_MODULES:
                yield f"{path}:{used.line} imports {used.module}"
            if used.module == "yaml" and UNSAFE_YAML & set(used.names):
                yield f"{path}:{used.line} imports an unsafe loader"
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                if called in BANNED_CALLS:
                    yield f"{path}:{node.lineno} calls {called}"
                if called in {"os.system", "os.popen"}:
                    yield f"{path}:{node.lineno} calls {called}"
                for keyword in node.keywords:
                    allowed = isinstance(keyword.value, ast.Constant) and not keyword.value.value
                    if keyword.arg in {"shell", "allow_pickle"} and not allowed:
                        yield f"{path}:{node.lineno} passes {keyword.arg}"
            if is_attribute_of(node, "yaml") and node.attr in UNSAFE_YAML:
                yield f"{path}:{node.lineno} uses yaml.{node.attr}"


CHANCE_MODULES = {"time", "datetime", "random", "secrets", "uuid", "threading", "gc", "weakref"}
CHANCE_CALLS = {"id", "hash", "input", "vars", "globals"}
ORDERING = {"list", "tuple", "enumerate", "zip", "iter", "next", "map", "filter", "dict", "join"}


def chance_in_protocols(root):
    """What a protocol's course must not depend on (rule 12)."""
    for path, tree in sources(root).items():
        if not path.startswith("protocols/"):
            continue
        for used in imports(path, tree):
            if used.module.split(".")[0] in CHANCE_MODULES:
                yield f"{path}:{used.line} imports {used.module}"
        unordered = names_of_sets(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in CHANCE_CALLS:
                yield f"{path}:{node.lineno} calls {ast.unparse(node.func)}"
            if is_attribute_of(node, "np.random") and node.attr != "Generator":
                yield f"{path}:{node.lineno} draws from np.random"
            if isinstance(node, ast.FunctionDef) and node.name == "__del__":
                yield f"{path}:{node.lineno} has a finaliser"
            for iterated in iterations(node):
                if is_set(iterated, unordered):
                    yield f"{path}:{node.lineno} iterates over a set: {ast.unparse(iterated)}"


def names_of_sets(tree):
    """Names and attributes that are bound to a set, or annotated as one, in a module."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.AnnAssign, ast.arg)) and node.annotation is not None:
            kind = ast.unparse(node.annotation).split("[")[0].split(".")[-1]
            if kind in {"set", "frozenset", "Set", "AbstractSet", "MutableSet"}:
                names.add(node.arg if isinstance(node, ast.arg) else ast.unparse(node.target))
        if isinstance(node, ast.Assign) and is_set(node.value, names):
            names.update(ast.unparse(target) for target in node.targets)
    return names


def is_set(node, names):
    """Is this expression a set, as far as the source tells?"""
    if isinstance(node, (ast.Set, ast.SetComp)):
        return True
    if isinstance(node, ast.Call):
        called = ast.unparse(node.func)
        methods = {"union", "intersection", "difference", "symmetric_difference"}
        return called in {"set", "frozenset"} or called.split(".")[-1] in methods
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.BitOr, ast.BitAnd, ast.Sub)):
        return is_set(node.left, names) or is_set(node.right, names)
    return ast.unparse(node) in names


def iterations(node):
    """The expressions whose order a node takes over."""
    if isinstance(node, (ast.For, ast.AsyncFor)):
        yield node.iter
    elif isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.DictComp)):
        # A generator inside ``sorted``, ``any`` ... is told apart by hand: write it as a set.
        yield from (part.iter for part in node.generators)
    elif isinstance(node, ast.YieldFrom):
        yield node.value
    elif isinstance(node, ast.Call):
        name = ast.unparse(node.func).split(".")[-1]
        yield from (a for a in node.args if name in ORDERING)
        yield from (a.value for a in node.args if isinstance(a, ast.Starred))
        if name == "pop" and not node.args:
            yield node.func.value
    elif isinstance(node, (ast.List, ast.Tuple)):
        yield from (item.value for item in node.elts if isinstance(item, ast.Starred))
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], (ast.Tuple, ast.List)):
        yield node.value


def reserved_names(root):
    """Assignments on the society of names that are Mesa's."""
    tree = sources(root)["society/model.py"]
    for kind in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        if not any("Model" in ast.unparse(base) for base in kind.bases):
            continue
        for node in ast.walk(kind):
            stored = is_attribute_of(node, "self") and isinstance(node.ctx, ast.Store)
            if stored and node.attr in RESERVED:
                yield f"society/model.py:{node.lineno} assigns {node.attr}"
        for node in kind.body:
            named = [node.name] if isinstance(node, ast.FunctionDef) else []
            if isinstance(node, ast.Assign):
                named = [ast.unparse(target) for target in node.targets]
            elif isinstance(node, ast.AnnAssign):
                named = [ast.unparse(node.target)]
            for name in named:
                if name in RESERVED | {"running"}:
                    yield f"society/model.py:{node.lineno} defines {name}"


CHECKS = (
    wrong_floors,
    wrong_doors,
    circles,
    banned_everywhere,
    chance_in_protocols,
    reserved_names,
)


@pytest.mark.parametrize("check", CHECKS)
def test_the_house_is_in_order(check):
    assert list(check(ROOT)) == []


def test_every_floor_is_looked_at():
    seen = sources(ROOT)
    assert {path.split("/")[0] for path in seen} == set(FLOORS)
    assert len(seen) > 90
    used = {
        (path, one.module.split(".")[0])
        for path, tree in seen.items()
        for one in imports(path, tree)
    }
    assert ("society/model.py", "mesa") in used
    assert ("society/literature/embedding/lsa.py", "sklearn") in used
    assert ("scenarios/load.py", "yaml") in used
    assert ("society/dispatch.py", "society") in used


PLANTED = [
    (wrong_floors, "agents/a.py", "import society.lab"),
    (wrong_floors, "agents/a.py", "def f():\n    from protocols.virsci import protocol"),
    (wrong_floors, "society/a.py", "from scenarios import load"),
    (wrong_floors, "society/a.py", "try:\n    import metrics.cost\nexcept ImportError:\n    pass"),
    (wrong_floors, "protocols/a.py", "from metrics.cost import cost"),
    (wrong_floors, "metrics/a.py", "import protocols"),
    (wrong_floors, "metrics/report/a.py", "from scenarios.load import x"),
    (wrong_floors, "society/x/a.py", "if TYPE_CHECKING:\n    pass\nelse:\n    import metrics"),
    (wrong_doors, "agents/a.py", "def f():\n    import litellm"),
    (wrong_doors, "agents/litellm_backend.py", "import litellm"),
    (wrong_doors, "agents/litellm_backend.py", "def f():\n    import openai"),
    (wrong_doors, "agents/openai_backend.py", "from openai import AsyncOpenAI"),
    (wrong_doors, "agents/live.py", "def f():\n    import httpx"),
    (wrong_doors, "scenarios/a.py", "def f():\n    import aiohttp"),
    (wrong_doors, "society/model.py", "import faiss"),
    (wrong_doors, "metrics/a.py", "from sklearn.decomposition import PCA"),
    (wrong_doors, "society/literature/embedding/semantic.py", "import torch"),
    (wrong_doors, "society/literature/embedding/lsa.py", "def f():\n    import torch"),
    (wrong_doors, "society/literature/index_flat.py", "def f():\n    import sentence_transformers"),
    (wrong_doors, "protocols/a.py", "import simpy"),
    (wrong_doors, "scenarios/a.py", "import mesa.batchrunner"),
    (wrong_doors, "society/a.py", "def f():\n    import dask"),
    (wrong_doors, "scenarios/a.py", "import dask"),
    (wrong_doors, "scenarios/cli.py", "import yaml"),
    (circles, "society/a.py", "from society.model import Society"),
    (circles, "society/a.py", "from . import model"),
    (circles, "society/a.py", "def f():\n    import society.model"),
    (banned_everywhere, "agents/a.py", "eval('1')"),
    (banned_everywhere, "metrics/a.py", "def f():\n    exec('1')"),
    (banned_everywhere, "society/a.py", "import pickle"),
    (banned_everywhere, "society/a.py", "from marshal import loads"),
    (banned_everywhere, "society/a.py", "np.load(path, allow_pickle=True)"),
    (banned_everywhere, "scenarios/load.py", "import yaml\nyaml.load('a')"),
    (banned_everywhere, "scenarios/load.py", "import yaml\nyaml.unsafe_load('a')"),
    (banned_everywhere, "scenarios/load.py", "from yaml import load"),
    (banned_everywhere, "scenarios/a.py", "import subprocess\nsubprocess.run('ls', shell=True)"),
    (banned_everywhere, "scenarios/a.py", "import subprocess\nsubprocess.run('ls', shell=yes)"),
    (banned_everywhere, "scenarios/a.py", "import os\nos.system('ls')"),
    (chance_in_protocols, "protocols/a.py", "import time"),
    (chance_in_protocols, "protocols/a.py", "from random import choice"),
    (chance_in_protocols, "protocols/a.py", "import datetime"),
    (chance_in_protocols, "protocols/a.py", "x = id(object())"),
    (chance_in_protocols, "protocols/virsci/a.py", "x = hash('a')"),
    (chance_in_protocols, "protocols/a.py", "x = np.random.default_rng()"),
    (chance_in_protocols, "protocols/a.py", "for x in {1, 2}:\n    pass"),
    (chance_in_protocols, "protocols/a.py", "x = [y for y in set('ab')]"),
    (chance_in_protocols, "protocols/a.py", "x = list({1, 2})"),
    (chance_in_protocols, "protocols/a.py", "x = ', '.join({'a', 'b'})"),
    (chance_in_protocols, "protocols/a.py", "x = (*{1, 2},)"),
    (chance_in_protocols, "protocols/a.py", "a = {1, 2}\nx = a.pop()"),
    (chance_in_protocols, "protocols/a.py", "a: set[int] = f()\nfor x in a:\n    pass"),
    (chance_in_protocols, "protocols/a.py", "a = set()\nfor x in a | b:\n    pass"),
    (chance_in_protocols, "protocols/a.py", "def f(a: frozenset[int]):\n    return tuple(a)"),
    (chance_in_protocols, "protocols/a.py", "class A:\n    def __del__(self):\n        pass"),
]


@pytest.fixture
def house(tmp_path):
    """A small house in order."""
    for floor in FLOORS:
        (tmp_path / floor).mkdir()
        (tmp_path / floor / "__init__.py").write_text("")
    (tmp_path / "society" / "model.py").write_text(
        "from __future__ import annotations\nimport mesa\nimport simpy\n"
        "from agents import profile\nfrom typing import TYPE_CHECKING\n"
        "from society.team import Team\n"
        "if TYPE_CHECKING:\n    from scenarios.load import X\n"
        "class Society(mesa.Model):\n"
        "    def __init__(self):\n        self.running = True\n        self.env = simpy.E()\n"
    )
    (tmp_path / "society" / "team.py").write_text(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from society.model import S\n"
    )
    (tmp_path / "agents" / "profile.py").write_text("import re\n")
    (tmp_path / "protocols" / "good.py").write_text(
        "from society.team import Team\nseen = {1, 2}\nif 1 in seen:\n    pass\n"
        "for x in sorted(seen):\n    pass\nbigger = {*seen, 3}\nsame = {x for x in seen}\n"
        "rng: np.random.Generator\nclosed = frozenset(seen)\nn = len(seen)\n"
    )
    (tmp_path / "scenarios" / "load.py").write_text("import yaml\nyaml.safe_load('a')\n")
    return tmp_path


@pytest.mark.parametrize("check", CHECKS)
def test_a_house_in_order_has_no_complaints(house, check):
    assert list(check(house)) == []


@pytest.mark.parametrize(("check", "path", "text"), PLANTED)
def test_each_check_finds_what_is_planted(house, check, path, text):
    planted = house / path
    planted.parent.mkdir(parents=True, exist_ok=True)
    planted.write_text(text)
    if check is circles:
        model = house / "society" / "team.py"
        model.write_text("import society.a\n")
    (complaint, *_) = list(check(house))
    assert (" -> " if check is circles else path) in complaint


@pytest.mark.parametrize("name", sorted(RESERVED))
@pytest.mark.parametrize(
    "text",
    [
        "class S(mesa.Model):\n    def __init__(self):\n        self.{} = 1",
        "class S(Model):\n    {} = 1",
        "class S(Model):\n    {}: int = 1",
        "class S(mesa.Model):\n    @property\n    def {}(self):\n        return 1",
        "class S(mesa.Model):\n    def __init__(self):\n        self.a, self.{} = 1, 2",
    ],
)
def test_names_of_mesa_are_found(house, name, text):
    (house / "society" / "model.py").write_text(text.format(name))
    assert list(reserved_names(house))


def test_the_network_is_closed_to_tests(network_attempts):
    import socket

    for kind, use in (
        (socket.SOCK_STREAM, lambda one: one.connect(("192.0.2.1", 80))),
        (socket.SOCK_STREAM, lambda one: one.connect_ex(("192.0.2.1", 80))),
        (socket.SOCK_DGRAM, lambda one: one.sendto(b"x", ("192.0.2.1", 53))),
    ):
        with socket.socket(socket.AF_INET, kind) as one, pytest.raises(ConnectionRefusedError):
            use(one)
    assert len(network_attempts) == 3
    network_attempts.clear()
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()
    assert not network_attempts
