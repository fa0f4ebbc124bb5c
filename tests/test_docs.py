"""What the documentation shows is run: README's example, its commands, the notebook."""

import ast
import json
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from shutil import which

import nbformat
import pytest
from typer.testing import CliRunner

import virsci_society as vs
from tests.code_layout import PACKAGES
from tests.faultserver import FaultServer, Plan
from virsci_society import load_scenario
from virsci_society.agents.backends.context_window import read_window
from virsci_society.scenarios.cli.app import app
from virsci_society.scenarios.config import schema
from virsci_society.scenarios.config.document import LIBRARY
from virsci_society.scenarios.config.keys import key_sections
from virsci_society.scenarios.study.design import read_study
from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic
from virsci_society.society.results.run import Run

ROOT = Path(__file__).resolve().parents[1]
SITE = runpy.run_path(str(ROOT / "docs" / "conf.py"))
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMAND = (
    "import sys; from virsci_society.scenarios.cli.app import main; sys.argv[0] = 'society'; main()"
)


def blocks(text, language):
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def society(arguments, folder):
    command = [sys.executable, "-c", COMMAND, *arguments]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(folder)}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=550
    )


@pytest.mark.slow
def test_the_first_example_prints_what_the_readme_shows(nursery, tmp_path):
    code, shown = blocks(README, "python")[0], blocks(README, "text")[0]
    assert len(code.strip().splitlines()) <= 10
    done = nursery.python(code, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == shown


def test_the_facts_of_the_readme_are_those_of_their_page():
    page = (ROOT / "docs" / "facts.md").read_text(encoding="utf-8")
    card = re.search(r"^- community/assembly: (\d+) of (\d+) facts reproduced, ([^(]*)", page, re.M)
    good, facts = int(card[1]), int(card[2])
    others = {word.strip(): int(number) for number, word in re.findall(r"(\d+) ([a-z ]+)", card[3])}
    bad = sum(others.get(word, 0) for word in ("absent", "opposite", "too strong"))
    for text in (README, (ROOT / "docs" / "README.md").read_text(encoding="utf-8")):
        found = re.search(
            r"Of (\d+) .* reproduces (\d+) and misses (\d+); (\d+) are .* (\d+)\snot", text, re.S
        )
        rest = [others["inconclusive"], others["not measurable"]]
        assert [int(number) for number in found.groups()] == [facts, good, bad, *rest]


def test_the_answers_of_the_readme_are_printed_by_their_tutorials():
    """The site fails where a figure in bold of a tutorial is printed by none of its cells."""
    bullet = re.compile(r"^- \*\*[^*]+\*\* (.*?)\(\[tutorial\]\((.*?)\)", re.M | re.S)
    for answer, page in (found := bullet.findall(README)):
        bold = " ".join(re.findall(r"\*\*(.*?)\*\*", (ROOT / page).read_text("utf-8"), re.S))
        number = SITE["NUMBER"]
        assert set(number.findall(answer)) <= set(number.findall(bold)), page
    assert len(found) == 2


BRISK = (
    *("until=16w", "time.meeting_notice=1d", "time.reply_window=2d", "time.publication_delay=5d"),
)
"""A run that publishes within its few weeks."""


@pytest.fixture
def few(monkeypatch):
    """Invented ecosystems are small, runs and plans short, where their size shows nothing.

    The first example is of full size.
    """
    # A module that is first imported while the function is replaced would keep the replacement.
    for path in sorted((ROOT / "scenarios").rglob("*.py")):
        if "schema import" in (text := path.read_text("utf-8")) and "load_scenario" in text:
            import_module(
                f"virsci_society.{'.'.join(path.relative_to(ROOT).with_suffix('').parts)}"
            )
    generate, load = Synthetic.generate, schema.load_scenario

    def smaller(self, seed):
        most = {"scientists": min(self.scientists, 24), "papers": min(self.papers, 200)}
        return generate(self.model_copy(update=most), seed)

    def shorter(scenario, *, settings=(), **how):
        return load(scenario, settings=[*(settings or ()), *BRISK], **how)

    monkeypatch.setattr(Synthetic, "generate", smaller)
    monkeypatch.setattr(schema, "load_scenario", shorter)


@pytest.mark.slow
@pytest.mark.usefixtures("few")
def test_the_commands_of_the_command_line_page_run(tmp_path, monkeypatch):
    """The first in a process of its own, the others in this one, which has imported everything."""
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    lines = [line[2:] for block in blocks(page, "console") for line in block.splitlines()]
    first, *others = (shlex.split(line)[1:] for line in lines)
    done = society(first, tmp_path)
    assert done.returncode == 0, (first, done.stderr)
    assert done.stdout.strip(), first
    monkeypatch.chdir(tmp_path)
    for arguments in others:
        made = CliRunner().invoke(app, arguments)
        assert made.exit_code == 0, (arguments, made.stderr)
        assert made.stdout.strip(), arguments
    assert len(Run.open(tmp_path / "runs" / "seven").table("papers"))


def test_the_links_of_the_pages_lead_somewhere():
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = page.read_text(encoding="utf-8")
        for link, anchor in re.findall(r"\]\((?!\w+:)([^)#\s]*)#?([^)\s]*)\)", text):
            target = page.parent / link if link else page
            assert target.exists(), (page.name, link)
            if anchor and target.suffix == ".md":
                heads = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
                slugs = {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}
                assert anchor in slugs, (page.name, link, anchor)


PAGES = sorted((ROOT / "docs").glob("*.md"))


def test_the_keys_and_pages_that_texts_name_exist():
    rows = (row.key for _, _, rows in key_sections(schema.Scenario) for row in rows)
    keys = {".".join(key.split(".")[:2]) for key in rows}
    sections = "|".join({key.split(".")[0] for key in keys if "." in key})
    named = re.compile(rf"(?:`|--set )((?:{sections})\.(?!(?:py|use)\b)[a-z_]+)")
    files = [*ROOT.glob("docs/**/*.md"), *LIBRARY.rglob("*.yaml"), *ROOT.glob("examples/**/*.yaml")]
    for file in (*files, ROOT / "README.md"):
        text = file.read_text(encoding="utf-8")
        assert {*named.findall(text)} <= keys, file
        for page in re.findall(r"(?<![/\w])docs/[\w/-]+\.md", text):
            assert (ROOT / page).is_file(), f"{file}: {page}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_scenarios_and_studies_of_a_page_are_valid(page, tmp_path):
    """The keys of its commands and of its study files exist; the site runs those of tutorials."""
    text = page.read_text(encoding="utf-8")
    for line in "".join(blocks(text, "console") + blocks(text, "sh")).splitlines():
        words = shlex.split(line.removeprefix("$ "), comments=True)
        keys = [words[n + 1] for n, word in enumerate(words) if word == "--set"]
        library = words[2:] and (LIBRARY / f"{words[2]}.yaml").exists()
        own = "--trust" in words or ".yaml" in line  # code or a file that the page shows
        if words[:2] in (["society", "run"], ["society", "check"]) and library and not own:
            assert load_scenario(words[2], settings=keys), line
    for study in blocks(text, "yaml"):
        own = re.search(r"[a-z]:[A-Z]|society_extension|eco/", study)
        if re.search("^study: ", study, re.MULTILINE) and not own:
            (tmp_path / "study.yaml").write_text(study, encoding="utf-8")
            assert read_study(tmp_path / "study.yaml").arms


def test_every_page_is_in_one_group_of_the_site():
    listed = [page for group in SITE["GROUPS"] for _, page, _ in SITE["pages"](group)]
    assert len(listed) == len(set(listed))
    docs = ROOT / "docs"
    files = [path for kind in ("md", "ipynb") for path in docs.rglob(f"*.{kind}")]
    names = {path.relative_to(docs).with_suffix("").as_posix() for path in files}
    assert {name for name in names if not name.startswith("_build")} - set(listed) == {"README"}
    made = {page for page in listed if page.startswith("pages/")}
    assert made - {f"pages/{name}" for name in SITE["ELSEWHERE"].values()} == {
        "pages/library",
        "pages/names",
    }


def test_the_menu_has_the_titles_of_the_pages():
    for group in SITE["GROUPS"]:
        for title, page, _ in SITE["pages"](group):
            if (path := ROOT / "docs" / f"{page}.md").exists():
                assert path.read_text(encoding="utf-8").startswith(f"# {title}\n"), page


def test_every_public_name_is_on_one_page_of_the_site_with_its_first_line():
    names = [name for group in SITE["name_groups"]().values() for name in group]
    assert sorted(names) == sorted(vs.__all__)
    page = SITE["names_page"]()
    assert "| [`Usage`](#virsci_society.Usage) | Tokens of one call. |" in page
    assert page.count("](#virsci_society.") == len(names)


def test_the_card_of_a_scenario_becomes_a_section_of_the_site():
    page = SITE["library_page"]()
    section = page.partition("## community/removal\n")[2].partition("\n## ")[0]
    assert section.strip().startswith("Removal of hubs: ")
    labels = re.findall(r"^\*\*(.*)\.\*\*", section, re.MULTILINE)
    assert labels == SITE["CARD_PARTS"].split("|")
    assert "```sh\nsociety run community/removal\n" in section
    assert page.index("## virsci/single") < page.index("## studies/arrangements")


def test_links_of_a_page_lead_to_what_the_site_has():
    docs = ROOT / "docs"
    text = "[metrics.md](metrics.md), [log](../CHANGELOG.md#a), [x](https://x.org), [y](#z)"
    on_site = SITE["on_site"](text, docs, docs)
    assert on_site == ("[](metrics.md), [log](pages/changelog.myst#a), [x](https://x.org), [y](#z)")
    moved = SITE["on_site"]("[a](docs/odd.md) [b](LICENSE)", ROOT, SITE["MADE"])
    assert moved == "[a](../odd.md) [b](../../LICENSE)"


def test_a_page_that_would_ask_another_host_is_found():
    page = (
        '<a href="https://a.org">a</a><script async src="https://b.org/x.js"></script>'
        '<link rel="stylesheet" href="//c.org/x.css"><img src="_images/d.svg">'
        '<style>@import "https://e.org/x.css"; p {background: url(https://f.org/x.png)}</style>'
    )
    found = ["https://b.org/x.js", "//c.org/x.css", "https://e.org/x.css", "https://f.org/x.png"]
    assert SITE["strays"](page) == found
    assert SITE["strays"](f"<p>{ROOT}/docs</p>") == [str(ROOT)]


QUESTIONS = {
    ("how do I resume a run",): "commands",
    ("use my own model",): "tutorial-virsci",
    ("how much does it cost",): "live",
    ("what is ON", "ON"): "README",
    ("import OpenAlex",): "ecosystems",
    ("cluster slurm",): "clusters",
    ("add my own measure",): "extend",
    ("reproduce VirSci",): "reproduction",
    ("stop a run",): "live",
    ("cite",): "README",
}
"""What a newcomer types, in at most two tries, and the page that answers it."""


def questions_without_answer(site):
    """Those whose page is not among the first three of any try, with what the last one found."""
    tries = [query for queries in QUESTIONS for query in queries]
    command = ["node", str(ROOT / "tests" / "site_search.js"), str(site), *tries]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    found = dict(zip(tries, map(json.loads, done.stdout.splitlines()), strict=True))
    return {
        queries[-1]: found[queries[-1]][:3]
        for queries, page in QUESTIONS.items()
        if not any(page in found[query][:3] for query in queries)
    }


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_site_is_built_without_a_warning(tmp_path, monkeypatch):
    pytest.importorskip("sphinx", reason="needs the extra [docs]")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    folders = [str(ROOT / "docs"), str(tmp_path / "html"), "-d", str(tmp_path / "read")]
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", *folders]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3500)
    assert done.returncode == 0, done.stderr
    assert "tutorial-removal.html" in (tmp_path / "html" / "llms.txt").read_text("utf-8")
    assert 'url=README.html"' in (tmp_path / "html" / "index.html").read_text("utf-8")
    assert '"live": 4' in (tmp_path / "html" / "_static" / "language_data.js").read_text("utf-8")
    usage = (tmp_path / "html" / "pages" / "names-backends.html").read_text("utf-8")
    assert 'id="virsci_society.Usage"' in usage
    assert "data-dictionary" in (tmp_path / "html" / "searchindex.js").read_text("utf-8")
    if which("node"):
        assert questions_without_answer(tmp_path / "html") == {}


NOTEBOOK = ROOT / "docs" / "quickstart.ipynb"


@pytest.mark.slow
def test_the_notebook_finds_what_it_says(tmp_path, monkeypatch):
    from nbclient import NotebookClient

    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    client = NotebookClient(notebook, timeout=550, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert "image/png" in code[-2].outputs[0].data
    shares = re.findall(r"0\.(\d\d)", code[-1].outputs[0].data["text/plain"])
    assert len(shares) == 6
    assert set(shares) <= set(re.findall(r"\d\d", notebook.cells[-1].source))


def test_the_notebook_is_stored_without_results_and_uses_public_names():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs for cell in code)
    trees = [ast.walk(ast.parse(cell.source)) for cell in code]
    imports = [node for tree in trees for node in tree if isinstance(node, ast.Import)]
    assert {node.names[0].name for node in imports if "virsci" in node.names[0].name} == {
        "virsci_society"
    }
    assert not [cell for cell in code if "from virsci_society" in cell.source]


RECIPES = [
    shlex.split(line)[1:]
    for block in blocks((ROOT / "docs" / "live.md").read_text(encoding="utf-8"), "sh")
    for line in block.splitlines()
    if line.startswith("society run quickstart --set backend.use=")
]
PLAYED = {
    "11434": Plan(plays="ollama"),
    "8000": Plan(plays="vllm", window=32_768),
    "8080": Plan(plays="llama.cpp", window=32_768),
}
"""Servers that stand for those of the recipes, by the port that they listen on."""
HOSTED = [recipe for recipe in RECIPES if "api_base" not in " ".join(recipe)]
BRIEF = (
    *("founding.use=once", "founding.count=1", "protocol.team_size=2", "protocol.turns=1"),
    *("population.ecosystem.scientists=20", "population.ecosystem.papers=100", "metrics=[cost]"),
)


def test_there_is_a_recipe_for_every_kind_of_server():
    ports = re.findall(r"127\.0\.0\.1:(\d+)", " ".join(part for one in RECIPES for part in one))
    assert sorted(ports) == sorted(PLAYED)
    assert len(HOSTED) == 2


@pytest.mark.slow
@pytest.mark.parametrize("port", PLAYED)
def test_the_recipe_of_a_local_server_runs_and_no_page_is_cut(port, tmp_path, monkeypatch):
    (recipe,) = (one for one in RECIPES if f":{port}" in " ".join(one))
    monkeypatch.chdir(tmp_path)
    with FaultServer(PLAYED[port]) as server:
        played = [re.sub(r":\d+(/v1)?$", rf":{server.port}\1", part) for part in recipe]
        # Only the server's own model answers here.
        played = [re.sub(r"(backend\.model=(?:ollama_chat/)?).*", r"\1test", one) for one in played]
        brief = [part for key in BRIEF for part in ("--set", key)]
        done = CliRunner().invoke(app, [*played, *brief, "--out", "out"])
        counts = server.counts()
    assert done.exit_code == 0, done.output
    assert counts["requests"] > 10
    assert counts["cut"] == 0
    assert set(counts["outcomes"]) == {"answered"}
    assert bool(counts["windows"]) == (port == "11434")


@pytest.mark.slow
@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("recipe", HOSTED, ids=lambda recipe: recipe[5].split("=")[1])
def test_the_recipe_of_a_hosted_model_is_right_as_far_as_can_be_seen_without_it(recipe):
    """Its keys are right, litellm knows price and window, and every page fits; nobody is asked."""
    checked = CliRunner().invoke(app, ["check", *recipe[1:]])
    assert checked.exit_code == 0, checked.output
    assert "tokens" not in checked.stderr
    scenario = load_scenario(
        "quickstart", settings=[part for part in recipe[2:] if part != "--set"]
    )
    window = read_window(scenario.backend.backend)
    assert window.tokens >= 100_000
    assert scenario.backend.backend.priced


def test_the_rooms_of_the_design_page_are_the_folders_in_the_order_that_imports_keep():
    page = (ROOT / "docs" / "contributing" / "design.md").read_text(encoding="utf-8")
    table = page.partition("## The rules")[0]
    rows = re.findall(r"^\| `(\w+)` \|.*\| (.*) \|$", table, re.MULTILINE)
    told = {package: re.findall(r"`(\w+)`", rooms) for package, rooms in rows}
    assert list(told) == list(PACKAGES)
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = {one["name"]: one for one in settings["tool"]["importlinter"]["contracts"]}
    for package, named in told.items():
        folders = {init.parent.name for init in (ROOT / package).glob("*/__init__.py")}
        assert set(named) == folders - {"library"}, package
        layers = reversed(contracts[f"Rooms of {package}"]["layers"])
        groups = [layer.split(" : ") for layer in layers]
        places = [[room in group for group in groups].index(True) for room in named]
        assert places == sorted(places), package


def test_every_rule_that_is_named_by_its_number_stands_on_the_page_of_the_design():
    page = (ROOT / "docs" / "contributing" / "design.md").read_text(encoding="utf-8")
    table = page.partition("## The rules")[2].partition("\n## ")[0]
    numbers = [row.split(", ") for row in re.findall(r"^\| ([\d, ]+) \|", table, re.MULTILINE)]
    known = {int(number) for row in numbers for number in row}
    assert known == set(range(1, len(known) + 1))
    named = re.compile(r"\b[Rr]ules? (\d+(?:(?:,| and|, and| to) \d+)*)")
    folders = [*PACKAGES, "tests", "docs", "benchmarks", "examples"]
    files = [path for folder in folders for path in (ROOT / folder).rglob("*")]
    texts = [path for path in files if path.suffix in (".py", ".md", ".html", ".yaml", ".txt")]
    found = [(path, named.findall(path.read_text(encoding="utf-8"))) for path in texts]
    assert sum(len(hits) for _, hits in found) > 100
    for path, hits in found:
        assert {int(n) for hit in hits for n in re.findall(r"\d+", hit)} <= known, path
