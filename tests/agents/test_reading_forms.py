"""Reading: what is read from a reply, on which rung, and what is not (rules 1 and 5, R7)."""

from __future__ import annotations

import json
import re
from typing import Annotated, ClassVar, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

import protocols.forms
import protocols.virsci.forms
from agents.errors import ReplyError
from agents.forms import Form, read_form
from agents.reading import RUNGS, read_reply
from protocols.forms import AnotherTurn, Choice, GuestReply, Remark, Summary
from protocols.virsci.forms import Agreement, Ballot, Draft, Revision, SelfReview, Stay, Topic


class Idea(Form):
    title: str = Field(alias="Title", min_length=1)
    score: float = Field(default=0.0, alias="Score", ge=0)


class Paper(Form):
    title: str = Field(alias="Title")
    abstract: str = Field(alias="Abstract", min_length=1)
    note: str = Field(default="", alias="Side Note")


class Rated(Form):
    score: Annotated[float, Field(ge=1, le=10)] = Field(alias="Score")
    stars: int = Field(default=1, alias="Stars", ge=1, le=5)
    share: float = Field(default=0.0, alias="Share")


class Picked(Form):
    pick: Literal["Action 1", "Action 2"] = Field(alias="Pick")
    sure: bool = Field(default=False, alias="Sure")


class Listed(Form):
    text: str = Field(default="", alias="Text")
    numbers: tuple[int, ...] = Field(default=(), alias="Numbers")
    words: list[str] = Field(default_factory=list, alias="Words")
    table: dict[str, float] = Field(default_factory=dict, alias="Table")
    inner: tuple[Idea, ...] = Field(default=(), alias="Inner")


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
    assert (read.words.title, read.words.score) == ("A", 2.0)
    assert read.rung == rung
    assert read_form(bound, text) == read.words


class ScoreOfTwo(Idea):
    score: float = Field(alias="Score", ge=0, le=2)


def test_the_ladder_goes_on_with_whoever_asked():
    assert RUNGS == ("strict", "found", "repaired", "re-asked", "default")


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
        ("<think>" + GOOD, "Idea: not JSON"),
        (GOOD + "\0", None),
    ],
)
def test_what_cannot_be_read_says_why(text, message):
    if message is None:
        assert read_reply(Idea, text)
    else:
        assert unread(Idea, text).startswith(message)


def test_what_is_said_of_a_reply_is_short_and_printable():
    said = unread(Listed, '{"Table": {"' + "\\u0007\\n" * 500 + '": "x"}}')
    assert said.isprintable()
    assert len(said) < 400


class TestLast:
    """The last block that fills the form is the answer."""

    def test_of_two_fences_the_last(self):
        text = f'```json\n{{"Title": "first"}}\n```\n```json\n{GOOD}\n```'
        assert read_reply(Idea, text).words.title == "A"

    def test_a_later_block_that_can_be_mended(self):
        read = read_reply(Idea, f'{{"Title": "first"}}\nBetter:\n{GOOD[:-1]},}}')
        assert (read.words.title, read.rung) == ("A", "repaired")

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
    assert (read.words, read.rung) == (idea, "strict")
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
        whole = read_reply(Paper, text).words
        assert whole == read_reply(Paper, PAPER).words
        for end in range(len(text)):
            try:
                read = read_reply(Paper, text[:end]).words
            except ReplyError:
                continue
            assert (read.title, read.abstract) == (whole.title, whole.abstract)
            assert read.note in ("", whole.note)

    def test_lines_end_with_a_sentence(self):
        assert (
            read_reply(Paper, "Title: Tides\nAbstract: We listen.").words.abstract == "We listen."
        )
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
        assert (read.words.abstract, read.words.title) == (abstract, "Tides")
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


class TestNames:
    """Names without case, spaces, underscores and hyphens; one level of wrapping."""

    @pytest.mark.parametrize(
        "text",
        [
            '{"TITLE": "T", "abstract": "A", "side_note": "N"}',
            '{"title": "T", " Abstract": "A", "Side-Note": "N"}',
            '{"**Title**": "T", "Abstract:": "A", "sideNote": "N"}',
            '{"Paper": {"Title": "T", "Abstract": "A", "Side Note": "N"}}',
            '{"Thinking": "Hm.", "New Paper": {"title": "T", "Abstract": "A", "note": "N"}}',
            '{"Title": "T", "Rest": {"Abstract": "A", "Side Note": "N"}}',
            '{"Title": {"Title": "T", "Abstract": "A", "Side Note": "N"}}',
            '{"A": {"Title": "T"}, "B": {"Abstract": "A"}, "Side Note": "N"}',
            '[{"Title": "T", "Abstract": "A", "Side Note": "N"}]',
        ],
    )
    def test_are_found(self, text):
        read = read_reply(Paper, text)
        assert read.words == Paper(title="T", abstract="A", note="N")
        assert read.rung == "strict"

    def test_a_field_that_is_called_like_the_form_holds_the_others(self):
        text = '{"Idea": {"Title": "T", "Description": "D", "Steps": ["a", "b"]}, "Score": 3}'

        class Idea(Form):
            idea: str = Field(alias="Idea")
            title: str = Field(alias="Title")
            score: float = Field(alias="Score")

        assert read_reply(Idea, text).words == Idea(
            idea="Description: D; Steps: a; b", title="T", score=3
        )

    def test_a_table_in_another_field_holds_none_of_them(self):
        assert "Title: Field required" in unread(
            Paper, '{"Abstract": {"Title": "Part one", "Text": "x"}, "Side Note": "N"}'
        )

    def test_two_that_differ_are_not_chosen_from(self):
        assert unread(Paper, '{"Old": {"Title": "T", "Abstract": "A"}, "New": {"Title": "U"}}')


class TestNumbers:
    """Exact, of the right scale, and one."""

    @pytest.mark.parametrize(
        "said",
        [
            *("8", "8.0", '"8"', '"8."', '"8/10"', '"8 / 10"', '"8 out of 10"', '"8 of 10"'),
            *('"Score: 8"', '"8 (high)"', '"[8]"', '"**8**"', '"8/10, for it is clear"', "[8]"),
            *(
                '"8 on a scale from 1 to 10"',
                '{"Rating": 8, "Why": "1 gap"}',
                "8/10",
                "8 out of 10",
            ),
            '"8.0/10.0"',
        ],
    )
    def test_one_number_is_read(self, said):
        assert read_reply(Rated, f'{{"Score": {said}}}').words.score == 8

    @pytest.mark.parametrize(
        "said",
        [
            *("0", "11", "-8", "true", "null", '""', "NaN", "Infinity", "1e999", '"nan"', '"inf"'),
            *('"between 6 and 8"', '"6-8"', '"7 or 8"', '"8,5"', '"4/5"', '"80/100"', '"80%"'),
            *('"eight"', '"high"', '"at least 7"', '"<8"', '"8/10/2"', '"not 8"', "[7, 8]", "{}"),
            *('{"Score": 7, "Rating": 8}', "between 6 and 8", '"8th"', '"v8"', "9" * 5000),
        ],
    )
    def test_none_is_made_up(self, said):
        assert unread(Rated, f'{{"Score": {said}}}')

    def test_a_whole_number_has_no_fraction(self):
        assert read_reply(Rated, '{"Score": 1, "Stars": "4/5"}').words.stars == 4
        assert read_reply(Rated, '{"Score": 1, "Stars": 4.0}').words.stars == 4
        for said in ("4.5", '"4.5/5"', '"4/10"', "true"):
            assert unread(Rated, f'{{"Score": 1, "Stars": {said}}}')

    def test_without_a_scale_there_are_two_usual_ones(self):
        for said in ('"70/100"', '"70%"', '"70"'):
            assert read_reply(Rated, f'{{"Score": 1, "Share": {said}}}').words.share == 70
        assert unread(Rated, '{"Score": 1, "Share": "1/2"}')


class TestChoices:
    """One option, named first, or a plain yes or no."""

    @pytest.mark.parametrize(
        "said",
        [
            *('"Action 2"', '"[Action 2]"', '"action2"', '"ACTION_2."', '"Action 2: I decline"'),
            *('"I choose Action 2"', '"**Action 2**"', '["Action 2"]', "[Action 2]", "Action 2"),
        ],
    )
    def test_an_option_is_read(self, said):
        assert read_reply(Picked, f'{{"Pick": {said}}}').words.pick == "Action 2"

    @pytest.mark.parametrize(
        "said",
        ['"Action 1 or Action 2"', '"not Action 2"', '"Action 20"', '"Action"', '""', "null", "{}"],
    )
    def test_no_other_is(self, said):
        assert unread(Picked, f'{{"Pick": {said}}}')

    @pytest.mark.parametrize(
        ("said", "sure"),
        [
            *(("true", True), ('"yes"', True), ('"Yes."', True), ('"TRUE"', True), ("True", True)),
            *((" yes ", True), ('"Yes, since it fits"', True), ('["yes"]', True), ("1", True)),
            *(("false", False), ('"No"', False), ('"No, I am busy"', False), ("False", False)),
        ],
    )
    def test_a_yes_or_no_is_read(self, said, sure):
        text = f'{{"Pick": "Action 1", "Sure": {said}}}'
        assert read_reply(Picked, text).words.sure is sure

    @pytest.mark.parametrize("said", ['"maybe"', '"No doubt"', '"yes and no"', '"true/false"', "2"])
    def test_no_other_word_is(self, said):
        assert unread(Picked, f'{{"Pick": "Action 1", "Sure": {said}}}')


class TestLists:
    """Texts as lists, lists as texts."""

    @pytest.mark.parametrize(
        ("said", "text"),
        [
            ('["One.", "Two", "three"]', "One. Two; three"),
            (
                '{"Step 1": ["a", "b"], "Step 2": {"c": 3, "d": true}}',
                "Step 1: a; b; Step 2: c: 3; d: yes",
            ),
            ("[]", ""),
            ("null", ""),
            ('[null, "", "x"]', "x"),
        ],
    )
    def test_a_list_or_table_is_one_paragraph(self, said, text):
        assert read_reply(Listed, f'{{"Text": {said}}}').words.text == text

    @pytest.mark.parametrize(
        ("said", "numbers"),
        [
            *(("[1, 3]", (1, 3)), ('["[1]", "Paper 3"]', (1, 3)), ('"1, 3"', (1, 3)), ("3", (3,))),
            *(('"papers [1] and [3]"', (1, 3)), ('"none"', ()), ("null", ()), ('"N/A"', ())),
        ],
    )
    def test_numbers_in_a_text_are_a_list(self, said, numbers):
        assert read_reply(Listed, f'{{"Numbers": {said}}}').words.numbers == numbers

    @pytest.mark.parametrize("said", ['"1-3"', '"1 to 3"', '"all"', "[1.5]", "[true]", '{"a": 1}'])
    def test_no_range_is_filled_in(self, said):
        assert unread(Listed, f'{{"Numbers": {said}}}')

    def test_numbered_lines_are_a_list(self):
        text = json.dumps({"Words": "1. one\n2) two,\n   and a half\n- three"})
        assert read_reply(Listed, text).words.words == ["one", "two,\n   and a half", "three"]
        assert read_reply(Listed, '{"Words": "just one"}').words.words == ["just one"]

    def test_lines_are_a_table(self):
        text = json.dumps({"Table": "1. Clarity: 8/10\n- **Depth**: 7 (good)\n"})
        assert read_reply(Listed, text).words.table == {"Clarity": 8, "Depth": 7}
        assert unread(Listed, '{"Table": "Clarity: 8\\nand so on"}').startswith("Listed: Table")
        assert unread(Listed, '{"Table": {"Clarity": true}}')

    def test_a_single_form_is_a_list_of_one(self):
        read = read_reply(Listed, '{"Inner": {"TITLE": ["A"], "score": "3/10"}}').words
        assert read.inner == (Idea(title="A", score=3),)

    def test_what_is_nested_without_end_is_no_text(self):
        assert unread(Listed, '{"Text": ' + "[" * 70 + '"x"' + "]" * 70 + "}")


class TestForms:
    """The forms of the protocols."""

    def test_asking_nobody(self):
        for said in (
            "null",
            '""',
            '"None."',
            "false",
            "{}",
            "[]",
            '{"Scientist": "None"}',
            '"N/A"',
        ):
            assert read_reply(Remark, f'{{"Response": "x", "Ask": {said}}}').words.ask is None
        text = '{"Response": "x", "Ask": {"scientist": "Scientist4", "QUESTION": "How?"}}'
        assert read_reply(Remark, text).words.ask.scientist == "Scientist4"
        assert unread(Remark, '{"Response": "x", "Ask": {"Scientist": "Scientist4"}}')

    def test_an_invitation_is_answered_by_number_or_name(self):
        for said, accepted in (
            ("1", True),
            ('"2"', False),
            ('"Accept."', True),
            ('"decline"', False),
        ):
            read = read_reply(Choice, f'{{"Selected Action": {said}}}').words
            assert read.accepted is accepted
        assert unread(Choice, '{"Selected Action": true}')
        assert unread(Choice, '{"Selected Action": 3}')

    def test_a_vote_is_for_one_idea(self):
        for said in (
            "2",
            '"2"',
            '"[Idea 2]"',
            '"Idea #2"',
            '["Idea 2"]',
            '"Idea 2 rather than Idea 0"',
        ):
            assert read_reply(Ballot, f'{{"Decision Made": {said}}}').words.choice == 2
        for said in (
            "3",
            "true",
            '"Idea 0 or Idea 1"',
            '"Idea 0 is weaker than Idea 2"',
            '"Idea 02x"',
        ):
            assert "Decision Made" in unread(Ballot, f'{{"Decision Made": {said}}}')

    def test_scores_have_their_scales(self):
        assert unread(SelfReview, '{"similarity_scores": {"A": 101}}')
        assert unread(SelfReview, '{"similarity_scores": {"A": "8/10"}}')
        assert unread(Revision, '{"Title": "T", "Abstract": "A", "Scores": {"Clarity": 0}}')
        read = read_reply(SelfReview, '{"Similarity Scores": {"A": "85%", "B": "40/100"}}').words
        assert read.highest == 85

    def test_every_form_that_is_asked_has_a_default_or_says_why_not(self):
        asked = {
            form
            for module in (protocols.forms, protocols.virsci.forms)
            for form in vars(module).values()
            if isinstance(form, type) and issubclass(form, Form) and form.ruled
        }
        for form in asked:
            told = vars(form)["fallback"].__func__
            assert told.__doc__, form.__name__
        draft = Draft(title="T", abstract="A")
        defaults = {form: form.fallback({"draft": draft}) for form in asked}
        assert {form for form, default in defaults.items() if default is None} == {
            Topic,
            protocols.virsci.forms.Idea,
            Draft,
            SelfReview,
        }
        assert not defaults[Choice].accepted
        assert defaults[Ballot].choice == -1
        assert not defaults[Agreement].agree
        assert defaults[Stay].stay
        assert not defaults[AnotherTurn].another
        assert (defaults[Revision].title, defaults[Revision].abstract) == ("T", "A")
        assert [defaults[form].words() for form in (Remark, Summary, GuestReply)] == ["", "", ""]


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
    assert not Idea.ruled
    with pytest.raises(NotImplementedError):
        Idea.rehearse({}, None)


def test_a_form_never_changes():
    with pytest.raises(ValueError, match="frozen"):
        Idea(title="A").title = "B"
