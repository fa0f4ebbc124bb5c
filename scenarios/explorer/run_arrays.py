"""People, ties, teams, meetings and papers of a run as number arrays for the explorer.

Scientists, teams and papers are numbered in the order of their tables; a missing date is NaN and a
missing number ``NOBODY``. Dates are days since day 0. All texts but names and titles are in
``conversations``.
"""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse
from scipy.sparse import csgraph

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.agents.invented_names import with_invented_names
from virsci_society.metrics.networks.structure import network_ties, sample_dates
from virsci_society.metrics.report.drawing.svg import COLOURS
from virsci_society.metrics.report.network_layout import GOLDEN_ANGLE, Communities
from virsci_society.society.results.run import Run

NOBODY = 2**32 - 1
STATES = ("running", "finished", "published", "dissolved")
OUTCOMES = ("accepted", "declined", "full", "gone")
STEPS = 120
"""Most dates of the curve of the largest component; a sixth of it for large networks."""
LARGE = 20_000
PLACES = 65_535


@dataclass
class RunArrays:
    """What the explorer draws of a run."""

    values: dict[str, Any]
    arrays: dict[str, npt.NDArray[Any]]
    people: dict[str, int]
    teams: dict[str, int]


@dataclass(frozen=True)
class ExplorerLayout:
    """Where everybody is drawn, and in which community; those without a co-author are in none.

    Attributes:
        positions: n x 2, in the unit square.
    """

    positions: FloatArray
    community: IntArray
    labels: list[str]
    sizes: list[int]
    method: str


def place_everybody(whole: Communities, names: Sequence[str]) -> ExplorerLayout:
    """The places of the page of a run, with those who have no co-author on a disc beside them."""
    rows = pd.Index(whole.names).get_indexer(pd.Index(names, dtype=object))
    tied, alone = rows >= 0, int((rows < 0).sum())
    community = np.full(len(names), PLACES, dtype=np.int64)
    community[tied] = whole.community[rows[tied]]
    place, angle = np.arange(alone) + 0.5, np.arange(alone) * GOLDEN_ANGLE
    disc = 0.5 * np.sqrt(place / max(len(names), 1))[:, None]
    positions = np.zeros((len(names), 2))
    positions[tied] = whole.positions[rows[tied]]
    right = 1.05 + disc.max(initial=0.0) if tied.any() else 0.0
    positions[~tied] = [right, 0.5] + disc * np.column_stack([np.cos(angle), np.sin(angle)])
    # The page of a run counts upwards, a canvas downwards.
    positions[:, 1] *= -1
    positions -= positions.min(axis=0) if len(names) else 0.0
    positions /= max(positions.max(initial=0.0), 1e-9)
    return ExplorerLayout(
        positions + (1 - positions.max(axis=0, initial=0.0)) / 2,
        community,
        whole.labels,
        whole.sizes.tolist(),
        whole.method,
    )


def names_of(run: Run) -> list[str]:
    """Everybody who is in a table of the run, those of ``scientists`` first."""
    listed = list(run.table("scientists")["scientist"])
    ties = run.table("ties")
    others = pd.concat([ties["source"], ties["target"], run.table("members")["scientist"]])
    return list(dict.fromkeys([*listed, *sorted(others.dropna().unique())]))


def arrays_of(run: Run, names: Sequence[str], layout: ExplorerLayout) -> RunArrays:
    """All arrays of a run."""
    teams = run.table("teams")
    people = {name: number for number, name in enumerate(names)}
    numbers = {str(team): number for number, team in enumerate(teams["team"])}
    made = RunArrays({}, {}, people, numbers)
    _add_people(made, run, names, layout)
    _add_ties(made, run)
    _add_teams(made, teams)
    _add_team_rows(made, run)
    _add_papers(made, run)
    _add_growth(made, run)
    return made


def _add_people(made: RunArrays, run: Run, names: Sequence[str], layout: ExplorerLayout) -> None:
    people = run.table("scientists").set_index("scientist").reindex(list(names))
    topics, known = pd.factorize(people["topic"].fillna(""), sort=True)
    careers = run.table("careers")
    gone = careers[~careers["change"].isin(["arrived", "moved"])]
    left = gone.groupby("scientist")["date"].max().reindex(list(names))
    places = np.round(layout.positions * PLACES)
    made.values |= {
        "names": one_text(names),
        # Without the word, which would be a name that the page invents.
        "numbers": one_text(name.removeprefix("Scientist") for name in names),
        "topics": [str(topic) for topic in known],
        "method": layout.method,
        # The page has colours for the largest; the names of all would be megabytes.
        "communities": list(zip(layout.labels, layout.sizes, strict=True))[: len(COLOURS)],
    }
    made.arrays |= {
        "x": places[:, 0].astype(np.uint16),
        "y": places[:, 1].astype(np.uint16),
        # Two bytes a number: what is larger counts as the largest.
        "community": np.minimum(layout.community, PLACES).astype(np.uint16),
        "topic": topics.astype(np.uint16),
        "arrived": _dates(people["arrived"]),
        "left": _dates(left),
        "before": np.minimum(people["papers"].fillna(0).astype(int), PLACES).astype(np.uint16),
    }


def _add_ties(made: RunArrays, run: Run) -> None:
    """Ties with those before day 0 first; the numbers of the first ends as differences."""
    ties = network_ties(run.table("ties"), "all")
    ends = np.column_stack([_numbers(ties[end], made.people) for end in ("source", "target")])
    dates = ties["date"].to_numpy(dtype=np.float32)
    ends.sort(axis=1)
    first = np.maximum(np.ceil(dates), -1)  # before day 0 the page tells no dates apart
    order = np.lexsort((ends[:, 1], ends[:, 0], np.where(first < 0, -1, dates)))
    made.arrays |= {
        "tieA": ends[order, 0].astype(np.uint32),
        "tieB": ends[order, 1].astype(np.uint32),
        "tieDay": np.where(dates < 0, np.float32(-1), dates)[order],
    }
    # Half of a network of 100,000 scientists is ties before day 0: differences compress well.
    started = made.arrays["tieA"]
    made.arrays["tieA"] = np.diff(started, prepend=np.uint32(0)).astype(np.uint32)


def _add_teams(made: RunArrays, teams: pd.DataFrame) -> None:
    for column in ("founded", "formed", "finished", "published"):
        made.arrays[f"team_{column}"] = _dates(teams[column])
    made.arrays |= {
        "team_leader": _numbers(teams["leader"], made.people),
        "team_state": _codes(teams["state"], STATES),
    }
    made.values |= {
        "teams": one_text(teams["team"]),
        "protocols": sorted(str(name) for name in teams["protocol"].dropna().unique()),
        "states": STATES,
        "outcomes": OUTCOMES,
    }


def _add_team_rows(made: RunArrays, run: Run) -> None:
    """Memberships, meetings and invitations, each with the number of its team."""
    members = run.table("members")
    made.arrays |= {
        "member_team": _numbers(members["team"], made.teams),
        "member_who": _numbers(members["scientist"], made.people),
        "member_joined": _dates(members["joined"]),
        "member_left": _dates(members["left"]),
    }
    meetings = run.table("meetings")
    stages, known = pd.factorize(meetings["stage"].fillna(""))
    made.values["meeting_stages"] = [str(stage) for stage in known]
    made.arrays |= {
        "meeting_team": _numbers(meetings["team"], made.teams),
        "meeting_stage": stages.astype(np.uint8),
        "meeting_held": _dates(meetings["held"]),
    }
    waits = waits_of(run)
    made.arrays |= {
        "wait_team": _numbers(waits["team"], made.teams),
        "wait_who": _numbers(waits["who"], made.people),
        "wait_day": _dates(waits["day"]),
        "wait_days": _dates(waits["days"]),
    }
    asked = run.table("invitations")
    made.arrays |= {
        "invited_team": _numbers(asked["team"], made.teams),
        "invited_who": _numbers(asked["invitee"], made.people),
        "invited_sent": _dates(asked["sent"]),
        "invited_answered": _dates(asked["answered"]),
        "invited_outcome": _codes(asked["outcome"], OUTCOMES),
    }


def _add_papers(made: RunArrays, run: Run) -> None:
    papers = run.table("papers")
    number = {str(paper): place for place, paper in enumerate(papers["paper"])}
    by, cites = run.table("authorships"), run.table("citations")
    past = cites[~cites["inside"].fillna(False)]
    own = cites[cites["inside"].fillna(False)]
    made.values |= {
        "papers": one_text(papers["paper"]),
        "titles": one_text(papers["title"].fillna("")),
        "past": one_text(sorted(past["cited"].dropna().unique())),
    }
    cited = {name: place for place, name in enumerate(made.values["past"].split("\n"))}
    made.arrays |= {
        "paper_team": _numbers(papers["team"], made.teams),
        "paper_day": _dates(papers["published"]),
        "author_paper": _numbers(by["paper"], number),
        "author_who": _numbers(by["scientist"], made.people),
        "cite_from": _numbers(own["citing"], number),
        "cite_to": _numbers(own["cited"], number),
        "past_from": _numbers(past["citing"], number),
        "past_to": _numbers(past["cited"], cited),
    }


def _add_growth(made: RunArrays, run: Run) -> None:
    """Size of the largest component over time, with the ties before day 0 and without."""
    most = STEPS if len(made.people) <= LARGE else STEPS // 6
    dates = sample_dates(run.days, max(run.days / most, 1.0))
    made.arrays["growth_day"] = np.array(dates, dtype=np.float32)
    for network in ("all", "grown"):
        ties = network_ties(run.table("ties"), network)
        when = ties["date"].to_numpy(dtype=np.float64)
        ends = [_numbers(ties[end], made.people) for end in ("source", "target")]
        largest, tied = [], []
        for date in dates:
            first, second = (numbers[when <= date] for numbers in ends)
            nodes, found = _components(first, second, len(made.people))
            largest.append(found)
            tied.append(nodes)
        made.arrays[f"growth_{network}"] = np.array(largest, dtype=np.uint32)
        made.arrays[f"growth_{network}_tied"] = np.array(tied, dtype=np.uint32)


def _components(
    first: npt.NDArray[np.uint32], second: npt.NDArray[np.uint32], people: int
) -> tuple[int, int]:
    """How many have a tie, and how many of them are in the largest component."""
    ends = (first.astype(np.int64), second.astype(np.int64))
    matrix = sparse.coo_array((np.ones(len(first)), ends), shape=(people, people))
    parts = csgraph.connected_components(matrix.tocsr(), directed=False)[1]
    nodes = len(np.unique(np.concatenate(ends)))
    return nodes, int(np.bincount(parts).max(initial=0)) if nodes else 0


def waits_of(run: Run) -> pd.DataFrame:
    """For whom teams have waited: for the last to finish its homework, and for the last to come.

    A team waits for a scientist from the day on which all others have done their homework of a
    round until that scientist has, and from the date of a meeting until it comes free.
    """
    key = ["team", "stage", "visit", "turn"]
    work = run.table("homework").sort_values([*key, "done"], kind="stable")
    work = work[work["done"].notna().groupby([work[name] for name in key]).transform("all")]
    work = work.assign(days=work.groupby(key)["done"].diff()).groupby(key).tail(1)
    meetings = run.table("meetings").dropna(subset=["waited_for", "held", "due"])
    rows = pd.concat(
        [
            work.rename(columns={"scientist": "who", "done": "day"}),
            meetings.assign(days=meetings["held"] - meetings["due"]).rename(
                columns={"waited_for": "who", "held": "day"}
            ),
        ]
    )[["team", "who", "day", "days"]]
    return rows[rows["days"].fillna(0) > 0].sort_values(["day", "team", "who"], kind="stable")


def one_text(texts: Any) -> str:
    """Texts one a line; line breaks inside them become spaces."""
    return "\n".join(" ".join(str(text).splitlines()) for text in texts)


def _dates(column: pd.Series[Any]) -> npt.NDArray[np.float32]:
    return column.to_numpy(dtype=np.float32, na_value=np.nan)


def _numbers(column: pd.Series[Any], known: dict[str, int]) -> npt.NDArray[np.uint32]:
    numbers = [known.get(str(name), NOBODY) for name in column]
    return np.array(numbers, dtype=np.uint32)


def _codes(column: pd.Series[Any], known: Sequence[str]) -> npt.NDArray[np.uint8]:
    places = {name: place for place, name in enumerate(known)}
    return np.array([places.get(str(name), 255) for name in column], dtype=np.uint8)


KINDS = {"u1": "Uint8Array", "u2": "Uint16Array", "u4": "Uint32Array", "f4": "Float32Array"}
"""Type of a numpy array -> the typed array of the script."""


def pack(
    values: Mapping[str, Any],
    arrays: Mapping[str, npt.NDArray[Any]] | None = None,
    *,
    as_sent: bool = False,
) -> str:
    """Compress values and arrays into one text in base64.

    People bear invented names in it, but in texts ``as_sent`` to a model.

    Layout before compression: the length of the JSON text as uint32, the JSON text in UTF-8, then
    each array from a multiple of 8 bytes on, all little-endian. It is compressed by DEFLATE (RFC
    1951, without a header), and nothing in base64 can end the element of the page that holds it.
    """
    body, listed = b"", []
    for name, array in (arrays or {}).items():
        kind = f"{array.dtype.kind}{array.dtype.itemsize}"
        listed.append([name, KINDS[kind], len(body), len(array)])
        data = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes()
        # A typed array of the script may begin only at a multiple of the size of its numbers.
        body += data + b"\0" * (-len(data) % 8)
    told = json.dumps({"values": values, "arrays": listed}, ensure_ascii=True)
    head = (told if as_sent else with_invented_names(told)).encode()
    head += b" " * (-(len(head) + 4) % 8)
    # Level 6 and no header: the browser reads a raw stream, and the bytes are the same each time.
    squeezed = zlib.compressobj(6, zlib.DEFLATED, -15)
    raw = struct.pack("<I", len(head)) + head + body
    return base64.b64encode(squeezed.compress(raw) + squeezed.flush()).decode("ascii")
