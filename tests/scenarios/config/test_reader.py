"""Sections become parts and parts become sections, with every fault in its place."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal

import pytest
from pydantic import Field, model_validator

from virsci_society.agents.config import Part, Switch
from virsci_society.protocols.policies.coauthorship import Coauthorship, HalfNormal, Share
from virsci_society.protocols.policies.uniform import Uniform
from virsci_society.protocols.team_sizes import ObservedSize, StatedSize
from virsci_society.protocols.virsci.protocol import VirSci
from virsci_society.scenarios.config.document import Document
from virsci_society.scenarios.config.reader import Reader, write_part
from virsci_society.scenarios.config.registry import FromTable, Section
from virsci_society.society.kernel.durations import FixedDuration, Gamma, Lognormal, Times


def read(cls, data, *, trust=False):
    reader = Reader(Document(data), trust=trust)
    part = reader.read_part(cls, data, ())
    reader.diagnostics.raise_faults()
    return part


def complaints(cls, data):
    reader = Reader(Document(data), trust=False)
    reader.read_part(cls, data, ())
    return reader.diagnostics.messages()


@pytest.mark.parametrize(
    ("written", "part"),
    [
        ("10m", FixedDuration(length="10m")),
        (2, FixedDuration(length=2)),
        (0.5, FixedDuration(length=0.5)),
        ({"use": "fixed", "length": "1d"}, FixedDuration(length="1d")),
        ({"use": "gamma", "mean": "1h", "shape": 2}, Gamma(mean="1h", shape=2)),
        ({"use": "lognormal", "median": "1h"}, Lognormal(median="1h")),
        ({"mean": "1h"}, Gamma(mean="1h")),
        (FixedDuration(length=1), FixedDuration(length=1)),
    ],
)
def test_a_duration_is_a_length_or_a_part(written, part):
    assert read(Times, {"utterance": written}).utterance == part


@pytest.mark.parametrize(
    ("written", "part"),
    [
        ({"use": "coauthorship"}, Coauthorship()),
        ({"explore": 2}, Coauthorship(explore=2)),
        ("uniform", Uniform()),
        (
            {"use": "coauthorship", "explore": {"use": "half_normal"}},
            Coauthorship(explore=HalfNormal()),
        ),
        ({"explore": {"use": "share", "mass": 0.5}}, Coauthorship(explore=Share(mass=0.5))),
        ({"explore": "half_normal"}, Coauthorship(explore=HalfNormal())),
    ],
)
def test_parts_are_read_at_any_depth(written, part):
    assert read(VirSci, {"selection": written}).selection == part


@pytest.mark.parametrize(
    ("written", "size"),
    [
        (3, 3),
        ("observed", ObservedSize()),
        ({"use": "observed", "largest": 5}, ObservedSize(largest=5)),
        ({"use": "stated", "weights": {2: 1, 3: 2}}, StatedSize(weights={2: 1, 3: 2})),
    ],
)
def test_a_team_size_is_a_number_or_a_part(written, size):
    assert read(VirSci, {"team_size": written}).team_size == size


@pytest.mark.parametrize(
    ("cls", "data", "lines"),
    [
        (Times, {"uterance": 1}, ["uterance: unknown key; did you mean 'utterance'?"]),
        (Times, {"utterance": "10x"}, ["utterance: '10x' is not a duration; write 10m, 2h, 3d"]),
        (Times, {"utterance": []}, ["utterance: got a list, expected a section of keys"]),
        (Times, {"utterance": {"use": "gamma"}}, ["utterance.mean: required, but not given"]),
        (Times, {"utterance": {"use": "gama"}}, ["utterance: got 'gama', expected 'fixed' or"]),
        (Times, {3: 4}, ["3: unknown key"]),
        (VirSci, {"team_size": "many"}, ["team_size: got 'many', expected 'observed' or"]),
        (VirSci, {"team_size": {"weights": {2: 1}}}, ["team_size: which one? expected use: o"]),
        (VirSci, {"topic": {"start": "a", "given": "b"}}, ["topic: give either start or given"]),
        (VirSci, {"selection": {"explore": {"mass": 1}}}, ["selection.explore: which one?"]),
        (StatedSize, {"weights": {2: "x", 3: 1}}, ["weights.2: got 'x', expected a number"]),
        (StatedSize, {"weights": {}}, ["weights: sizes start at 1 and end at 10,000, weights"]),
    ],
)
def test_each_fault_says_where_what_and_what_instead(cls, data, lines):
    found = complaints(cls, data)
    assert len(found) == len(lines)
    for line, start in zip(found, lines, strict=True):
        assert line.startswith(start)


class Inner(Part):
    """An inlined part."""

    size: int = 1
    """How large."""


class Outer(Part):
    """A section with everything that fields can be."""

    inlined: ClassVar[str] = "inner"

    word: Literal["a", "b"] = "a"
    switch: Switch = "on"
    where: Path | None = None
    inner: Annotated[Part, FromTable({"inner": f"{__name__}:Inner"})] = Field(default_factory=Inner)

    @model_validator(mode="after")
    def _word_fits(self) -> Outer:
        if self.word == "b" and self.switch == "off":
            raise ValueError("word: b needs the switch")
        return self


class Holder(Part):
    """A section that names its class by path."""

    times: Annotated[Part | None, Section("virsci_society.society.kernel.durations:Times")] = None


def test_keys_of_an_inlined_part_stand_beside_those_of_the_section():
    made = read(Outer, {"use": "inner", "word": "b", "size": 3})
    assert (made.word, made.inner) == ("b", Inner(size=3))
    assert read(Outer, {"size": 4}).inner == Inner(size=4)
    assert write_part(made) == {
        "use": "inner",
        "size": 3,
        "word": "b",
        "switch": "on",
        "where": None,
    }
    assert read(Outer, write_part(made)) == made


def test_a_check_of_the_whole_section_is_placed_at_the_key_it_names():
    assert complaints(Outer, {"word": "b", "switch": "off"}) == ["word: word: b needs the switch"]


def test_a_section_by_path_is_imported_when_it_is_there():
    assert read(Holder, {}).times is None
    assert read(Holder, {"times": {"homework": None}}).times == Times(homework=None)
    assert complaints(Holder, {"times": {"x": 1}})[0].startswith("times.x: unknown key")
