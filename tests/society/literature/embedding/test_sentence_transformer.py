"""Embeddings by sentence-transformers: the real library, with a model made here from scratch."""

import json
import pickle
import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from tests.society.literature.embedding.tiny_model import HIDDEN, WORDS, build
from virsci_society.agents.errors import InputError
from virsci_society.society.literature.embedding.cache import VARIABLE
from virsci_society.society.literature.embedding.registry import load_embedding, make_embedding
from virsci_society.society.literature.embedding.sentence_transformer import content_hash

# Slow, since torch takes seconds to import; `make test-model` embeds with a model, too.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        find_spec("sentence_transformers") is None,
        reason="the extra is not installed: pip install -c constraints.txt -e '.[semantic]'",
    ),
]

COMMIT = "0123456789abcdef0123456789abcdef01234567"
# Of very different lengths, some beyond what the model reads.
TEXTS = [" ".join(WORDS[(n * k) % 10] for k in range(1 + n * n % 70)) for n in range(1, 90)]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return build(tmp_path_factory.mktemp("built"))


@pytest.fixture
def model(built, tmp_path):
    """A copy that a test may spoil."""
    return Path(shutil.copytree(built, tmp_path / "tiny"))


@pytest.fixture(scope="module")
def embedding(built):
    return make_embedding(f"sentence-transformers:{built}")


@pytest.fixture(scope="module")
def rows(embedding):
    return embedding.encode(TEXTS)


def test_rows_are_those_of_the_library(built, rows):
    from sentence_transformers import SentenceTransformer

    told = SentenceTransformer(str(built), device="cpu").encode(
        TEXTS, batch_size=16, normalize_embeddings=True, show_progress_bar=False
    )
    # A batch has padding and other sums: equal but for rounding.
    assert np.abs(told - rows).max() <= 2e-5


def test_rows_do_not_depend_on_neighbours_order_or_threads(built, rows, tmp_path, monkeypatch):
    order = np.random.default_rng(5).permutation(len(TEXTS))
    for workers in (1, 2, 5):
        monkeypatch.setattr("os.cpu_count", lambda workers=workers: workers)
        monkeypatch.setenv(VARIABLE, str(tmp_path / f"shuffled {workers}"))
        again = make_embedding(f"sentence-transformers:{built}")
        shuffled = again.encode([TEXTS[place] for place in order])
        assert np.array_equal(shuffled, rows[order])
        monkeypatch.setenv(VARIABLE, str(tmp_path / f"alone {workers}"))
        alone = make_embedding(f"sentence-transformers:{built}")
        for place in (0, 7, 40, 88):
            assert np.array_equal(alone.encode([TEXTS[place]])[0], rows[place])


def test_an_empty_text_gives_a_zero_row_and_any_text_a_row(embedding):
    rows = embedding.encode(["", " \n", "zebra", "\ud800 graph", "graph " * 10_000])
    assert not rows[:2].any()
    assert np.allclose(np.linalg.norm(rows[2:], axis=1), 1.0, atol=1e-4)
    # The model reads the beginning of a long text.
    assert np.array_equal(rows[4], embedding.encode(["graph " * 200])[0])


def test_the_name_tells_no_path_and_the_revision_is_of_the_files(embedding, built):
    assert embedding.name == "sentence-transformers:model"
    assert embedding.revision == content_hash(built)
    assert len(embedding.revision) == 16


def test_a_model_bears_the_name_of_its_card_or_of_the_hub(model, tmp_path):
    path = hub(model, tmp_path / "hub") / "snapshots" / COMMIT
    assert make_embedding(f"sentence-transformers:{path}").name.endswith(":org/tiny")
    (model / "README.md").write_text(
        "---\nlicense: x\n---\n# A model\n\n# tiny-bert-v2\nIt reads.\n"
    )
    named = make_embedding(f"sentence-transformers:{model}")
    assert named.name == "sentence-transformers:tiny-bert-v2"
    assert named.label == f"tiny-bert-v2, {HIDDEN} dimensions, revision {named.revision}"
    (tmp_path / "saved").mkdir()
    named.save(tmp_path / "saved")
    (model / "README.md").unlink()
    assert load_embedding(tmp_path / "saved").label == named.label


@pytest.fixture
def package(model, tmp_path, monkeypatch):
    """An installed package that holds a model, which nothing may import."""
    home = tmp_path / "site"
    (home / "tiny_package").mkdir(parents=True)
    (home / "tiny_package" / "__init__.py").write_text("raise RuntimeError('imported')\n")
    shutil.copytree(model, home / "tiny_package" / "data" / "model")
    monkeypatch.syspath_prepend(home)
    return home / "tiny_package"


def test_an_installed_package_is_named_and_not_imported(package, rows, tmp_path):
    made = make_embedding("sentence-transformers:tiny_package")
    assert np.array_equal(made.encode(TEXTS[:5]), rows[:5])
    (tmp_path / "saved").mkdir()
    made.save(tmp_path / "saved")
    assert str(tmp_path) not in (tmp_path / "saved" / "embedding.json").read_text()
    loaded = load_embedding(tmp_path / "saved")
    assert np.array_equal(loaded.encode(TEXTS[5:9]), rows[5:9])
    shutil.rmtree(package)
    with pytest.raises(InputError, match="tiny_package: no such folder"):
        load_embedding(tmp_path / "saved").encode(["graph"])


def test_both_side_by_side(built, tmp_path):
    lsa, model = (
        make_embedding("lsa", texts=TEXTS),
        make_embedding(f"sentence-transformers:{built}"),
    )
    both = make_embedding(f"lsa+sentence-transformers:{built}", texts=TEXTS)
    assert both.dim == lsa.dim + model.dim
    pairs = np.triu_indices(len(TEXTS), 1)
    for spread, one in zip(both.spreads, (lsa, model), strict=True):
        known = one.encode(TEXTS).astype(float)
        assert spread == pytest.approx((known @ known.T)[pairs].std(), abs=1e-5)
    asked = [*TEXTS[:9], "", "zebra"]
    rows, parts = both.encode(asked), [one.encode(asked) for one in (lsa, model)]
    assert np.allclose(np.linalg.norm(np.delete(rows, 9, axis=0), axis=1), 1.0, atol=1e-4)
    # A text without a known word has the model's row alone; an empty text has none.
    assert not rows[9].any()
    assert not rows[10][: lsa.dim].any()
    assert rows[10].any()
    # The cosine is the mean of both, each in units of its spread between random papers.
    scaled = [w * (p @ p.T) / s for w, p, s in zip((0.3, 0.7), parts, both.spreads, strict=True)]
    size = 0.3 / both.spreads[0] + 0.7 / both.spreads[1]
    assert np.allclose((rows @ rows.T)[:9, :9], (sum(scaled) / size)[:9, :9], atol=1e-3)
    both.save(tmp_path)
    loaded = load_embedding(tmp_path)
    assert (loaded.name, loaded.revision, loaded.label) == (both.name, both.revision, both.label)
    assert np.array_equal(loaded.encode(asked), rows)
    settings = json.loads((tmp_path / "embedding.json").read_text())
    settings["spreads"][0] *= 2
    (tmp_path / "embedding.json").write_text(json.dumps(settings))
    with pytest.raises(InputError, match="do not match its settings"):
        load_embedding(tmp_path)


def test_the_revision_changes_with_a_weight_and_not_with_the_place(model, built):
    from safetensors.numpy import load_file, save_file

    assert content_hash(model) == content_hash(built)
    (model / "README.md").write_text("another description")
    (model / ".cache").mkdir()
    (model / ".cache" / "note.json").write_text("{}")
    assert content_hash(model) == content_hash(built)
    path = model / "model.safetensors"
    weights = load_file(path)
    name = sorted(weights)[0]
    weights[name] = weights[name] + np.float32(1e-3)
    save_file(weights, path, metadata={"format": "pt"})
    assert content_hash(model) != content_hash(built)


def test_a_saved_one_is_loaded_without_its_weights(model, rows, tmp_path):
    made = make_embedding(f"sentence-transformers:{model}")
    folder = tmp_path / "saved"
    folder.mkdir()
    made.save(folder)
    away = model.rename(tmp_path / "away")
    loaded = load_embedding(folder)
    assert (loaded.name, loaded.revision, loaded.dim) == (made.name, made.revision, HIDDEN)
    assert loaded.encode(["", " "]).shape == (2, HIDDEN)
    with pytest.raises(InputError, match="no such folder"):
        loaded.encode(["graph"])
    away.rename(model)
    assert np.array_equal(loaded.encode(TEXTS[:5]), rows[:5])
    assert np.array_equal(pickle.loads(pickle.dumps(loaded)).encode(TEXTS[:5]), rows[:5])


def test_weights_that_have_changed_are_refused(model, tmp_path):
    made = make_embedding(f"sentence-transformers:{model}")
    made.save(tmp_path)
    path = model / "config.json"
    path.write_text(path.read_text() + "\n")
    with pytest.raises(InputError, match=f"not {made.revision}"):
        load_embedding(tmp_path).encode(["graph"])
    with pytest.raises(InputError, match="not 0123456789abcdef"):
        make_embedding(f"sentence-transformers:{model}@0123456789abcdef")


def test_pickled_weights_are_refused(model):
    import torch
    from safetensors.torch import load_file

    path = model / "model.safetensors"
    torch.save(load_file(path), model / "pytorch_model.bin")
    assert make_embedding(f"sentence-transformers:{model}").dim == HIDDEN
    path.unlink()
    with pytest.raises(InputError, match=r"only pickled weights \(pytorch_model.bin\)"):
        make_embedding(f"sentence-transformers:{model}")
    (model / "pytorch_model.bin").unlink()
    with pytest.raises(InputError, match="no weights"):
        make_embedding(f"sentence-transformers:{model}")


def edit(path, change):
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


TRAP = "from pathlib import Path\nPath({!r}).write_text('run')\nclass Trap: pass\n"


@pytest.mark.parametrize("kind", ["trap.Trap", "os.system", "sentence_transformers.models.BoW"])
def test_parts_of_a_models_own_are_never_run(model, tmp_path, kind):
    (model / "trap.py").write_text(TRAP.format(str(tmp_path / "ran")))
    edit(model / "modules.json", lambda parts: parts[1].update(type=kind))
    with pytest.raises(InputError, match="never run"):
        make_embedding(f"sentence-transformers:{model}").encode(["graph"])
    assert not (tmp_path / "ran").exists()


def test_code_for_the_transformer_itself_is_never_run(model, tmp_path):
    (model / "trap.py").write_text(TRAP.format(str(tmp_path / "ran")))
    code = {"AutoConfig": "trap.Trap", "AutoModel": "trap.Trap"}
    edit(model / "config.json", lambda c: c.update(model_type="trap", auto_map=code))
    with pytest.raises(InputError, match="cannot load the model"):
        make_embedding(f"sentence-transformers:{model}").encode(["graph"])
    edit(model / "config.json", lambda c: c.update(model_type="bert"))
    assert make_embedding(f"sentence-transformers:{model}").encode(["graph"]).any()
    assert not (tmp_path / "ran").exists()


def test_parts_outside_of_the_folder_and_adapters_are_refused(model):
    (model / "adapter_config.json").write_text("{}")
    with pytest.raises(InputError, match="adapters"):
        make_embedding(f"sentence-transformers:{model}")
    (model / "adapter_config.json").unlink()
    edit(model / "modules.json", lambda parts: parts[0].update(path="../tiny2"))
    shutil.copytree(model, model.parent / "tiny2")
    with pytest.raises(InputError, match="outside"):
        make_embedding(f"sentence-transformers:{model}")


def hub(model, home):
    """The folder of a hub's cache that holds the model as org/tiny, at its commit."""
    place = home / "models--org--tiny"
    (place / "refs").mkdir(parents=True)
    (place / "refs" / "main").write_text(COMMIT)
    shutil.copytree(model, place / "snapshots" / COMMIT)
    return place


@pytest.fixture
def cached(model, tmp_path, monkeypatch):
    """The hub's cache of this machine, with one model in it."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return hub(model, tmp_path / "hub")


def test_a_model_of_the_hub_that_is_here_is_taken_at_its_commit_without_the_hub(
    cached, rows, tmp_path, network_attempts, capsys
):
    made = make_embedding("sentence-transformers:org/tiny")
    assert (made.name, made.revision) == ("sentence-transformers:org/tiny", COMMIT)
    assert np.array_equal(made.encode(TEXTS[:5]), rows[:5])
    made.save(tmp_path)
    (cached / "refs" / "main").write_text("f" * 40)  # the hub's newest is another by now
    loaded = load_embedding(tmp_path)
    assert loaded.revision == COMMIT
    assert np.array_equal(loaded.encode(TEXTS[:5]), rows[:5])
    assert make_embedding(f"sentence-transformers:org/tiny@{COMMIT}").revision == COMMIT
    assert (capsys.readouterr().err, network_attempts) == ("", [])


@pytest.mark.parametrize("name", ["org/other", f"org/tiny@{'a' * 40}", "org/tiny@v2"])
def test_offline_is_offline(cached, name, monkeypatch, network_attempts):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(InputError, match="HF_HUB_OFFLINE"):
        make_embedding(f"sentence-transformers:{name}")
    assert network_attempts == []


def test_a_model_that_is_here_in_part_is_not_here(cached, monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    (cached / "snapshots" / COMMIT / "model.safetensors").unlink()
    with pytest.raises(InputError, match="not on this machine"):
        make_embedding("sentence-transformers:org/tiny")


def test_a_hub_that_cannot_be_reached_is_told_after_the_announcement(monkeypatch, tmp_path, capsys):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(InputError, match="cannot be downloaded"):
        make_embedding("sentence-transformers:org/tiny")
    told = "downloading the model org/tiny from http://127.0.0.1:9\n"
    assert capsys.readouterr().err.startswith(told)


@pytest.fixture
def hub_server(model, monkeypatch, tmp_path):
    """A hub that has the model as org/tiny, with code and pickles; gives what it was asked for."""
    import huggingface_hub
    from huggingface_hub.utils import filter_repo_objects

    asked, snapshot = [], tmp_path / "hub" / "snapshots" / COMMIT
    (model / "pytorch_model.bin").write_text("pickled")
    (model / "trap.py").write_text("code")

    def download(name, *, revision, local_files_only, **patterns):
        if local_files_only and not snapshot.is_dir():
            raise FileNotFoundError(name)
        if not local_files_only:
            asked.append((name, revision))
            names = (path.relative_to(model).as_posix() for path in model.rglob("*.*"))
            for file in filter_repo_objects(names, **patterns):
                (snapshot / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(model / file, snapshot / file)
        return str(snapshot)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    return asked


def test_a_download_is_announced_once_and_brings_neither_code_nor_pickles(
    hub_server, rows, tmp_path, capsys
):
    made = make_embedding("sentence-transformers:org/tiny")
    assert made.revision == COMMIT
    assert capsys.readouterr().err.count("downloading the model") == 1
    brought = {path.suffix for path in (tmp_path / "hub").rglob("*.*")}
    assert ".safetensors" in brought
    assert not brought & {".bin", ".py"}
    assert np.array_equal(made.encode(TEXTS[:5]), rows[:5])
    made.save(tmp_path)
    assert np.array_equal(load_embedding(tmp_path).encode(TEXTS[:5]), rows[:5])
    assert hub_server == [("org/tiny", None)]
    shutil.rmtree(tmp_path / "hub")
    again = load_embedding(tmp_path)
    assert again.revision == COMMIT
    assert np.array_equal(again.encode(TEXTS[5:9]), rows[5:9])
    assert hub_server[1:] == [("org/tiny", COMMIT)]
