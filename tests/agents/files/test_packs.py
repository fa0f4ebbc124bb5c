"""Packs: what is in one is found whole, and a torn tail costs the last record only."""

import subprocess

import pytest

from virsci_society.agents.errors import InputError
from virsci_society.agents.files import packs


def make_run(study, name, text="words"):
    folder = study / "runs" / name
    (folder / "tables").mkdir(parents=True)
    (folder / "manifest.json").write_text(f"{text} of {name}")
    (folder / "tables" / "papers.parquet").write_text("rows " * 50)
    (folder / "journal.sqlite").write_bytes(bytes(range(256)) * 40)
    for kind in ("status.json", "measures.json", "begun"):
        folder.with_name(f"{name}.{kind}").write_text(f"{kind} of {name}")
    return folder


@pytest.fixture
def packed(tmp_path):
    """A study with three packed runs, and its one pack."""
    for number in range(3):
        packs.pack_run(make_run(tmp_path, f"000{number}"))
    (pack,) = (tmp_path / "packs").iterdir()
    return tmp_path, pack


def files_in(folder):
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def test_a_packed_run_is_read_as_it_was(packed, tmp_path):
    study, _ = packed
    assert not list((study / "runs").iterdir())
    assert packs.packed_names(study) == ["0000", "0001", "0002"]
    assert packs.read_beside(study / "runs/0001.status.json") == "status.json of 0001"
    with pytest.raises(FileNotFoundError):
        packs.read_beside(study / "runs/0001.log")
    whole = files_in(make_run(tmp_path / "other", "0001"))
    copy = packs.unpacked(study / "runs/0001")
    with copy as place:
        assert files_in(study.joinpath(place)) == {
            f"0001/{name}": one for name, one in whole.items()
        }
    with packs.unpacked(study / "runs/0001", "tables/") as place:
        assert [*files_in(study.joinpath(place))] == ["0001/tables/papers.parquet"]
    assert packs.unpacked(study / "runs/0007") is None
    with packs.taken_out(study / "runs/0001", kept=lambda: pytest.fail("unchanged")):
        assert files_in(study / "runs/0001") == whole
        assert packs.unpacked(study / "runs/0001") is None
    assert not (study / "runs/0001").exists()


@pytest.mark.parametrize("change", ["added", "rewritten", "page"])
def test_a_run_that_is_taken_out_stays_where_it_was_changed(packed, change):
    run, told = packed[0] / "runs/0001", []
    with packs.taken_out(run, kept=lambda: told.append(change)):
        target = run / ("scenario.yaml" if change == "rewritten" else f"{change}.html")
        target.write_text("more")
    assert target.read_text() == "more"
    assert told == [change]
    with packs.taken_out(run, kept=lambda: told.append("again")):
        pass
    assert (target.is_file(), told) == (True, [change])


def test_tar_makes_the_ordinary_files_of_a_pack(packed, tmp_path):
    _, pack = packed
    into = tmp_path / "into"
    into.mkdir()
    subprocess.run(["tar", "xzf", pack], cwd=into, check=True, timeout=60)
    for number in range(3):
        make_run(tmp_path / "other", f"000{number}")
    expected = files_in(tmp_path / "other" / "runs")
    assert files_in(into) == {name: one for name, one in expected.items() if "begun" not in name}


def test_of_a_pack_cut_anywhere_all_whole_runs_are_found(packed):
    study, pack = packed
    whole = pack.read_bytes()
    ends = sorted(record.end for record in packs._read_index(study / "packs").values())
    assert ends[-1] == len(whole)
    cuts = {*range(0, len(whole), 97), *range(50), *ends, *(end - 1 for end in ends)}
    # A file system may leave zeros where it had not written yet.
    for length, tail in [*((cut, b"") for cut in cuts), *((end, b"\0" * 300) for end in ends)]:
        pack.write_bytes(whole[:length] + tail)
        whole_ones = [f"000{number}" for number, end in enumerate(ends) if end <= length]
        assert packs.packed_names(study) == whole_ones


def test_damage_is_told_with_what_to_do(packed):
    study, pack = packed
    whole = bytearray(pack.read_bytes())
    second = packs._read_index(study / "packs")["0001"]
    whole[second.begin] ^= 1
    pack.write_bytes(whole)
    packs._known.clear()
    with pytest.raises(
        InputError, match=rf"{pack}: damaged at byte {second.begin:,}; move it away"
    ):
        packs.packed_names(study)
    whole[second.begin] ^= 1
    whole[second.end - 60] ^= 1
    pack.write_bytes(whole)
    with pytest.raises(InputError, match="move it away"), packs.unpacked(study / "runs/0001"):
        pass
    with packs.unpacked(study / "runs/0002") as place:
        assert files_in(study.joinpath(place))


def test_what_a_killed_worker_has_left_is_removed_and_a_run_taken_out_is_left_alone(packed):
    study, _ = packed
    make_run(study, "0000")
    packs.pack_run(study / "runs/0000")
    assert not list((study / "runs").iterdir())
    with packs.taken_out(study / "runs/0000"):
        (study / "runs/0000.lease").mkdir()
        assert packs.is_loose(study / "runs/0000")
        packs.pack_run(study / "runs/0000")
        assert [one.name for one in (study / "runs").iterdir()] == ["0000"]
    assert not packs.is_loose(study / "runs/0000")
    assert len(list((study / "packs").iterdir())) == 1


def test_after_a_full_disk_a_run_stays_and_the_next_pack_is_another(packed, monkeypatch):
    study, pack = packed
    folder, whole = make_run(study, "0003"), pack.read_bytes()

    def full(source, target):
        target.write(source.read(100))
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(packs, "copyfileobj", full)
        with pytest.raises(OSError, match="No space"):
            packs.pack_run(folder)
    assert folder.is_dir()
    assert len(pack.read_bytes()) == len(whole) + 100
    packs.pack_run(folder)
    assert not folder.exists()
    assert packs.packed_names(study) == ["0000", "0001", "0002", "0003"]
    assert len(list((study / "packs").iterdir())) == 2


def test_a_pack_is_not_written_or_read_through_a_link(tmp_path):
    folder = make_run(tmp_path / "study", "0000")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "study" / "packs").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="symbolic link"):
        packs.pack_run(folder)
    assert folder.is_dir()
    assert not list((tmp_path / "elsewhere").iterdir())
