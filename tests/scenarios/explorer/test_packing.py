"""Values and arrays that go into a page as one text, and come back as they were."""

import re

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scenarios.explorer.packed import unpack
from virsci_society.scenarios.explorer.explorer_data import KINDS, pack


@settings(max_examples=25)
@given(
    st.dictionaries(st.text(), st.text() | st.integers(-(2**40), 2**40) | st.none()),
    st.dictionaries(
        st.text(min_size=1),
        st.tuples(st.sampled_from(sorted(KINDS)), st.lists(st.integers(0, 250), max_size=9)),
    ),
)
def test_everything_comes_back(values, given_arrays):
    arrays = {name: np.array(numbers, dtype=kind) for name, (kind, numbers) in given_arrays.items()}
    text = pack(values, arrays)
    assert re.fullmatch("[A-Za-z0-9+/=]*", text)
    back, numbers = unpack(text)
    assert back == values
    assert {name: array.tolist() for name, array in numbers.items()} == {
        name: array.tolist() for name, array in arrays.items()
    }
    assert {name: array.dtype for name, array in numbers.items()} == {
        name: array.dtype for name, array in arrays.items()
    }


def test_missing_dates_stay_missing():
    numbers = unpack(pack({}, {"dates": np.array([1.5, np.nan], dtype=np.float32)}))[1]["dates"]
    assert numbers[0] == 1.5
    assert np.isnan(numbers[1])
