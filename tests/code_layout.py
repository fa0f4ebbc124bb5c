"""How much there is to read: ``python -m tests.code_layout`` prints it beside its limits.

``tests/test_layers.py`` keeps the limits. ``--root DIR`` measures another checkout; nothing of the
project is imported.
"""

import argparse
import ast
import io
import re
import tokenize
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("agents", "society", "protocols", "metrics", "scenarios")
DISTRIBUTION = "virsci_society"
"""The import package that the five are part of."""
MOST_MODULES = 16
"""Modules of one folder, its ``__init__`` not counted."""
LIMITS = {
    "source lines": 62_000,
    "test lines": 55_000,
    "benchmark lines": 4_250,
    "documentation lines in docs/": 9_750,
    "modules": 275,
    "commands at the top level": 18,
    "rows of keys": 411,
    "names public by statement": 49,
}
"""Limits of the amounts."""

# Every check reads all modules: parsing a text once takes a tenth of the time.
parse = cache(ast.parse)
"""The syntax tree of a text, the same object each time: it must not be changed."""


def sources(root):
    """The syntax tree of every module of the five packages, by its path below ``root``."""
    return {
        path.relative_to(root).as_posix(): parse(path.read_text(encoding="utf-8"))
        for package in PACKAGES
        for path in sorted((root / package).rglob("*.py"))
    }


def folders(trees):
    """Modules of each folder, without its ``__init__`` and without its subfolders."""
    modules = (path for path in trees if not path.endswith("__init__.py"))
    return Counter(path.rpartition("/")[0] for path in modules)


def value_of(tree, name):
    """The value that a module gives a name at its top, read from its text."""
    for node in tree.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if ast.unparse(target) == name:
                return ast.literal_eval(node.value)
    raise LookupError(name)


def amounts(root):
    """Count what there is to read."""
    trees = sources(root)
    front = sorted((root / DISTRIBUTION).glob("*.py"))
    yield "source lines", sum(map(lines_of, [*(root / path for path in trees), *front]))
    yield "test lines", sum(map(lines_of, (root / "tests").rglob("*.py")))
    yield "benchmark lines", sum(map(lines_of, (root / "benchmarks").rglob("*.py")))
    pages = [
        path
        for kind in ("md", "ipynb", "py", "css", "js")
        for path in (root / "docs").rglob(f"*.{kind}")
        if not {"_build", "pages"} & set(path.parts)
    ]
    yield "documentation lines in docs/", sum(map(lines_of, pages))
    yield "modules", sum(folders(trees).values())
    sections = value_of(trees["scenarios/cli/help_examples.py"], "SECTIONS")
    yield "commands at the top level", sum(map(len, sections.values()))
    keys = (root / "docs/keys.md").read_text("utf-8")
    yield "rows of keys", len(re.findall(r"^\| `[\w.]+` \|", keys, re.M))
    public = parse((root / DISTRIBUTION / "__init__.py").read_text(encoding="utf-8"))
    yield "names public by statement", len(value_of(public, "_HOMES"))


def lines_of(path):
    """The number of lines of a file."""
    return len(path.read_text("utf-8").splitlines())


def comment_share(texts):
    """Lines with a comment over all lines that are not blank."""
    comments = lines = 0
    for text in texts:
        lines += sum(bool(line.strip()) for line in text.splitlines())
        comments += sum(
            token.type == tokenize.COMMENT and not re.search("noqa|type:", token.string)
            for token in tokenize.generate_tokens(io.StringIO(text).readline)
        )
    return comments / lines


def main():
    """Print the amounts and a few figures more."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout to measure")
    root = parser.parse_args().root
    for what, amount in amounts(root):
        verdict = "" if amount <= LIMITS[what] else "above its limit"
        print(f"{what:<40} {amount:>9,} {LIMITS[what]:>9,} {verdict}".rstrip())
    trees = sources(root)
    texts = [(root / path).read_text("utf-8") for path in trees]
    lines = sorted(len(text.splitlines()) for text in texts)
    folder, most = folders(trees).most_common(1)[0]
    print(f"\nmodules in the fullest folder: {most} ({folder})")
    print(f"comments, share of lines: {comment_share(texts):.1%}")
    print(f"lines of a module, median, 90th percentile, most: {lines[len(lines) // 2]}, ", end="")
    print(f"{lines[len(lines) * 9 // 10]}, {lines[-1]}")


if __name__ == "__main__":
    main()
