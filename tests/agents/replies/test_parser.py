"""Reading: what is read from a reply, in which way, and what is not (rules 1 and 5, R7)."""

from __future__ import annotations

import json
import re
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from virsci_society.agents.errors import ReplyError
from virsci_society.agents.replies.form import Form
from virsci_society.agents.replies.parser import read_reply, without_thoughts
from virsci_society.protocols.forms import Choice
from virsci_society.protocols.virsci.forms import SelfReview


class Idea(Form):
    title: str = Field(alias="Title", min_length=1)
    score: float = Field(default=0.0, alias="Score", ge=0)


class ScoreOfTwo(Idea):
    score: float = Field(alias="Score", ge=0, le=2)


class Paper(Form):
    title: str = Field(alias="Title")
    abstract: str = Field(alias="Abstract", min_length=1)
    note: str = Field(default="", alias="Side Note")


class Told(Form):
    """A form with a field of its own name, which may hold the others."""

    told: str = Field(alias="Told")
    title: str = Field(alias="Title")


class Rated(Form):
    score: Annotated[float, Field(ge=1, le=10)] = Field(alias="Score")


class Starred(Form):
    stars: int = Field(default=1, alias="Stars", ge=1, le=5)
    share: float = Field(default=0.0, alias="Share")


class Picked(Form):
    pick: Literal["Action 1", "Action 2"] = Field(alias="Pick")


class Sure(Form):
    sure: bool = Field(default=False, alias="Sure")


class Listed(Form):
    text: str = Field(default="", alias="Text")
    numbers: tuple[int, ...] = Field(default=(), alias="Numbers")
    words: list[str] = Field(default_factory=list, alias="Words")
    table: dict[str, float] = Field(default_factory=dict, alias="Table")
    inner: tuple[Idea, ...] = Field(default=(), alias="Inner")


GOOD = '{"Title": "A", "Score": 2}'
PAPER = '{"Title": "Tides", "Abstract": "We listen, and count.", "Side Note": "Short."}'


def whole(form, rung, values, *texts):
    """Texts that are all read as the same form in the same way."""
    return [pytest.param(form, rung, form.model_construct(**values), text) for text in texts]


def field(form, rung, name, value, *said):
    """Words in the place of one value."""
    alias = form.model_fields[name].alias
    return whole(form, rung, {name: value}, *(f'{{"{alias}": {one}}}' for one in said))


A2 = {"title": "A", "score": 2.0}
TAN = {"title": "T", "abstract": "A", "note": "N"}
READ = [
    *whole(
        *(Idea, "strict", A2, GOOD, f"  {GOOD}\r\n", f"\ufeff{GOOD}", f"[{GOOD}]"),
        *('{"Title": "A", "Score": "2", "More": [1]}', '{"title": "A", "score": 2}'),
    ),
    *whole(
        *(Idea, "found", A2, f"```json\n{GOOD}\n```", f"```\n{GOOD}\n```", f"```json{GOOD}```"),
        *(f"```json\n{GOOD}\n", f"I would say {GOOD}, on the whole.", f"\0\0{GOOD}\0"),
        f"Let me think.\r\n```json\r\n{GOOD}\r\n```\r\nThat is all.",
        f"Let x be {{1, 2}} and y {{}}: {GOOD}, as {{x}} says.",
        f'```json\n{{"Title": ""}}\n```\nNo:\n```json\n{GOOD}\n```',
        f"```json\n{GOOD}\n```\n```json\nnot json at all\n```",
        f'```json\n{GOOD}\n```\nUnlike {{"Title": "B"}}, it is new.',
        f'<think>{{"Title": "B"}}</think>\n{GOOD}',
        f"<thinking>So {{\n\n</thinking>\n{GOOD}",
        # Headings and words of an answer that are no marks of thoughts.
        *(f"Analysis: it is new.\n{GOOD}", f"Thinking... {GOOD}", f"{GOOD} [week_end] for good"),
        f"{GOOD} As the assistant final.",
        # The last block that fills the form is the answer.
        f'```json\n{{"Title": "first"}}\n```\n```json\n{GOOD}\n```',
        f'{GOOD}\nIt differs from {{"name": "The sec',
    ),
    *whole(
        *(Idea, "repaired", A2, '{"Title": "A", "Score": 2,}', '{"Title": "A" "Score": 2}'),
        *("{'Title': 'A', 'Score': 2}", "{“Title”: “A”, “Score”: 2}", "{Title: A, Score: 2}"),
        *('{Title: "A", Score: 2}', '{"Title": "A", // which\n "Score": 2 /* or 3 */}'),
        'Here:\n```\n{"Title": "A",\n "Score": 2,\n}\n```\nDone {for now}.',
        f'{{"Title": "first"}}\nBetter:\n{GOOD[:-1]},}}',
    ),
    *whole(ScoreOfTwo, "repaired", A2, "Title: A\nScore: 2/2."),
    # Names without case, spaces, underscores and hyphens; one level of wrapping.
    *whole(
        *(Paper, "strict", TAN, '{"TITLE": "T", "abstract": "A", "side_note": "N"}'),
        '{"title": "T", " Abstract": "A", "Side-Note": "N"}',
        '{"**Title**": "T", "Abstract:": "A", "sideNote": "N"}',
        '{"Paper": {"Title": "T", "Abstract": "A", "Side Note": "N"}}',
        '{"Thinking": "Hm.", "New Paper": {"title": "T", "Abstract": "A", "note": "N"}}',
        '{"Title": "T", "Rest": {"Abstract": "A", "Side Note": "N"}}',
        '{"Title": {"Title": "T", "Abstract": "A", "Side Note": "N"}}',
        '{"A": {"Title": "T"}, "B": {"Abstract": "A"}, "Side Note": "N"}',
        '[{"Title": "T", "Abstract": "A", "Side Note": "N"}]',
    ),
    *whole(
        *(Told, "strict", {"told": "Description: D; Steps: a; b", "title": "T"}),
        '{"Told": {"Title": "T", "Description": "D", "Steps": ["a", "b"]}}',
    ),
    # Numbers: exact, of the right scale, and one.
    *field(
        *(Rated, "strict", "score", 8.0, "8", "8.0", '"8"', '"8."', '"8/10"', '"8 / 10"'),
        *('"8 out of 10"', '"8 of 10"', '"Score: 8"', '"8 (high)"', '"[8]"', '"**8**"', "[8]"),
        *('"8/10, for it is clear"', '"8 on a scale from 1 to 10"', '"8.0/10.0"'),
        '{"Rating": 8, "Why": "1 gap"}',
    ),
    *field(Rated, "repaired", "score", 8.0, "8/10", "8 out of 10"),
    *field(Starred, "strict", "stars", 4, '"4/5"', "4.0"),
    *field(Starred, "strict", "share", 70.0, '"70/100"', '"70%"', '"70"'),
    # Choices: one option, named first, or a plain yes or no.
    *field(
        *(Picked, "strict", "pick", "Action 2", '"Action 2"', '"[Action 2]"', '"action2"'),
        *('"ACTION_2."', '"Action 2: I decline"', '"I choose Action 2"', '"**Action 2**"'),
        '["Action 2"]',
    ),
    *field(Picked, "repaired", "pick", "Action 2", "[Action 2]", "Action 2"),
    *field(
        *(Sure, "strict", "sure", True, "true", '"yes"', '"Yes."', '"TRUE"', '["yes"]', "1"),
        '"Yes, since it fits"',
    ),
    *field(Sure, "repaired", "sure", True, "True", " yes "),
    *field(Sure, "strict", "sure", False, "false", '"No"', '"No, I am busy"'),
    *field(Sure, "repaired", "sure", False, "False"),
    # Lists as texts, texts as lists and tables.
    *field(Listed, "strict", "text", "One. Two; three", '["One.", "Two", "three"]'),
    *field(
        *(Listed, "strict", "text", "Step 1: a; b; Step 2: c: 3; d: yes"),
        '{"Step 1": ["a", "b"], "Step 2": {"c": 3, "d": true}}',
    ),
    *field(Listed, "strict", "text", "", "[]", "null"),
    *field(Listed, "strict", "text", "x", '[null, "", "x"]'),
    *field(
        *(Listed, "strict", "numbers", (1, 3), "[1, 3]", '["[1]", "Paper 3"]', '"1, 3"'),
        '"papers [1] and [3]"',
    ),
    *field(Listed, "strict", "numbers", (3,), "3"),
    *field(Listed, "strict", "numbers", (), '"none"', "null", '"N/A"'),
    *field(
        *(Listed, "strict", "words", ["one", "two,\n   and a half", "three"]),
        json.dumps("1. one\n2) two,\n   and a half\n- three"),
    ),
    *field(Listed, "strict", "words", ["just one"], '"just one"'),
    *field(
        *(Listed, "strict", "table", {"Clarity": 8, "Depth": 7}),
        json.dumps("1. Clarity: 8/10\n- **Depth**: 7 (good)\n"),
    ),
    *field(
        *(Listed, "strict", "inner", (Idea(title="A", score=3),)),
        '{"TITLE": ["A"], "score": "3/10"}',
    ),
]


@pytest.mark.parametrize(("form", "rung", "wanted", "text"), READ)
def test_a_form_is_read_in_its_way(form, rung, wanted, text):
    read = read_reply(form, text)
    assert (read.form, read.rung) == (wanted, rung)


def unread(form, text, **known):
    with pytest.raises(ReplyError) as error:
        read_reply(form, text, **known)
    return str(error.value)


def never(form, name, *said):
    """Words in the place of one value that are no such value."""
    alias = form.model_fields[name].alias
    return [(form, f'{{"{alias}": {one}}}', "") for one in said]


UNREAD = [
    (Idea, "", "not JSON"),
    (Idea, "I refuse.", "not JSON"),
    (Idea, "{", "cut off"),
    (Idea, '{"Title": }', "not JSON"),
    (Idea, "{}", "Title: Field required"),
    (Idea, '{"Title": ""}', "Title: String should have at least 1 character"),
    (Idea, '{"Title": "A", "Score": -1}', "Score: Input should be greater than"),
    (Idea, '{"Title": "A", "Title": "B"}', "'Title' appears twice"),
    (Idea, '{"Title": "A", "TITLE": "B"}', "Title appears twice"),
    (Idea, "[1, 2]", ": Input should be a valid dictionary"),
    (Idea, "3", ": Input should be"),
    (Idea, "null", ": Input should be"),
    (Idea, "<think>" + GOOD, "the reply ends inside its thinking"),
    (Idea, f'{GOOD}\nBetter:\n{{"Title": "The second and', "cut off"),
    (
        *(Paper, '{"Abstract": {"Title": "Part one", "Text": "x"}, "Side Note": "N"}'),
        "Title: Field required",
    ),
    (Paper, '{"Old": {"Title": "T", "Abstract": "A"}, "New": {"Title": "U"}}', ""),
    # What could be read in more than one way.
    (Paper, '{"Title": "Tides", "Abstract": }', ""),
    (Paper, '{"Title": "Tides", "Abstract": , "Side Note": "Short."}', ""),
    (Paper, '{"Title": "Tides", "Abstract": undefined}', ""),
    (Paper, '{"Title": "Tides", "Abstract": "We "listen", "count": so."}', ""),
    (Paper, '{"Title": "A", "Title": "B", "Abstract": "We listen",}', ""),
    (Paper, "Title: A\nTitle: B\nAbstract: We listen.", ""),
    (Paper, '{"Title": "Tides", "Abstract": \'We listen"}', ""),
    # A template that is said back is no choice.
    *(
        (Choice, f'{{"Selected Action": {one}, "Reasoning": "why"}}', "")
        for one in ('"Action 1" or "Action 2"', '"Action 1" / "Action 2"', "Action 1 or Action 2")
    ),
    # A list or table that was not closed.
    *(
        (SelfReview, f'{{"similarity_scores": {{"A": 85{rest}', "")
        for rest in (
            *(', "B": 9', ', "B": 9,', '},\n "high_overlap_pairs"', '},\n "high_overlap_pairs":'),
            '},\n "high_overlap_pairs": [{"pair": "A", "score": 85}',
            '},\n "high_overlap_pairs": [{"pair": "A", "score": 85},',
        )
    ),
    *never(
        *(Rated, "score", "0", "11", "-8", "true", "null", '""', "NaN", "Infinity", "1e999"),
        *('"nan"', '"inf"', '"between 6 and 8"', '"6-8"', '"7 or 8"', '"8,5"', '"4/5"'),
        *('"80/100"', '"80%"', '"eight"', '"high"', '"at least 7"', '"<8"', '"8/10/2"'),
        *('"not 8"', "[7, 8]", "{}", '{"Score": 7, "Rating": 8}', "between 6 and 8", '"8th"'),
        *('"v8"', "9" * 5000),
    ),
    *never(Starred, "stars", "4.5", '"4.5/5"', '"4/10"', "true"),
    *never(Starred, "share", '"1/2"'),
    *never(
        *(Picked, "pick", '"Action 1 or Action 2"', '"not Action 2"', '"Action 20"', '"Action"'),
        *('""', "null", "{}"),
    ),
    *never(Sure, "sure", '"maybe"', '"No doubt"', '"yes and no"', '"true/false"', "2"),
    *never(Listed, "numbers", '"1-3"', '"1 to 3"', '"all"', "[1.5]", "[true]", '{"a": 1}'),
    *never(Listed, "table", '"Clarity: 8\\nand so on"', '{"Clarity": true}'),
    *never(Listed, "text", "[" * 70 + '"x"' + "]" * 70),
]


@pytest.mark.parametrize(("form", "text", "message"), UNREAD)
def test_what_cannot_be_read_says_why(form, text, message):
    assert unread(form, text).startswith(f"{form.__name__}: {message}")


THOUGHTS = (
    ("<think>", "</think>"),
    ("<Think effort='high'>", "</Think>"),
    ("<thought>", "</thought>"),
    ("<seed:think>", "</seed:think>"),
    ("< reasoning >", "< / reasoning >"),
    ("<scratchpad>", "</scratchpad>"),
    ("[THINK]", "[/THINK]"),
    ("[reasoning]", "[/reasoning]"),
    ("◁think▷", "◁/think▷"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|><|begin_of_solution|>"),
    ("<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"),
    ("<|channel|>commentary to=x<|message|>", "<|channel|>final <|constrain|>json<|message|>"),
    ("<unused94>thought\n", "<unused95>"),
    ("```thinking\n", "\n```\n"),
    ("``` Reasoning\n", "```"),
    ("<|think|>", "<|/think|>"),
    ("<|think|>", "</|think|>"),
    ("<|think|>", "<|end|><|begin|>assistant<|content|>"),
    ("<|inner_prefix|>", "<|inner_suffix|>"),
    ("<|START_THINKING|>", "<|END_THINKING|><|START_RESPONSE|>"),
    ("<thought_process>", "</thought_process>"),
    ("<longcat_think>", "</longcat_think>"),
    ("<｜begin▁of▁thinking｜>", "<｜end▁of▁thinking｜>"),
    ("<|thinking_start|>", "<|thinking_end|>"),
    ("&lt;think&gt;", "&lt;/think&gt;"),
    ('<details type="reasoning">', "</details>"),
    ("<|channel>thought\n", "<channel|>"),
    ("<|im_start|>think\n", "<|im_start|>answer\n"),
)
ONLY_FIRST = (("analysis", "assistantfinal"), ("Thinking...\n", "\n...done thinking.\n"))
DRAFT = f"A first try would be {GOOD.replace('A', 'B')}, but no, because"


@pytest.mark.parametrize(("begin", "end"), [*THOUGHTS, *ONLY_FIRST])
def test_thoughts_are_no_answer(begin, end):
    closed = f"{begin}{DRAFT}{end}{GOOD}"
    assert read_reply(Idea, closed).form.title == "A"
    assert without_thoughts(closed) == GOOD
    assert read_reply(Idea, f"{closed}<|im_end|>\n").form.title == "A"
    for text in (f" {GOOD}\n", f'{{"Title": "{end}"}}', f"{begin}{DRAFT}"):
        assert without_thoughts(text) == text, "as the model wrote it"
    again = () if (begin, end) in ONLY_FIRST else (f"{begin}x{end}{begin}{DRAFT}",)
    for cut in (False, True):
        for text in (f"{begin}{DRAFT}", *again):
            assert "ends inside its thinking" in unread(Idea, text, cut=cut)


def test_a_draft_in_thoughts_without_marks_is_no_answer_of_a_reply_that_was_cut():
    thought = "Okay, the user wants an idea. " * 20 + DRAFT
    assert "ends inside its thinking" in unread(Idea, thought, cut=True)
    assert read_reply(Idea, f"{thought}</think>{GOOD}", cut=True).form.title == "A"
    assert read_reply(Idea, f"My answer:\n{GOOD}\nI have chosen", cut=True).form.title == "A"


def test_what_is_said_of_a_reply_is_short_and_printable():
    said = unread(SelfReview, '{"similarity_scores": {"' + "\\u0007\\n" * 500 + '": "x"}}')
    assert said.isprintable()
    assert len(said) < 400


@given(st.text())
def test_any_text_is_a_form_or_a_reply_error(text):
    try:
        read_reply(Idea, text)
    except ReplyError as error:
        assert str(error).startswith("Idea: ")  # noqa: PT017


@given(st.text(min_size=1), st.floats(0, 1e9))
def test_what_a_form_writes_it_reads(title, score):
    idea = Idea(title=title, score=score)
    read = read_reply(Idea, idea.as_json())
    assert (read.form, read.rung) == (idea, "strict")
    assert set(json.loads(idea.as_json())) == {"Title", "Score"}


STYLES = {
    "json": PAPER,
    "indented": json.dumps(json.loads(PAPER), indent=2),
    "python": repr(json.loads(PAPER)),
    "names without quotes": re.sub(r'"([\w ]+)":', r"\1:", PAPER),
    "no quotes": re.sub(r'"', "", PAPER),
    "in prose": f"So this is it:\n{PAPER}",
    "in a fence": f"So:\n```json\n{PAPER}",
    "wrapped": f'{{"Paper": {PAPER}}}',
}


@pytest.mark.parametrize("text", list(STYLES.values()), ids=list(STYLES))
def test_cut_at_any_place_a_field_is_whole_or_left_out(text):
    whole = read_reply(Paper, text).form
    assert whole == read_reply(Paper, PAPER).form
    for end in range(len(text)):
        try:
            read = read_reply(Paper, text[:end]).form
        except ReplyError:
            continue
        assert (read.title, read.abstract) == (whole.title, whole.abstract)
        assert read.note in ("", whole.note)


def test_lines_that_are_whole_end_with_a_sentence():
    assert read_reply(Paper, "Title: Tides\nAbstract: We listen.").form.abstract == "We listen."
    for end in ("We liste", "We listen to 3", 'We listen to "ports"', "We listen,", "At 3."):
        assert "cut off" in unread(Paper, f"Title: Tides\nAbstract: {end}")


def test_what_is_known_to_be_cut_is_read_only_where_it_is_closed():
    assert unread(Paper, "Title: Tides\nAbstract: We listen.", cut=True)
    assert "cut off" in unread(Paper, PAPER[:-1] + "\n", cut=True)
    assert read_reply(Paper, f"{PAPER} I chose", cut=True).rung == "found"
    assert read_reply(Paper, f"{PAPER[:-1]},}} I chose", cut=True).rung == "repaired"


@pytest.mark.parametrize(
    ("said", "abstract"),
    [
        ('"He said "yes", then "no": both."', 'He said "yes", then "no": both.'),
        ('"A 5" pipe, and more."', 'A 5" pipe, and more.'),
        ('"First.\n\nThen: second."', "First.\n\nThen: second."),
        ("'It's fine, isn't it?'", "It's fine, isn't it?"),
        ('"A \\"b\\" c",', 'A "b" c'),
        ('One, two: three (and "four").', 'One, two: three (and "four").'),
    ],
)
def test_quotes_in_quotes_and_words_without_them_are_mended(said, abstract):
    read = read_reply(Paper, f'{{"Title": "Tides", "Abstract": {said}}}')
    assert (read.form.abstract, read.form.title) == (abstract, "Tides")
    assert read.rung == "repaired"


@pytest.mark.parametrize("text", ["[" * 65 + "]" * 65, "(" * 65, "x" * 65_536])
def test_long_or_deep_text_is_not_mended(text):
    broken = '{{"Title": "A", "Side": "{}", "Abstract": "B",}}'
    assert read_reply(Paper, broken.format(text[: len(text) // 3]))
    assert "levels" in (said := unread(Paper, broken.format(text))) or "not JSON" in said
