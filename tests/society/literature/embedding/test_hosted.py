"""Hosted embeddings: over HTTP on loopback, through litellm, with and without faults."""

import asyncio
import itertools
import json
import pickle
import time

import numpy as np
import pytest

from tests.agents.gateway.test_unreached import accepting, refusing
from tests.faultserver import FaultServer, Plan
from tests.faultserver.server import FIXED, LONGEST, row_of
from virsci_society.agents.backends import embeddings
from virsci_society.agents.backends.embeddings import LiteLLMEmbedding
from virsci_society.agents.errors import InputError, Stopped
from virsci_society.society.literature.embedding.cache import VARIABLE
from virsci_society.society.literature.embedding.hosted import PROBE, HostedEmbedding
from virsci_society.society.literature.embedding.registry import load_embedding, make_embedding

WORDS = ["graph", "tree", "layout", "force", "spring", "edge", "node", "volume", "ray", "field"]
WORDS += ["voting", "topic", "model"]
TEXTS = [f"{a} {b} {c}" for a in WORDS[:7] for b in WORDS[4:10] for c in WORDS[8:]]
KEY = "sk-test-3f9a8c7b6d5e4f3a2b1c"


@pytest.fixture(scope="module")
def running():
    with FaultServer() as server:
        yield server


@pytest.fixture
def server(running):
    running.plan(Plan())
    running.reset()
    return running


def hosted(server, model="openai/rows", **hosting):
    quick = {"first": 0.01, "longest": 0.05}
    given = {"api_base": server.url, "batch": 16, "retry": quick} | hosting
    return make_embedding(f"litellm:{model}", hosting=given)


def tokens(texts):
    """As the server counts them."""
    return sum((len(text) + 3) // 4 for text in texts)


def expected(texts, model="rows", dimensions=16):
    rows = np.array([row_of(text, model, dimensions) for text in texts])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_rows_are_those_of_the_server_at_unit_length_in_the_order_of_the_texts(server):
    embedding = hosted(server)
    rows = embedding.encode(TEXTS)
    assert rows.shape == (len(TEXTS), 16)
    assert rows.dtype == np.float32
    assert np.allclose(rows, expected(TEXTS), atol=1e-5)
    assert np.array_equal(rows, np.round(rows.astype(np.float64), 5).astype(np.float32))


def test_every_text_is_asked_for_once_in_batches(server):
    hosted(server).encode(TEXTS)
    counts = server.counts()
    assert counts["requests"] == -(-len(TEXTS) // 16) + 1
    assert counts["prompt_tokens"] == tokens([*TEXTS, PROBE])
    assert counts["repeated_answers"] == 0


def test_no_more_requests_are_under_way_than_allowed(server):
    server.plan(Plan(latency=0.05))
    hosted(server, in_flight=3).encode(TEXTS)
    assert server.counts()["most_at_once"] == 3


def test_a_text_is_asked_once_and_an_empty_one_never(server):
    embedding = hosted(server)
    rows = embedding.encode(["graph", "", "graph", "  \n"])
    assert np.array_equal(rows[0], rows[2])
    assert not rows[[1, 3]].any()
    embedding.encode(["graph"])
    assert server.counts()["requests"] == 2
    rows[0] = 7.0
    assert embedding.encode(["graph"]).max() <= 1.0


FAULTS = ["dropped", "cut_body", "malformed_http", "no_choices", "server_error", "bad_gateway"]
FAULTS += ["unavailable", "rate_limited", "rate_limited_bare"]


@pytest.mark.sweep(3)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_met_with_another_attempt(server, fault):
    server.plan(Plan(rates={fault: 0.5}, seed=3, streak=2))
    rows = hosted(server).encode(TEXTS)
    counts = server.counts()
    assert np.allclose(rows, expected(TEXTS), atol=1e-5)
    assert counts["faults"][fault] > 2
    assert counts["answers"] == -(-len(TEXTS) // 16) + 1
    assert counts["repeated_answers"] == 0


def test_a_client_that_is_asked_to_wait_waits(server):
    server.plan(Plan(rates={"rate_limited": 1.0}, streak=1, retry_after=0.4))
    began = time.monotonic()
    hosted(server).encode(["graph"])
    # At least so long, however busy the machine is: once for the probe, once for the text.
    assert time.monotonic() - began > 0.8


FINAL = {"unauthorised": "valid key", "forbidden": "valid key", "not_found": "model"}


@pytest.mark.parametrize(("fault", "told"), [*FINAL.items(), ("quota", "credit")])
def test_what_no_repetition_helps_is_asked_once(server, fault, told):
    server.plan(Plan(rates={fault: 1.0}, streak=100))
    with pytest.raises(Stopped, match=told):
        hosted(server).encode(TEXTS)
    assert server.counts()["requests"] == 1


def test_a_limit_of_the_rate_is_borne_until_patience_ends(server, monkeypatch):
    seconds = (count / 10 for count in itertools.count())
    monkeypatch.setattr(embeddings, "monotonic", lambda: next(seconds))
    server.plan(Plan(rates={"rate_limited": 1.0}, streak=1000))
    with pytest.raises(Stopped, match="nothing has been answered"):
        hosted(server, retry={"attempts": 1, "first": 0.01, "patience": 0.3}).encode(["graph"])
    assert server.counts()["requests"] == 3


@pytest.fixture
def waited(monkeypatch):
    """Seconds that the client would have waited between attempts; none of them passes."""
    waits = [0.0]

    async def sleep(seconds):
        waits.append(seconds)

    monkeypatch.setattr(embeddings.asyncio, "sleep", sleep)
    monkeypatch.setattr(embeddings, "monotonic", lambda: 1000.0 + sum(waits))
    return waits


def test_a_server_that_never_answered_is_waited_for_ten_seconds_at_most(waited):
    with refusing() as url:
        nobody = LiteLLMEmbedding.model_validate({"model": "openai/rows", "api_base": url})
        with pytest.raises(
            Stopped, match=r"no call of this run was ever answered.*api_base"
        ) as stopped:
            HostedEmbedding(nobody).encode(["graph"])
    assert "127.0.0.1" in str(stopped.value)
    assert 0.0 < sum(waited) < nobody.deadlines.connect == 10.0


@pytest.mark.parametrize("hang_up", [False, True], ids=["silent", "hangs up"])
def test_an_address_that_says_nothing_is_given_up(waited, hang_up):
    with accepting(hang_up) as url:
        nobody = LiteLLMEmbedding.model_validate(
            {"model": "openai/rows", "api_base": url, "deadlines": {"connect": 0.2}}
        )
        with pytest.raises(Stopped, match=f"{url}: .*no call of this run was ever answered"):
            HostedEmbedding(nobody).encode(["graph"])
    assert sum(waited) < 10.0


def test_an_interrupted_corpus_goes_on_where_it_stopped(server):
    server.plan(Plan(rates={"unauthorised": 1.0}, from_n=5, streak=1000))
    with pytest.raises(Stopped):
        hosted(server, in_flight=2).encode(TEXTS)
    paid = server.counts()["prompt_tokens"]
    assert paid == tokens([PROBE, *TEXTS[: 4 * 16]])

    server.plan(Plan())
    rows = hosted(server).encode(TEXTS)
    assert np.allclose(rows, expected(TEXTS), atol=1e-5)
    # Every text once in all; the probe once in each process that asks for any.
    assert server.counts()["prompt_tokens"] == tokens([PROBE, PROBE, *TEXTS])
    assert server.counts()["repeated_answers"] == 1

    requests = server.counts()["requests"]
    third = hosted(server)
    assert np.array_equal(third.encode(TEXTS), rows)
    assert third.dim == 16
    assert server.counts()["requests"] == requests


def test_another_model_by_the_same_name_is_noticed(server, tmp_path):
    embedding = hosted(server)
    embedding.encode(["graph"])
    embedding.save(tmp_path)
    loaded = load_embedding(tmp_path)
    assert loaded.revision == embedding.revision
    assert loaded.name == "litellm:openai/rows"
    assert np.array_equal(loaded.encode(["graph"]), embedding.encode(["graph"]))

    path = tmp_path / "embedding.json"
    settings = json.loads(path.read_text())
    settings["probe"] = expected([PROBE], "other")[0].round(5).tolist()
    path.write_text(json.dumps(settings))
    with pytest.raises(InputError, match="another model by that name"):
        load_embedding(tmp_path).encode(["tree"])


def test_rows_of_a_changed_model_are_not_gone_on_with(server):
    embedding = hosted(server)
    embedding.keep_rows([PROBE], np.eye(1, 16, dtype=np.float32))
    with pytest.raises(InputError, match=f"an empty folder as {VARIABLE}"):
        embedding.encode(TEXTS)


def test_the_same_name_at_another_address_has_rows_of_its_own(server):
    embedding = hosted(server)
    embedding.encode(["graph"])
    other = hosted(server, api_base=server.url + "/")
    assert embedding.origin != other.origin
    assert other.kept_row("graph") is None


def test_a_loaded_embedding_asks_nobody_before_the_first_text(server, tmp_path):
    embedding, usual = hosted(server, dimensions=8), hosted(server)
    assert (embedding.origin, embedding.revision) != (usual.origin, usual.revision)
    embedding.save(tmp_path)
    server.reset()
    loaded = load_embedding(tmp_path)
    assert (loaded.dim, loaded.revision, loaded.name) == (8, embedding.revision, embedding.name)
    assert not loaded.encode(["", " "]).any()
    assert server.counts()["requests"] == 0
    for one in (loaded, pickle.loads(pickle.dumps(loaded))):
        assert np.allclose(one.encode(["graph"]), expected(["graph"], dimensions=8), atol=1e-5)


def test_a_text_that_is_too_long_is_cut_and_told(server):
    embedding = hosted(server)
    long = "graph " * LONGEST
    rows = embedding.encode([*TEXTS[:20], long])
    assert np.allclose(rows[:20], expected(TEXTS[:20]), atol=1e-5)
    assert rows[20] @ expected(["graph"])[0] > 0.99
    assert "1 texts were longer" in embedding.notes[-1]


def test_no_key_reaches_a_message_or_a_file(server, tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", KEY)
    embedding = hosted(server, key="SOME_API_KEY", retry={"attempts": 1})
    embedding.save(tmp_path)
    assert KEY not in (tmp_path / "embedding.json").read_text()
    server.plan(Plan(rates={"echo_key": 1.0}))
    with pytest.raises(Stopped) as stopped:
        embedding.encode(["graph"])
    assert KEY not in str(stopped.value)
    assert "redacted" in str(stopped.value)


@pytest.mark.parametrize(
    ("hosting", "told"),
    [
        ({"api_base": f"http://user:{KEY}@127.0.0.1/v1"}, "api_base"),
        ({"key": KEY}, "key"),
        ({"batch": 0}, "batch"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_settings_that_cannot_be_are_told_without_their_values(hosting, told):
    with pytest.raises(InputError, match=told) as error:
        make_embedding("litellm:openai/rows", hosting=hosting)
    assert KEY not in str(error.value)


def test_it_may_be_asked_from_within_an_event_loop(server):
    async def ask():
        return hosted(server).encode(["graph"])

    assert np.allclose(asyncio.run(ask()), expected(["graph"]), atol=1e-5)


def test_connections_are_kept_between_texts_and_closed_at_the_end(server):
    embedding, before = hosted(server), server.counts()["connections"]
    for text in TEXTS[:10]:
        embedding.encode([text])
    assert server.counts()["connections"] <= before + 1
    opened = server.counts()["open_connections"]
    embedding.model.close()
    deadline = time.monotonic() + 120
    while server.counts()["open_connections"] >= opened and time.monotonic() < deadline:
        time.sleep(0.01)
    assert server.counts()["open_connections"] < opened
    assert embedding.encode(["voting"]).any()


def test_a_length_that_the_model_does_not_offer_is_told(server):
    with pytest.raises(InputError, match="length 16, not 8"):
        hosted(server, model=f"openai/{FIXED}", dimensions=8).encode(["graph"])


@pytest.mark.sweep(2)
@pytest.mark.parametrize("fault", ["server_error", "rate_limited", "dropped", "no_choices"])
def test_ollama_is_asked_in_its_own_way(server, fault):
    server.plan(Plan(rates={fault: 0.4}, seed=2, streak=2))
    base = server.url.removesuffix("/v1")
    embedding = hosted(server, model="ollama/mxbai-embed-large", api_base=base)
    rows = embedding.encode(TEXTS)
    assert np.allclose(rows, expected(TEXTS, "mxbai-embed-large"), atol=1e-5)
    counts = server.counts()
    assert counts["faults"][fault] > 2
    assert counts["repeated_answers"] == 0
