"""Kept: what ended a call, as a journal holds it, and how that becomes words again."""

from __future__ import annotations

from dataclasses import dataclass, field

from agents.errors import Filtered, Overflow, Refused, ReplyError, Verdict
from agents.request import Reply, Usage
from agents.secrets import redact

VERDICTS: dict[str, type[Verdict]] = {
    "refused": Refused,
    "filtered": Filtered,
    "overflow": Overflow,
    "unreadable": ReplyError,
}
"""Why there were no words, by the name that stands in journal and tables."""
_NAMES = {verdict: name for name, verdict in VERDICTS.items()}


@dataclass(frozen=True, slots=True)
class Kept:
    """What ended a call.

    Attributes:
        kind: answer, or the verdict: refused, filtered, overflow, unreadable.
        text: the words, or what the verdict says.
        model: the model's own name for itself.
        usage: tokens.
        cut: the words end because a limit of length was reached.
    """

    kind: str
    text: str
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    cut: bool = False

    @classmethod
    def of_reply(cls, reply: Reply) -> Kept:
        """Words, as they can be kept."""
        return cls("answer", storable(reply.text), storable(reply.model), reply.usage, reply.cut)

    @classmethod
    def of_verdict(cls, verdict: Verdict) -> Kept:
        """A verdict, as it can be kept."""
        # Without its traceback, which would keep slots and prompt alive (rule 21).
        return cls(name_of(verdict), storable(str(verdict.with_traceback(None))))

    def words(self) -> Reply:
        """The words.

        Raises:
            Verdict: there are none.
        """
        if self.kind == "answer":
            return Reply(self.text, self.usage, self.model, self.cut)
        raise VERDICTS[self.kind](self.text)


def name_of(verdict: Verdict) -> str:
    """The name of a verdict; one that a backend has made up itself is a refusal."""
    return _NAMES.get(type(verdict), "refused")


def storable(text: str) -> str:
    """The text as a journal gives it back: without secrets, and as UTF-8 can hold it."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    return redact(text)
