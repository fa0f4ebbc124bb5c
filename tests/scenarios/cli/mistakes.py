"""Typical mistakes: what was typed, in a folder with which files, and what the answer must say."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copytree

from typer.testing import CliRunner

from virsci_society.scenarios.cli.app import app

TINY = (
    "name: tiny\nseed: 3\nuntil: 4w\nmetrics: []\n"
    "population: {ecosystem: {scientists: 8, papers: 40, fields: 2, seed: 1}}\n"
    "founding: {use: once, count: 1}\n"
    "protocol: {team_size: 1, turns: 1, topic: {leaving: off}}\n"
)
"""A scenario of one small team, whose run the mistakes with run folders start from."""
MODEL = "--set backend.use=openai --set backend.model=m"
PAPER = '{"id": "a", "title": "Graphs", "abstract": "On graphs.", "year": 2010, "authors": ["Ada"]}'


@dataclass(frozen=True)
class Mistake:
    """One mistake."""

    what: str
    typed: str
    says: tuple[str, ...]
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    with_run: bool = False
    code: int = 2


def scenario(what, text, *says, typed="check s.yaml"):
    """A mistake in a scenario file."""
    return Mistake(what, typed, says, {"s.yaml": text})


def setting(what, settings, *says):
    """A mistake in ``--set``."""
    return Mistake(what, f"check quickstart {settings}", says)


# A row is as few lines as its words allow, whatever a formatter thinks of that.
# fmt: off
FILES = (
    Mistake("a name spelt wrong", "run quikstart", ("did you mean 'quickstart'?",)),
    Mistake("a file that is not there", "run mine.yaml",
        ("mine.yaml: no such file", "a name that 'society list' shows")),
    Mistake("a folder for a file", "run mine", ("give a scenario file in it",),
        {"mine/s.yaml": TINY}),
    Mistake("a study where a scenario is wanted", "run systems",
        ("is a study", "society study run")),
    Mistake("the file of a study, run as a scenario", "run s.yaml",
        ("s.yaml: is a study", "society study run"), {"s.yaml": "study: Mine\nbase: quickstart\n"}),
    scenario("an empty file", "", "s.yaml: is empty", "extends: quickstart"),
    scenario("a file of comments", "# todo\n", "s.yaml: is empty", "extends: quickstart"),
    scenario("a tab for an indent", "protocol:\n\tturns: 3\n", "s.yaml:2:1", "indent with spaces"),
    scenario("a bracket left open", "metrics: [teams\n", "expected ',' or ']'"),
    scenario("a key twice", "seed: 1\nseed: 2\n", "s.yaml:2:1: key 'seed' appears twice",
        "remove one"),
    scenario("a file of an office program", b"PK\x03\x04\xff\xfe",
        "save it as plain text in UTF-8"),
    scenario("a file of 2 MB", b"#" * 2_000_000, "larger than 256 KiB", "give a scenario file"),
    scenario("a list for a scenario", "- seed: 1\n",
        "mapping of keys to values, such as 'seed: 7'"),
    scenario("a tag that would run code", "seed: !!python/name:os.system\n", "plain values only"),
    scenario("extending what is not there", "extends: quick\n", "did you mean 'quickstart'?"),
    scenario("extending itself", "extends: s.yaml\n", "a circle: s.yaml -> s.yaml",
        "remove one extends"),
)
VALUES = (
    scenario("a key spelt wrong", "protocl: {turns: 3}\n", "did you mean 'protocol'?"),
    scenario("a key outside its section", "turns: 3\n", "did you mean 'protocol.turns'?"),
    scenario("a word for a number", "seed: many\n", "expected a whole number"),
    scenario("a number below its bound", "seed: -1\n", "expected at least 0"),
    scenario("a number above its bound", "protocol: {turns: 1000000}\n", "expected at most 10,000"),
    scenario("a number of 64 bits", f"protocol: {{turns: {2**64}}}\n", "whole one below 2^63"),
    scenario("a number of 400 digits", f"seed: {'9' * 400}\n", "whole one below 2^63"),
    scenario("a time in words", "until: one year\n", "write 10m, 2h, 3d, 1w, 18mo or 2y"),
    scenario("a time before day 0", "until: -3d\n", "write 10m, 2h, 3d, 1w, 18mo or 2y"),
    scenario("steps longer than the run", "until: 1d\nstep: 1w\n",
        "step is longer than until; make it shorter"),
    scenario("a team of nobody", "protocol: {team_size: 0}\n", "expected at least 1"),
    scenario("a team larger than all", "protocol: {team_size: 400}\n", "--set protocol.team_size="),
    scenario("least above team size", "protocol: {min_size: 9}\n", "min_size is larger",
        "lower it"),
    scenario("a protocol spelt wrong", "protocol: {use: virsi}\n", "did you mean 'virsci'?"),
    scenario("a metric spelt wrong", "metrics: [team]\n", "'teams'"),
    scenario("neither on nor off", "backend: {use: openai, model: m, seeded: maybe}\n", "'on' or"),
    scenario("a stage spelt wrong", "time: {stage_effort: {ideaz: 2}}\n", "did you mean 'ideas'?"),
    scenario("more people than papers", "population: {ecosystem: {scientists: 5000, papers: 50}}\n",
        "give at least"),
    scenario("an intervention without its date", "interventions: [{set: {protocol.turns: 3}}]\n",
        "such as at: 1y"),
    scenario("a removal without its number",
        "interventions: [{at: 1y, remove_scientists: {by: degree}}]\n", "such as count: 10"),
    scenario("an intervention in what cannot change",
        "interventions: [{at: 1y, set: {population: {}}}]\n",
        "cannot change in mid-run"),
    setting("--set without a value", "--set seed", "write it as key=value"),
    setting("--set of an unknown key", "--set protocol.turnz=3", "did you mean 'turns'?"),
    setting("--set extends", "--set extends=quickstart", "name that scenario instead"),
    setting("a word for a seed", "--seed seven", "'--seed'"),
    setting("an option spelt wrong", "--sed 7", "--seed"),
)
OWN = (
    scenario("a class without --trust", "founding: {use: 'mine:Own'}\n", "then add --trust"),
    Mistake("a class that is not there", "check quickstart --trust --set founding.use=mine_1:Own",
        ("'mine_1:Own' cannot be imported: No module named 'mine_1'",)),
    Mistake("a class that Python cannot read",
        "check quickstart --trust --set founding.use=mine_2:Own", ("mine_2.py:1: SyntaxError",),
        {"mine_2.py": "class Own(:\n"}),
    Mistake("a class of another kind", "check quickstart --trust --set founding.use=mine_3:Own",
        ("is not a part; subclass virsci_society.agents.config.Part",),
        {"mine_3.py": "class Own: ...\n"}),
    Mistake(
        "a class that fails",
        "run s.yaml --trust --set founding.use=mine_4:Own",
        ("mine_4.py:3: your class: foundings failed with ZeroDivisionError", "correct your class"),
        {
            "s.yaml": TINY,
            "mine_4.py": "from virsci_society.society.formation.founding import Once\nclass "
            "Own(Once):\n"
            "    def foundings(self, scientists, streams): return 1 / 0\n",
        },
    ),
)
MODELS = (
    setting("a backend without a model", "--set backend.use=openai", "--set backend.model=NAME"),
    setting("no address", f"{MODEL} --set backend.api_base=here", "http://127.0.0.1:8000/v1"),
    setting("a key in an address",
        f"{MODEL} --set backend.api_base=https://example.org/v1/8f14e45fceea167a5a36dedd4bea2543",
        "put the key into an environment variable"),
    setting("a key for the name of its variable",
        f"{MODEL} --set backend.key=sk-abcdefghijklmnop1234", "such as OPENAI_API_KEY"),
    setting("a variable that is not set", f"{MODEL} --set backend.key=MY_KEY", "export MY_KEY="),
    setting("a window below a reply", f"{MODEL} --set backend.context=100",
        "raise it, or lower max_tokens"),
    setting("an extra that has a key", f"{MODEL} --set backend.extra.temperature=1",
        "it has its own key"),
    setting("a provider that litellm does not know",
        "--set backend.use=litellm --set backend.model=antropic/claude",
        "backend.model: litellm has no provider for 'antropic/claude'",
        "did you mean 'anthropic'?"),
    Mistake(
        "a budget without a price",
        f"run s.yaml {MODEL} --set backend.api_base=http://models.example/v1 "
        "--set backend.budget.usd=1",
        ("give backend.prices, or a budget in tokens",),
        {"s.yaml": TINY},
    ),
)
FOLDERS = (
    Mistake("a file for a folder", "run s.yaml --out f", ("--out",), {"s.yaml": TINY, "f": ""}),
    Mistake("a folder with other files", "run s.yaml --out d",
        ("d: contains other files; give another folder with --out",),
        {"s.yaml": TINY, "d/letter.txt": "Dear"}),
    Mistake("a folder of another scenario", "run quickstart --out runs/tiny-3",
        ("contains the scenario 'tiny' with seed 3", "--out runs/tiny-3-new"), with_run=True),
    Mistake("a folder of another seed", "run s.yaml --seed 4 --out runs/tiny-3",
        ("contains the scenario 'tiny' with seed 3", "--out runs/tiny-3-new"), {"s.yaml": TINY},
        with_run=True),
    Mistake("a shorter run of a folder", "run s.yaml --set until=1w",
        ("contains this run until day 28", "give another folder with --out"), {"s.yaml": TINY},
        with_run=True),
    Mistake("a study in a file", "study new f/s", ("f: cannot be used (File exists)",),
        {"f": "x"}),
    Mistake("an explorer in no folder", "explore runs/tiny-3 --out /proc/no/e.html",
        ("/proc/no: cannot be used (", "another place"), with_run=True),
    Mistake("figures in a file", "export figures runs/tiny-3 --out f",
        ("f: cannot be used (File exists)",), {"f": "x"}, True),
    Mistake("prompts in no folder", "export prompts quickstart --out /proc/no.md",
        ("/proc/no.md: cannot be used (",)),
    Mistake("facts in a file", "facts runs/tiny-3 --out f/facts", ("f/facts: cannot be used (",),
        {"f": "x"}, True),
    Mistake("a folder that cannot be", "run s.yaml --out /proc/no", ("--out",), {"s.yaml": TINY}),
    Mistake("showing what is not there", "show nowhere",
        ("nowhere: no such folder", "'society list runs' lists your runs")),
    Mistake("showing all runs", "show runs", ("such as runs/tiny-3",), with_run=True),
    Mistake("showing a study", "show d",
        ("d: a study, 0 of 4 runs finished; 'society study run d' resumes it",),
        {"d/lock.json": '{"arms": [{}, {}], "replicates": 2}'}),
    Mistake("showing what is no run", "show d",
        ("not a run folder; give the folder that a run wrote",), {"d/letter.txt": "Dear"}),
    Mistake("showing a scenario", "show lab.yaml",
        ("lab.yaml: is a file; give a run folder, such as runs/lab-1",),
        {"lab.yaml": TINY}),
    Mistake("listing what nearly is a kind", "list key", ("did you mean 'keys'?",)),
    Mistake("replaying what is no run", "replay d", ("give the folder that a run wrote",),
        {"d/letter.txt": "Dear"}),
    Mistake("a report of nothing", "export page nowhere",
        ("nowhere: no such folder", "'society list runs' lists your runs")),
    Mistake("a fork without a date", "fork runs/tiny-3 --out o", ("'--at'",), with_run=True),
    Mistake("a fork on no date", "fork runs/tiny-3 --at soon --out o",
        ("write 10m, 2h, 3d, 1w, 18mo or 2y",), with_run=True),
    Mistake("a fork that removes nobody known", "fork runs/tiny-3 --at 1w --remove fame:3 --out o",
        ("expected 'degree' or 'papers' or 'citations' or 'random'",), with_run=True),
)
CORPORA = (
    setting("a folder of people that is not there",
        "--set population.ecosystem.use=folder --set population.ecosystem.path=eco/no",
        "society ecosystem build jsonl FILE"),
    Mistake("a corpus that is not there", "ecosystem build jsonl no.jsonl --boundary 2012 --out e",
        ("no.jsonl: no such file or folder; give the path of the data",)),
    Mistake("an empty corpus", "ecosystem build jsonl c.jsonl --boundary 2012 --out e",
        ("no readable record in it", "expected JSON"), {"c.jsonl": ""}),
    Mistake("a corpus of another kind", "ecosystem build jsonl c.jsonl --boundary 2012 --out e",
        ("c.jsonl: is CSV: build it as csv",), {"c.jsonl": "id,title\n" * 40}),
    Mistake("a kind of corpus spelt wrong", "ecosystem build jsnl c.jsonl --boundary 2012 --out e",
        ("did you mean 'jsonl'?",), {"c.jsonl": PAPER + "\n"}),
    Mistake("an ecosystem that is none", "ecosystem info d", ("build the ecosystem again",),
        {"d/letter.txt": "Dear"}),
    Mistake("a comparison with nothing", "compare runs/tiny-3 --with no",
        ("no: no such folder; give the path of an ecosystem folder",), with_run=True),
    Mistake("a study spelt wrong", "study run team-sise", ("did you mean 'team-size'?",)),
    Mistake("a study without arms", "study run st.yaml", ("arms: required, but not given",),
        {"st.yaml": "study: Sizes\nseed: 1\n"}),
    Mistake("a scenario given as a study", "study run s.yaml",
        ("s.yaml: is a scenario, and a study names it under base",), {"s.yaml": TINY}),
    Mistake(
        "an arm to match that is not there",
        "study plan st.yaml",
        ("st.yaml:9:5: match.adapt.tow: 'tow' is not an arm", "did you mean 'two'?"),
        {
            "st.yaml": "study: Sizes\nbase: quickstart\narms:\n  one: {}\n  two: {}\n"
            "match:\n  to: one\n  adapt:\n    tow: {protocol.turns: [1, 4]}\nmeasures: [papers]\n"
        },
    ),
    Mistake("a fit that is not there", "calibrate no.yaml", ("no.yaml: no such file",)),
    Mistake("a command spelt wrong", "ron quickstart", ("Did you mean 'run'?",)),
    Mistake("a scenario without its command", "quickstart", ("society run quickstart",)),
    Mistake("a command without its scenario", "run", ("SCENARIO",)),
)
# fmt: on
MISTAKES = (*FILES, *VALUES, *OWN, *MODELS, *FOLDERS, *CORPORA)


@contextmanager
def folder_of(mistake, folder, run):
    """Make the folder in which a mistake is made the current one."""
    for name, content in mistake.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        data = content.encode() if isinstance(content, str) else content
        (folder / name).write_bytes(data)
    if mistake.with_run and run is not None:
        copytree(run, folder / "runs" / "tiny-3")
    before, path = Path.cwd(), list(sys.path)
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
        sys.path[:] = path


def make(mistake, folder, run):
    """Type the command in a folder of its own."""
    with folder_of(mistake, folder, run):
        return CliRunner().invoke(app, mistake.typed.split(), env={"COLUMNS": "100"})


def make_run(folder):
    """The run that some mistakes start from."""
    (folder / "tiny.yaml").write_text(TINY)
    done = CliRunner().invoke(app, ["run", f"{folder}/tiny.yaml", "--out", f"{folder}/run"])
    assert done.exit_code == 0, done.output
    return folder / "run"
