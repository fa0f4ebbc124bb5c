"""Is the offline mechanism alive? How HD, CD, CI and ON depend on who is in the team.

Prints, over 30 seeds, the four measures of the society's abstracts (default variants of
``metrics.novelty.novelty``, against the ecosystem's past and contemporary papers) by team size,
turns, freshness and diversity, with t intervals over seeds; then every contrast of two arms, paired
by seed, with Holm's correction over all contrasts printed.

- A replicate is a seed: one society with one team, the same leader and the same ecosystem in
  every arm. Seeds are spread evenly over a few ecosystems.
- The contrast named beforehand is HD at diversity 1 less HD at diversity 1/n, n = 8.
- Its negative control shuffles profiles among scientists: whole lists of interests change hands
  at random, while team building (targets, invitations) believes the true ones. The control's
  teams are the same people, seat by seat; only whose interests they speak of is left to chance.
- In a second control the last idea is taken, so that no rule that looks at distances decides.
- Freshness is also varied with diversity held at 1/2, because co-authors share topics: each of
  the two targets moves the other, which the table of arms shows.
- Leaders who cannot build the team of every arm are replaced, in all arms alike.

The scientists are rule-based, not a language model: what comes out is a property of the rules in
``docs/offline.md``, none of which mentions a measure, and no evidence about real scientists.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from virsci_society.agents.offline.backend import Offline
from virsci_society.agents.offline.terms import text_without_frames
from virsci_society.metrics.inference.comparisons import detectable_effect, holm
from virsci_society.metrics.inference.intervals import Interval, t_interval
from virsci_society.metrics.novelty.novelty import COLUMNS, novelty_scores
from virsci_society.metrics.novelty.other_papers import databases_of
from virsci_society.metrics.teams.teams import diversity, freshness
from virsci_society.protocols.virsci.protocol import VirSci
from virsci_society.society.ecosystem.ecosystem import Ecosystem
from virsci_society.society.ecosystem.knowledge_bank import KnowledgeBank
from virsci_society.society.ecosystem.synthetic.synthetic import Synthetic
from virsci_society.society.ecosystem.synthetic.text import research_fields
from virsci_society.society.formation.founding import Once
from virsci_society.society.kernel.durations import Times
from virsci_society.society.kernel.streams import Streams
from virsci_society.society.literature.embedding.base import paper_text
from virsci_society.society.literature.papers import Paper
from virsci_society.society.model import Society

WORLD = Synthetic(scientists=200, papers=1500)
AT_ONCE = Times(homework=None, meeting_notice=0, reply_window=0, publication_delay=0)
N = 8
FIRST_WORDS = 200
LEADERS = 20
"""Leaders tried for one seed before the benchmark gives up."""


@dataclass(frozen=True)
class Arm:
    """One way to build and run a team."""

    size: int = N
    turns: int = 5
    freshness: float | None = None
    diversity: float | None = None
    shuffled: bool = False
    assessment: str = "on"


Families = Mapping[str, Mapping[str, Arm]]
TRUE, SHUFFLED, LAST = "diversity", "diversity, shuffled", "diversity, last idea"
LEAST, MIDDLE, MOST = "1/n", "1/2", "1"
WITHIN = {LEAST: 1 / N, MIDDLE: 0.5, MOST: 1.0}


def every_family() -> Families:
    """All arms; the smallest and the strictest teams first, where a leader may fail."""
    return {
        "freshness": {f"{share:g}": Arm(freshness=share) for share in (0.0, 0.5, 1.0)},
        "freshness, diversity 1/2": {
            f"{share:g}": Arm(freshness=share, diversity=0.5) for share in (0.0, 1.0)
        },
        **diversity_families(),
        LAST: {name: Arm(diversity=WITHIN[name], assessment="off") for name in (LEAST, MOST)},
        "team size": {str(n): Arm(size=n) for n in (1, 2, 4, 6, 8)},
        "turns": {str(turns): Arm(size=4, turns=turns) for turns in (1, 2, 3, 5)},
    }


def diversity_families(turns: int = 5, middle: bool = True) -> Families:
    """The named contrast and its negative control."""
    shares = {name: share for name, share in WITHIN.items() if middle or name != MIDDLE}
    return {
        family: {
            name: Arm(turns=turns, diversity=share, shuffled=family == SHUFFLED)
            for name, share in shares.items()
        }
        for family in (TRUE, SHUFFLED)
    }


class Shuffled(Society):
    """A society whose team building believes the true profiles, and whose words do not.

    Args:
        true: the ecosystem as it is.
        seed: of everything random, the shuffling included.
        **more: as ``Society``.
    """

    def __init__(self, true: Ecosystem, *, seed: int, **more: Any) -> None:
        order = Streams(seed).stream("shuffled profiles").permutation(len(true.profiles))
        given = [true.profiles[row].interests for row in order]
        profiles = tuple(
            replace(profile, interests=interests)
            for profile, interests in zip(true.profiles, given, strict=True)
        )
        super().__init__(replace(true, profiles=profiles), seed=seed, **more)
        self._true = true
        self._believed = KnowledgeBank(true.profiles, true.embedding)
        self._acquaintance = self.world.acquaintance
        # Team building asks the world; only these two of its answers come from the true profiles.
        self.world.topic = self._true_topic
        self.world.acquaintance = self._true_acquaintance

    def _true_topic(self, row: int) -> str:
        """The main topic that the target of team building counts."""
        return self._true.profiles[row].topic

    def _true_acquaintance(self, one: str, other: str) -> dict[str, Any]:
        """Joint papers, and the similarity by which an invitation is accepted."""
        version = self._believed.visible(self.day)
        similarity = self._believed.similarity(one, other, version)
        return self._acquaintance(one, other) | {"similarity": similarity}


def work(ecosystem: Ecosystem, arm: Arm, seed: int) -> tuple[Society, Paper | None]:
    """One team, from its leader to its paper, or to none."""
    make: Any = Shuffled if arm.shuffled else Society
    society = make(
        ecosystem,
        protocol=VirSci(
            team_size=arm.size,
            min_size="all",
            max_invitations=len(ecosystem.profiles),
            turns=arm.turns,
            freshness=arm.freshness,
            diversity=arm.diversity,
            novelty_assessment=arm.assessment,
            topic={"leaving": "off", "restarts": 20},
        ),
        founding=Once(count=1),
        times=AT_ONCE,
        attention="unlimited",
        backend=Offline(),
        until=60.0,
        seed=seed,
    )
    society.run_to_end()
    written = [paper for paper in society.literature.papers if paper.date >= 0]
    return society, written[0] if written else None


def measure(ecosystem: Ecosystem, arm: Arm, seed: int) -> dict[str, float] | None:
    """What one team was and wrote, in numbers; None if it wrote nothing."""
    society, paper = work(ecosystem, arm, seed)
    if paper is None:
        return None
    rows = society.population.rows
    spoken = [society.ecosystem.profiles[rows[author]].interests for author in paper.authors]
    texts = {
        "": paper_text(paper.title, paper.abstract),
        " first words": " ".join(paper.abstract.split()[:FIRST_WORDS]),
        " terms only": text_without_frames(paper.abstract),
        " interests": "; ".join(term for interests in spoken for term in interests),
    }
    databases = databases_of(ecosystem)
    vectors = ecosystem.embedding.encode(list(texts.values()))
    table = novelty_scores(vectors, databases.past, databases.contemporary)
    raw = float(table["HD_raw"][0])
    checks = {f"HD{name}": float(table["HD"][row]) for row, name in enumerate(texts) if name}
    topics = [ecosystem.profiles[rows[author]].topic for author in paper.authors]
    names = society.population.names
    pairs = {
        (min(names[i], names[j]), max(names[i], names[j]))
        for i, j, _ in society.network.ties_before_day_0()
    }
    return {
        **{name: float(table[name][0]) for name in COLUMNS},
        **checks,
        "HD raw": raw,
        "size": len(paper.authors),
        "freshness": freshness(paper.authors, pairs),
        "diversity": diversity(topics),
        "spoken": diversity([interests[0] for interests in spoken]),
        "words": len(paper.abstract.split()),
        "fields": fields_named(texts[""]),
    }


def fields_named(text: str) -> float:
    """Effective number of research fields whose terms a text holds (inverse Simpson)."""
    low = text.lower()
    counts = np.array([sum(low.count(term.lower()) for term in terms) for terms in _vocabulary()])
    total = counts.sum()
    return float(total**2 / np.square(counts).sum()) if total else 0.0


def _vocabulary() -> list[tuple[str, ...]]:
    return [(f.head, *f.themes, *f.methods, *f.objects, *f.measures) for f in research_fields()]


@dataclass(frozen=True)
class Replicate:
    """One seed: the same leader and ecosystem in every arm.

    Attributes:
        seed: of the replicate.
        world: seed of its ecosystem.
        failed: the arm at which each leader that was replaced had no paper.
        values: what was measured in each arm.
    """

    seed: int
    world: int
    failed: tuple[Arm, ...]
    values: dict[Arm, dict[str, float]]


def replicates(
    world: int, seeds: Sequence[int], arms: Sequence[Arm], source: Synthetic = WORLD
) -> list[Replicate]:
    """Every arm for some seeds in one ecosystem."""
    ecosystem = source.generate(world)
    return [_replicate(ecosystem, world, seed, arms) for seed in seeds]


def _replicate(ecosystem: Ecosystem, world: int, seed: int, arms: Sequence[Arm]) -> Replicate:
    failed: list[Arm] = []
    while len(failed) < LEADERS:
        values: dict[Arm, dict[str, float]] = {}
        for arm in arms:
            found = measure(ecosystem, arm, 1000 * seed + len(failed))
            if found is None:
                failed.append(arm)
                break
            values[arm] = found
        else:
            return Replicate(seed, world, tuple(failed), values)
    raise SystemExit(f"seed {seed}: none of {LEADERS} leaders could build the team of every arm")


@dataclass(frozen=True)
class Contrast:
    """Two arms compared seed by seed.

    Attributes:
        family: what is varied.
        measure: what is compared.
        arms: the two labels; the first less the second.
        gap: mean difference with its t interval.
        p: two-sided, paired t.
        holm: adjusted over all contrasts printed.
        effect: mean difference over the standard deviation of the differences.
    """

    family: str
    measure: str
    arms: tuple[str, str]
    gap: Interval
    p: float
    holm: float
    effect: float


def differences(
    found: Sequence[Replicate], high: Arm, low: Arm, name: str, less: tuple[Arm, Arm] | None = None
) -> np.ndarray[Any, Any]:
    """One number per seed; with ``less``, the difference of two differences."""
    gaps = [one.values[high][name] - one.values[low][name] for one in found]
    if less is not None:
        other = differences(found, *less, name)
        return np.asarray(np.array(gaps) - other)
    return np.array(gaps)


def contrasts(found: Sequence[Replicate], families: Families) -> list[Contrast]:
    """Every pair of arms in every measure, the checks of the named contrast, then Holm."""
    samples: dict[tuple[str, str, tuple[str, str]], np.ndarray[Any, Any]] = {}
    for family, arms in families.items():
        for low, high in combinations(arms, 2):
            for name in COLUMNS:
                at = family, name, (high, low)
                samples[at] = differences(found, arms[high], arms[low], name)
    ends = {
        family: (families[family][MOST], families[family][LEAST]) for family in (TRUE, SHUFFLED)
    }
    for name in COLUMNS:
        gap = differences(found, *ends[TRUE], name, less=ends[SHUFFLED])
        samples[f"{TRUE} less shuffled", name, (MOST, LEAST)] = gap
    for family, names in CHECKS.items():
        arms = families.get(family, {})
        for low, *_, high in [tuple(arms)] if arms else []:
            for name in names:
                samples[family, name, (high, low)] = differences(found, arms[high], arms[low], name)
    p_values = [_p(sample) for sample in samples.values()]
    return [
        Contrast(*at, t_interval(sample), p, adjusted, _effect(sample))
        for (at, sample), p, adjusted in zip(samples.items(), p_values, holm(p_values), strict=True)
    ]


_CONTENT = ("HD raw", "HD first words", "HD terms only", "HD interests", "words", "fields")
CHECKS = {
    TRUE: _CONTENT,
    SHUFFLED: _CONTENT,
    "team size": ("words", "HD first words"),
    "turns": ("words", "HD first words"),
}
"""What else the two ends of a family are compared in: is it length, wording or content?"""


def _p(sample: np.ndarray[Any, Any]) -> float:
    """Two-sided p of the paired t test; 1 where nothing ever differs."""
    return float(stats.ttest_1samp(sample, 0.0).pvalue) if np.ptp(sample) > 0 else 1.0


def _effect(sample: np.ndarray[Any, Any]) -> float:
    spread = sample.std(ddof=1)
    return float(sample.mean() / spread) if spread > 0 else 0.0


def named(found: Iterable[Contrast], family: str = TRUE, name: str = "HD") -> Contrast:
    """The contrast of the two ends of diversity: by default the one named beforehand."""
    return next(
        one for one in found if (one.family, one.measure, one.arms) == (family, name, (MOST, LEAST))
    )


ATTAINED = ("size", "freshness", "diversity", "spoken", "words", "fields")


def show_heading(found: Sequence[Replicate], families: Families) -> None:
    """Who spoke, how often, and what the columns mean."""
    print(f"Who speaks: {Offline().about}. Every direction below is a property of")
    print("the rules in docs/offline.md, none of which mentions a measure.")
    worlds = len({one.world for one in found})
    print(
        f"{len(found)} seeds in {worlds} ecosystems, one team each; two unpaired arms find "
        f"d >= {detectable_effect(len(found)):.2f} at 80 % power"
    )
    failed = Counter(arm for one in found for arm in one.failed)
    where = [
        f"{family} {label}: {failed.pop(arm)}"
        for family, arms in families.items()
        for label, arm in arms.items()
        if arm in failed
    ]
    print(f"Leaders replaced in all arms, by the arm they failed at: {'; '.join(where) or 'none'}")
    if len(found) < 5:
        print("Fewer than 5 replicates are a sketch.")
    print("Default: n = 8, 5 turns; turns at n = 4. Means over seeds with 95 % t intervals.")
    print("spoken: diversity of what members talk about; fields: effective number in the text.")
    print(
        f"HD raw: not normalised; first words: the first {FIRST_WORDS} of the abstract; terms only:"
    )
    print("without the wording of frames; interests: of the members' lists, nothing else.")


def show_arms(found: Sequence[Replicate], families: Families) -> None:
    """Means over seeds by arm: what was attained, and the four measures with intervals."""
    for family, arms in families.items():
        print(f"\n{family:<26}" + "".join(f"{name:>10}" for name in ATTAINED), end="")
        print("".join(f"{name:>15}" for name in COLUMNS))
        for label, arm in arms.items():
            columns = {
                name: t_interval([one.values[arm][name] for one in found])
                for name in (*ATTAINED, *COLUMNS)
            }
            attained = "".join(f"{columns[name].value:>10.2f}" for name in ATTAINED)
            print(f"{label:<26}{attained}" + "".join(_cell(columns[name]) for name in COLUMNS))


def _cell(interval: Interval) -> str:
    text = f"{interval.value:.3f} ±{interval.high - interval.value:.3f}"
    return f"{text:>15}"


def show_contrasts(found: Sequence[Contrast]) -> None:
    """Every contrast on a line."""
    print(f"\nContrasts, paired by seed; Holm over all {len(found)}")
    print(f"{'':<26}{'arms':<12}{'measure':<16}{'difference':>26}{'d_z':>8}{'p':>10}{'Holm':>10}")
    for one in found:
        gap = f"{one.gap.value:+.3f} [{one.gap.low:+.3f}, {one.gap.high:+.3f}]"
        arms = f"{one.arms[0]} - {one.arms[1]}"
        mark = " *" if one.holm < 0.05 else ""
        print(
            f"{one.family:<26}{arms:<12}{one.measure:<16}{gap:>26}{one.effect:>8.2f}"
            f"{one.p:>10.2g}{one.holm:>10.2g}{mark}"
        )


def show_named(found: Sequence[Replicate], all_: Sequence[Contrast], families: Families) -> None:
    """The contrast named beforehand, its controls, and its value in each ecosystem."""
    true, control = named(all_), named(all_, SHUFFLED)
    high, low = families[TRUE][MOST], families[TRUE][LEAST]
    gaps = differences(found, high, low, "HD")
    wide = t_interval(gaps, 1 - 0.05 / len(all_))
    print(f"\nNamed beforehand: HD, diversity {MOST} less {LEAST}, n = {N}")
    print(f"  true profiles      {_line(true)}")
    print(f"    at level 1 - 0.05/{len(all_)}: [{wide.low:+.3f}, {wide.high:+.3f}]")
    print(f"    excludes zero after Holm: {_yes(true.holm < 0.05)}")
    print(f"  shuffled profiles  {_line(control)}")
    far = max(abs(control.gap.low), abs(control.gap.high)) / abs(true.gap.value)
    inside = control.gap.low <= 0 <= control.gap.high
    print(f"    interval holds zero: {_yes(inside)}; its far end is {far:.0%} of the effect above")
    print(f"  true less shuffled {_line(named(all_, f'{TRUE} less shuffled'))}")
    if LAST in families:
        print(f"  last idea taken    {_line(named(all_, LAST))}")
    worlds = sorted({one.world for one in found})
    means = [float(gaps[[one.world == world for one in found]].mean()) for world in worlds]
    print("  by ecosystem       " + "  ".join(f"{mean:+.3f}" for mean in means))
    if len(worlds) > 1:
        over = t_interval(means)
        print(f"    t over {over.n} ecosystems: [{over.low:+.3f}, {over.high:+.3f}]")


def _line(one: Contrast) -> str:
    return (
        f"{one.gap.value:+.3f} [{one.gap.low:+.3f}, {one.gap.high:+.3f}]"
        f"  p {one.p:.2g}  Holm {one.holm:.2g}"
    )


def _yes(holds: bool) -> str:
    return "yes" if holds else "NO"


def run_all(seeds: int, worlds: int, jobs: int, families: Families) -> list[Replicate]:
    """Every replicate, the ecosystems shared out over processes."""
    arms = list(dict.fromkeys(arm for family in families.values() for arm in family.values()))
    worlds = min(worlds, seeds)
    shares = [list(range(world, seeds, worlds)) for world in range(worlds)]
    found: list[Replicate] = []
    # Mesa starts threads on import, so a forked process could hang.
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        task = partial(_task, arms=arms)
        for number, part in enumerate(pool.imap_unordered(task, enumerate(shares)), start=1):
            found += part
            print(f"{number} of {worlds} ecosystems done", file=sys.stderr, flush=True)
    return sorted(found, key=lambda one: one.seed)


def _task(share: tuple[int, Sequence[int]], arms: Sequence[Arm]) -> list[Replicate]:
    return replicates(*share, arms)


def as_json(found: Sequence[Replicate], all_: Sequence[Contrast], families: Families) -> str:
    """Every number behind the tables."""
    values = [
        {
            "seed": one.seed,
            "ecosystem": one.world,
            "family": family,
            "arm": label,
            **one.values[arm],
        }
        for one in found
        for family, arms in families.items()
        for label, arm in arms.items()
    ]
    about = Offline().about
    return json.dumps(
        {"about": about, "values": values, "contrasts": [asdict(one) for one in all_]}, indent=1
    )


def main() -> None:
    """Run every arm and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="30 seeds")
    parser.add_argument("--seeds", type=int, help="societies of an arm (3; with --full 30)")
    parser.add_argument("--worlds", type=int, default=6, help="ecosystems the seeds share")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path, default=Path(__file__).with_suffix(".json"))
    args = parser.parse_args()
    args.seeds = args.seeds or (30 if args.full else 3)
    if args.seeds < 2:
        parser.error("an interval needs at least two seeds")
    start = time.perf_counter()
    # One thread per process: the arrays are small, and the processes share the cores.
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    families = every_family()
    found = run_all(args.seeds, args.worlds, args.jobs, families)
    all_ = contrasts(found, families)
    show_heading(found, families)
    show_arms(found, families)
    show_contrasts(all_)
    show_named(found, all_, families)
    args.json.write_text(as_json(found, all_, families) + "\n", encoding="utf-8")
    print(f"\n{time.perf_counter() - start:.0f} s; every number in {args.json}")


if __name__ == "__main__":
    main()
