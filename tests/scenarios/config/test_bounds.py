"""Every number of a scenario has an upper bound, and no number is too long to be refused."""

from typing import Annotated, get_args

import pytest
from pydantic import TypeAdapter, ValidationError

from virsci_society.agents.errors import InputError
from virsci_society.scenarios.config import registry
from virsci_society.scenarios.config.reader import import_class, part_field
from virsci_society.scenarios.config.schema import Scenario, load_scenario

LONG = "9" * 400
TOO_MANY = 2**62
"""More than any count of people, turns, tokens or seconds."""


def parts(cls, seen):
    """A class of settings, and all that its sections can be."""
    if cls in seen:
        return
    seen.add(cls)
    yield cls
    for name in cls.model_fields:
        _, bases, table, _ = part_field(cls, name)
        for below in (*bases, *map(import_class, (table or {}).values())):
            yield from parts(below, seen)


def every_part():
    seen = set()
    found = list(parts(Scenario, seen))
    for path in registry.EXPLORE.values():
        found += parts(import_class(path), seen)
    return found


def numbers_in(annotation):
    """Does a field take a number?"""
    return annotation in (int, float) or any(map(numbers_in, get_args(annotation)))


NUMBERS = {
    f"{part.__module__}:{part.__name__}.{name}": field
    for part in every_part()
    for name, field in part.model_fields.items()
    if numbers_in(field.annotation)
}


def shaped(annotation, number):
    """The number as a value for a field: alone, in a list, as a key and as a value of a mapping."""
    return [number, [number], {number: 1.0}, {1: number}, {"topic": number}]


def test_the_numbers_of_all_parts_are_found():
    assert len(NUMBERS) > 120
    assert sum(name.endswith(":VirSci.turns") for name in NUMBERS) == 1


@pytest.mark.parametrize("number", [TOO_MANY, 1e300])
def test_no_number_is_without_an_upper_bound(number):
    unbounded = []
    for name, field in NUMBERS.items():
        if name.rsplit(".", 1)[-1] == "seed" and number < 2**63:
            continue
        taking = TypeAdapter(Annotated[field.annotation, *field.metadata, field])
        for value in shaped(field.annotation, number):
            try:
                taking.validate_python(value)
            except ValidationError:
                continue
            unbounded.append((name, value))
    assert [one for one in unbounded if one[0] not in CHECKED_BY_THE_PART] == []


CHECKED_BY_THE_PART = {"virsci_society.protocols.team_sizes:StatedSize.weights"}


def test_sizes_with_weights_have_bounds_too():
    for weights in ({TOO_MANY: 1.0}, {2: 1e300}):
        with pytest.raises(ValidationError, match="sizes start at 1 and end at 10,000"):
            import_class(registry.SIZES["stated"]).model_validate({"weights": weights})


@pytest.mark.parametrize(
    "text",
    [
        f"until: {LONG}",
        f"protocol.turns: {2**64}",
        f"interventions: [{{at: {LONG}, set: {{protocol.turns: 3}}}}]",
        "seed: 0x" + "f" * 5000,
        "seed: " + "9" * 5000,
        "until: 1e400",
    ],
)
def test_a_long_number_is_a_message(text):
    key, value = text.split(": ", 1)
    with pytest.raises(InputError, match="is not a usable number"):
        load_scenario("quickstart", settings=[f"{key}={value}"])
