"""The tables of a run, with columns, types, units and meanings for the data dictionary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

TableRows = Mapping[str, Sequence[tuple[Any, ...]]]
"""Rows of tables by name of the table, each a tuple in the order of its columns."""

PUBLICATION_STAGE = "publication"
"""The stage of every call and of all homework between handing in and appearing."""
REPEATED_ACTS = ("re-ask", "trim")
"""Acts of the table ``calls`` that repeat a call whose reply could not be used."""


class Column(NamedTuple):
    """One column of a table; its meaning includes the unit."""

    name: str
    dtype: str
    meaning: str


def _columns(text: str) -> tuple[Column, ...]:
    rows = (line.split(None, 2) for line in text.strip().splitlines())
    return tuple(Column(name, dtype, meaning) for name, dtype, meaning in rows)


TABLES: dict[str, tuple[Column, ...]] = {
    "scientists": _columns("""
scientist    string  masked name
topic        string  main topic at day 0: the first interest
papers       Int64   papers before day 0
citations    Int64   citations before day 0; missing where the source cannot date them
career_start Int64   year of the first paper before day 0; missing if unknown
arrived      Float64 date of coming; missing for those who were there on day 0
institution  string  where it works; missing if unknown
"""),
    "teams": _columns("""
team         string  id: leader / ordinal of that leader's projects
leader       string  scientist who founded the team
protocol     string  name of the protocol
target_size  Int64   members the leader wanted
size         Int64   members at the end (after leaving); at least the leader
founded      Float64 date
formed       Float64 date on which the last seat was filled; missing if never
finished     Float64 date on which the work ended (abstract done, or dissolved); missing if running
published    Float64 date on which the paper became visible; missing if none
state        string  running, finished (in review, or waiting to be visible), published, dissolved
reason       string  why it was dissolved; missing otherwise
stage        string  last stage entered
topic        string  the topic agreed on; missing if none
restarts     Int64   topic discussions started again
strikes      Int64   self-reviews that found too much overlap
ties         Int64   kept ideas whose confidence tied with one left out; missing if none were kept
live         boolean true if a model was asked in any of its calls
idea_by      string  who put forward the idea that was written up; missing if there was none
"""),
    "members": _columns("""
team         string  team id
scientist    string  masked name
role         string  leader or member
joined       Float64 date
left         Float64 date on which the membership ended (leaving, or the end of the work)
stayed       boolean false if the scientist left before the end
load         Int64   other teams the scientist was in when it joined
"""),
    "invitations": _columns("""
team         string  inviting team
inviter      string  its leader
invitee      string  scientist invited
sent         Float64 date
answered     Float64 date on which the answer took effect; missing if team or run ended before
outcome      string  accepted, declined, full (yes, but at its limit), gone; missing likewise
load         Int64   teams the invitee was in when invited
ties         Int64   joint papers of inviter and invitee before the date
similarity   Float64 cosine of the two profiles
cross_team   boolean true if the invitee was in another team when invited
"""),
    "consultations": _columns("""
team         string  asking team
asker        string  speaker who asked
guest        string  outside scientist who answered
date         Float64 date of asking
stage        string  stage of the asking
question     string  the question
answer       string  the guest's words
cross_team   boolean true if the guest was in another team at that date
"""),
    "meetings": _columns("""
team         string  team id
stage        string  stage
visit        Int64   1, or more after a restart or a review round
turn         Int64   turn of the stage, from 1
called       Float64 date on which the meeting was called
due          Float64 date for which it was called (called + notice)
held         Float64 date on which everybody was in the room
ended        Float64 date on which the room was left
size         Int64   people in the room
waited_for   string  the last scientist to come free; missing if nobody waited
"""),
    "homework": _columns("""
team         string  team id
scientist    string  masked name
stage        string  stage
visit        Int64   visit
turn         Int64   turn after which the work was due
assigned     Float64 date on which it reached the desk
started      Float64 date on which the scientist took it up
done         Float64 date on which it was finished
effort       Float64 days of full attention to the project
switching    Float64 days taken before that to turn from another; missing where turning takes none
"""),
    "calls": _columns("""
call         string  call id
team         string  team id
stage        string  selection, topic, ideas, novelty, abstract, publication
visit        Int64   visit
turn         Int64   turn, 0 outside turns
seat         Int64   place in the speaking order, from 0
act          string invite, utter, summarise, agree, stay, decide, vote, critique, guest, review, re-ask, trim
scientist    string  who was asked
asked        Float64 date
due          Float64 date on which the answer was due
sequence     Int64   place among all that the team has asked and read
needs        string  calls waited for, separated by spaces (X/guest: the guest of X, if any)
form         string  form of the reply
defaulted    boolean true if there were no words to be read and the form's default stands for them
rung         string  how it was read: strict, found, repaired, re-asked, default; unread: not at all
verdict      string  why there were no words: unreadable, refused, filtered, overflow
unruled      boolean true if the offline scientist had no rule for the form
model        string  model as returned by the backend
prompt_tokens     Int64 tokens of the prompt (estimated where the backend does not count)
completion_tokens Int64 tokens of the reply (likewise)
prompt_hash  string  sha256 of the prompt
reply        string  the accepted form as JSON
reason       string  the reason that the accepted form states; empty: none
live         boolean true if a model was asked, false if rules spoke
noticed      string  of a model's replies: echoed (a copy of the page, asked for again), short, loop, cut
"""),  # noqa: E501
    "reads": _columns("""
answer       string  id of the answer read (a call id, or the id of a derived answer)
team         string  team id
date         Float64 date of reading
sequence     Int64   place among all that the team has asked and read
needs        string  calls it is made of, separated by spaces (X/guest: the guest of X, if any)
"""),
    "papers": _columns("""
paper        string  id (the team's id)
team         string  team id
title        string  title
abstract     string  abstract
published    Float64 date on which it became visible
topic        string  topic of the team
keywords     string  keywords, separated by "; "
live         boolean true if a model was asked in any call of its team
neighbour_query string what is embedded as the paper; missing where it is title and abstract
external_authors Int64 number of authors outside the population; missing if none
"""),
    "authorships": _columns("""
paper        string  paper id
scientist    string  masked name
position     Int64   place among the authors in the society, from 0
"""),
    "citations": _columns("""
citing       string  paper of the society
cited        string  paper of the past or of the society
date         Float64 publication date of the citing paper
inside       boolean true if the cited paper is the society's own
"""),
    "outcomes": _columns("""
team         string  team whose idea was carried out
started      Float64 date on which it was begun
ended        Float64 date of the outcome, or on which it was given up
worth        Float64 hidden worth of the idea, 0..1; missing where it was given up
outcome      Float64 worth and noise; missing likewise
state        string  succeeded, failed, given_up
success      Float64 outcome from which on it is a success
replicates   string  paper of the society whose idea it repeats; missing for an idea of its own
cost         Float64 money that it took; missing where ideas cost none
rated        Float64 worth that it looked to have before; missing as worth, and without overrated
"""),
    "submissions": _columns("""
team         string  team id
submission   Int64   1, or more where a rejected manuscript was handed in elsewhere
round        Int64   1, or more after a revision
submitted    Float64 date of handing in, or of handing in a revision
decided      Float64 date of the decision; missing if the run ended before
decision     string  accept, revise, reject; missing likewise
reviews      Int64   reviews that were decided on; missing likewise
score        Float64 their mean overall score, 1 to 10; missing without any
"""),
    "referees": _columns("""
team         string  team whose manuscript it is
submission   Int64   submission
round        Int64   round
seat         Int64   which review of the round it was to be, from 0
scientist    string  who was asked to review
load         Int64   teams it was working in when it was asked
open         Int64   other reviews it had agreed to and not delivered then
invited      Float64 date; missing for those who had reviewed the round before
answered     Float64 date on which the answer took effect; missing likewise, or if the run ended
outcome      string  delivered, declined, late (given up), gone, unread; missing if the run ended
assigned     Float64 date on which the manuscript reached its desk; missing if it never did
delivered    Float64 date on which the review was done; missing if it never was
reminders    Int64   how often it was reminded
recommendation string accept, revise, reject; missing if no review was decided on
score        Float64 overall score, 1 to 10; missing likewise
"""),
    "interests": _columns("""
scientist    string  masked name
date         Float64 date from the moment after which they hold
paper        string  paper by which they changed
topic        string  main topic from then on: the first interest; missing if none
interests    string  interests from then on, in order, separated by "; "
entered      string  those that are new; missing if none
dropped      string  those that are no longer held; missing if none
"""),
    "interventions": _columns("""
number       Int64   place among the interventions of the scenario by date, from 1
date         Float64 date; it comes first on it
settings     string  keys that hold from then on, with their values, as JSON
ranked       string  by what those who leave were chosen: degree, papers, citations, random, name
removed      Int64   scientists who leave the society by it
"""),
    "careers": _columns("""
scientist    string  masked name
date         Float64 date
change       string  arrived; left: retired, inactive, transient (came for one team), removed
place        string  institution of a newcomer; missing if unknown and for those who leave
"""),
    "ties": _columns("""
source       string  scientist
target       string  scientist, source < target
date         Float64 date of the joint paper; negative before day 0
papers       Int64   joint papers on that date (before day 0: all of them)
"""),
}


def table_rows(rows: TableRows, table: str) -> list[dict[str, Any]]:
    """The rows of a table of a log as dicts."""
    names = [column.name for column in TABLES[table]]
    return [dict(zip(names, row, strict=True)) for row in rows[table]]
