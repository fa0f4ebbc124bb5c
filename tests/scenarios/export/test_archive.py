"""Archives of runs and studies: what they hold, and what their verification notices."""

import hashlib
import json
import os
import shutil
import tempfile
import zipfile
from datetime import UTC, datetime
from urllib.parse import unquote

import pytest

from tests.command_line import society
from tests.scenarios.study.test_running import TINY, written
from virsci_society import run_scenario
from virsci_society.scenarios.export import archive
from virsci_society.society.results.run import Run


def packed(folder, out):
    done = society("export", "archive", folder, "--out", out)
    assert done.exit_code == 0, done.output
    return out


@pytest.fixture(scope="module")
def small_archive(small_run, tmp_path_factory):
    return packed(small_run, tmp_path_factory.mktemp("archive") / "small.zip")


def members(path):
    with zipfile.ZipFile(path) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def rewritten(path, files):
    with zipfile.ZipFile(path, "w") as opened:
        for name, content in files.items():
            opened.writestr(name, content)
    return path


def check_crate(path):
    """What RO-Crate 1.3 asks for, and the checksums; returns the root."""
    graph = json.loads(members(path)["ro-crate-metadata.json"])["@graph"]
    by_id = {one["@id"]: one for one in graph}
    assert len(by_id) == len(graph)
    descriptor, root = by_id["ro-crate-metadata.json"], by_id["./"]
    assert descriptor["@type"] == "CreativeWork"
    assert descriptor["about"] == {"@id": "./"}
    assert descriptor["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.3"}
    assert root["@type"] == "Dataset"
    assert all(root[name] for name in ("name", "description", "datePublished", "license"))
    files = members(path)
    listed = {unquote(part["@id"]) for part in root["hasPart"]}
    assert listed == files.keys() - {"SHA256SUMS", "ro-crate-metadata.json"}
    for part in root["hasPart"]:
        assert by_id[part["@id"]]["@type"] == "File"
    sums = files["SHA256SUMS"].decode().splitlines()
    assert sorted(sums) == sorted(
        f"{hashlib.sha256(content).hexdigest()}  {name}"
        for name, content in files.items()
        if name != "SHA256SUMS"
    )
    return root


@pytest.mark.slow
def test_a_run_in_an_archive_is_replayed_to_its_digest(small_run, small_archive):
    files = members(small_archive)
    root = check_crate(small_archive)
    digest = Run.open(small_run).digest
    for name in ("scenario.yaml", "journal.sqlite", "manifest.json", "tables/papers.parquet"):
        assert files[f"run/{name}"] == (small_run / name).read_bytes()
    assert "by virsci-society " in root["description"]
    assert "Answers: rule-based scientists, not a language model" in root["description"]
    assert root["license"] == "No licence of this archive is stated."
    done = society("doctor", small_archive)
    assert done.exit_code == 0, done.output
    assert f"{len(files) - 1} files verified, 1 of 1 runs" in done.stdout
    assert f"digest {digest}; answers: rule-based scientists" in done.stdout


def test_a_run_archived_twice_gives_the_same_bytes_on_any_day(small_run, tmp_path):
    run = shutil.copytree(small_run, tmp_path / "run")
    for name in ("one", "two"):
        packed(run, tmp_path / name)
        os.utime(run / "report.html", (2e9, 2e9))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    ended = datetime.fromtimestamp(int((run / "manifest.json").stat().st_mtime), UTC)
    root = check_crate(tmp_path / "one")
    assert root["datePublished"] == ended.date().isoformat()
    os.utime(run / "manifest.json", (0, 0))  # before 1980, the first date that a zip file can have
    assert members(packed(run, tmp_path / "old"))


@pytest.mark.slow
def test_only_files_of_the_program_are_packed(small, tmp_path):
    folder = run_scenario(small, tmp_path / "run")
    (folder / "notes.txt").write_text("mine")
    (folder / "tables" / "mine.csv").write_text("mine")
    path = packed(folder, tmp_path / "a.zip")
    assert not [name for name in members(path) if "mine" in name or "notes" in name]
    check_crate(path)


def test_every_changed_missing_or_added_file_is_told(small_archive, tmp_path, monkeypatch):
    def never(*_, **__):
        raise AssertionError("a damaged archive is not replayed")

    monkeypatch.setattr(archive, "replay", never)
    files, path = members(small_archive), tmp_path / "changed.zip"
    some = [*sorted(files)[::9], "run/journal.sqlite", "ro-crate-metadata.json", "SHA256SUMS"]
    for name, content in ((name, files[name]) for name in some):
        changed = content[:-2] + bytes([content[-2] ^ 1]) + content[-1:]
        done = society("doctor", rewritten(path, {**files, name: changed}))
        assert done.exit_code == 2, name
        assert f"{path}: {name}" in done.output or name == "SHA256SUMS"
        left = {one: files[one] for one in files if one != name}
        done = society("doctor", rewritten(path, left))
        assert (done.exit_code, name in done.output) == (2, True), name
    done = society("doctor", rewritten(path, {**files, "more": b"x"}))
    assert (done.exit_code, "more: is not listed" in done.output) == (2, True)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"filename": "../../more"}, "points outside the archive"),
        ({"filename": "run/../../more"}, "points outside the archive"),
        ({"filename": "C:/more"}, "points outside the archive"),
        ({"filename": "run\\..\\more"}, "points outside the archive"),
        ({"filename": "run/" + "m" * 1000}, "no file of an archive has"),
        ({"filename": "run/\x1b[2Jmore"}, "no file of an archive has"),
        ({"filename": "run/journal.sqlite"}, "appears twice"),
        ({"external_attr": 0o120777 << 16}, "a link or another file"),
        ({"compress_type": zipfile.ZIP_BZIP2}, "not compressed by deflate"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_that_is_no_file_of_an_archive_is_refused_before_unpacking(
    small_archive, tmp_path, monkeypatch, change, told
):
    spare = tmp_path / "spare"
    spare.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spare))
    monkeypatch.setattr(zipfile.ZipFile, "extract", None)
    head = zipfile.ZipInfo("more")
    for name, value in change.items():
        setattr(head, name, value)
    path = shutil.copy(small_archive, tmp_path / "more.zip")
    with zipfile.ZipFile(path, "a") as opened:
        opened.writestr(head, "/etc")
    done = society("doctor", path)
    assert (done.exit_code, told in " ".join(done.output.split())) == (2, True), done.output
    assert str(spare) not in done.output
    assert {one.name for one in tmp_path.iterdir()} == {"spare", "more.zip"}
    assert not list(spare.iterdir())


def test_an_encrypted_member_is_refused(small_archive, tmp_path):
    raw = bytearray(small_archive.read_bytes())
    raw[raw.rindex(b"PK\x01\x02") + 8] |= 1  # of the last head, that of SHA256SUMS
    (tmp_path / "encrypted.zip").write_bytes(raw)
    done = society("doctor", tmp_path / "encrypted.zip")
    assert (done.exit_code, "'SHA256SUMS' is encrypted" in done.output) == (2, True)


def test_a_small_archive_of_very_many_bytes_is_refused_without_unpacking(tmp_path, monkeypatch):
    monkeypatch.setattr(zipfile.ZipFile, "read", None)
    path, lines = tmp_path / "bomb.zip", b"\n" * 2**24
    made = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
    with made, made.open("SHA256SUMS", "w") as file:
        for _ in range(12):
            file.write(lines)
    done = society("doctor", path)
    assert (done.exit_code, "not an archive of runs" in " ".join(done.output.split())) == (2, True)


def test_no_message_about_an_archive_names_the_temporary_folder(small_archive, tmp_path):
    files = members(small_archive)

    def summed(changed):
        lines = [f"{hashlib.sha256(one).hexdigest()}  {name}\n" for name, one in changed.items()]
        return rewritten(tmp_path / "changed.zip", changed | {"SHA256SUMS": "".join(lines)})

    del files["SHA256SUMS"]
    journal = {name: one for name, one in files.items() if name != "run/journal.sqlite"}
    scenario = {**files, "run/scenario.yaml": files["run/scenario.yaml"] + b"turns: 3\n"}
    for changed in (journal, scenario, {"run": b"", **files}, {"notes.txt": b"x"}):
        done = society("doctor", summed(changed))
        assert done.exit_code == 2
        assert tempfile.gettempdir() not in done.output.replace(str(tmp_path), "")
        assert "run" in done.output or "Not a directory" in done.output


def test_what_is_no_archive_is_told(small_archive, tmp_path):
    raw = bytearray(small_archive.read_bytes())
    with zipfile.ZipFile(small_archive) as archived:
        largest = max(archived.infolist(), key=lambda one: one.compress_size)
    # Within what is packed: dates in the headers of an archive are of no file.
    raw[largest.header_offset + largest.compress_size // 2] ^= 1
    for name, content in (("raw", bytes(raw)), ("cut", bytes(raw[:-9])), ("text", b"no archive")):
        path = tmp_path / f"{name}.zip"
        path.write_bytes(content)
        assert society("doctor", path).exit_code == 2, name
    done = society("doctor", tmp_path / "none.zip")
    assert (done.exit_code, "none.zip" in done.output) == (2, True)


def test_a_run_that_was_changed_with_its_hashes_is_found_by_its_replay(small_archive, monkeypatch):
    def other(run, *, trust):
        raise archive.Diverged(f"{run.name}: the replay has the digest 0")

    monkeypatch.setattr(archive, "replay", other)
    monkeypatch.setattr(archive.platform, "python_version", lambda: "3.99.0")
    done = society("doctor", small_archive)
    assert done.exit_code == 2
    assert "replayed under 3.99.0" in done.output


def test_an_unfinished_run_and_a_damaged_one_are_refused(small, tmp_path):
    folder = run_scenario(small, tmp_path / "run")
    table = folder / "tables" / "papers.parquet"
    table.write_bytes(table.read_bytes() + b"x")
    done = society("export", "archive", folder)
    assert (done.exit_code, "papers.parquet" in done.output) == (2, True)
    (folder / "manifest.json").unlink()
    assert society("export", "archive", folder).exit_code == 2
    assert not (tmp_path / "run.zip").exists()


@pytest.mark.slow
def test_a_study_is_archived_with_all_of_its_runs(tmp_path):
    file, study = written(tmp_path, TINY.replace("replicates: 2", "replicates: 1")), tmp_path / "s"
    run = ("study", "run", file, "--out", study)
    assert society(*run, "--index", "0").exit_code == 0
    early = society("export", "archive", study)
    assert (early.exit_code, "run 1 is not done" in early.output) == (2, True)
    assert society(*run).exit_code == 0
    path = packed(study, tmp_path / "study.zip")
    check_crate(path)
    tables = [name for name in members(path) if name.endswith("tables/papers.parquet")]
    assert sorted(tables) == [f"study/runs/000{run}/tables/papers.parquet" for run in range(2)]
    done = society("doctor", path)
    assert done.exit_code == 0, done.output
    assert "2 of 2 runs" in done.stdout


def test_an_archive_that_would_fill_the_disk_is_refused_before_it_is_unpacked(
    small_archive, monkeypatch
):
    size = sum(len(content) for content in members(small_archive).values())
    room = shutil.disk_usage("/")._replace(free=size)
    monkeypatch.setattr(archive, "disk_usage", lambda folder: room)
    done = society("doctor", small_archive)
    assert done.exit_code == 2
    assert f"unpacks to {size:,} bytes" in " ".join(done.output.split())
