"""Reading: what is read from a reply, on which rung, and what is not (rules 1 and 5, R7)."""

from __future__ import annotations

import json
import re
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from virsci_society.agents.errors import ProtocolError, ReplyError
from virsci_society.agents.offline.backend import answer_by_rule, rule_of
from virsci_society.agents.replies.form import Form
from virsci_society.agents.replies.parser import RUNGS, read_reply
from virsci_society.protocols.forms import Choice, Remark
from virsci_society.protocols.virsci.forms import Revision, SelfReview


class Idea(Form):
    title: str = Field(alias="Title", min_length=1)
    score: float = Field(default=0.0, alias="Score", ge=0)


class Paper(Form):
    title: str = Field(alias="Title")
    abstract: str = Field(alias="Abstract", min_length=1)
    note: str = Field(default="", alias="Side Note")


GOOD = '{"Title": "A", "Score": 2}'
PAPER = '{"Title": "Tides", "Abstract": "We listen, and count.", "Side Note": "Short."}'


def unread(form, text, **known):
    with pytest.raises(ReplyError) as error:
        read_reply(form, text, **known)
    return str(error.value)


@pytest.mark.parametrize(
    ("rung", "text"),
    [
        ("strict", GOOD),
        ("strict", f"  {GOOD}\r\n"),
        ("strict", f"\ufeff{GOOD}"),
        ("strict", '{"Title": "A", "Score": "2", "More": [1]}'),
        ("strict", '{"title": "A", "score": 2}'),
        ("strict", f"[{GOOD}]"),
        ("found", f"```json\n{GOOD}\n```"),
        ("found", f"```\n{GOOD}\n```"),
        ("found", f"```json{GOOD}```"),
        ("found", f"```json\n{GOOD}\n"),
        ("found", f"Let me think.\r\n```json\r\n{GOOD}\r\n```\r\nThat is all."),
        ("found", f"I would say {GOOD}, on the whole."),
        ("found", f"\0\0{GOOD}\0"),
        ("found", f"Let x be {{1, 2}} and y {{}}: {GOOD}, as {{x}} says."),
        ("found", f'```json\n{{"Title": ""}}\n```\nNo:\n```json\n{GOOD}\n```'),
        ("found", f"```json\n{GOOD}\n```\n```json\nnot json at all\n```"),
        ("found", f'```json\n{GOOD}\n```\nUnlike {{"Title": "B"}}, it is new.'),
        ("found", f'<think>{{"Title": "B"}}</think>\n{GOOD}'),
        ("found", f"<thinking>So {{\n\n</thinking>\n{GOOD}"),
        ("repaired", '{"Title": "A", "Score": 2,}'),
        ("repaired", '{"Title": "A" "Score": 2}'),
        ("repaired", "{'Title': 'A', 'Score': 2}"),
        ("repaired", "{“Title”: “A”, “Score”: 2}"),
        ("repaired", '{Title: "A", Score: 2}'),
        ("repaired", "{Title: A, Score: 2}"),
        ("repaired", '{"Title": "A", // which\n "Score": 2 /* or 3 */}'),
        ("repaired", 'Here:\n```\n{"Title": "A",\n "Score": 2,\n}\n```\nDone {for now}.'),
        ("repaired", "Title: A\nScore: 2/2."),
    ],
)
def test_a_form_is_read_on_its_rung(rung, text):
    bound = Idea if "2/2" not in text else ScoreOfTwo
    read = read_reply(bound, text)
    assert (read.form.title, read.form.score) == ("A", 2.0)
    assert read.rung == rung
    assert read_reply(bound, text).form == read.form


class ScoreOfTwo(Idea):
    score: float = Field(alias="Score", ge=0, le=2)


def test_the_ladder_goes_on_with_whoever_asked():
    assert RUNGS == ("strict", "found", "repaired", "re-asked", "default")


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
)
DRAFT = f"A first try would be {GOOD.replace('A', 'B')}, but no, because"


@pytest.mark.parametrize(("begin", "end"), THOUGHTS)
def test_thoughts_are_no_answer(begin, end):
    read = read_reply(Idea, f"{begin}{DRAFT}{end}{GOOD}")
    assert read.form.title == "A"
    for cut in (False, True):
        for text in (f"{begin}{DRAFT}", f"{begin}x{end}{begin}{DRAFT}"):
            with pytest.raises(ReplyError, match="ends inside its thinking"):
                read_reply(Idea, text, cut=cut)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Idea: not JSON"),
        ("I refuse.", "Idea: not JSON"),
        ("{", "Idea: cut off"),
        ('{"Title": }', "Idea: not JSON"),
        ("{}", "Idea: Title: Field required"),
        ('{"Title": ""}', "Idea: Title: String should have at least 1 character"),
        ('{"Title": "A", "Score": -1}', "Idea: Score: Input should be greater than"),
        ('{"Title": "A", "Title": "B"}', "Idea: 'Title' stands there twice"),
        ('{"Title": "A", "TITLE": "B"}', "Idea: Title stands there twice"),
        ("[1, 2]", "Idea: : Input should be a valid dictionary"),
        ("3", "Idea: : Input should be"),
        ("null", "Idea: : Input should be"),
        ("<think>" + GOOD, "Idea: the reply ends inside its thinking"),
        (GOOD + "\0", None),
    ],
)
def test_what_cannot_be_read_says_why(text, message):
    if message is None:
        assert read_reply(Idea, text)
    else:
        assert unread(Idea, text).startswith(message)


def test_what_is_said_of_a_reply_is_short_and_printable():
    said = unread(SelfReview, '{"similarity_scores": {"' + "\\u0007\\n" * 500 + '": "x"}}')
    assert said.isprintable()
    assert len(said) < 400


class TestLast:
    """The last block that fills the form is the answer."""

    def test_of_two_fences_the_last(self):
        text = f'```json\n{{"Title": "first"}}\n```\n```json\n{GOOD}\n```'
        assert read_reply(Idea, text).form.title == "A"

    def test_a_later_block_that_can_be_mended(self):
        read = read_reply(Idea, f'{{"Title": "first"}}\nBetter:\n{GOOD[:-1]},}}')
        assert (read.form.title, read.rung) == ("A", "repaired")

    def test_a_later_block_that_was_cut_off_is_asked_for_again(self):
        assert "cut off" in unread(Idea, f'{GOOD}\nBetter:\n{{"Title": "The second and')

    def test_a_later_block_that_is_something_else(self):
        assert read_reply(Idea, f'{GOOD}\nIt differs from {{"name": "The sec').rung == "found"


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


class TestCut:
    """A text that was cut off is not taken for whole."""

    STYLES: ClassVar = {
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
    def test_at_any_place_a_field_is_whole_or_left_out(self, text):
        whole = read_reply(Paper, text).form
        assert whole == read_reply(Paper, PAPER).form
        for end in range(len(text)):
            try:
                read = read_reply(Paper, text[:end]).form
            except ReplyError:
                continue
            assert (read.title, read.abstract) == (whole.title, whole.abstract)
            assert read.note in ("", whole.note)

    def test_lines_end_with_a_sentence(self):
        assert read_reply(Paper, "Title: Tides\nAbstract: We listen.").form.abstract == "We listen."
        for end in ("We liste", "We listen to 3", 'We listen to "ports"', "We listen,", "At 3."):
            assert "cut off" in unread(Paper, f"Title: Tides\nAbstract: {end}")

    def test_what_is_known_to_be_cut_is_read_only_where_it_is_closed(self):
        assert unread(Paper, "Title: Tides\nAbstract: We listen.", cut=True)
        assert "cut off" in unread(Paper, PAPER[:-1] + "\n", cut=True)
        assert read_reply(Paper, f"{PAPER} I chose", cut=True).rung == "found"
        assert read_reply(Paper, f"{PAPER[:-1]},}} I chose", cut=True).rung == "repaired"

    @pytest.mark.parametrize(
        "text",
        [
            '{"similarity_scores": {"A": 85, "B": 9',
            '{"similarity_scores": {"A": 85, "B": 9,',
            '{"similarity_scores": {"A": 85},\n "high_overlap_pairs": [{"pair": "A", "score": 85}',
            '{"similarity_scores": {"A": 85},\n "high_overlap_pairs": [{"pair": "A", "score": 85},',
            '{"similarity_scores": {"A": 85},\n "high_overlap_pairs"',
            '{"similarity_scores": {"A": 85},\n "high_overlap_pairs":',
        ],
    )
    def test_a_list_or_table_that_was_not_closed_is_not_read(self, text):
        assert unread(SelfReview, text)


class TestMending:
    """Nothing is lost or made up."""

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
    def test_quotes_in_quotes_and_words_without_them(self, said, abstract):
        read = read_reply(Paper, f'{{"Title": "Tides", "Abstract": {said}}}')
        assert (read.form.abstract, read.form.title) == (abstract, "Tides")
        assert read.rung == "repaired"

    @pytest.mark.parametrize(
        "text",
        [
            '{"Title": "Tides", "Abstract": }',
            '{"Title": "Tides", "Abstract": , "Side Note": "Short."}',
            '{"Title": "Tides", "Abstract": undefined}',
            '{"Title": "Tides", "Abstract": "We "listen", "count": so."}',
            '{"Title": "A", "Title": "B", "Abstract": "We listen",}',
            "Title: A\nTitle: B\nAbstract: We listen.",
            '{"Title": "Tides", "Abstract": \'We listen"}',
        ],
    )
    def test_what_could_be_read_in_more_than_one_way_is_not_read(self, text):
        assert unread(Paper, text)

    def test_a_template_that_is_said_back_is_no_choice(self):
        for action in (
            '"Action 1" or "Action 2"',
            '"Action 1" / "Action 2"',
            "Action 1 or Action 2",
        ):
            assert unread(Choice, f'{{"Selected Action": {action}, "Reasoning": "why"}}')

    @pytest.mark.parametrize("text", ["[" * 65 + "]" * 65, "(" * 65, "x" * 65_536])
    def test_long_or_deep_text_is_not_mended(self, text):
        broken = '{{"Title": "A", "Side": "{}", "Abstract": "B",}}'
        assert read_reply(Paper, broken.format(text[: len(text) // 3]))
        assert "levels" in (said := unread(Paper, broken.format(text))) or "not JSON" in said


class Leaf(Form):
    """What is told about a leaf."""

    title: str = Field(alias="Title", description="what it is called")


class Branch(Form):
    """What is told about a branch."""

    leaf: Leaf | None = Field(default=None, alias="Leaf")
    leaves: tuple[Leaf, ...] = ()
    default: dict[str, str] = Field(default={"title": "kept"})


class Tree(Form):
    """What is told about a tree."""

    name: str
    leaf: Leaf
    children: list[Tree] = Field(default_factory=list)


class TestSchema:
    """What the model is told of the form."""

    def test_forms_in_forms_stand_where_they_are_used(self):
        leaf = {
            "type": "object",
            "properties": {"Title": {"type": "string", "description": "what it is called"}},
            "required": ["Title"],
        }
        assert Branch.json_schema() == {
            "type": "object",
            "properties": {
                "Leaf": {"anyOf": [leaf, {"type": "null"}], "default": None},
                "leaves": {"type": "array", "items": leaf, "default": []},
                "default": {
                    "type": "object",
                    "additionalProperties": {"type": "string"},
                    "default": {"title": "kept"},
                },
            },
        }

    def test_a_form_that_holds_itself_keeps_its_definition(self):
        schema = Tree.json_schema()
        assert schema["type"] == "object"
        assert schema["properties"]["children"]["items"] == {"$ref": "#/$defs/Tree"}
        assert schema["$defs"]["Tree"]["required"] == ["name", "leaf"]
        assert "told" not in json.dumps(schema)

    @pytest.mark.parametrize("form", [Idea, Branch, Tree, Remark, SelfReview, Revision])
    def test_is_json_schema(self, form):
        import jsonschema

        schema = form.json_schema()
        jsonschema.Draft202012Validator.check_schema(schema)
        if form is not Tree:
            assert "$" not in json.dumps(schema)
        assert json.loads(form.schema_text()) == schema
        form.json_schema()["properties"].clear()
        assert form.json_schema() == schema

    def test_text_is_canonical_and_per_form(self):
        class Other(Form):
            text: str

        assert json.loads(Idea.schema_text())["required"] == ["Title"]
        assert Idea.schema_text() is Idea.schema_text()
        assert Other.schema_text() != Idea.schema_text()


def test_a_plain_form_has_neither_rule_nor_default():
    assert Idea.fallback({}) is None
    assert rule_of(Idea) is None
    with pytest.raises(ProtocolError, match="no rule answers Idea"):
        answer_by_rule(Idea, {}, None)


def test_a_method_that_nothing_would_call_is_refused():
    with pytest.raises(TypeError, match="OFFLINE_RULES"):

        class Old(Form):
            @classmethod
            def answer_by_rule(cls, slots, rng):
                return cls()


def test_a_form_never_changes():
    with pytest.raises(ValueError, match="frozen"):
        Idea(title="A").title = "B"
