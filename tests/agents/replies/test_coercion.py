"""Values: names, numbers, choices and lists as models write them, and as fields want them (R7)."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import pytest
from pydantic import Field

from virsci_society.agents.errors import ReplyError
from virsci_society.agents.replies.form import Form
from virsci_society.agents.replies.parser import read_reply


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


def unread(form, text):
    with pytest.raises(ReplyError) as error:
        read_reply(form, text)
    return str(error.value)


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
        assert read.form == Paper(title="T", abstract="A", note="N")
        assert read.rung == "strict"

    def test_a_field_that_is_called_like_the_form_holds_the_others(self):
        text = '{"Idea": {"Title": "T", "Description": "D", "Steps": ["a", "b"]}, "Score": 3}'

        class Idea(Form):
            idea: str = Field(alias="Idea")
            title: str = Field(alias="Title")
            score: float = Field(alias="Score")

        assert read_reply(Idea, text).form == Idea(
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
        assert read_reply(Rated, f'{{"Score": {said}}}').form.score == 8

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
        assert read_reply(Rated, '{"Score": 1, "Stars": "4/5"}').form.stars == 4
        assert read_reply(Rated, '{"Score": 1, "Stars": 4.0}').form.stars == 4
        for said in ("4.5", '"4.5/5"', '"4/10"', "true"):
            assert unread(Rated, f'{{"Score": 1, "Stars": {said}}}')

    def test_without_a_scale_there_are_two_usual_ones(self):
        for said in ('"70/100"', '"70%"', '"70"'):
            assert read_reply(Rated, f'{{"Score": 1, "Share": {said}}}').form.share == 70
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
        assert read_reply(Picked, f'{{"Pick": {said}}}').form.pick == "Action 2"

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
        assert read_reply(Picked, text).form.sure is sure

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
        assert read_reply(Listed, f'{{"Text": {said}}}').form.text == text

    @pytest.mark.parametrize(
        ("said", "numbers"),
        [
            *(("[1, 3]", (1, 3)), ('["[1]", "Paper 3"]', (1, 3)), ('"1, 3"', (1, 3)), ("3", (3,))),
            *(('"papers [1] and [3]"', (1, 3)), ('"none"', ()), ("null", ()), ('"N/A"', ())),
        ],
    )
    def test_numbers_in_a_text_are_a_list(self, said, numbers):
        assert read_reply(Listed, f'{{"Numbers": {said}}}').form.numbers == numbers

    @pytest.mark.parametrize("said", ['"1-3"', '"1 to 3"', '"all"', "[1.5]", "[true]", '{"a": 1}'])
    def test_no_range_is_filled_in(self, said):
        assert unread(Listed, f'{{"Numbers": {said}}}')

    def test_numbered_lines_are_a_list(self):
        text = json.dumps({"Words": "1. one\n2) two,\n   and a half\n- three"})
        assert read_reply(Listed, text).form.words == ["one", "two,\n   and a half", "three"]
        assert read_reply(Listed, '{"Words": "just one"}').form.words == ["just one"]

    def test_lines_are_a_table(self):
        text = json.dumps({"Table": "1. Clarity: 8/10\n- **Depth**: 7 (good)\n"})
        assert read_reply(Listed, text).form.table == {"Clarity": 8, "Depth": 7}
        assert unread(Listed, '{"Table": "Clarity: 8\\nand so on"}').startswith("Listed: Table")
        assert unread(Listed, '{"Table": {"Clarity": true}}')

    def test_a_single_form_is_a_list_of_one(self):
        read = read_reply(Listed, '{"Inner": {"TITLE": ["A"], "score": "3/10"}}').form
        assert read.inner == (Idea(title="A", score=3),)

    def test_what_is_nested_without_end_is_no_text(self):
        assert unread(Listed, '{"Text": ' + "[" * 70 + '"x"' + "]" * 70 + "}")
