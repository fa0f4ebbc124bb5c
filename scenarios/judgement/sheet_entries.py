"""The papers that a sheet can show, without names, and where each is from.

They come from folders of runs and of studies, of which all runs are taken that are done.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from virsci_society.agents.errors import InputError
from virsci_society.agents.files.atomic_files import read_plain_text
from virsci_society.agents.spelling import did_you_mean
from virsci_society.scenarios.judgement.review import read_averages
from virsci_society.scenarios.judgement.review_kinds import KINDS
from virsci_society.scenarios.study.folder import LOCK, done_runs, read_lock
from virsci_society.scenarios.study.status import folder_of
from virsci_society.society.results.run import Run
from virsci_society.society.results.speaker import speaker_of

NOBODY = "[a scientist]"
_MASKED = re.compile(r"\bScientist\s?\d+\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SheetEntry:
    """A paper as a sheet shows it, and its source, which the key holds.

    Attributes:
        run: folder of its run.
        digest: of that run.
        arm: the arm of a study, or the run.
        paper: its id there.
        title: without names.
        abstract: without names.
        speaker: who spoke in the run; the key says so, the sheet does not.
        topic: that the scenario begins from, or else that of its team; of a pair it is the same.
        replicate: what the run shares with the other arms of its study; empty outside of one.
        score: that a panel has given it; None where none is asked for.
    """

    run: str
    digest: str
    arm: str
    paper: str
    title: str
    abstract: str
    speaker: str = ""
    topic: str = ""
    replicate: str = ""
    score: float | None = None

    @property
    def source(self) -> dict[str, str]:
        """Run, digest, arm, paper and speaker, as the key of a sheet holds them."""
        fields = asdict(self)
        return {name: fields[name] for name in ("run", "digest", "arm", "paper", "speaker")}


def blind(text: str, names: Sequence[str] = ()) -> str:
    """A text whose masked and given names are replaced by a placeholder.

    Args:
        text: a title or an abstract.
        names: names of scientists; masked names (``Scientist12``) are always replaced.
    """
    text = _MASKED.sub(NOBODY, text)
    # The longest first: a name within a longer one would leave the rest of it.
    for name in sorted((name for name in names if name.strip()), key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", NOBODY, text)
    return text


def entries_of(runs: Sequence[Path], score: str | None = None) -> list[SheetEntry]:
    """The papers of finished runs, without masked names.

    The arm of a run of a study is what the study says; of any other run, its folder's name.

    Args:
        runs: folders of runs, and of studies, of which all runs are taken that are done.
        score: ``review.KIND.SCORE`` that every paper must have; None: no scores are read.

    Raises:
        InputError: a run that has not finished, a paper without the score, or no paper at all.
    """
    entries = []
    for folder in _run_folders(runs):
        run = Run.open(folder)
        digest, arm = run.digest, arm_of(folder)
        if digest is None:
            raise InputError(f"{folder}: has no digest: the run has not finished")
        speaker, start = speaker_of(run.manifest), _start_of(run.manifest)
        replicate, scores = _replicate_of(folder), _scores_of(folder, score)
        names = run.table("scientists")["scientist"].dropna().tolist()
        papers = run.table("papers")
        # A team that was given no topic, and agreed on none, has a missing value here.
        papers["topic"] = papers["topic"].fillna("")
        for row in papers.to_dict("records"):
            title, abstract = (blind(str(row[part] or ""), names) for part in ("title", "abstract"))
            place = (str(folder), digest, arm, str(row["paper"]))
            topic = blind(start or str(row["topic"]), names)
            given = scores.get(str(row["paper"]))
            entries.append(SheetEntry(*place, title, abstract, speaker, topic, replicate, given))
    if not entries:
        raise InputError("none of these runs has published a paper")
    return entries


def _run_folders(paths: Sequence[Path]) -> Iterator[Path]:
    """Folders of runs as they are, and of a study those of its runs that are done."""
    for path in paths:
        if (path / LOCK).is_file():
            yield from (folder_of(path, one.index) for one in done_runs(path))
        else:
            yield path


def _replicate_of(folder: Path) -> str:
    """The number that a run shares with other arms, where its study pairs them by seed."""
    study = folder.resolve().parent.parent
    lock = read_lock(study)
    name = folder.resolve().name
    if lock is None or not lock.data["paired"] or not name.isdecimal():
        return ""
    return str(int(name) % lock.replicates)


def _scores_of(folder: Path, score: str | None) -> dict[str, float]:
    """A score of the papers of a run, the mean over panels; empty where none is asked for."""
    if score is None:
        return {}
    _, kind, dimension = score.split(".") if score.count(".") == 2 else ("", "", "")
    if dimension not in (KINDS[kind].scores if kind in KINDS else ()):
        known = [f"review.{name}.{one}" for name, kind in KINDS.items() for one in kind.scores]
        raise InputError(
            f"--tiers {score}: no score of a review{did_you_mean(score, known)}; there are "
            f"{', '.join(known)}"
        )
    table = read_averages(folder).dropna(subset=["score"])
    mine = table[(table["kind"] == kind) & (table["dimension"] == dimension)]
    if not len(mine):
        raise InputError(
            f"{folder}: has no {score}; 'society review RUN --kind {kind}' of it, or of its study, "
            "gives it"
        )
    return {
        str(paper): float(mean) for paper, mean in mine.groupby("paper")["score"].mean().items()
    }


def of_arms(entries: Sequence[SheetEntry], arms: Sequence[str]) -> list[SheetEntry]:
    """The papers of some arms; of all where none is named.

    Raises:
        InputError: an arm has no paper among these.
    """
    known = list(dict.fromkeys(one.arm for one in entries))
    for arm in arms:
        if arm not in known:
            hint = did_you_mean(arm, known)
            raise InputError(f"--arm {arm}: no arm of these runs{hint}; {', '.join(known)} are")
    return [one for one in entries if not arms or one.arm in arms]


def _start_of(manifest: Mapping[str, Any]) -> str:
    """The topic from which all teams of a run begin; empty where each finds, or is given, one."""
    topic = manifest["scenario"]["protocol"].get("topic")
    return str(topic.get("start") or "") if isinstance(topic, dict) else ""


def arm_of(folder: Path) -> str:
    """The arm of a run: its study's name for it, or the name of the folder."""
    place = folder.resolve()
    path = place.with_name(f"{place.name}.status.json")
    try:
        status = json.loads(read_plain_text(path))
    except FileNotFoundError:
        status = {}
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    arm = status.get("arm") if isinstance(status, dict) else None
    return str(arm or place.name)
