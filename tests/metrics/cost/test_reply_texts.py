"""What was noticed about replies, counted by form on rows written by hand."""

import pandas as pd

from virsci_society.metrics.cost import reply_texts

WORDS = "we compare folding of long proteins under three kinds of stress in the same laboratory"


class Rows:
    """A run of which only the table of calls is read."""

    def __init__(self, rows):
        self.rows = rows

    def table(self, name):
        assert name == "calls"
        names = ("form", "act", "scientist", "reply", "rung", "noticed", "defaulted", "live")
        found = pd.DataFrame(self.rows, columns=[*names])
        return found.assign(verdict=None).astype({"defaulted": "boolean", "live": "boolean"})


def test_copies_defaults_and_equal_replies_are_counted_by_form():
    rows = [
        ("Remark", "utter", "A", WORDS, "strict", "", False, True),
        ("Remark", "utter", "B", WORDS.upper(), "strict", "", False, True),
        ("Remark", "utter", "B", WORDS, "strict", "loop cut", False, True),
        ("Remark", "re-ask", "A", WORDS, "strict", "echoed", False, True),
        ("Draft", "utter", "A", "the title", "default", "echoed", True, True),
        ("Draft", "utter", "B", "yes", "strict", "short", False, True),
        ("Draft", "utter", "C", "yes", "strict", "", False, True),
        ("Ballot", "utter", "C", WORDS, "strict", "echoed", False, False),
    ]
    table = reply_texts(Rows(rows)).set_index("form")
    # Those of rules are not checked, and a re-ask is no question of its own.
    assert table.index.tolist() == ["Draft", "Remark"]
    remark, draft = table.loc["Remark"].to_dict(), table.loc["Draft"].to_dict()
    assert remark == {"asked": 3, "spoilt": 0, "echoed": 0, "default": 0} | {
        "equal": 2,
        "short": 0,
        "loop": 1,
        "cut": 1,
    }
    # Few words say nothing, also where two scientists say them.
    assert draft == {"asked": 3, "spoilt": 1, "echoed": 1, "default": 1} | {
        "equal": 0,
        "short": 1,
        "loop": 0,
        "cut": 0,
    }
