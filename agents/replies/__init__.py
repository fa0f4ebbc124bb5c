"""Forms, and how the text of a reply becomes one.

Read ``form`` for what a reply must look like, then ``parser``, which tries one reading after the
other. ``json_blocks`` finds JSON in a text, ``repair`` reads broken JSON, and ``coercion`` turns
data into the fields of a form.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from agents.replies.form import Form as Form
    from agents.replies.parser import ParsedReply as ParsedReply
    from agents.replies.parser import read_form as read_form
    from agents.replies.parser import read_reply as read_reply

__all__ = ["Form", "ParsedReply", "read_form", "read_reply"]

__getattr__ = lazy_exports(
    __name__,
    {
        "Form": "agents.replies.form",
        "ParsedReply": "agents.replies.parser",
        "read_form": "agents.replies.parser",
        "read_reply": "agents.replies.parser",
    },
)
