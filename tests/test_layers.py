"""The packages and rooms of the source, what may import what, and what is banned (rules 7, 12).

Everything is read from the source text; nothing is imported. Each check is also tried on a planted
module that breaks it.
"""

import ast
import re

import pytest

from tests.code_layout import (
    LIMITS,
    PACKAGES,
    ROOT,
    amounts,
    aphorisms,
    array_aliases,
    circles,
    crowded,
    defined_twice,
    dotted,
    forget,
    full_fronts,
    imports,
    sources,
    targets,
    unequal_exports,
)

BELOW = {
    "agents": set(),
    "society": {"agents"},
    "protocols": {"agents", "society"},
    "metrics": {"agents", "society"},
    "scenarios": {"agents", "society", "protocols", "metrics"},
}
ROOMS = {
    "agents": ("files", "replies", "prompts", "journal", "gateway", "offline", "backends"),
    "society": (
        ("kernel", "literature"),
        "ecosystem",
        ("population", "formation", "results"),
        "teams",
    ),
    "metrics": (("inference", "networks", "novelty", "teams"), "validation", "facts", "report"),
    "scenarios": (
        *("config", "runs", "planning", "terminal"),
        ("study", "review"),
        *("analysis", "calibration", "explorer", "export", "cli"),
    ),
}
"""The rooms of each package: a module imports from its own room, those of the same group and those
before it. Modules that stand directly in a package are bound by the circles alone."""
DOORS = {
    "litellm": ("agents/backends/litellm.py",),
    "tiktoken": ("scenarios/planning/prompt_recording.py",),
    "aiohttp": ("agents/backends/http_client.py",),
    "httpx": ("agents/backends/litellm.py",),
    "faiss": ("society/literature/ivf.py", "society/literature/vector_index.py"),
    "sentence_transformers": ("society/literature/embedding/sentence_transformer.py",),
    "transformers": ("society/literature/embedding/sentence_transformer.py",),
    "torch": ("society/literature/embedding/sentence_transformer.py",),
    "huggingface_hub": ("society/literature/embedding/sentence_transformer.py",),
    "sklearn": ("society/literature/embedding/lsa.py", "scenarios/calibration/fitting.py"),
    "simpy": ("society/",),
    "mesa": ("agents/mesa.py",),
    "networkit": ("metrics/networks/communities.py",),
    "powerlaw": ("metrics/networks/degree_tails.py",),
    "dask": ("scenarios/",),
    "distributed": ("scenarios/",),
    "yaml": ("scenarios/config/yaml_io.py",),
    "json_repair": ("agents/replies/repair.py",),
    "sqlite3": (
        "agents/journal/journal.py",
        "agents/journal/database.py",
        "agents/journal/writer.py",
        "society/literature/embedding/cache.py",
    ),
}
LAZY = {
    *("litellm", "aiohttp", "httpx"),
    *("sentence_transformers", "transformers", "huggingface_hub", "torch"),
    *("tiktoken", "sklearn", "dask", "distributed", "json_repair", "networkit", "powerlaw"),
}
"""Imported only inside functions: they are slow to load and not always there."""
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


def wrong_floors(root):
    """Imports that point up, or between protocols and metrics; also those of type checkers."""
    for path, tree in sources(root).items():
        floor = path.split("/")[0]
        for used in imports(path, tree):
            other = used.module.split(".")[0]
            if other in PACKAGES and other != floor and other not in BELOW[floor]:
                yield f"{path}:{used.line} imports {used.module}: {floor} lies below {other}"


def wrong_doors(root):
    """Third parties outside their door."""
    for path, tree in sources(root).items():
        for used in imports(path, tree):
            party = used.module.split(".")[0]
            doors = () if used.typing else DOORS.get(party, ())
            if doors and not any(path == d or (d[-1] == "/" and path.startswith(d)) for d in doors):
                yield f"{path}:{used.line} imports {party}, whose door is {', '.join(doors)}"
            if party in LAZY and not used.lazy and not used.typing:
                yield f"{path}:{used.line} imports {party} at the top; do it inside a function"


def wrong_rooms(root):
    """Imports from a room that comes later in the order of its package."""
    trees = sources(root)
    known = {dotted(path) for path in trees}
    for path, tree in trees.items():
        for used in imports(path, tree):
            for module in sorted(targets(used, known)):
                here, there = place_of(dotted(path)), place_of(module)
                if here is None or there is None:
                    continue
                if here[0] == there[0] and there[1] > here[1]:
                    yield f"{path}:{used.line} imports {module}, whose room comes later"


def place_of(module):
    """Package and place in the order of rooms of a module; None for one outside the order."""
    package, _, rest = module.partition(".")
    for place, group in enumerate(ROOMS.get(package, ())):
        if rest.split(".")[0] in ((group,) if isinstance(group, str) else group):
            return package, place
    return None


def in_circles(root):
    """Modules that import each other, directly or not; imports for type checkers count."""
    return circles(sources(root))


def fullest(root):
    """Folders that hold too many modules, and packages whose rooms are not in the order."""
    trees = sources(root)
    for folder, number in crowded(trees).items():
        yield f"{folder} holds {number} modules"
    for package in ROOMS:
        rooms = {path.split("/")[1] for path in trees if path.startswith(f"{package}/")}
        for room in sorted(room for room in rooms if not room.endswith(".py")):
            if place_of(f"{package}.{room}") is None and f"{package}/{room}" not in UNORDERED:
                yield f"{package}/{room} has no place in the order of rooms"


UNORDERED = {"scenarios/library"}


def names_twice(root):
    """Classes of one name, and names for array types outside their module."""
    trees = sources(root)
    for name, paths in defined_twice(trees).items():
        yield f"{name} is defined in {', '.join(paths)}"
    yield from array_aliases(trees)


def wrong_exports(root):
    """Fronts that hold code, and lists of public names that differ."""
    yield from full_fronts(sources(root))
    yield from unequal_exports(root)


def undescribed(root):
    """Modules without a docstring, or with a riddle for one."""
    yield from aphorisms(sources(root))


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
                called = name_of(node.func)
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
    *("ParquetWriter", "to_parquet", "savefig", "imsave", "write_graphml", "write_gexf"),
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
        for used in imports(path, tree):
            if used.module.split(".")[0] in CHANCE_MODULES:
                yield f"{path}:{used.line} imports {used.module}"
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
            named = [node.name] if isinstance(node, ast.FunctionDef) else []
            if isinstance(node, ast.Assign):
                named = [ast.unparse(target) for target in node.targets]
            elif isinstance(node, ast.AnnAssign):
                named = [ast.unparse(node.target)]
            for name in named:
                if name in RESERVED | {"running"}:
                    yield f"society/model.py:{node.lineno} defines {name}"


CHECKS = (
    *(wrong_floors, wrong_doors, wrong_rooms, in_circles, fullest, names_twice, wrong_exports),
    *(undescribed, banned_everywhere, writes_elsewhere, own_json_readers, chance_in_protocols),
    reserved_names,
)


@pytest.fixture(scope="module", autouse=True)
def _trees():
    """Parse every module once for all checks, and keep none for the tests of other files."""
    yield
    forget()


@pytest.mark.parametrize("check", CHECKS)
def test_the_house_is_in_order(check):
    assert list(check(ROOT)) == []


def test_there_is_no_more_to_read_than_the_limits_allow():
    found = dict(amounts(ROOT))
    assert found.keys() == LIMITS.keys()
    assert {what: n for what, n in found.items() if n > LIMITS[what]} == {}


def test_every_floor_is_looked_at():
    seen = sources(ROOT)
    assert {path.split("/")[0] for path in seen} == set(PACKAGES)
    assert len(seen) > 90
    used = {
        (path, one.module.split(".")[0])
        for path, tree in seen.items()
        for one in imports(path, tree)
    }
    assert ("agents/mesa.py", "mesa") in used
    assert ("society/literature/embedding/lsa.py", "scipy") in used
    assert ("scenarios/config/yaml_io.py", "yaml") in used
    assert ("society/kernel/dispatcher.py", "society") in used


PLANTED = [
    (wrong_floors, "agents/a.py", "import virsci_society.society.teams.lab"),
    (
        wrong_floors,
        "agents/a.py",
        "def f():\n    from virsci_society.protocols.virsci import protocol",
    ),
    (wrong_floors, "protocols/a.py", "from virsci_society.metrics.cost import inference_cost"),
    (wrong_doors, "agents/a.py", "def f():\n    import litellm"),
    (wrong_doors, "agents/backends/litellm.py", "import litellm"),
    (wrong_doors, "metrics/a.py", "from sklearn.decomposition import PCA"),
    (wrong_doors, "society/literature/embedding/sentence_transformer.py", "import torch"),
    (wrong_doors, "protocols/a.py", "import simpy"),
    (in_circles, "society/a.py", "from virsci_society.society.model import Society"),
    (in_circles, "society/a.py", "from . import model"),
    (in_circles, "society/a.py", "if TYPE_CHECKING:\n    import virsci_society.society.model"),
    (wrong_rooms, "society/kernel/a.py", "from virsci_society.society.teams.team import Team"),
    (
        wrong_rooms,
        "society/kernel/a.py",
        "if TYPE_CHECKING:\n    import virsci_society.society.teams.team",
    ),
    (fullest, "society/cellar/a.py", "x = 1"),
    (names_twice, "society/a.py", "class Society:\n    pass"),
    (names_twice, "agents/a.py", "Floats = npt.NDArray[np.float64]"),
    (wrong_exports, "agents/x/__init__.py", "from virsci_society.agents import profile"),
    (banned_everywhere, "agents/a.py", "eval('1')"),
    (banned_everywhere, "metrics/a.py", "def f():\n    exec('1')"),
    (banned_everywhere, "society/a.py", "import pickle"),
    (banned_everywhere, "society/a.py", "from marshal import loads"),
    (banned_everywhere, "society/a.py", "np.load(path, allow_pickle=True)"),
    (banned_everywhere, "scenarios/config/yaml_io.py", "import yaml\nyaml.load('a')"),
    (banned_everywhere, "scenarios/config/yaml_io.py", "import yaml\nyaml.unsafe_load('a')"),
    (banned_everywhere, "scenarios/config/yaml_io.py", "from yaml import load"),
    (banned_everywhere, "scenarios/a.py", "import subprocess\nsubprocess.run('ls', shell=True)"),
    (banned_everywhere, "scenarios/a.py", "import subprocess\nsubprocess.run('ls', shell=yes)"),
    (banned_everywhere, "scenarios/a.py", "import os\nos.system('ls')"),
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
]


@pytest.fixture
def house(tmp_path):
    """A small checkout in order."""

    def write(path, text):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f'"""What the module holds."""\n{text}')

    for package in ("virsci_society", *PACKAGES):
        write(f"{package}/__init__.py", "")
    write(
        "society/model.py",
        "from __future__ import annotations\nimport simpy\n"
        "from virsci_society.agents.mesa import Model\n"
        "from virsci_society.agents import profile\nfrom "
        "virsci_society.society.teams.team import Team\n"
        "class Society(Model):\n"
        "    def __init__(self):\n        self.running = True\n        self.env = simpy.E()\n",
    )
    write("society/teams/team.py", "import virsci_society.society.kernel.answer\n")
    write("society/kernel/answer.py", "import re\n")
    write("agents/profile.py", "import re\n")
    write("agents/mesa.py", "from mesa import Model\n")
    write(
        "protocols/good.py",
        "from virsci_society.society.teams.team import Team\nseen = {1, 2}\nif "
        "1 in seen:\n    pass\n"
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
    if check is in_circles:
        (house / "society" / "teams" / "team.py").write_text('"""Teams."""\nimport society.a\n')
    (complaint, *_) = list(check(house))
    assert (" -> " if check is in_circles else path.rpartition("/")[0]) in complaint


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
