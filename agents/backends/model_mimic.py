"""Rehearsal: a live run played by rule-based scientists who are given a model's manner.

Calls that a journal knows are answered from it. All others are answered by the offline scientist;
then its texts are made as long as the model's would be, its yeses and noes as frequent, and some
of its replies unreadable. What is said is of no use; how often and how much is said is. A
rehearsal costs nothing and its words are never kept.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from agents.backend import Backend
from agents.errors import SocietyError
from agents.forms import Form
from agents.kept import Kept
from agents.offline.scientist import answer
from agents.request import Reply, Request, Usage

TEXT = 5
"""A string of so many words is a text; a shorter one is a name, a choice or a label."""
DRAWS = 64
"""Times the offline scientist is asked anew for another decision."""
FILLER = "and then there is more to be said before the answer, "

Place = tuple[str | int, ...]
"""Keys and numbers that lead to a value in the data of a reply."""


@dataclass(frozen=True, slots=True)
class Leaning:
    """How a model decides where the offline scientist says yes, and where it says no.

    Attributes:
        kept: share of the offline scientist's yeses that are yeses.
        turned: share of its noes that are yeses.
    """

    kept: float = 1.0
    turned: float = 0.0


@dataclass(frozen=True)
class Manner:
    """How a model speaks, next to the offline scientist. The default is its very own manner.

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


class Rehearsal(Backend):
    """The offline scientist in the place of another backend, inline and free.

    Attributes:
        part: the backend whose part is played; its limits and its hashes hold.
        manner: how it speaks.
        known: what a journal has kept of a request, or None.
        salt: of what is drawn here: which yeses are kept, which replies cannot be read.
        heard: told of every known call and the offline reply to the same request.
    """

    part: Backend
    manner: Manner = Manner()
    known: Callable[[Request], Kept | None] | None = None
    salt: int = 0
    heard: Callable[[Request, Kept, Reply], None] | None = None

    @property
    def inline(self) -> bool:
        """True: nothing is waited for."""
        return True

    @property
    def told(self) -> str:
        """What the backend in whose place it stands is told, so that its calls are known."""
        return self.part.told

    @property
    def room(self) -> int | None:
        """What that backend can read."""
        return self.part.room

    def voice(self, call: str) -> Backend:
        """Itself in the model's place; rules of a hybrid speak for themselves."""
        voice = self.part.voice(call)
        return voice if voice is not self.part and voice.rules else self

    async def complete(self, request: Request) -> Reply:
        """The known words, or the offline scientist's in the model's manner.

        Raises:
            Verdict: the known one.
        """
        kept = None if self.known is None else self.known(request)
        if kept is None:
            return self._played(request)
        if self.heard is not None:
            self.heard(request, kept, answer(request))
        return kept.words()

    def _played(self, request: Request) -> Reply:
        manner, name = self.manner, request.form.__name__
        text = self._decided(request)
        text = lengthened(request.form, text, manner.wordiness_of.get(name, manner.wordiness))
        if self._share("re-ask", request.id) < manner.re_asks:
            text = text.replace("{", "(").replace("}", ")")
        around = manner.around_of.get(name, manner.around)
        text = _of_length(FILLER, round(around * len(text))) + text
        return Reply(text, self._usage(request, text), "rehearsed")

    def _usage(self, request: Request, text: str) -> Usage:
        manner = self.manner
        told = sum(len(message.content) for message in request.messages)
        per_character = manner.reply_tokens_of.get(request.form.__name__, manner.reply_tokens)
        spoken = math.ceil(per_character * len(text))
        limit = self.part.longest_reply
        return Usage(
            math.ceil(manner.prompt_tokens * told + manner.overhead),
            min(spoken, limit) if limit else spoken,
        )

    def _decided(self, request: Request) -> str:
        """The offline scientist's reply, asked anew until it decides as the model would."""
        text = answer(request).text
        said = dict(traits(request, text))
        wanted = {name: self._would_say(request, name, yes) for name, yes in said.items()}
        if wanted == said:
            return text
        for draw in range(1, DRAWS):
            seed = request.seed ^ _drawn("again", draw)
            other = answer(replace(request, seed=seed)).text
            if dict(traits(request, other)) == wanted:
                return other
        return text

    def _would_say(self, request: Request, trait: str, yes: bool) -> bool:
        leaning = self.manner.leanings.get(f"{request.form.__name__}.{trait}")
        if leaning is None:
            return yes
        return self._share(trait, request.id) < (leaning.kept if yes else leaning.turned)

    def _share(self, *place: object) -> float:
        return _drawn(self.salt, *place) / 2.0**64


def traits(request: Request, text: str) -> Iterator[tuple[str, bool]]:
    """What was said yes or no to, by name: acceptance, whatever is true or false, a consultation.

    Nothing for a text that does not fill the form.
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


def strings(value: Any, place: Place = ()) -> Iterator[tuple[Place, str]]:
    """The strings in the data of a reply, each with its place."""
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from strings(item, (*place, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from strings(item, (*place, number))


def texts(value: Any) -> Iterator[tuple[Place, str]]:
    """The strings that are texts, each with its place."""
    for place, words in strings(value):
        if len(words.split(None, TEXT - 1)) == TEXT:
            yield place, words


def lengthened(form: type[Form], text: str, times: float) -> str:
    """The reply with every text in it so many times as long, if the form takes that."""
    if times == 1.0:
        return text
    data = json.loads(text)
    for place, words in list(texts(data)):
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
    """The words again and again, up to a length."""
    again = f"{words} " * (length // (len(words) + 1) + 1)
    return again[:length].rstrip() or words[:1] if length else ""


def _drawn(*place: object) -> int:
    text = "\x1f".join(map(str, place)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")
