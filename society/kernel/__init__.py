"""Durations, random streams, and calls to a model whose words come later than they are asked for.

Read ``answer`` (the promise of words) and ``process`` (the type of a SimPy process) first, then
``calls`` (one call, from its slots to its form) and ``dispatcher`` (simulated time and real time).
``durations`` and ``streams`` are what every draw of the simulated world uses;
``garbage_collection`` is only about speed.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from society.kernel.answer import Answer as Answer
    from society.kernel.answer import answers_in as answers_in
    from society.kernel.calls import Call as Call
    from society.kernel.calls import PendingCall as PendingCall
    from society.kernel.calls import ask_model as ask_model
    from society.kernel.calls import text_of as text_of
    from society.kernel.dispatcher import Dispatcher as Dispatcher
    from society.kernel.durations import Duration as Duration
    from society.kernel.durations import Times as Times
    from society.kernel.process import Process as Process
    from society.kernel.streams import Streams as Streams

__all__ = [
    "Answer",
    "Call",
    "Dispatcher",
    "Duration",
    "PendingCall",
    "Process",
    "Streams",
    "Times",
    "answers_in",
    "ask_model",
    "text_of",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Answer": "society.kernel.answer",
        "Call": "society.kernel.calls",
        "Dispatcher": "society.kernel.dispatcher",
        "Duration": "society.kernel.durations",
        "PendingCall": "society.kernel.calls",
        "Process": "society.kernel.process",
        "Streams": "society.kernel.streams",
        "Times": "society.kernel.durations",
        "answers_in": "society.kernel.answer",
        "ask_model": "society.kernel.calls",
        "text_of": "society.kernel.calls",
    },
)
