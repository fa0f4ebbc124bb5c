"""A protocol that nobody here has heard of, with forms without a rule, runs offline."""

from typing import Literal

import pytest
from pydantic import Field

from tests.protocols.scripted_backend import play
from virsci_society.agents.errors import Dissolved
from virsci_society.agents.offline.backend import Offline
from virsci_society.agents.prompts.prompt import Prompts
from virsci_society.agents.replies.form import Form
from virsci_society.society.teams.contracts import Manuscript, TeamProtocol


class Verse(Form):
    """Two lines of a poem."""

    title: str = Field(alias="Title", min_length=1)
    abstract: str = Field(alias="Verse", min_length=1)
    mood: Literal["light", "dark"] = Field(alias="Mood")
    weight: int = Field(alias="Weight", ge=1, le=3)

    def words(self):
        return f"{self.title}: {self.abstract}"


class Measured(Verse):
    """A verse that a rule answers."""


OFFLINE_RULES = {Measured: lambda asked: {"Title": "T", "Verse": "V", "Mood": "dark", "Weight": 2}}


class Poets(TeamProtocol):
    """The leader takes in the first who may come; both write a verse, the second one counts."""

    pages: object
    form: type[Form] = Verse

    def run(self, team, lab):
        yield from lab.stage("gathering", self.gather(team, lab))
        return (yield from lab.stage("writing", self.write(team, lab)))

    def gather(self, team, lab):
        yield from lab.wait(3.0)
        if not any(
            lab.people.join(name) for name in lab.world.population.names if name != team.leader
        ):
            raise Dissolved("nobody came")
        team.target_size = 2

    def write(self, team, lab):
        verse, before = None, ()
        yield from lab.notice()
        with lab.convene(1) as everybody:
            yield everybody
            for seat, who in enumerate(team.members):
                verse = yield from lab.ask(
                    who, self.pages["verse"], self.form, seat=seat, before=before
                )
                before = (verse,)
        return Manuscript(text=verse)


@pytest.fixture
def pages(tmp_path):
    (tmp_path / "verse.txt").write_text(
        "{% for words in before %}{{ words.words() }}{% endfor %}\n"
        'Answer: {"Title": "", "Verse": "", "Mood": "light or dark", "Weight": 1 to 3}'
    )
    return Prompts(tmp_path)


def test_a_strangers_protocol_runs_offline_and_its_calls_are_marked(synthetic, pages):
    played = play(synthetic, Poets(pages=pages), backend=Offline())
    assert (played.team["state"], played.team["protocol"]) == ("published", "poets")
    calls = played.rows("calls")
    assert [row["form"] for row in calls] == ["Verse", "Verse"]
    assert all(row["unruled"] for row in calls)
    assert {row["model"] for row in calls} == {"offline"}
    assert not any(row["defaulted"] for row in calls)
    (paper,) = played.rows("papers")
    second = Verse.model_validate_json(calls[1]["reply"])
    assert (paper["title"], paper["abstract"]) == (second.title, second.abstract)
    assert len(played.rows("authorships")) == 2


def test_with_a_rule_of_its_own_nothing_is_marked(synthetic, pages):
    played = play(synthetic, Poets(pages=pages, form=Measured), backend=Offline())
    assert not any(row["unruled"] for row in played.rows("calls"))
    (paper,) = played.rows("papers")
    assert (paper["title"], paper["abstract"]) == ("T", "V")
