"""Is everything there that a run needs? Against real HTTP, and against installations that fail."""

import json
import re
import time
from importlib import metadata

import pytest

from tests.agents.backends.live_provider import completion, http
from tests.command_line import society
from tests.faultserver import Plan
from virsci_society.agents.backends.openai import OpenAI
from virsci_society.scenarios.planning import doctor

KEY = "canary-4f81b2c07d"


@pytest.fixture
def small(small_text, tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(small_text, encoding="utf-8")
    return path


def consulted(small, url, *more):
    keys = ("backend.use=openai", "backend.model=test", f"backend.api_base={url}", *more)
    return society("doctor", small, *(f"--set={key}" for key in keys))


def test_the_release_and_the_python_are_named_first():
    first = next(doctor.check_installation())
    assert re.fullmatch(r"virsci-society \d[\w.+]*, Python 3\.\d+\.\w+", first.message)


def test_rules_need_no_connection(network_attempts):
    done = society("doctor")
    assert done.exit_code == 0, done.output
    assert "no connection was made" in done.stdout
    assert "all checks passed" in done.stdout
    assert not network_attempts


def test_a_model_that_does_as_it_is_told_is_well(small, server):
    server.plan(Plan(latency=0.25))
    server.reset()
    done = consulted(small, server.url)
    assert done.exit_code == 0, done.output
    told = done.stdout
    for said in (
        *("the model answers as", "the provider counts tokens", "9 strict"),
        "the same answer after other calls",
        "requests go to 127.0.0.1 directly, without a proxy",
        *("tokens of a prompt read and", "4 concurrent calls give", "the longest call ("),
        *("deadlines.total is 300 s", "replies respect max_tokens", "all checks passed"),
        "the server runs on this machine, so calls are free",
    ):
        assert said in told
    assert "problem" not in told
    # One that is not timed, one of each form, the first again, a short one, four at a time.
    assert server.counts()["requests"] == 1 + 9 + 1 + 1 + 4
    assert len(re.findall(r"^ok +[A-Z][A-Za-z]+: \{", told, re.MULTILINE)) == 9


def test_a_provider_that_counts_no_tokens_is_told(small, server):
    server.plan(Plan(rates={"missing_usage": 1.0}))
    done = consulted(small, server.url)
    assert done.exit_code == 0, done.output
    assert "does not count tokens" in done.stdout


@pytest.mark.parametrize(
    ("kind", "todo"),
    [
        ("unauthorised", "environment variable"),
        ("not_found", "backend.model"),
        ("unavailable", "later"),
        ("malformed_http", "chat completion"),
    ],
)
def test_what_a_provider_refuses_is_a_problem_with_advice(small, server, kind, todo):
    server.plan(Plan(rates={kind: 1.0}, streak=1000))
    done = consulted(small, server.url)
    assert done.exit_code == 2
    problem, _, advice = done.stdout.partition("problem  the model does not answer")[2].partition(
        "->"
    )
    assert problem
    assert todo in advice
    assert "1 problem found" in done.stderr


def test_a_key_that_is_missing_is_named_before_anything_is_asked(small, server):
    server.plan(Plan())
    server.reset()
    done = consulted(small, server.url, "backend.key=NO_SUCH_KEY")
    assert done.exit_code == 2
    assert "NO_SUCH_KEY is not set" in done.stdout
    assert server.counts()["requests"] == 0


@pytest.mark.parametrize("kind", ["echo_key", "echo_key_200"])
def test_no_key_is_printed_whatever_the_provider_says(small, server, monkeypatch, kind):
    monkeypatch.setenv("DOCTORS_API_KEY", KEY)
    server.plan(Plan(rates={kind: 1.0}, streak=1000))
    done = consulted(small, server.url, "backend.key=DOCTORS_API_KEY")
    assert "DOCTORS_API_KEY is set" in done.stdout
    assert KEY not in done.output


def test_how_the_forms_were_read_is_counted(small, server):
    server.plan(Plan(rates={"prose_reply": 1.0}))
    assert "9 found" in consulted(small, server.url).stdout
    server.plan(Plan(reask=1.0))
    told = consulted(small, server.url).stdout
    assert "9 re-asked" in told
    assert "re-asks cost" in told
    server.plan(Plan(rates={"malformed_reply": 1.0}))
    done = consulted(small, server.url)
    assert done.exit_code == 2
    assert "never filled: Choice" in done.stdout
    assert "raise backend.max_tokens" in done.stdout  # a schema is sent already


def test_limits_and_prices_are_checked(small, provider):
    said = iter(range(1000))

    def rambling(_):
        text = json.dumps({"Selected Action": "decline", "Reasoning": f"{next(said)} " * 200})
        usage = {"prompt_tokens": 10, "completion_tokens": 400, "total_tokens": 410}
        return http(200, completion(text, usage=usage))

    provider.answer(rambling)
    prices = ("backend.prices.input=1", "backend.prices.output=1000")
    done = consulted(small, provider.url, *prices)
    assert "replies exceed max_tokens" in done.stdout
    assert "400 tokens came where 16" in done.stdout
    assert "the price of the model is known" in done.stdout
    assert "got another reply after other calls" in done.stdout
    asked = done.stdout.partition(" test calls cost ")
    assert float(asked[2].split()[0]) == pytest.approx(
        int(asked[0].split()[-1]) * 0.40001, rel=1e-4
    )
    questions = [one for one in provider.heard if one.path.endswith("/chat/completions")]
    assert len(questions) <= 2 * 9 + 2 + 4


def test_the_first_words_of_replies_are_shown(small, provider):
    usage = {"prompt_tokens": 10, "completion_tokens": 4}
    provider.answer(http(200, completion("no \x1b[2J JSON", usage=usage)))
    told = consulted(small, provider.url).stdout
    assert re.search(r"^ok +Choice: no \[2J JSON$", told, re.MULTILINE)


def test_a_slow_model_needs_longer_deadlines(small, provider):
    timings = {"prompt_per_second": 40.0, "predicted_per_second": 4.0}
    provider.answer(http(200, completion("{}", timings=timings)))
    told = consulted(small, provider.url, "backend.in_flight=1").stdout
    assert "40 tokens of a prompt read and 4 of a reply written in a second" in told
    # 2,048 tokens at four a second, and the prompt.
    assert "takes about 9" in told
    assert "--set backend.deadlines.total=1200" in told
    assert "raise backend.deadlines, or" not in told


def test_a_model_that_thinks_on_a_server_without_counts_is_well(small, provider):
    def answering(heard):
        if heard.body["max_tokens"] > 16:
            return http(200, completion('{"Selected Action": "decline"}', usage=None))
        return http(200, completion("", "length", usage=None))

    provider.answer(answering)
    told = consulted(small, provider.url, "backend.in_flight=1").stdout
    assert "tokens of a prompt read and" in told
    assert "forms: 9 tested" in told
    assert "before its first word" not in told


def test_neither_the_first_call_nor_short_ones_tell_the_speed(small, provider):
    waits = iter([0.8])  # it loads the model

    def answering(heard):
        time.sleep(next(waits, 0.002))
        usage = {"prompt_tokens": 100, "completion_tokens": min(40, heard.body["max_tokens"])}
        return http(200, completion('{"Selected Action": "decline"}', usage=usage))

    provider.answer(answering)
    told = consulted(small, provider.url).stdout
    assert int(re.search(r"read and ([\d,]+)", told)[1].replace(",", "")) > 200
    assert "at a time bring" not in told
    assert "backend.deadlines.total=" not in told


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({}, "ok       requests go to models.example directly, without a proxy; certificates from"),
        (
            {"HTTPS_PROXY": "http://me:secret@127.0.0.1:9", "SSL_CERT_FILE": __file__},
            "through the proxy 127.0.0.1:9 (HTTPS_PROXY); certificates from SSL_CERT_FILE",
        ),
        ({"NO_PROXY": "models.example", "HTTPS_PROXY": "http://127.0.0.1:9"}, "directly"),
        ({"SSL_CERT_DIR": "/no/such"}, "problem  the environment variable SSL_CERT_DIR"),
        ({"ALL_PROXY": "socks://127.0.0.1:9"}, "problem  the environment variable ALL_PROXY"),
    ],
)
def test_the_proxy_and_the_certificates_are_told(monkeypatch, variables, said):
    for name in ("HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    backend = OpenAI(model="m", api_base="https://models.example/v1")
    (found,) = doctor.check_access(backend)
    assert said in f"{found.state:8} {found.message}"
    assert "secret" not in found.message


def test_a_model_that_says_nothing_for_long_is_left(small, server, monkeypatch):
    monkeypatch.setattr(doctor, "SECONDS", 0.5)
    server.plan(Plan(rates={"stalled": 1.0}, streak=1000))
    done = consulted(small, server.url)
    assert done.exit_code == 2
    assert "no answer within the time limit of doctor, 0.5 s" in done.stdout
    assert "the server lists its models but is slow" in done.stdout


@pytest.mark.parametrize(
    ("name", "version", "problem"),
    [
        ("mesa", "3.2.9", "install mesa!=3.4.*,<4,>=3.3"),
        ("mesa", "4.0.0", "install mesa!=3.4.*,<4,>=3.3"),
        ("litellm", "1.82.7", "install litellm>=1.85"),
        ("simpy", None, "run pip install -e . once more"),
        ("litellm", None, "-m pip install -e "),
        ("simpy", "4.1", None),
    ],
)
def test_a_release_that_is_not_supported_or_missing_is_a_problem(
    monkeypatch, name, version, problem
):
    true_version = metadata.version

    def stated(asked):
        if asked == name and version is None:
            raise metadata.PackageNotFoundError
        return version if asked == name else true_version(asked)

    monkeypatch.setattr(metadata, "version", stated)
    wrong = [one for one in doctor.check_installation("llm") if one.state == "problem"]
    assert [problem in one.advice for one in wrong] == ([] if problem is None else [True])
