"""The card by which the page shows a question: its title, the words of others, the choices.

Everything is read from the text that a language model would be sent, so people and models know the
same. What no rule here knows is shown as it stands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from virsci_society.agents.people.question import ParsedQuestion

TITLES = {
    "Selected Action": "{leader} invites you",
    "Direction": "What do you say about the topic?",
    "Selected Topic": "Which topic does your team take?",
    "Agree": "Do you agree with the topic?",
    "Stay": "Do you stay in the team?",
    "Another Turn": "Does your team need another round?",
    "Idea": "Which idea do you put forward?",
    "Decision Made": "Which idea is the most novel?",
    "Objection": "What speaks against the idea?",
    "Abstract": "What does the abstract say?",
    "Answer": "{first} asks for your advice",
    "Summary": "Sum up the round",
}
"""Title by a field of the form; any other question is named by its first sentence."""
REQUEST = "A journal asks you for a review"
LONGEST = 160
"""Most characters of a title, and of an answer in the list of one's own."""
REASONS = ("Reason", "Reasoning")
"""Fields of reasons, which are not what was answered."""

_FORM = re.compile(r"\n\n(?:[^\n]*JSON[^\n]*\n)?```json\n.*\Z", re.DOTALL)
_TEAMS = re.compile(r"You are working in (\d+) other teams? at present")
_ROUND = re.compile(r"\bround \d+(?: of \d+)?")
_NAME = re.compile(r"^- ([^:(\n]+?)(?: \([^)\n]*\))?: (.*)", re.MULTILINE)
_PAPER = re.compile(r"^> \[(\w+)\] (.*?)(?: \(\d{4}|$)", re.MULTILINE)
_SENTENCE = re.compile(r"(?<=[.?!])\s")


def make_card(parsed: ParsedQuestion) -> dict[str, Any]:
    """What a person is shown of a question, as plain data for JSON.

    Returns:
        ``title``; ``facts``, short texts; ``complaint``, what was wrong with an earlier answer;
        ``blocks`` of the text, each of a ``kind`` (``text``, ``list``, ``said`` by ``who``, or
        ``you``, about oneself) with ``lines``; by field ``labels`` of its values, and ``choices``,
        pairs of value and label, where it takes names or papers of the text.
    """
    said = [one.content for one in parsed.messages if one.role == "user"] or [""]
    text, fields = _FORM.sub("", said[0]), parsed.schema.get("properties", {})
    labels = {name: found for name, one in fields.items() if (found := _labels(one, text))}
    explained = tuple(f"{value}: " for found in labels.values() for value in found)
    return {
        "title": _title(parsed, text),
        "facts": list(_facts(parsed, text)),
        "complaint": said[-1] if parsed.asked_again else "",
        "blocks": [
            block
            for one in text.split("\n\n")
            for block in _blocks(one, explained, f"You are {parsed.who},")
        ],
        "labels": labels,
        "choices": dict(_choices(fields, text)),
    }


def team_of(call: str) -> str:
    """The id of the team for which a call is made, such as ``Scientist1/2``."""
    return "/".join(call.split("/", 2)[:2])


def brief_answer(labels: Mapping[str, Mapping[str, str]], answer: str) -> str:
    """What somebody has answered, in a few words.

    Args:
        labels: of the question's card.
        answer: its text, usually JSON.
    """
    data: Any = None
    with suppress(ValueError, RecursionError):
        data = json.loads(answer)
    fields = data if isinstance(data, dict) else {}
    for name, one in fields.items():
        if name not in REASONS and isinstance(one, (str, bool)) and one != "":
            return _cut(labels.get(name, {}).get(_key(one), str(one)))
    return _cut(answer)


def _title(parsed: ParsedQuestion, text: str) -> str:
    field = next((name for name in parsed.schema.get("properties", {}) if name in TITLES), "")
    if field == "Selected Action" and "/publication/" in parsed.call:
        return REQUEST
    if field:
        leader, first = parsed.call.split("/")[0], text.split(",")[0]
        return TITLES[field].format(leader=leader, first=first)
    sentences = _SENTENCE.split(text, maxsplit=2)
    named = next((one for one in sentences[:2] if one != "You lead the team."), "")
    return _cut(named) or "A question to you"


def _facts(parsed: ParsedQuestion, text: str) -> Iterator[str]:
    if parsed.day is not None:
        yield f"day {parsed.day:.0f}"
    if found := _TEAMS.search(text):
        number = int(found[1])
        other = "" if "Selected Action" in parsed.schema.get("properties", {}) else "other "
        yield f"you are in {number or 'no'} {other}team{'s' * (number > 1)}"
    if found := _ROUND.search(text):
        yield found[0]
    yield f"team {team_of(parsed.call)}"


def _blocks(paragraph: str, explained: tuple[str, ...], about: str) -> Iterator[dict[str, Any]]:
    """The parts of a paragraph; lines that only explain a choice are left to its button."""
    lines = [one for one in paragraph.split("\n") if one and not one.startswith(explained or "\0")]
    if len(lines) < paragraph.count("\n") + 1:
        lines = [one for one in lines if not one.endswith("options:")]
    block: dict[str, Any] = {}
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        quoted, item = line.startswith("> "), line.startswith("- ")
        who = line[:-1] if following.startswith("> ") and line.endswith(":") else ""
        you = line.startswith(about) or block.get("kind") == "you"
        kind = "said" if quoted or who else "list" if item else "you" if you else "text"
        if block and (who or block["kind"] != kind):
            yield block
            block = {}
        if not block:
            own = "(you)" in who or who.startswith("Your ")
            block = {"kind": kind, "who": who, "own": own, "lines": []}
        if not who:
            block["lines"].append(line[2:] if quoted or item else line)
    if block:
        yield block


def _labels(field: Mapping[str, Any], text: str) -> dict[str, str]:
    """Labels of the values of a choice, as the text explains them; empty for other fields."""
    if field.get("type") == "boolean":
        return {"true": "Yes", "false": "No"}
    return {_key(one): _label(_key(one), text) for one in field.get("enum", ()) if one is not None}


def _label(value: str, text: str) -> str:
    name = re.escape(value)
    if found := re.search(rf"^{name}: (?:you )?(.+?)\.?$", text, re.MULTILINE):
        return found[1][:1].upper() + found[1][1:]
    found = re.search(rf"^{name}:\n> (.+)$", text, re.MULTILINE)
    return f"{value}: {found[1]}" if found else value


def _choices(fields: Mapping[str, Any], text: str) -> Iterator[tuple[str, list[list[str]]]]:
    """Fields that take names, or keys of papers, with what the text offers for them."""
    guests = text.partition("Scientists outside the team")[2].partition("\n\n")[0]
    for name, field in fields.items():
        if name == "Ask":
            yield (
                "Ask.Scientist",
                [[one, f"{one}: {_cut(of)}"] for one, of in _NAME.findall(guests)],
            )
        elif "keys of the listed papers" in str(field.get("description")):
            yield name, [[key, f"[{key}] {title}"] for key, title in _PAPER.findall(text)]


def _key(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _cut(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST else f"{flat[:LONGEST]} ..."
