"""Words: what the server says when it answers well.

With slots the offline scientist speaks; without, the schema of ``response_format`` is filled;
without either there is one sentence.
"""

import json

import numpy as np

from tests.faultserver.asked import Misunderstood
from tests.faultserver.plan import chance
from virsci_society.agents.offline.asked import Asked
from virsci_society.agents.offline.backend import SchemaFiller, answer_offline
from virsci_society.agents.offline.terms import NEUTRAL, noun_phrases

SENTENCE = "This is the test server: without slots or a schema it has only this sentence to say."
UNREADABLE = "I would rather talk about this than fill in a form, and so I do not."


def words(asked):
    """The good answer to one question.

    Raises:
        Misunderstood: the ``response_format`` cannot be filled.
    """
    if asked.request is not None:
        return answer_offline(asked.request).text
    kind = asked.form.get("type")
    if kind == "json_object":
        return json.dumps({"answer": SENTENCE})
    if kind != "json_schema":
        return SENTENCE
    try:
        # A value of the schema, the same for the same call.
        schema = asked.form["json_schema"]["schema"]
        rng = np.random.default_rng(int(chance("fill", asked.id) * 2**53))
        terms = list(noun_phrases(asked.messages[-1].content)[:6]) or list(NEUTRAL)
        return json.dumps(
            SchemaFiller(schema, terms, Asked({}, rng)).value(schema), ensure_ascii=False
        )
    except (AttributeError, KeyError, TypeError, ValueError, IndexError, RecursionError) as error:
        raise Misunderstood(f"response_format: the schema cannot be filled: {error!r}") from None


def with_secret(text, secret):
    """The answer with a secret behind its longest prose, or else before the JSON."""
    try:
        data = json.loads(text)
    except ValueError:
        data = None
    prose = [one for one in data.values() if isinstance(one, str)] if isinstance(data, dict) else []
    longest = max((one for one in prose if len(one.split()) >= 5), key=len, default=None)
    if longest is None:
        return f"My key is {secret}. {text}"
    told = {name: f"{one} ({secret})" if one == longest else one for name, one in data.items()}
    return json.dumps(told, ensure_ascii=False)
