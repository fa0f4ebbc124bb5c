"""Secrets: what is hidden, what is left alone, and what work that takes (promise R8)."""

import base64
import io
import json
import logging
import re
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from virsci_society.agents import redaction
from virsci_society.agents.redaction import HIDDEN, redact, remember_secret, secrets_in

CANARY = "Canary/Quail+7193_okapi"
ODD = 'p"ä s\\s/w:rd&1>>>???'
"""A secret that looks different in every notation."""


@pytest.fixture(scope="module", autouse=True)
def _environment():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOME_PROVIDER_API_KEY", CANARY)
        patch.setenv("SOME_PASSWORD", ODD)
        patch.setattr(redaction, "_known", redaction._Known())
        yield


SECRET = ("opensesame",)
PEM = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0\n-----END KEY-----\n"
KEYS = (
    *("OPENAI_API_KEY", "KEY", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "my_passwd"),
    *("GOOGLE_CREDENTIALS", "CREDENTIAL", "AUTH_HEADER", "X_AUTH", "API_KEY_2", "MISTRAL_APIKEY"),
    *("KEY_OF_HOUSE", "SECRETS"),
)
OTHERS = ("MONKEY", "KEYBOARD", "AUTHOR", "TOKENIZERS_PARALLELISM", "PATH", "MAX_TOKENS", "PWD")


@pytest.mark.parametrize(
    ("environ", "secrets"),
    [
        *(({name: "opensesame"}, SECRET) for name in KEYS),
        *(({name: "opensesame"}, ()) for name in OTHERS),
        ({"A_KEY": "1234567", "AUTH_MODE": "required", "B_KEY": "", "C_KEY": "redacted"}, ()),
        ({"HTTPS_PROXY": "http://me:opensesame@proxy.example:3128"}, SECRET),
        ({"MAIL": "me@example.org", "SITE": "https://example.org"}, ()),
    ],
)
def test_a_variable_named_like_a_key_holds_a_secret_and_so_does_an_address(environ, secrets):
    assert secrets_in(environ) == secrets


def test_the_lines_of_a_longer_secret_are_secrets():
    first, *lines = secrets_in({"SIGNING_KEY": PEM})
    assert first == PEM.strip()
    assert "MIIEvQIBADANBgkqhkiG9w0" in lines


def written(secret):
    """The secret in every notation in which it may get into a file."""
    raw = secret.encode()
    yield from (secret, json.dumps(secret), json.dumps(json.dumps(secret)), repr(secret))
    yield json.dumps(secret, ensure_ascii=False)
    yield from (quote(secret), quote(secret, safe=""), quote_plus(secret))
    yield re.sub("%..", lambda code: code[0].lower(), quote(secret, safe=""))
    for user in ("", "u", "me", "you", "them"):
        coded = base64.b64encode(user.encode() + raw + b"\n").decode()
        yield coded
        yield coded.replace("+", "-").replace("/", "_")


@pytest.mark.parametrize("secret", [CANARY, ODD])
def test_secrets_of_the_environment_are_hidden_in_every_notation(secret):
    for notation in written(secret):
        hidden = redact(f"body <{notation}> end")
        assert HIDDEN in hidden
        for begin in range(len(notation) - 7):  # of base64, single characters at the ends may stay
            assert notation[begin : begin + 8] not in hidden


HIDES = {
    "Authorization: Bearer abc": "Authorization: Bearer [redacted]",
    "authorization: Basic bWU6YWJj": "authorization: Basic [redacted]",
    "Authorization: opensesame": "Authorization: [redacted]",
    "{'Authorization': 'Bearer ab.cd-12'}": "{'Authorization': 'Bearer [redacted]'}",
    "(b'Authorization', b'Bearer abc123x')": "(b'Authorization', b'Bearer [redacted]')",
    "sent Bearer eyJhbGciOi.abc_1 to": "sent Bearer [redacted] to",
    "BEARER 0123abcd": "BEARER [redacted]",
    "api_key=xyz": "api_key=[redacted]",
    "api_key='xyz', b=1": "api_key='[redacted]', b=1",
    "API-Key: 00ff00ff": "API-Key: [redacted]",
    "x-api-key: opensesame": "x-api-key: [redacted]",
    '{"api_key": "xyz"}': '{"api_key": "[redacted]"}',
    '{\\"apiKey\\": \\"xyz\\"}': '{\\"apiKey\\": \\"[redacted]\\"}',
    "Incorrect API key provided: xyz***9q.": "Incorrect API key provided: [redacted]",
    '{"access_token": "abcdef"}': '{"access_token": "[redacted]"}',
    "x-goog-token: ya29x0": "x-goog-token: [redacted]",
    "(b'x-goog-token', b'opensesame')": "(b'x-goog-token', b'[redacted]')",
    "client_secret=abcdefg": "client_secret=[redacted]",
    "AWS_SECRET_ACCESS_KEY=ab/cd+12": "AWS_SECRET_ACCESS_KEY=[redacted]",
    "key sk-abcdefghijklm.": "key [redacted].",
    "sk-ant-api03-abc_DEF-123": "[redacted]",
    "sk-proj-****************abcd": "[redacted]",
    "(gsk_0123456789abcdef)": "([redacted])",
    "hf_abcdefghijklmnopqrst": "[redacted]",
    "'AIzaSyA-0123456789_abc'": "'[redacted]'",
    "xai-abc123DEF456ghi": "[redacted]",
    "http://me:p@ss@host/x": "http://[redacted]@host/x",
    "https://tok3n@host:80/x": "https://[redacted]@host:80/x",
    "https://h/x?key=abc&n=1": "https://h/x?key=[redacted]&n=1",
    "/x?n=1&token=a#b&sig=c": "/x?n=1&token=[redacted]&sig=[redacted]",
    "/x?api_key=abc": "/x?api_key=[redacted]",
    "/x?signature=abcdef&X-Amz-Signature=12abef": (
        "/x?signature=[redacted]&X-Amz-Signature=[redacted]"
    ),
    "/x?password=opensesame": "/x?password=[redacted]",
}


@pytest.mark.parametrize("text", HIDES)
def test_what_looks_like_a_credential_is_hidden(text):
    assert redact(text) == HIDES[text]


ORDINARY = [
    "A key idea of tokenization is that each token: a word or a part of it, has a key and a value. "
    "Query, key: value pairs; the key is the token. Multi-token: the approach predicts several.",
    "We use sk-learn, sk-learn-contrib-extensions and task-specific, risk-aware-and-mask-free "
    "models. author: Smith; authors=Smith, Doe. Keywords: authorship, secretome, passwords.",
    "SK-channel-mediated afterhyperpolarization and XAI-based, xai-interpretability studies of "
    "hf_hub models; Authorization: the granting of rights. API key: the string that names a user.",
    "Bearer tokens are opaque. The standard bearer of this school, and ring bearer species.",
    "max_tokens=4096, prompt_tokens: 12345, pad_token=0, api_key=None, token=None, key=value.",
    "See https://doi.org/10.1000/x@y, https://example.org/@user and mail to me@example.org: "
    "signature schemes, secret sharing; password: strength; basic research, token economy.",
    '{"Title": "Key-value memory", "Idea": "a=b, c==d", "Experiment": "p < 0.05; n = 1,024", '
    '"Keywords": ["attention", "token-level"], "Novelty": 7, "Key": "secret ingredient"}',
    "Étude de la clé — «token» 数字化转型与密钥 — ключевые слова: авторизация.",
    "-----\n| key | token |\n|---|---|\n| a | b |\n=====",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_stays(text):
    assert redact(text) == text


FRAGMENTS = "sk-|abcdefgh1234|Bearer |Authorization|: |=|api_key|://|@|?key|&token|-token|_secret"
FRAGMENTS += "|'|\\| |hf_|xai-|AIza|x|é|\ud800|[|]|redacted|\n"
FRAGMENTS = [*FRAGMENTS.split("|"), '"', CANARY, ODD, HIDDEN]


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join))
@example(f"{CANARY}sk-abcdefgh12345678")
@example(f"api_key={CANARY}tail")
def test_redacting_again_changes_nothing_and_no_secret_is_left(text):
    once = redact(text)
    assert redact(once) == once
    assert CANARY not in once
    assert ODD not in once


@given(st.text(), st.text())
def test_any_text_around_a_secret_is_harmless(before, after):
    assert CANARY not in redact(before + CANARY + after)


def test_what_is_remembered_is_hidden_from_then_on():
    assert redact("the word is xylophone7 here") == "the word is xylophone7 here"
    remember_secret(" xylophone7\n")
    assert redact("the word is xylophone7 here") == "the word is [redacted] here"


def test_secrets_in_other_scripts_hide_only_themselves():
    remember_secret("пароль-двести")
    assert redact("это пароль-двести!") == "это [redacted]!"
    assert redact("это другое-словцо!") == "это другое-словцо!"


UNITS = "bearer |bearer a|authorization:|authorization: a|Authorization: basic |api-key|api_key="
UNITS += "|://|://a|@|=|token=|&key=|-token:|-key: '|_secret|xai-|hf_a|AIza|a|sk-|%2F|QQ|\\| |[|é"


@pytest.mark.sweep(3)
@pytest.mark.parametrize("unit", [*UNITS.split("|"), "sk-learn", '"', CANARY[:-1], CANARY, HIDDEN])
def test_time_grows_with_the_length_of_hostile_text_and_not_with_its_square(unit):
    """What grows with the square of the length would take hours, and be ended as a hang."""
    redact("://user" + unit * (2_000_000 // len(unit)) + "=@")


@pytest.fixture
def log():
    stream = io.StringIO()
    outlet = logging.StreamHandler(stream)
    outlet.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    logger = logging.getLogger("httpcore")
    logger.addHandler(outlet)
    before = logger.level
    logger.setLevel(logging.DEBUG)
    yield logger, stream
    logger.removeHandler(outlet)
    logger.setLevel(before)


@pytest.fixture
def shield():
    redaction.shield_logs()
    yield
    for name in ("", *redaction.LOGGERS):
        logger = logging.getLogger(name)
        for place in (logger, *logger.handlers, logging.lastResort):
            place.removeFilter(redaction._SHIELD)


def test_logs_are_written_without_secrets(log, shield):
    logger, stream = log
    logger.debug("headers %s and %r", f"x {CANARY}", {"Authorization": f"Bearer {CANARY}"})
    logging.getLogger("httpcore.connection").info(f"to https://me:{CANARY}@host/ went %d", 7)
    assert CANARY not in stream.getvalue()
    assert "DEBUG headers x [redacted] and {'Authorization'" in stream.getvalue()
    assert "INFO to https://me:[redacted]@host/ went 7" in stream.getvalue()


def test_tracebacks_in_logs_are_without_secrets(log, shield):
    logger, stream = log
    seen, emit = [], logger.handlers[0].emit
    logger.handlers[0].emit = lambda record: seen.append(record) or emit(record)
    try:
        raise ValueError(f"body: {CANARY}")
    except ValueError as error:
        logger.exception("failed with %s", error)
    told = stream.getvalue()
    assert CANARY not in told
    assert "Traceback" in told
    assert "ValueError: body: [redacted]" in told
    assert seen[0].exc_info is None


def test_arguments_that_do_not_fit_are_written_without_secrets(log, shield, capsys):
    logger, stream = log
    logger.warning("one %d", CANARY)
    logger.warning("none", CANARY)
    captured = capsys.readouterr()
    assert CANARY not in stream.getvalue() + captured.out + captured.err
    assert stream.getvalue().count("WARNING") == 2


def test_extra_texts_and_stacks_of_a_record_are_redacted(log, shield):
    logger, _ = log
    seen = []
    logger.handlers[0].emit = lambda record: seen.append(vars(record).copy())
    logger.warning("x", extra={"curl": f"-H 'x-api-key: {CANARY}'"}, stack_info=True)
    assert seen[0]["curl"] == "-H 'x-api-key: [redacted]'"
    assert CANARY not in repr(seen)
    assert "Stack" in seen[0]["stack_info"]
