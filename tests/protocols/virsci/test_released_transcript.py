"""The profile of the released code against a transcript of that program, written by hand.

The transcript follows the control flow of the program (the files are named in
``protocols/virsci/settings.py``) for a team of three that accepts its first topic, two turns in
every stage, and one outsider who is called upon in the first turn. It says who is asked what in
which order, and whose words stand on the page.
"""

from collections import Counter

import pytest

from tests.protocols.paper_equations import KNOWLEDGE, people_under
from tests.protocols.scripted_backend import PLANTED, play, word
from virsci_society.protocols.virsci.protocol import VirSci

TRANSCRIPT = """
- ask-alone   L  |
= invite      A  |
= invite      B  |
= topic-1     L  |
= topic-1     A  | topic-1-L
= guest-1     G  | topic-1-A
= topic-1     B  | topic-1-L topic-1-A
= sum-1       L  | topic-1-L topic-1-A topic-1-B
= topic-2     L  | sum-1-L
= topic-2     A  | sum-1-L topic-2-L
= topic-2     B  | sum-1-L topic-2-L topic-2-A
= topic-2     G  | sum-1-L topic-2-L topic-2-A topic-2-B
- sum-2       L  | sum-1-L topic-2-L topic-2-A topic-2-B topic-2-G
- ready       L  | sum-1-L topic-2-L topic-2-A topic-2-B topic-2-G
= choice      L  | sum-1-L topic-2-L topic-2-A topic-2-B topic-2-G (sum-2-L) (ready-L)
+ agree       L  | choice-L
- sum-team    L  | sum-1-L sum-2-L ready-L choice-L
= idea-1      L  | choice-L
= idea-1      A  | choice-L idea-1-L
= idea-1      B  | choice-L idea-1-A
= idea-1      G  | choice-L idea-1-B
= idea-2      L  | choice-L idea-1-G
= idea-2      A  | choice-L idea-2-L
= idea-2      B  | choice-L idea-2-A
= idea-2      G  | choice-L idea-2-B
= vote-1      L  | idea-2-A idea-1-G idea-2-L
= vote-1      A  | idea-2-A idea-1-G idea-2-L
= vote-1      B  | idea-2-A idea-1-G idea-2-L
= vote-1      G  | idea-2-A idea-1-G idea-2-L
= vote-2      L  | idea-2-A idea-1-G idea-2-L
= vote-2      A  | idea-2-A idea-1-G idea-2-L
= vote-2      B  | idea-2-A idea-1-G idea-2-L
= vote-2      G  | idea-2-A idea-1-G idea-2-L
= abstract-1  L  | idea-1-G
= abstract-1  A  | abstract-1-L
= abstract-1  B  | abstract-1-A
= abstract-1  G  | abstract-1-B
= abstract-2  L  | abstract-1-G
= abstract-2  A  | abstract-2-L
= abstract-2  B  | abstract-2-A
= abstract-2  G  | abstract-2-B
= review      L  | abstract-2-G
"""
"""Sign, question, who is asked | whose words are on the page.

``=``: the program asks it, and so do we. ``-``: the program alone. ``+``: we alone; the program
asks its leader ``ready`` before the topic is chosen, we ask whether the topic stands after it.
Words in brackets stand on the program's page alone.
"""

CLARITY = (5, 7, 6, 7, 8, 8, 3, 9)
"""Of the ideas in the order of being said.

The program lists those not below the last one listed: 5, 7, 7, 8, 8, 9. Its marks begin with the
second of them (7, 7, 8, 8, 9), yet choose from the whole list: the highest marks are the fifth
(9), the third and the fourth (8), which are the sixth, fourth and fifth idea that was said. The
best idea is lost.
"""
VOTES = {1: (1, 0, 1, 0), 2: (0, 1, 2, 2)}
"""Three votes each for ideas 0 and 1; the first that was cast is for idea 1."""


def transcript(signs):
    rows = [line.split("|") for line in TRANSCRIPT.strip().splitlines()]
    asked = [(*left.split(), right.split()) for left, right in rows]
    return [
        (question, who, [label for label in heard if not label.startswith("(")])
        for sign, question, who, heard in asked
        if sign in signs
    ]


def by_the_way(call, request):
    """Canned replies, in which a member names one of the scientists whose profile it is shown."""
    if request.form.__name__ == "Remark" and (call.turn, call.seat) == (1, 1):
        name = request.slots["knowledge"][0].id
        said = f"{word(request.id, 'Response')}. By the way, {name} works on this too."
        return {"Response": said}
    if request.form.__name__ == "Remark" and (call.turn, call.seat) == (2, 0):
        # Named without the words.
        return {"Response": f"{word(request.id, 'Response')} {request.slots['knowledge'][0].id}"}
    if request.form.__name__ == "Idea":
        return {"Clarity": CLARITY[(call.turn - 1) * 4 + call.seat], "Novelty": 10 - call.seat}
    if call.act == "vote":
        return {"Decision Made": f"Idea {VOTES[call.turn][call.seat]}"}
    if call.act == "review":
        return {"similarity_scores": {"Written Abstract vs A": 99}}
    return None


@pytest.fixture(scope="module")
def played(synthetic):
    protocol = VirSci(profile="released-code", team_size=3, turns=2)
    return play(synthetic, protocol, by_the_way)


def question_of(said):
    call = said.call
    if call.guest is not None:
        return f"guest-{call.turn}"
    if call.act == "utter":
        stage = "idea" if call.stage == "ideas" else call.stage
        return f"{stage}-{call.turn}"
    numbered = {"summarise": "sum", "vote": "vote"}.get(call.act)
    named = {"invite": "invite", "decide": "choice", "agree": "agree", "review": "review"}
    return f"{numbered}-{call.turn}" if numbered else named[call.act]


def letters(played):
    order = [row["scientist"] for row in played.rows("members")]
    return dict(zip(order, "LABG", strict=True))


def test_everybody_is_asked_what_the_program_asks_in_its_order_and_sees_what_it_shows(played):
    short = letters(played)
    spoken, told = {}, []
    for said in played.said:
        who = short[said.call.guest or said.call.who]
        found = dict.fromkeys(spoken[w] for w in PLANTED.findall(said.user) if w in spoken)
        told.append((question_of(said), who, list(found)))
        label = f"{question_of(said)}-{who}"
        spoken |= {said.word(field): label for field in said.reply}
    wanted = transcript("=+")
    assert [row[:2] for row in told] == [row[:2] for row in wanted]
    for got, row in zip(told, wanted, strict=True):
        # The order counts where it says which idea has which number.
        same = list if row[0].startswith("vote") else sorted
        assert same(got[2]) == same(row[2]), row


def test_what_the_program_asks_and_we_do_not_is_known():
    """Named in docs/prompts.md; none of them changes who speaks or which idea is taken."""
    asked = Counter(question for question, _, _ in transcript("-"))
    assert set(asked) == {"ask-alone", "sum-2", "ready", "sum-team"}
    assert [row[:2] for row in transcript("+")] == [("agree", "L")]


def test_two_profiles_are_shown_while_the_topic_is_discussed_and_none_afterwards(played):
    for said in played.said:
        shown = people_under(KNOWLEDGE, said.user)
        assert len(shown) == (2 if said.form == "Remark" else 0), said.request.id
        assert '"Ask"' not in said.user
