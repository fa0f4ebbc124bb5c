"""Filling: any form of a stranger's protocol is answered from its schema and the slots."""

from __future__ import annotations

import json
from enum import Enum
from typing import Annotated, Any, Literal

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import Field, create_model, field_validator

from tests.agents.offline.offline_examples import papers, person, rng_of
from virsci_society.agents.offline.backend import fill_form
from virsci_society.agents.replies.form import Form
from virsci_society.agents.replies.parser import read_reply


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Chosen(Form):
    """A stranger's form whose last field is not always asked for."""

    text: str
    more: str = ""

    @classmethod
    def inapplicable_fields(cls, slots):
        return () if slots.get("long") else ("more",)


def test_only_what_is_asked_for_is_filled():
    assert list(json.loads(filled(Chosen))) == ["text"]
    assert list(json.loads(filled(Chosen, long=True))) == ["text", "more"]


def filled(form, seed=1, **slots):
    return fill_form(form, {"me": person(0), **slots}, rng_of(seed))


def test_strings_are_made_of_interests_and_slots():
    class Said(Form):
        text: str

    texts = [
        json.loads(filled(Said, seed, talk="coral reefs", papers=papers(2)))["text"].lower()
        for seed in range(60)
    ]
    assert any("volume rendering" in text for text in texts)
    assert any("coral reefs" in text for text in texts)
    assert all(text.endswith(".") for text in texts)


def test_drawing_again_meets_what_no_schema_can_say():
    class Picky(Form):
        n: int = Field(ge=0, le=3)

        @field_validator("n")
        @classmethod
        def _odd(cls, value: int) -> int:
            if value % 2 == 0:
                raise ValueError("odd only")
            return value

    fits = [json.loads(filled(Picky, seed))["n"] % 2 for seed in range(60)]
    assert sum(fits) >= 58


def test_a_union_by_a_field_is_filled_and_shown_as_any_union():
    a, b = (create_model(name, __base__=Form, kind=(Literal[name], ...)) for name in "ab")
    either = Annotated[a | b, Field(discriminator="kind")]
    form = create_model("Either", __base__=Form, one=(either, ...))
    assert {read_reply(form, filled(form, seed)).form.one.kind for seed in range(20)} == {*"ab"}
    assert "$" not in json.dumps(form.json_schema())


def model_of(types):
    """A form with one field of each type, every second one optional, with aliases."""
    fields = {
        f"f{i}": (kind, Field(alias=f"Field {i}") if i % 2 else ...) for i, kind in enumerate(types)
    }
    return create_model("Generated", __base__=Form, **fields)


bounds = st.tuples(st.integers(-50, 50), st.integers(0, 40)).map(lambda p: (p[0], p[0] + p[1]))
WHOLE = [{"ge": 3, "le": 3}, {"gt": 3, "lt": 5}, {"le": -100}]
PARTS = [{"gt": 0, "lt": 0.01}, {"lt": -3.5}, {"gt": 1e6}]
simple: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(WHOLE).map(lambda bounds: Annotated[int, Field(**bounds)]),
    st.sampled_from(PARTS).map(lambda bounds: Annotated[float, Field(**bounds)]),
    st.sampled_from([str, int, float, bool, Colour, str | None, int | str, Any]),
    st.lists(st.text(min_size=1, max_size=5), min_size=1, max_size=4, unique=True).map(
        lambda names: Literal[tuple(names)]
    ),
    bounds.map(lambda b: Annotated[int, Field(ge=b[0], le=b[1])]),
    bounds.map(lambda b: Annotated[float, Field(ge=b[0], le=b[1] + 1)]),
    st.integers(1, 60).map(lambda n: Annotated[str, Field(max_length=n)]),
    st.integers(1, 300).map(lambda n: Annotated[str, Field(min_length=n)]),
)
kinds = st.recursive(
    simple,
    lambda inner: st.one_of(
        inner.map(lambda t: list[t]),
        inner.map(lambda t: dict[str, t]),
        inner.map(lambda t: t | None if t is not Any else Any),
        st.lists(inner, min_size=1, max_size=3).map(model_of),
        st.tuples(inner, st.integers(0, 3)).map(
            lambda p: Annotated[list[p[0]], Field(min_length=p[1], max_length=p[1] + 2)]
        ),
    ),
    max_leaves=5,
)


@given(st.lists(kinds, min_size=1, max_size=4).map(model_of), st.integers(0, 2**64 - 1))
@settings(suppress_health_check=list(HealthCheck))
def test_generated_forms_are_filled_validly(form, seed):
    text = fill_form(form, {"me": person(0), "talk": "coral reefs"}, rng_of(seed))
    read_reply(form, text)
    assert text == fill_form(form, {"me": person(0), "talk": "coral reefs"}, rng_of(seed))
