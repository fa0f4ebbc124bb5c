"""The structure of the source code, measured from its text: imports, rooms, names, docstrings.

``tests/test_layers.py`` keeps the rules; ``python -m tests.code_layout`` prints the figures beside
their limits (``--root DIR`` measures another checkout). Nothing of the project is imported.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PACKAGES = ("agents", "society", "protocols", "metrics", "scenarios")
DISTRIBUTION = "virsci_society"
"""The import package that the five are part of; left out of the names of modules here."""
MOST_MODULES = 16
"""Modules of one folder, its ``__init__`` not counted."""

Trees = Mapping[str, ast.Module]


class Import(NamedTuple):
    """One import statement.

    Attributes:
        module: what is imported from, absolute.
        names: what is imported from it; empty for ``import module``.
        line: where the statement stands.
        lazy: it stands inside a function.
        typing: it is only read by type checkers.
    """

    module: str
    names: tuple[str, ...]
    line: int
    lazy: bool
    typing: bool


# Every check reads all modules: parsing a text and walking its imports once takes a tenth of it.
parse = cache(ast.parse)
"""The syntax tree of a text, the same object each time: it must not be changed."""


def sources(root: Path) -> dict[str, ast.Module]:
    """The syntax tree of every module of the five packages, by its path below ``root``."""
    return {
        path.relative_to(root).as_posix(): parse(path.read_text(encoding="utf-8"))
        for package in PACKAGES
        for path in sorted((root / package).rglob("*.py"))
    }


def forget() -> None:
    """Let go of all syntax trees."""
    parse.cache_clear()
    imports.cache_clear()


def dotted(path: str) -> str:
    """The name of a module by its path."""
    parts = Path(path).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def absolute(path: str, node: ast.ImportFrom) -> str:
    """The module of a ``from`` import, also of a relative one."""
    if not node.level:
        return (node.module or "").removeprefix(f"{DISTRIBUTION}.")
    package = dotted(path).split(".")
    package = package if path.endswith("__init__.py") else package[:-1]
    base = package[: len(package) - node.level + 1]
    return ".".join([*base, *([node.module] if node.module else [])])


@cache
def imports(path: str, tree: ast.AST) -> tuple[Import, ...]:
    """Every import of a module, those for type checkers included."""
    found: list[Import] = []

    def walk(node: ast.AST, lazy: bool, typing: bool) -> None:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for child in node.body:
                walk(child, lazy, True)
            for child in node.orelse:
                walk(child, lazy, typing)
            return
        if isinstance(node, ast.Import):
            found.extend(
                Import(a.name.removeprefix(f"{DISTRIBUTION}."), (), node.lineno, lazy, typing)
                for a in node.names
            )
        elif isinstance(node, ast.ImportFrom):
            names = tuple(alias.name for alias in node.names)
            found.append(Import(absolute(path, node), names, node.lineno, lazy, typing))
        inside = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        if not isinstance(node, ast.expr):  # an expression holds no statement
            for child in ast.iter_child_nodes(node):
                walk(child, lazy or inside, typing)

    walk(tree, False, False)
    return tuple(found)


def targets(used: Import, known: Set[str]) -> set[str]:
    """The modules among ``known`` that one statement imports."""
    return {f"{used.module}.{name}" for name in used.names} & known or ({used.module} & known)


def circles(trees: Trees) -> Iterator[str]:
    """Modules that import each other, directly or not; imports for type checkers count."""
    known = {dotted(path) for path in trees}
    edges: dict[str, set[str]] = {module: set() for module in known}
    for path, tree in trees.items():
        for used in imports(path, tree):
            edges[dotted(path)] |= targets(used, known) - {dotted(path)}
    state: dict[str, str] = {}
    trail: list[str] = []

    def visit(module: str) -> Iterator[str]:
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


def folders(trees: Trees) -> dict[str, int]:
    """Modules of each folder, without its ``__init__`` and without its subfolders."""
    count: dict[str, int] = defaultdict(int)
    for path in trees:
        count[path.rpartition("/")[0]] += not path.endswith("__init__.py")
    return dict(count)


def crowded(trees: Trees) -> dict[str, int]:
    """Folders with more modules than one look takes in."""
    return {folder: n for folder, n in folders(trees).items() if n > MOST_MODULES}


def class_names(trees: Trees) -> dict[str, list[str]]:
    """Where each class is defined, by its name; classes inside functions are left out."""
    places: dict[str, list[str]] = defaultdict(list)
    for path, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(path)
    return dict(places)


def defined_twice(trees: Trees) -> dict[str, list[str]]:
    """Names that several classes bear, each with the modules that define one."""
    return {name: paths for name, paths in class_names(trees).items() if len(paths) > 1}


_APHORISM = re.compile(r"^[A-Z][\w' -]{0,40}: ")


def aphorisms(trees: Trees) -> Iterator[str]:
    """Modules whose docstring begins as a riddle does: a word, a colon, a saying."""
    for path, tree in trees.items():
        first = (ast.get_docstring(tree) or "").partition("\n")[0]
        if not first or _APHORISM.match(first):
            yield f"{path}: {first or 'no docstring'}"


def comment_share(root: Path, paths: Iterable[str]) -> float:
    """Lines with a comment over all lines that are not blank."""
    comments = lines = 0
    for path in paths:
        text = (root / path).read_text(encoding="utf-8")
        lines += sum(bool(line.strip()) for line in text.splitlines())
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        comments += sum(
            token.type == tokenize.COMMENT
            and "noqa" not in token.string
            and "type:" not in token.string
            for token in tokens
        )
    return comments / lines


def array_aliases(trees: Trees) -> Iterator[str]:
    """Modules but ``agents/arrays.py`` that give a type of numpy arrays a name of their own."""
    for path, tree in trees.items():
        for node in tree.body:
            value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
            if value is None or path == "agents/arrays.py" or isinstance(value, ast.Call):
                continue
            if "NDArray[" in ast.unparse(value):
                yield f"{path}:{node.lineno}"


def full_fronts(trees: Trees) -> Iterator[str]:
    """Front doors (``__init__``) that hold more than their docstring; folders of prompts may."""
    for path, tree in trees.items():
        if path.endswith("__init__.py") and "/prompts/" not in path and tree.body[1:]:
            yield f"{path}:{tree.body[1].lineno} holds code; a front says what lives here"


def public_names(root: Path) -> dict[str, str]:
    """The names that are public by statement, each with its module in the five packages."""
    tree = parse((root / DISTRIBUTION / "__init__.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_HOMES":
            return dict(ast.literal_eval(node.value))
    return {}


def unequal_exports(root: Path) -> Iterator[str]:
    """Differences between the three lists of public names, and names that nothing defines."""
    path = f"{DISTRIBUTION}/__init__.py"
    tree = parse((root / path).read_text(encoding="utf-8"))
    lazily = public_names(root)
    typed = {
        name: used.module
        for used in imports(path, tree)
        if used.typing and used.module != "typing"
        for name in used.names
    }
    if lazily != typed:
        yield f"{path}: {sorted(lazily.items() ^ typed.items())}"
    listed = _listed(tree)
    if sorted(listed) != sorted(lazily):
        yield f"{path}: __all__ differs by {sorted(set(listed) ^ set(lazily))}"
    defined = {
        dotted(one): {n for node in two.body for n in _names(node)}
        for one, two in sources(root).items()
    }
    for name, module in lazily.items():
        if name not in defined.get(module, set()):
            yield f"{path}: {module} defines no {name}"


def _names(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            yield from (one.id for one in ast.walk(target) if isinstance(one, ast.Name))
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id


def _listed(tree: ast.Module) -> list[str]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    return []


LIMITS = {
    "source lines": 71_000,
    "test lines": 63_500,
    "benchmark lines": 4_500,
    "documentation lines in docs/": 10_000,
    "modules": 320,
    "commands at the top level": 19,
    "rows of keys": 420,
    "names public by statement": 50,
}
"""Limits of the amounts, which ``tests/test_layers.py`` keeps."""


def amounts(root: Path) -> Iterator[tuple[str, int]]:
    """Count what there is to read."""
    trees = sources(root)
    front = sorted((root / DISTRIBUTION).glob("*.py"))
    yield "source lines", sum(map(_lines, [*(root / path for path in trees), *front]))
    yield "test lines", sum(map(_lines, (root / "tests").rglob("*.py")))
    yield "benchmark lines", sum(map(_lines, (root / "benchmarks").rglob("*.py")))
    pages = [
        path
        for kind in ("md", "ipynb", "py", "css", "js")
        for path in (root / "docs").rglob(f"*.{kind}")
        if not {"_build", "pages"} & set(path.parts)
    ]
    yield "documentation lines in docs/", sum(map(_lines, pages))
    yield "modules", sum(not path.endswith("__init__.py") for path in trees)
    tree = trees["scenarios/cli/help_examples.py"]
    (sections,) = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "SECTIONS" and node.value
    )
    yield "commands at the top level", sum(map(len, sections.values()))
    keys = (root / "docs/keys.md").read_text("utf-8")
    yield "rows of keys", len(re.findall(r"^\| `[\w.]+` \|", keys, re.M))
    yield "names public by statement", len(public_names(root))


def _lines(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())


def table(root: Path) -> Iterator[tuple[str, str]]:
    """The figures of a checkout, each with what it counts."""
    trees = sources(root)
    modules = [path for path in trees if not path.endswith("__init__.py")]
    yield "modules", f"{len(modules)} in {len(trees) - len(modules)} packages"
    most = max(folders(trees).items(), key=lambda item: item[1])
    yield f"folders with more than {MOST_MODULES} modules", str(len(crowded(trees)))
    yield "modules in the fullest folder", f"{most[1]} ({most[0]})"
    yield "import circles, type imports counted", str(len(list(circles(trees))))
    twice = defined_twice(trees)
    yield "class names defined twice", f"{len(twice)} {' '.join(sorted(twice))}".strip()
    yield "module docstrings that are aphorisms", str(len(list(aphorisms(trees))))
    yield "names for array types outside agents/arrays.py", str(len(list(array_aliases(trees))))
    yield "comments, share of lines", f"{comment_share(root, trees):.1%}"
    lines = sorted(len((root / path).read_text("utf-8").splitlines()) for path in modules)
    yield (
        "lines of a module: median, 90th percentile, most",
        (f"{lines[len(lines) // 2]}, {lines[len(lines) * 9 // 10]}, {lines[-1]}"),
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout to measure")
    root = parser.parse_args().root
    for what, amount in amounts(root):
        verdict = "" if amount <= LIMITS[what] else "above its limit"
        print(f"{what:<40} {amount:>9,} {LIMITS[what]:>9,} {verdict}".rstrip())
    print()
    for what, figure in table(root):
        print(f"{what:<78} {figure}")


if __name__ == "__main__":
    main()
