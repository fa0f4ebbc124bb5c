"""What a run's scientists wrote as a data set that can be shared.

Read ``dataset`` (the tables), then ``croissant`` (metadata for machines); the datasheet for people
is the template ``datasheet.txt``.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from metrics.dataset.dataset import write_dataset as write_dataset

__all__ = ["write_dataset"]
__getattr__ = lazy_exports(__name__, {"write_dataset": "metrics.dataset.dataset"})
