"""What a model is told: prompts, profiles, memory, requests (rules 5 and 8)."""

import dataclasses

import jinja2
import pytest

from agents.errors import (
    Dissolved,
    Fault,
    InputError,
    ProtocolError,
    ReplyError,
    SocietyError,
    Stopped,
    Verdict,
)
from agents.memory import Recollection, recall
from agents.profile import Profile
from agents.prompts.prompt import (
    DEFINITION,
    EVERYBODY,
    Prompt,
    Prompts,
    build_messages,
    introduce,
    list_references,
)
from agents.prompts.request import Message, Request
from agents.reference import Reference
from agents.replies.form import Form

ADA = Profile("Scientist1", ("X", "Y"), ("graphs", "proteins"), 4, 9, ("Scientist2",))


@pytest.fixture
def page(tmp_path):
    """A function that makes a prompt of a text."""

    def make(text):
        path = tmp_path / "page.txt"
        path.write_text(text, encoding="utf-8")
        return Prompt(path)

    return make


def test_slots_are_filled(page):
    prompt = page("Dear {{ who.id }},\n{% if late %}\nhurry\n{% endif %}\nü {{ text }}\n")
    assert prompt.name == "page"
    assert prompt.slots == {"who", "late", "text"}
    assert prompt.render({"who": ADA, "late": True, "text": "<b>"}) == (
        "Dear Scientist1,\nhurry\nü <b>"
    )


@pytest.mark.parametrize("slots", [{}, {"late": True}])
def test_a_missing_slot_is_an_error_and_never_a_blank(page, slots):
    with pytest.raises(jinja2.UndefinedError, match="'text' is undefined"):
        page("Say {{ text }}").render(slots)
    with pytest.raises(jinja2.UndefinedError):
        page("{% for x in text %}{{ x }}{% endfor %}").render(slots)
    with pytest.raises(jinja2.UndefinedError):
        page("{{ profile | introduce }}").render(slots)


def test_a_folder_of_prompts(tmp_path):
    for name in ("b", "a"):
        (tmp_path / f"{name}.txt").write_text(name)
    (tmp_path / "c.md").write_text("no page")
    prompts = Prompts(tmp_path)
    assert [prompt.name for prompt in prompts] == ["a", "b"]
    assert prompts["b"].render({}) == "b"
    with pytest.raises(KeyError):
        prompts["c"]


def test_a_scientist_is_introduced_in_sentences(page):
    assert introduce(ADA) == (
        "Affiliations: X; Y. Research interests: graphs; proteins. "
        "Published papers: 4, cited 9 times. Earlier collaborators: Scientist2."
    )
    assert introduce(Profile("S", citations=None)) == "Published papers: 0."
    assert introduce(Profile("S")) == "Published papers: 0, cited 0 times."
    assert page("{{ me | introduce }}").render({"me": ADA}) == introduce(ADA)


def test_references_are_listed_between_fences(page):
    papers = (Reference("p1", "On graphs", "All of it.", 2019), Reference("p2", "Bare", "", 2020))
    text = list_references(papers)
    assert text.splitlines() == [
        "<<<papers",
        "[1] On graphs (2019). All of it.",
        "[2] Bare (2020).",
        "papers>>>",
    ]
    assert page("{{ near | listed }}").render({"near": papers}) == text
    assert list_references(()) == "<<<papers\npapers>>>"


@pytest.mark.parametrize(
    ("role", "sentence"),
    [("leader", "You lead this team."), ("member", "You are a member of this team."), ("", None)],
)
def test_the_definition_tells_who_one_is(role, sentence):
    text = DEFINITION.render({"me": ADA, "role": role, "memory": ()})
    assert text.startswith("You are Scientist1, a scientist.")
    assert introduce(ADA) in text
    assert (sentence in text) if sentence else ("team" not in text)
    assert "recall" not in text


def test_the_definition_tells_what_one_recalls():
    text = DEFINITION.render({"me": ADA, "role": "", "memory": ("One thing.", "Another.")})
    assert text.endswith("you recall:\n- One thing.\n- Another.")


OWN = {"me": ADA, "role": "member", "memory": ("One thing.",)}


def test_a_page_with_a_place_for_it_says_there_who_is_asked(page):
    prompt = page("Task: {{ task }}\n\n{{ you }}\n\nAnswer.")
    assert prompt.personal
    assert prompt.slots == {"task", "me", "role", "memory"}
    system, user = build_messages(prompt, {"task": "Think.", **OWN})
    assert (system, user.role) == (Message("system", EVERYBODY.text.strip()), "user")
    assert user.content == f"Task: Think.\n\n{DEFINITION.render(OWN)}\n\nAnswer."


def test_any_other_page_is_asked_of_somebody_all_the_same(page):
    prompt = page("Task: {{ task }}")
    assert not prompt.personal
    assert prompt.slots == {"task"}
    system, user = build_messages(prompt, {"task": "Think.", **OWN})
    assert system.content == f"{EVERYBODY.text.strip()}\n\n{DEFINITION.render(OWN)}"
    assert user == Message("user", "Task: Think.")


@pytest.mark.parametrize("text", ["{{ you }}", "Speak."])
@pytest.mark.parametrize("left_out", OWN)
def test_nobody_is_asked_without_being_told_who_it_is(page, text, left_out):
    slots = {name: value for name, value in OWN.items() if name != left_out}
    with pytest.raises(jinja2.UndefinedError, match=f"'{left_out}' is undefined"):
        build_messages(page(text), slots)


def test_all_are_told_the_same_first_and_nothing_of_anybody():
    assert EVERYBODY.slots == frozenset()
    assert EVERYBODY.text.isascii()


def test_the_main_topic_is_the_first_interest():
    assert ADA.topic == "graphs"
    assert Profile("S").topic == ""


MEMORY = (
    Recollection(1.0, "a", "A team on graphs of proteins."),
    Recollection(2.0, "b", "A team on graphs and galaxies."),
    Recollection(2.0, "c", "A team on graphs and robots."),
)


def test_lines_that_share_most_words_come_first_then_the_newest():
    assert recall(MEMORY, "proteins as graphs") == (
        MEMORY[0].line,
        MEMORY[1].line,
        MEMORY[2].line,
    )
    assert recall(MEMORY, "GRAPHS") == (MEMORY[1].line, MEMORY[2].line, MEMORY[0].line)


def test_without_shared_words_nothing_is_recalled():
    assert recall(MEMORY, "on and of a") == ()
    assert recall(MEMORY, "") == ()
    assert recall(MEMORY, "graphs", count=2) == (MEMORY[1].line, MEMORY[2].line)


class Words(Form):
    text: str


class Others(Form):
    text: str
    more: str


REQUEST = Request("team/topic/1/1/0/utter/S1", ADA, (Message("user", "Speak."),), Words)


@pytest.mark.parametrize(
    "change",
    [
        {"id": "other"},
        {"who": Profile("Scientist2")},
        {"slots": {"a": 1}},
        {"seed": 9},
        {"due": 3.0},
        {"attempt": 1},
    ],
)
def test_the_hash_is_of_what_the_model_is_told_and_nothing_else(change):
    assert dataclasses.replace(REQUEST, **change).hash == REQUEST.hash


@pytest.mark.parametrize(
    "change",
    [
        {"messages": (Message("user", "Speak!"),)},
        {"messages": (Message("system", "Speak."),)},
        {"messages": (Message("user", "Spea"), Message("user", "k."))},
        {"messages": ()},
        {"form": Others},
    ],
)
def test_the_hash_changes_with_messages_and_schema(change):
    assert dataclasses.replace(REQUEST, **change).hash != REQUEST.hash


def test_the_hash_is_what_it_was():
    assert REQUEST.hash == HASH
    odd = dataclasses.replace(REQUEST, messages=(Message("user", "\ud800 漢"),))
    assert len(odd.hash) == 64


HASH = "327b00e0d5045df84d105cd07cf1a54964b17667b8ea6c8b6e30154b32c3fd05"


def every_error(root=SocietyError):
    yield root
    for kind in root.__subclasses__():
        yield from every_error(kind)


def test_every_error_is_rebuilt_from_its_one_message():
    """As SimPy does it when an error crosses a process (rule 4)."""
    kinds = [kind for kind in every_error() if kind is not Fault]
    assert {InputError, Verdict, ReplyError, Dissolved, Stopped, ProtocolError} <= set(kinds)
    for kind in kinds:
        error = kind("what is wrong")
        again = type(error)(*error.args)
        assert (str(again), type(again)) == ("what is wrong", kind)
        assert len(error.args) == 1


def test_whose_move_it_is():
    assert (InputError.exit_code, Stopped.exit_code) == (2, 5)
    assert issubclass(ReplyError, Verdict)
    assert not issubclass(Stopped, Verdict)
    assert not issubclass(Dissolved, Verdict)
