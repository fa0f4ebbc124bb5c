"""A model that copies the form: the run says so on its first screen, in ``show`` and at its end."""

import json
from itertools import count

from tests.agents.backends.live_provider import completion, http
from tests.agents.replies.test_text_checks import filled
from tests.command_line import society
from virsci_society.agents.replies.text_checks import SHOWS_THE_FORM
from virsci_society.society.results.run import Run

NUMBERS = count(1)


def own_words(schema):
    """A reply of nobody else's words: every text is of other words than all before it."""
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return None
    kind = schema.get("type")
    if kind == "object":
        return {name: own_words(part) for name, part in schema.get("properties", {}).items()}
    if kind == "array":
        return []
    if kind in ("number", "integer"):
        return max(1, int(schema.get("minimum", 1)))
    if kind == "boolean":
        return True
    number = next(NUMBERS)
    return " ".join(f"tide{number}x{word}" for word in range(210))


def copying(heard, *, always):
    if "messages" not in heard.body:
        return http(200, {"data": []})
    schema = heard.body["response_format"]["json_schema"]["schema"]
    again = "repeats the words" in heard.body["messages"][-1]["content"]
    reply = own_words(schema) if again and not always else {**own_words(schema), **texts(schema)}
    return http(200, completion(json.dumps(reply)))


def texts(schema):
    """The text fields of a form, each filled with its description."""
    copies = {name: filled(part) for name, part in schema["properties"].items()}
    return {name: said for name, said in copies.items() if isinstance(said, str)}


def asked_at(provider):
    keys = (
        "use=openai",
        "model=m",
        f"api_base={provider.url}",
        "prices.input=0",
        "prices.output=0",
    )
    return [part for key in keys for part in ("--set", f"backend.{key}")]


def test_a_run_of_copies_is_named_everywhere(write, small_text, tmp_path, provider):
    small, out = write("small.yaml", small_text), tmp_path / "run"
    provider.answer(lambda heard: copying(heard, always=False))
    done = society("run", small, *asked_at(provider), "--out", out)
    assert done.exit_code == 0, done.output
    *_, last = [line for line in done.stderr.splitlines() if SHOWS_THE_FORM in line]
    asked = Run.open(out).table("calls")["act"].ne("re-ask").sum()
    assert f" of {asked} answers copied the form" in last
    shown = society("show", out).stdout
    assert SHOWS_THE_FORM in shown
    assert "Their content was not judged" in shown
    page = (out / "report.html").read_text("utf-8")
    first = page.partition('<nav aria-label="Contents">')[0]
    assert SHOWS_THE_FORM in first
    assert "Their content was not judged" in first
    assert "every reply that counts" not in page
    calls = Run.open(out).table("calls")
    asked = calls[calls["act"] != "re-ask"]
    assert (
        asked["noticed"].fillna("").str.contains("echoed") == asked["rung"].eq("re-asked")
    ).all()
    again = tmp_path / "again"
    replayed = society("replay", out, "--out", again)
    assert replayed.exit_code == 0, replayed.output
    assert SHOWS_THE_FORM in replayed.stderr
    assert (again / "digest").read_text() == (out / "digest").read_text()


def test_a_model_that_never_stops_copying_ends_the_run(write, small_text, tmp_path, provider):
    small = write("small.yaml", small_text)
    provider.answer(lambda heard: copying(heard, always=True))
    done = society("run", small, *asked_at(provider), "--out", tmp_path / "run")
    assert done.exit_code == 5, done.output
    assert "repeated the text of the form" in done.stderr
    consulted = society("doctor", small, *asked_at(provider))
    assert consulted.exit_code == 2
    assert SHOWS_THE_FORM in consulted.stdout
    assert "say in one sentence what speaks for it" in consulted.stdout
