"""A backend of rules whose replies are as long and as frequent as a model's, for planning.

It plays a live run for planning. Calls that a journal holds are answered from it. All others are
answered by the offline scientist: then its texts are made as long as the model's would be, its
yeses and noes as frequent, and some of its replies unreadable. The content of such a reply is of no
use; the number and the length of replies are. It costs nothing, and its words are never stored.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from virsci_society.agents.errors import SocietyError
from virsci_society.agents.gateway.backend import Backend
from virsci_society.agents.journal.records import CallOutcome
from virsci_society.agents.offline.backend import answer_offline
from virsci_society.agents.prompts.request import Reply, Request, Usage, total_characters
from virsci_society.agents.replies.form import Form

WORDINESS = 2.0
"""Length of a model's texts as a multiple of the offline scientist's, where nothing is known."""
TEXT = 5
"""Least words of a text; a shorter string is a name, a choice or a label."""
DRAWS = 64
"""Times the offline scientist is asked anew for another decision."""
FILLER = "and then there is more to be said before the answer, "

Place = tuple[str | int, ...]
"""Keys and numbers that lead to a value in the data of a reply."""


@dataclass(frozen=True, slots=True)
class Leaning:
    """How often a model says yes, where the offline scientist says yes or no.

    Attributes:
        kept: share of the offline scientist's yeses that are the model's yeses.
        turned: share of its noes that are the model's yeses.
    """

    kept: float = 1.0
    turned: float = 0.0


@dataclass(frozen=True)
class MimicSettings:
    """How a model answers, relative to the offline scientist; the default is that scientist.

    Attributes:
        wordiness: length of a text, as a multiple of the offline scientist's.
        wordiness_of: the same for single forms, by name.
        around: characters beside the form, as a share of the form's.
        around_of: the same for single forms.
        leanings: by ``Form.trait``, see ``traits``.
        re_asks: share of the replies that cannot be read.
        prompt_tokens: tokens of a prompt per character.
        overhead: tokens of a prompt beside those, per call.
        reply_tokens: tokens of a reply per character.
        reply_tokens_of: the same for single forms.
    """

    wordiness: float = 1.0
    wordiness_of: Mapping[str, float] = field(default_factory=dict)
    around: float = 0.0
    around_of: Mapping[str, float] = field(default_factory=dict)
    leanings: Mapping[str, Leaning] = field(default_factory=dict)
    re_asks: float = 0.0
    prompt_tokens: float = 0.25
    overhead: float = 0.0
    reply_tokens: float = 0.25
    reply_tokens_of: Mapping[str, float] = field(default_factory=dict)


class ModelMimic(Backend):
    """The offline scientist in place of another backend, inline and free.

    Attributes:
        imitated: the backend that is imitated; its limits and its hashes hold.
        settings: how it answers.
        lookup: returns the outcome that a journal holds for a request, or None.
        salt: of the draws made here: which yeses stay, which replies cannot be read.
        on_known: called with every known call and the offline reply to the same request.
    """

    imitated: Backend
    settings: MimicSettings = MimicSettings()
    lookup: Callable[[Request], CallOutcome | None] | None = None
    salt: int = 0
    on_known: Callable[[Request, CallOutcome, Reply], None] | None = None

    @property
    def inline(self) -> bool:
        """True: it never suspends."""
        return True

    @property
    def model_settings(self) -> str:
        """Those of the imitated backend, so that its calls are found in a journal."""
        return self.imitated.model_settings

    @property
    def max_prompt_characters(self) -> int | None:
        """That of the imitated backend."""
        return self.imitated.max_prompt_characters

    def backend_for(self, call: str, who: str = "") -> Backend:
        """Itself in place of the model; the rules of a hybrid answer for themselves."""
        backend = self.imitated.backend_for(call, who)
        return backend if backend is not self.imitated and backend.rule_based else self

    async def complete(self, request: Request) -> Reply:
        """The known reply, or the offline scientist's in the manner of the model."""
        outcome = None if self.lookup is None else self.lookup(request)
        if outcome is None:
            return self._mimic(request)
        if self.on_known is not None:
            self.on_known(request, outcome, answer_offline(request))
        return outcome.reply()

    def _mimic(self, request: Request) -> Reply:
        settings, name = self.settings, request.form.__name__
        text = self._decide_alike(request)
        text = scale_texts(request.form, text, settings.wordiness_of.get(name, settings.wordiness))
        if self._share("re-ask", request.id) < settings.re_asks:
            # Without braces nothing in it can be taken for JSON.
            text = text.replace("{", "(").replace("}", ")")
        around = settings.around_of.get(name, settings.around)
        text = _of_length(FILLER, round(around * len(text))) + text
        return Reply(text, self._usage(request, text), "rehearsed")

    def _usage(self, request: Request, text: str) -> Usage:
        settings = self.settings
        prompt = total_characters(request.messages)
        per_character = settings.reply_tokens_of.get(request.form.__name__, settings.reply_tokens)
        spoken = math.ceil(per_character * len(text))
        limit = self.imitated.max_reply_tokens
        return Usage(
            math.ceil(settings.prompt_tokens * prompt + settings.overhead),
            min(spoken, limit) if limit else spoken,
        )

    def _decide_alike(self, request: Request) -> str:
        """The offline scientist's reply, drawn again until it decides as the model would."""
        text = answer_offline(request).text
        decided = dict(traits(request, text))
        wanted = {name: self._would_say(request, name, yes) for name, yes in decided.items()}
        if wanted == decided:
            return text
        for draw in range(1, DRAWS):
            seed = request.seed ^ _drawn("again", draw)
            other = answer_offline(replace(request, seed=seed)).text
            if dict(traits(request, other)) == wanted:
                return other
        return text

    def _would_say(self, request: Request, trait: str, yes: bool) -> bool:
        leaning = self.settings.leanings.get(f"{request.form.__name__}.{trait}")
        if leaning is None:
            return yes
        return self._share(trait, request.id) < (leaning.kept if yes else leaning.turned)

    def _share(self, *place: object) -> float:
        return _drawn(self.salt, *place) / 2.0**64


def traits(request: Request, text: str) -> Iterator[tuple[str, bool]]:
    """The yes-or-no decisions of a reply, by name.

    They are acceptance, every boolean field, and whether an outsider is consulted. A text that does
    not fill the form has none.
    """
    try:
        said = request.form.model_validate_json(text)
    except ValueError:
        return
    accepted = getattr(said, "accepted", None)
    if isinstance(accepted, bool):
        yield "accepted", accepted
    for name, value in said:
        if isinstance(value, bool):
            yield name, value
    if "ask" in type(said).model_fields and request.slots.get("outsiders"):
        outside = {getattr(one, "id", None) for one in request.slots["outsiders"]}
        asked = getattr(said, "ask", None)
        yield "ask", getattr(asked, "scientist", "") in outside


def iterate_strings(value: Any, place: Place = ()) -> Iterator[tuple[Place, str]]:
    """The strings in the data of a reply, each with its path."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from iterate_strings(item, (*place, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from iterate_strings(item, (*place, number))


def iterate_texts(value: Any) -> Iterator[tuple[Place, str]]:
    """The strings of at least ``TEXT`` words, each with its path."""
    for place, words in iterate_strings(value):
        if len(words.split(None, TEXT - 1)) == TEXT:
            yield place, words


def scale_texts(form: type[Form], text: str, times: float) -> str:
    """The reply with every text in it made longer or shorter, if the form accepts that."""
    if times == 1.0:
        return text
    data = json.loads(text)
    # A list, because the data change under way.
    for place, words in list(iterate_texts(data)):
        inside = data
        for step in place[:-1]:
            inside = inside[step]
        inside[place[-1]] = _of_length(words, max(1, round(times * len(words))))
    try:
        form.model_validate(data)
    except (ValueError, SocietyError):
        return text
    return json.dumps(data, ensure_ascii=False)


def _of_length(words: str, length: int) -> str:
    """The words repeated up to a length."""
    again = f"{words} " * (length // (len(words) + 1) + 1)
    return again[:length].rstrip() or words[:1] if length else ""


def _drawn(*place: object) -> int:
    text = "\x1f".join(map(str, place)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")
