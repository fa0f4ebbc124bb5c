"""The run written by hand, for the tests of this folder."""

from tests.hand_run import (  # noqa: F401 - fixtures
    _remembered_metrics,
    add_call,
    empty_run,
    hand_run,
    make_run,
    measured,
    put,
    rows,
    run,
)
