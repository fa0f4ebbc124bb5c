"""R16: what was changed after it was written is noticed, or changes nothing."""

import asyncio
import random
import shutil
import sqlite3
from contextlib import closing

import pytest

from tests.agents.journal.test_journal import ME, Words
from tests.promises.test_links import finished, micro
from virsci_society.agents.errors import InputError
from virsci_society.agents.files.file_hashes import HASHES
from virsci_society.agents.journal.journal import Journal
from virsci_society.agents.journal.records import Attempt, CallOutcome
from virsci_society.agents.prompts.request import Message, Request, Usage
from virsci_society.scenarios.analysis.verification import verify_folder
from virsci_society.scenarios.runs.execute import run_scenario
from virsci_society.scenarios.study.lock import RunResult, read_result, write_result
from virsci_society.society.results.run import Run

__all__ = ["finished", "micro"]
OFTEN = [60, pytest.param(500, marks=pytest.mark.slow)]
TABLES = ("calls", "attempts", "findings", "meta", "seals")


def request(number):
    """A request of a made-up call."""
    id_ = f"T/1/topic/1/1/{number}/utter/S"
    return Request(id_, ME, (Message("user", str(number)),), Words, asked=float(number))


async def fill(journal):
    """Ten commits with calls, attempts, retrievals and a note."""
    for number in range(10):
        asked = request(number)
        journal.store_outcome(request(100 + number), CallOutcome("answer", f"rule {number}"))
        journal.store_retrieval(f"find/{number}", "h", float(number), bytes([number] * 40))
        attempt = Attempt(asked.id, 0, "server", 500)
        await journal.record_intent(asked, attempt)
        attempt.outcome, attempt.usage = "answered", Usage(20, 30)
        outcome = CallOutcome("answer", f"words {number} " * 40, "model", attempt.usage)
        await journal.record_outcome(asked, attempt, outcome)
    journal.set_meta({"scenario": "{}"})


@pytest.fixture(scope="module")
def journals(tmp_path_factory):
    """A journal that was closed, and one of a killed run, whose log still holds its commits."""
    folder = tmp_path_factory.mktemp("journals")
    with Journal(folder / "journal.sqlite") as journal:
        asyncio.run(fill(journal))
        shutil.copytree(folder, folder / "killed", ignore=shutil.ignore_patterns("killed"))
    (folder / "closed").mkdir()
    shutil.copy(folder / "journal.sqlite", folder / "closed")
    return folder


def content(path, **how):
    """All that a run takes from a journal."""
    with Journal(path, **how) as journal:
        rows = {
            table: journal._all(f"SELECT * FROM {table}")
            for table in ("calls", "attempts", "findings")
        }
        assert journal.meta("scenario") in ("{}", None)
        return rows


def tried(read):
    """What is read, or None and the message that refuses it."""
    try:
        return read(), ""
    except InputError as error:
        return None, str(error)


def damage_file(path, luck):
    """Flip a bit, exchange, double or cut off bytes."""
    data = bytearray(path.read_bytes())
    at = luck.randrange(len(data))
    kind = luck.choice(["bit", "bit", "byte", "swap", "double", "cut"])
    if kind == "bit":
        data[at] ^= 1 << luck.randrange(8)
    elif kind == "byte":
        data[at] = luck.randrange(256)
    elif kind == "swap":
        other = luck.randrange(len(data))
        data[at], data[other] = data[other], data[at]
    elif kind == "double":
        data[at:at] = data[at : at + luck.randrange(1, 200)]
    else:
        del data[at:]
    path.write_bytes(bytes(data))
    return kind


def damage_rows(path, luck):
    """Delete, double, exchange or change rows of a table, as somebody with a tool could."""
    table = luck.choice(TABLES)
    kind = luck.choice(["delete", "double", "exchange", "change"])
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
        rowids = [row[0] for row in database.execute(f"SELECT rowid FROM {table}")]
        one, other = luck.sample(rowids, 2)
        text = [name for name in columns if name not in ("row", "id", "key", "call")]
        column = luck.choice(text)
        if kind == "delete":
            database.execute(f"DELETE FROM {table} WHERE rowid = ?", (one,))
        elif kind == "double":
            rest = [name for name in columns if name != "row"]
            values = [f"{name} || 'x'" if name in ("id", "key") else name for name in rest]
            database.execute(
                f"INSERT INTO {table} ({', '.join(rest)}) SELECT {', '.join(values)} "
                f"FROM {table} WHERE rowid = ?",
                (one,),
            )
        elif kind == "exchange":
            read = f"SELECT {column} FROM {table} WHERE rowid = ?"
            held = [database.execute(read, (row,)).fetchone()[0] for row in (one, other)]
            for row, value in zip((other, one), held, strict=True):
                database.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (value, row))
        else:
            database.execute(
                f"UPDATE {table} SET {column} = {column} || '7' WHERE rowid = ?", (one,)
            )
    return f"{kind} {table}"


@pytest.mark.parametrize("number", OFTEN)
def test_a_journal(journals, tmp_path, promise, number):
    """Closed or of a killed run, opened to go on or to replay."""
    luck = random.Random(number)
    noticed = 0
    whole = content(journals / "closed" / "journal.sqlite", frozen=True)
    for turn in range(number):
        folder = tmp_path / str(turn)
        state = luck.choice(["closed", "killed"])
        shutil.copytree(journals / state, folder)
        path = folder / "journal.sqlite"
        log = folder / "journal.sqlite-wal"
        if luck.random() < 0.4:
            what = damage_rows(path, luck)
        else:
            damaged = luck.choice(
                [one for one in (path, log) if one.exists() and one.stat().st_size]
            )
            what = f"{damaged.name} {damage_file(damaged, luck)}"
        found, told = tried(lambda path=path: content(path, frozen=luck.random() < 0.5))
        noticed += bool(told)
        assert found or "journal.sqlite" in told
        for table, rows in (found or {}).items():
            if what == "journal.sqlite-wal cut":
                # A log that ends early is what a kill at that moment would have left.
                # An attempt that was under way then is in doubt.
                begun = [row[:5] for row in whole[table]]
                assert [row[:5] for row in rows] == begun[: len(rows)]
            else:
                # At most the last commit is gone, as after a power cut in the middle of it.
                assert rows in (whole[table], whole[table][:-1]), (turn, state, what, table)
        shutil.rmtree(folder)
    assert noticed > number / 2
    promise("R16", "mutations of journals tried", number)
    promise("R16", "mutations noticed", noticed)


@pytest.mark.parametrize("number", OFTEN)
def test_tables_and_other_files_of_a_run(finished, tmp_path, promise, number):
    luck = random.Random(number)
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    files = [path for path in files if not path.name.startswith("journal")]
    assert len(files) > 25
    assert not verify_folder(folder).damage
    noticed = 0
    for _ in range(number):
        path = luck.choice(files)
        kept = path.read_bytes()
        damage_file(path, luck)
        if path.read_bytes() == kept:
            continue
        damage = verify_folder(folder).damage
        if path.name == HASHES:
            assert not damage or HASHES in damage[0]
        else:
            assert any(str(path) in line for line in damage), path
        if path.parent.name == "tables":
            with pytest.raises(InputError, match=path.name):
                Run.open(folder).table(path.stem)
        noticed += bool(damage)
        path.write_bytes(kept)
    promise("R16", "mutations of files tried", number)
    promise("R16", "mutations noticed", noticed)


@pytest.mark.parametrize("number", OFTEN)
def test_files_of_a_study(tmp_path, promise, number):
    luck = random.Random(number)
    values = {"papers": 3.25, "calls": 12.0}
    written = RunResult(0, "a", 0, 7, "done", calls=12, tokens=345, digest="ab12", measures=values)
    noticed = 0
    for _ in range(number):
        write_result(tmp_path, written)
        damage_file(tmp_path / "runs" / "0000.result.json", luck)
        found, told = tried(lambda: read_result(tmp_path, 0))
        noticed += bool(told)
        assert found == written if found else "0000.result.json" in told
    assert noticed > number / 2
    promise("R16", "mutations of files tried", number)
    promise("R16", "mutations noticed", noticed)


@pytest.mark.parametrize(
    "name", ["tables/teams.parquet", "digest", "manifest.json", "scenario.yaml"]
)
def test_the_commands_refuse_a_damaged_run(finished, tmp_path, name):
    from typer.testing import CliRunner

    from virsci_society.scenarios.cli.app import app

    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    path = folder / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    for command in ("show", "export page", "replay", "doctor"):
        if name in ("tables/teams.parquet", "manifest.json") and command == "replay":
            continue  # it does not read them
        done = CliRunner().invoke(app, [*command.split(), str(folder)])
        assert done.exit_code == 2, (command, done.output)
        assert name in done.stderr
        assert "Traceback" not in done.output


def test_a_run_without_its_list_of_hashes_is_refused(finished, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    (folder / HASHES).unlink()
    with pytest.raises(InputError, match=r"hashes\.json: is missing"):
        Run.open(folder)
    assert any("hashes.json: is missing" in line for line in verify_folder(folder).damage)


def test_a_journal_without_its_hashes_or_of_another_format_is_refused(journals, tmp_path):
    path = tmp_path / "journal.sqlite"
    for change, told in (
        ("DROP TABLE seals", "no such table: seals"),
        ("UPDATE meta SET value = '1' WHERE key = 'format'", r"format 1, not 3"),
    ):
        shutil.copy(journals / "closed" / "journal.sqlite", path)
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            database.execute(change)
        for frozen in (True, False):
            with pytest.raises(InputError, match=told):
                Journal(path, frozen=frozen)


def test_a_finished_run_of_the_same_scenario_is_refused_when_damaged(micro, finished, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(finished, folder)
    path = folder / "manifest.json"
    path.write_text(path.read_text("utf-8").replace('"seed": 3', '"seed": 4', 1), "utf-8")
    with pytest.raises(InputError, match=r"manifest\.json: was changed or damaged"):
        run_scenario(micro, folder)
