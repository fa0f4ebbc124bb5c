"""People, ties, teams, meetings and papers of a run as number arrays for the explorer.

Dates are days since day 0; a missing date is NaN and a missing number ``NOBODY``.
"""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse
from scipy.sparse import csgraph

from virsci_society.agents.arrays import FloatArray, IntArray
from virsci_society.agents.invented_names import with_invented_names
from virsci_society.metrics.network_layout import Communities, spiral
from virsci_society.metrics.networks.structure import network_ties, sample_dates
from virsci_society.metrics.report.drawing.svg import COLOURS
from virsci_society.society.results.run import Run

Known = Mapping[str, int]
"""The numbers of scientists, teams or papers by their names."""
NOBODY = 2**32 - 1
STATES = ("running", "finished", "published", "dissolved")
OUTCOMES = ("accepted", "declined", "full", "gone")
STEPS, LARGE = 120, 20_000
"""Most dates of the curve of the largest component; a sixth of it for networks of this size."""
PLACES = 65_535


@dataclass
class RunArrays:
    """What the explorer draws of a run, and the numbers of its scientists and teams."""

    people: Known
    teams: Known
    values: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, npt.NDArray[Any]] = field(default_factory=dict)

    def add(
        self,
        kind: str,
        table: pd.DataFrame,
        dates: str = "",
        numbered: Mapping[str, tuple[str, Known]] = {},
    ) -> None:
        """Add dates, and columns by the numbers of what they name, as arrays ``KIND_NAME``."""
        for name in dates.split():
            dated = table[name].to_numpy(dtype=np.float32, na_value=np.nan)
            self.arrays[f"{kind}_{name}"] = dated
        for name, (column, known) in numbered.items():
            self.arrays[f"{kind}_{name}"] = numbers_of(table[column], known)


def numbers_of(names: Iterable[Any], known: Known) -> npt.NDArray[np.uint32]:
    """The number of each name, ``NOBODY`` where it has none."""
    return np.array([known.get(str(name), NOBODY) for name in names], dtype=np.uint32)


def place_everybody(whole: Communities, names: Sequence[str]) -> tuple[FloatArray, IntArray]:
    """Where everybody is drawn (n x 2, in the unit square), and in which community."""
    rows = pd.Index(whole.names).get_indexer(pd.Index(names, dtype=object))
    tied, alone = rows >= 0, np.arange(int((rows < 0).sum()))
    community = np.full(len(names), PLACES, dtype=np.int64)
    community[tied] = whole.community[rows[tied]]
    disc = 0.5 * np.sqrt((alone + 0.5) / max(len(names), 1))
    positions = np.zeros((len(names), 2))
    positions[tied] = whole.positions[rows[tied]]
    right = 1.05 + disc.max(initial=0.0) if tied.any() else 0.0
    positions[~tied] = np.array([right, 0.5]) + spiral(disc, alone)
    # The page of a run counts upwards, a canvas downwards.
    positions[:, 1] *= -1
    positions -= positions.min(axis=0) if len(names) else 0.0
    positions /= max(positions.max(initial=0.0), 1e-9)
    return positions + (1 - positions.max(axis=0, initial=0.0)) / 2, community


def names_of(run: Run) -> list[str]:
    """Everybody who is in a table of the run, ``scientists`` first."""
    ties = run.table("ties")
    others = pd.concat([ties["source"], ties["target"], run.table("members")["scientist"]])
    listed = run.table("scientists")["scientist"]
    return list(dict.fromkeys([*listed, *sorted(others.dropna().unique())]))


def arrays_of(run: Run, names: Sequence[str], whole: Communities) -> RunArrays:
    """All arrays of a run."""
    teams = run.table("teams")
    made = RunArrays(
        {name: number for number, name in enumerate(names)},
        {str(team): number for number, team in enumerate(teams["team"])},
    )
    _add_people(made, run, names, whole)
    _add_ties(made, run)
    _add_teams(made, run)
    _add_papers(made, run)
    _add_growth(made, run)
    return made


def _add_people(made: RunArrays, run: Run, names: Sequence[str], whole: Communities) -> None:
    people = run.table("scientists").set_index("scientist").reindex(list(names))
    topics, known = pd.factorize(people["topic"].fillna(""), sort=True)
    careers = run.table("careers")
    gone = careers[careers["change"] != "arrived"]
    left = gone.groupby("scientist")["date"].max().reindex(list(names))
    positions, community = place_everybody(whole, names)
    places = np.round(positions * PLACES).astype(np.uint16)
    made.values |= {
        "names": one_text(names),
        # Without the word, which would be a name that the page invents.
        "numbers": one_text(name.removeprefix("Scientist") for name in names),
        "topics": [str(topic) for topic in known],
        "method": whole.method,
        # The page has colours for the largest; the names of all would be megabytes.
        "communities": list(zip(whole.labels, whole.sizes.tolist(), strict=True))[: len(COLOURS)],
    }
    made.arrays |= {
        "x": places[:, 0],
        "y": places[:, 1],
        # Two bytes per number: larger values are clipped.
        "community": np.minimum(community, PLACES).astype(np.uint16),
        "topic": topics.astype(np.uint16),
        "arrived": people["arrived"].to_numpy(dtype=np.float32, na_value=np.nan),
        "left": left.to_numpy(dtype=np.float32, na_value=np.nan),
        "before": np.minimum(people["papers"].fillna(0).astype(int), PLACES).astype(np.uint16),
    }


def _add_ties(made: RunArrays, run: Run) -> None:
    """Ties with those before day 0 first; the numbers of the first ends as differences."""
    ties = network_ties(run.table("ties"), "all")
    ends = np.column_stack([numbers_of(ties[end], made.people) for end in ("source", "target")])
    dates = ties["date"].to_numpy(dtype=np.float32)
    ends.sort(axis=1)
    dates = np.where(dates < 0, np.float32(-1), dates)  # the page tells no earlier dates apart
    order = np.lexsort((ends[:, 1], ends[:, 0], dates))
    # Half of a network of 100,000 scientists is ties before day 0: differences compress well.
    first = np.diff(ends[order, 0], prepend=np.uint32(0)).astype(np.uint32)
    made.arrays |= {"tieA": first, "tieB": ends[order, 1], "tieDay": dates[order]}


def _add_teams(made: RunArrays, run: Run) -> None:
    """Teams, memberships, meetings, waiting and invitations."""
    teams, people, meetings = made.teams, made.people, run.table("meetings")
    stages = sorted(str(stage) for stage in meetings["stage"].dropna().unique())
    made.values |= {
        "teams": one_text(run.table("teams")["team"]),
        **{"states": STATES, "outcomes": OUTCOMES, "meeting_stages": stages},
    }
    team, who = ("team", teams), ("scientist", people)
    numbered = {"leader": ("leader", people), "state": ("state", _places(STATES))}
    made.add("team", run.table("teams"), "founded formed finished published", numbered)
    made.add("member", run.table("members"), "joined left", {"team": team, "who": who})
    numbered = {"team": team, "stage": ("stage", _places(stages))}
    made.add("meeting", meetings, "held", numbered)
    made.add("wait", waits_of(run), "day days", {"team": team, "who": ("who", people)})
    numbered = {"who": ("invitee", people), "outcome": ("outcome", _places(OUTCOMES))}
    made.add("invited", run.table("invitations"), "sent answered", {"team": team, **numbered})


def _places(names: Iterable[str]) -> dict[str, int]:
    return {name: place for place, name in enumerate(names)}


def _add_papers(made: RunArrays, run: Run) -> None:
    papers, cites = run.table("papers"), run.table("citations")
    inside = cites["inside"].fillna(False)
    past = sorted(cites[~inside]["cited"].dropna().unique())
    number = _places(papers["paper"])
    made.values |= {
        "papers": one_text(papers["paper"]),
        "titles": one_text(papers["title"].fillna("")),
        "past": one_text(past),
    }
    made.add("paper", papers, "published", {"team": ("team", made.teams)})
    numbered = {"paper": ("paper", number), "who": ("scientist", made.people)}
    made.add("author", run.table("authorships"), "", numbered)
    citing = "citing", number
    made.add("cite", cites[inside], "", {"from": citing, "to": ("cited", number)})
    made.add("past", cites[~inside], "", {"from": citing, "to": ("cited", _places(past))})


def _add_growth(made: RunArrays, run: Run) -> None:
    """Size of the largest component over time, with the ties before day 0 and without."""
    count = len(made.people)
    most = STEPS if count <= LARGE else STEPS // 6
    dates = sample_dates(run.days, max(run.days / most, 1.0))
    made.arrays["growth_day"] = np.array(dates, dtype=np.float32)
    for network in ("all", "grown"):
        ties = network_ties(run.table("ties"), network)
        when = ties["date"].to_numpy(dtype=np.float64)
        ends = [numbers_of(ties[end], made.people).astype(int) for end in ("source", "target")]
        sizes = []
        for date in dates:
            first, second = (numbers[when <= date] for numbers in ends)
            matrix = sparse.coo_array((np.ones(len(first)), (first, second)), shape=(count, count))
            parts = csgraph.connected_components(matrix.tocsr(), directed=False)[1]
            tied = len(np.unique(np.concatenate([first, second])))
            sizes.append((np.bincount(parts).max(initial=0) if tied else 0, tied))
        largest, tied_people = np.array(sizes, dtype=np.uint32).T
        made.arrays |= {f"growth_{network}": largest, f"growth_{network}_tied": tied_people}


def waits_of(run: Run) -> pd.DataFrame:
    """For whom teams have waited: for the last to finish its homework, and for the last to come."""
    key = ["team", "stage", "visit", "turn"]
    work = run.table("homework").sort_values([*key, "done"], kind="stable")
    work = work[work["done"].notna().groupby([work[name] for name in key]).transform("all")]
    work = work.assign(days=work.groupby(key)["done"].diff()).groupby(key).tail(1)
    work = work.rename(columns={"scientist": "who", "done": "day"})
    meetings = run.table("meetings").dropna(subset=["waited_for", "held", "due"])
    meetings = meetings.assign(days=meetings["held"] - meetings["due"])
    meetings = meetings.rename(columns={"waited_for": "who", "held": "day"})
    rows = pd.concat([work, meetings])[["team", "who", "day", "days"]]
    return rows[rows["days"].fillna(0) > 0].sort_values(["day", "team", "who"], kind="stable")


def one_text(texts: Any) -> str:
    """Texts one a line; line breaks inside them become spaces."""
    return "\n".join(" ".join(str(text).splitlines()) for text in texts)


KINDS = {"u1": "Uint8Array", "u2": "Uint16Array", "u4": "Uint32Array", "f4": "Float32Array"}
"""Type of a numpy array -> the typed array of the script."""


def pack(
    values: Mapping[str, Any],
    arrays: Mapping[str, npt.NDArray[Any]] | None = None,
    *,
    as_sent: bool = False,
) -> str:
    """Compress values and arrays into one text in base64, which can end no element of a page.

    Length of the JSON text as uint32, the text, then each array from a multiple of 8 bytes on,
    little-endian, all by DEFLATE; people bear invented names, but in texts ``as_sent``.
    """
    body, listed = b"", []
    for name, array in (arrays or {}).items():
        kind = f"{array.dtype.kind}{array.dtype.itemsize}"
        listed.append([name, KINDS[kind], len(body), len(array)])
        data = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).tobytes()
        # A typed array of the script may begin only at a multiple of the size of its numbers.
        body += data + b"\0" * (-len(data) % 8)
    text = json.dumps({"values": values, "arrays": listed}, ensure_ascii=True)
    head = (text if as_sent else with_invented_names(text)).encode()
    head += b" " * (-(len(head) + 4) % 8)
    # Level 6 and no header: the browser reads a raw stream, and the bytes are the same each time.
    squeezed = zlib.compressobj(6, zlib.DEFLATED, -15)
    raw = struct.pack("<I", len(head)) + head + body
    return base64.b64encode(squeezed.compress(raw) + squeezed.flush()).decode("ascii")
