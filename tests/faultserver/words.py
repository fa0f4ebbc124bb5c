"""Words: what the server says when it answers well, and how a plan bends that.

With slots the offline scientist speaks; without, the schema of ``response_format`` is filled;
without either there is one sentence.
"""

import json
from itertools import cycle, islice

import numpy as np
from pydantic import ValidationError

from tests.faultserver.asked import Misunderstood
from tests.faultserver.plan import chance
from virsci_society.agents.offline.backend import answer_offline
from virsci_society.agents.offline.schema_filler import SchemaFiller
from virsci_society.agents.offline.terms import NEUTRAL, noun_phrases

SENTENCE = "This is the test server: without slots or a schema it has only this sentence to say."
UNREADABLE = "I would rather talk about this than fill in a form, and so I do not."


def words(asked, plan):
    """The good answer to one question, as the plan wants it."""
    text = _honest(asked)
    if plan.accept < 1.0 and not plan.happens(plan.accept, "accept", asked.id):
        text = changed(text, _declined)
    if plan.wordy > 1.0:
        text = _if_valid(asked, changed(text, lambda data: _longer(data, plan.wordy)), text)
    return text


def with_secret(text, secret):
    """The answer with a secret in its longest prose, or else before the JSON."""

    def told(data):
        prose = []
        _mapped(data, lambda part: prose.append(part) or part)
        longest = max(filter(_is_prose, prose), key=len, default="")
        return _mapped(data, lambda part: f"{part} ({secret})" if part == longest else part)

    made = changed(text, told)
    return made if secret in made else f"My key is {secret}. {text}"


def changed(text, change):
    """A JSON text with its value changed; other texts are changed as one string."""
    try:
        data = json.loads(text)
    except ValueError:
        return str(change(text))
    return json.dumps(change(data), ensure_ascii=False)


def _honest(asked):
    if asked.request is not None:
        return answer_offline(asked.request).text
    kind = asked.form.get("type")
    if kind == "json_object":
        return json.dumps({"answer": SENTENCE})
    return _filled(asked) if kind == "json_schema" else SENTENCE


def _filled(asked):
    """A value of the schema, the same for the same call."""
    try:
        schema = asked.form["json_schema"]["schema"]
        rng = np.random.default_rng(int(chance("fill", asked.id) * 2**53))
        terms = list(noun_phrases(asked.messages[-1].content)[:6]) or list(NEUTRAL)
        return json.dumps(SchemaFiller(schema, terms, rng).value(schema), ensure_ascii=False)
    except (AttributeError, KeyError, TypeError, ValueError, IndexError, RecursionError) as error:
        raise Misunderstood(f"response_format: the schema cannot be filled: {error!r}") from None


def _declined(data):
    """An accepted invitation (Fig. 17) as a declined one; anything else as it is."""
    if isinstance(data, dict) and data.get("Selected Action") == "Action 1":
        return data | {"Selected Action": "Action 2", "Reasoning": "My time does not allow it."}
    return data


def _longer(data, times):
    def repeated(text):
        said = text.split()
        return " ".join(islice(cycle(said), round(times * len(said)))) if _is_prose(text) else text

    return _mapped(data, repeated)


def _if_valid(asked, text, otherwise):
    """The text if it fills the form that was asked for."""
    if asked.request is None:
        return text
    try:
        asked.request.form.model_validate_json(text)
    except ValidationError:
        return otherwise
    return text


def _is_prose(text):
    """Texts of five words and more are; shorter ones may be names or choices."""
    return len(text.split()) >= 5


def _mapped(data, change):
    """The same structure with every text that is no name of a field changed."""
    if isinstance(data, str):
        return change(data)
    if isinstance(data, dict):
        return {name: _mapped(part, change) for name, part in data.items()}
    return [_mapped(part, change) for part in data] if isinstance(data, list) else data
