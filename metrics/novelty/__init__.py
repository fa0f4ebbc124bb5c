"""Novelty of abstracts, by VirSci's distances and by combinations of topics.

Read ``novelty`` first: HD, CD, CI and ON, and the databases they are measured against;
``nearest_papers`` finds the neighbours. ``topic_combinations`` is Uzzi's measure.
``training_leaks`` looks for signs that the model knew the papers of the future.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from metrics.novelty.novelty import Database as Database
    from metrics.novelty.novelty import Databases as Databases
    from metrics.novelty.novelty import Novelty as Novelty
    from metrics.novelty.novelty import novelty_scores as novelty_scores
    from metrics.novelty.novelty import run_novelty as run_novelty
    from metrics.novelty.training_leaks import Cutoff as Cutoff
    from metrics.novelty.training_leaks import training_cutoff as training_cutoff

__all__ = [
    "Cutoff",
    "Database",
    "Databases",
    "Novelty",
    "novelty_scores",
    "run_novelty",
    "training_cutoff",
]
__getattr__ = lazy_exports(
    __name__,
    {
        "Cutoff": "metrics.novelty.training_leaks",
        "Database": "metrics.novelty.novelty",
        "Databases": "metrics.novelty.novelty",
        "Novelty": "metrics.novelty.novelty",
        "novelty_scores": "metrics.novelty.novelty",
        "run_novelty": "metrics.novelty.novelty",
        "training_cutoff": "metrics.novelty.training_leaks",
    },
)
