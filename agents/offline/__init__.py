"""Rule-based scientists, which need no model, no key and no network.

Read ``backend`` first, then ``decisions``, ``topics``, ``ideas``, ``abstracts`` and ``reviewing``:
one function per form. They are built on ``constants``, ``random_choice``, ``text``, ``terms`` and
``templates``. ``schema_filler`` answers forms without a rule, and ``model_mimic`` imitates the
lengths and frequencies of a model for planning. ``docs/offline.md`` explains the rules.
"""

from typing import TYPE_CHECKING

from agents.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from agents.backends.model_mimic import MimicSettings as MimicSettings
    from agents.backends.model_mimic import ModelMimic as ModelMimic
    from agents.offline.backend import Offline as Offline

__all__ = ["MimicSettings", "ModelMimic", "Offline"]

__getattr__ = lazy_exports(
    __name__,
    {
        "MimicSettings": "agents.backends.model_mimic",
        "ModelMimic": "agents.backends.model_mimic",
        "Offline": "agents.offline.backend",
    },
)
