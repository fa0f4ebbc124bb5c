"""What import contracts and ruff cannot say of the sources: files, chance (rule 12), names.

Everything is read from the source text. What may import what stands in ``pyproject.toml``
(``lint-imports``). Each check is also tried on a planted module that breaks it.
"""

import ast
import re

import pytest

from tests.code_layout import LIMITS, MOST_MODULES, PACKAGES, ROOT, amounts, folders, parse, sources

RESERVED = {"scenario", "time", "agents", "steps", "random", "rng", "data_registry"}
"""Names of Mesa's model that the society must leave alone."""


def name_of(node):
    """An expression as it is written; of dotted names, which most are, it is quickly known."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{name_of(node.value)}.{node.attr}"
    return ast.unparse(node)


def is_attribute_of(node, owner):
    """Is this ``owner.something``?"""
    return isinstance(node, ast.Attribute) and name_of(node.value) == owner


def imported(tree):
    """Line and top-level package of every import of a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, one.name.split(".")[0]) for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.lineno, (node.module or "").split(".")[0]


def out_of_order(root):
    """Folders with too many modules, fronts that hold code, and names of several classes."""
    trees, places = sources(root), {}
    for folder, number in folders(trees).items():
        if number > MOST_MODULES:
            yield f"{folder} holds {number} modules"
    for path, tree in trees.items():
        if path.endswith("__init__.py") and "/prompts/" not in path and tree.body[1:]:
            yield f"{path}:{tree.body[1].lineno} holds code; a front says what lives here"
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(path)
    for name, paths in places.items():
        if len(paths) > 1:
            yield f"{name} is defined in {', '.join(paths)}"


def strangers_code(root):
    """What would run a stranger's file, as far as ruff's rules do not see it."""
    for path, tree in sources(root).items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            if (called := name_of(node.func)) in {"compile", "__import__"}:
                yield f"{path}:{node.lineno} calls {called}"
            for one in node.keywords:
                if one.arg == "allow_pickle" and ast.unparse(one.value) != "False":
                    yield f"{path}:{node.lineno} passes allow_pickle"


WRITER = "agents/files/atomic_files.py"
"""The one module that makes, changes and removes files, and never through a link."""
OPENING = ("O_WRONLY", "O_RDWR", "O_CREAT", "O_APPEND", "O_TRUNC")
CHANGING = {
    *("write_text", "write_bytes", "mkdir", "makedirs", "touch", "unlink", "rmtree", "symlink_to"),
    *("hardlink_to", "removedirs", "copyfile", "copytree", "copy2", "move", "mkdtemp", "mkstemp"),
    *("NamedTemporaryFile", "FileLock", "SoftFileLock"),
}
"""Names of functions and methods that change files by a path."""
LIBRARIES = {
    *("np.save", "np.savez", "np.savez_compressed", "np.savetxt", "pq.write_table", "to_csv"),
    *("ParquetWriter", "to_parquet", "savefig", "imsave", "write_graphml"),
}
"""Functions of libraries that make a file: its path must be one that ``replacing`` has given."""
IN_MEMORY = {
    "metrics/report/drawing/svg.py": "savefig",
    "scenarios/export/archive.py": "archive.open",
    "society/literature/ivf.py": "savez",
}
"""A figure and arrays that are written in memory, and the members of a zip file that is given."""


PATH = re.compile(r"path|file|folder|target|temporary|unfinished|place")
"""How the names of paths are recognised, since texts and tables are renamed and replaced too."""


def writes_elsewhere(root):
    """Files that are made, changed or removed past the module that refuses links."""
    for path, tree in sources(root).items():
        if path == WRITER:
            continue
        given = names_given(tree)
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or name_of(node.func).endswith(
                IN_MEMORY.get(path, "(")
            ):
                continue
            if what := changes_files(node, given):
                yield f"{path}:{node.lineno} {what}; agents/files/atomic_files.py does it"


def changes_files(node, given):
    """What a call does to files by a path that ``replacing`` has not given; empty: nothing."""
    called = name_of(node.func)
    owner, _, name = called.rpartition(".")
    if name == "open" and called not in {"os.open"} and is_writing(node):
        return "opens a file for writing"
    if called == "os.open" and any(flag in ast.unparse(node) for flag in OPENING):
        return "opens a file for writing"
    if called in {"os.replace", "os.rename", "os.remove", "os.truncate", "os.link", "os.symlink"}:
        return f"calls {called}"
    method = isinstance(node.func, ast.Attribute)
    if method and name in {"rename", "replace"} and len(node.args) == 1 and PATH.search(owner):
        return f"calls {called}"
    if name in CHANGING and (method or name[0].isupper()):
        return f"calls {called}"
    written = node.args[: 2 if name == "write_table" else 1]
    if name == "to_csv" and not written and all(one.arg != "path_or_buf" for one in node.keywords):
        return ""  # without a path it returns a text
    if LIBRARIES & {name, called} and not given & {ast.unparse(one) for one in written}:
        return f"calls {called} with a path of its own"
    return ""


def is_writing(node):
    """Does a call of ``open`` name a mode that writes?"""
    modes = [*node.args[:2], *(one.value for one in node.keywords if one.arg == "mode")]
    texts = [str(one.value) for one in modes if isinstance(one, ast.Constant)]
    return any(set(text) <= {*"rwaxbt+"} and set(text) & {*"wax+"} for text in texts)


def names_given(tree):
    """Names of paths that a ``with replacing(...)`` or ``enter_context(replacing(...))`` gives."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.withitem) and "replacing(" in ast.unparse(node.context_expr):
            names.add(ast.unparse(node.optional_vars))
        called = isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        if called and "(replacing(" in ast.unparse(node.value):
            names.add(ast.unparse(node.targets[0]))
    return names


def own_json_readers(root):
    """JSON files that are read past the module that turns every failure into bad input."""
    for path, tree in sources(root).items():
        for node in ast.walk(tree):
            called = name_of(node.func) if isinstance(node, ast.Call) else ""
            if called == "json.loads" and "read_" in ast.unparse(node):
                yield f"{path}:{node.lineno} reads a JSON file; agents/files/json_files.py does"


CHANCE_MODULES = {"time", "datetime", "random", "secrets", "uuid", "threading", "gc", "weakref"}
CHANCE_CALLS = {"id", "hash", "input", "vars", "globals"}
ORDERING = {"list", "tuple", "enumerate", "zip", "iter", "next", "map", "filter", "dict", "join"}


def chance_in_protocols(root):
    """What a protocol's course must not depend on (rule 12)."""
    for path, tree in sources(root).items():
        if not path.startswith("protocols/"):
            continue
        for line, module in imported(tree):
            if module in CHANCE_MODULES:
                yield f"{path}:{line} imports {module}"
        unordered = names_of_sets(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and name_of(node.func) in CHANCE_CALLS:
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
            stored = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
            if isinstance(node, ast.FunctionDef):
                stored = {node.name}
            for name in stored & (RESERVED | {"running"}):
                yield f"society/model.py:{node.lineno} defines {name}"


CHECKS = (
    *(out_of_order, strangers_code, writes_elsewhere, own_json_readers, chance_in_protocols),
    reserved_names,
)


@pytest.fixture(scope="module", autouse=True)
def _trees():
    """Parse every module once for all checks, and keep none for the tests of other files."""
    yield
    parse.cache_clear()


@pytest.mark.parametrize("check", CHECKS)
def test_the_house_is_in_order(check):
    assert list(check(ROOT)) == []


def test_there_is_no_more_to_read_than_the_limits_allow():
    found = dict(amounts(ROOT))
    assert found.keys() == LIMITS.keys()
    assert {what: n for what, n in found.items() if n > LIMITS[what]} == {}


PLANTED = [
    (out_of_order, "society/a.py", "class Society:\n    pass"),
    (out_of_order, "agents/x/__init__.py", "from virsci_society.agents import profile"),
    (strangers_code, "agents/a.py", "compile('1', '', 'eval')"),
    (strangers_code, "society/a.py", "np.load(path, allow_pickle=True)"),
    (own_json_readers, "agents/a.py", "json.loads(path.read_text())"),
    (writes_elsewhere, "agents/a.py", "open(path, 'w')"),
    (writes_elsewhere, "agents/a.py", "path.open('ab')"),
    (writes_elsewhere, "agents/a.py", "path.open(mode='r+b')"),
    (writes_elsewhere, "agents/a.py", "os.open(path, os.O_RDWR)"),
    (writes_elsewhere, "metrics/a.py", "path.write_text('x', encoding='utf-8')"),
    (writes_elsewhere, "metrics/a.py", "table.to_csv(folder / 'a.csv')"),
    (writes_elsewhere, "metrics/a.py", "table.to_csv(path_or_buf=folder / 'a.csv')"),
    (writes_elsewhere, "society/a.py", "np.savez(folder / 'a.npz', a=a)"),
    (writes_elsewhere, "society/a.py", "with replacing(a) as b:\n    pq.write_table(table, a)"),
    (writes_elsewhere, "society/a.py", "pq.ParquetWriter(path, schema)"),
    (writes_elsewhere, "scenarios/a.py", "path.parent.mkdir(exist_ok=True)"),
    (writes_elsewhere, "scenarios/a.py", "shutil.rmtree(folder)"),
    (writes_elsewhere, "scenarios/a.py", "path.unlink()"),
    (writes_elsewhere, "scenarios/a.py", "path.rename(other)"),
    (writes_elsewhere, "scenarios/a.py", "os.replace(path, other)"),
    (writes_elsewhere, "scenarios/a.py", "FileLock(path)"),
    (chance_in_protocols, "protocols/a.py", "import time"),
    (chance_in_protocols, "protocols/a.py", "from random import choice"),
    (chance_in_protocols, "protocols/a.py", "x = id(object())"),
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
    *(
        (reserved_names, "society/model.py", text.format(name))
        for name, text in zip(
            sorted(RESERVED) * 2,
            (
                "class S(mesa.Model):\n    def __init__(self):\n        self.{} = 1",
                "class S(Model):\n    {} = 1",
                "class S(Model):\n    {}: int = 1",
                "class S(mesa.Model):\n    @property\n    def {}(self):\n        return 1",
                "class S(mesa.Model):\n    def __init__(self):\n        self.a, self.{} = 1, 2",
            )
            * 3,
            strict=False,
        )
    ),
]


@pytest.fixture
def house(tmp_path):
    """A small checkout in order."""

    def write(path, text):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f'"""What the module holds."""\n{text}')

    for package in PACKAGES:
        write(f"{package}/__init__.py", "")
    write(
        "society/model.py",
        "class Society(Model):\n"
        "    def __init__(self):\n        self.running = True\n        self.env = simpy.E()\n",
    )
    write(
        "protocols/good.py",
        "seen = {1, 2}\nif 1 in seen:\n    pass\n"
        "for x in sorted(seen):\n    pass\nbigger = {*seen, 3}\nsame = {x for x in seen}\n"
        "rng: np.random.Generator\nclosed = frozenset(seen)\nn = len(seen)\n",
    )
    write("scenarios/config/yaml_io.py", "import yaml\nyaml.safe_load('a')\n")
    return tmp_path


@pytest.mark.parametrize("check", CHECKS)
def test_a_house_in_order_has_no_complaints(house, check):
    assert list(check(house)) == []


@pytest.mark.parametrize(("check", "path", "text"), PLANTED)
def test_each_check_finds_what_is_planted(house, check, path, text):
    planted = house / path
    planted.parent.mkdir(parents=True, exist_ok=True)
    planted.write_text(f'"""What the module holds."""\n{text}')
    (complaint, *_) = list(check(house))
    assert path.rpartition("/")[0] in complaint


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
