"""Answers to invitations are words in every transcript, never the number of an option."""

import json

import pytest

from virsci_society.metrics.report.transcript import decoded_reply, team_talks, transcript_page


@pytest.mark.parametrize(("action", "word"), [("join", "accepted"), ("decline", "declined")])
def test_an_answer_to_an_invitation_is_a_word(action, word):
    reply = json.dumps({"Reasoning": "Größe", "Selected Action": action})
    assert decoded_reply(reply) == json.dumps(
        {"Answer": word, "Reasoning": "Größe"}, ensure_ascii=False
    )


@pytest.mark.parametrize(
    "reply",
    [
        *("", "no JSON", "[1]", '"decline"', '{"Title": "decline"}', "[" * 100_000),
        *('{"Selected Action": "leave"}', '{"Selected Action": ["join"]}'),
    ],
)
def test_any_other_reply_stays_as_it_is(reply):
    assert decoded_reply(reply) == reply


def test_the_transcript_and_its_page_say_declined(make_run, rows):
    invited = next(row for row in rows["calls"] if row[6] == "invite")
    reply = json.dumps({"Reasoning": "too busy", "Selected Action": "decline"})
    said = (*invited[:17], reply, *invited[18:])
    rows["calls"] = [said if row is invited else row for row in rows["calls"]]
    run = make_run(rows)
    (talk,) = team_talks(run, invited[1])
    (answer,) = (one for _, said in talk.stages for one in said if one.act == "invite")
    assert answer.fields == (("Answer", "declined"), ("Reasoning", "too busy"))
    page = transcript_page(run)
    assert "declined" in page
    assert "Selected Action" not in page
