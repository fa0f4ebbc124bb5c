"""The fault server: an OpenAI-compatible server on loopback that counts what it is asked.

It stands for the provider of a language model wherever the live path is tried: it answers right,
slow, wrong, cut, with 429 or 5xx, or drops the connection. Who sends the slots of a request along
(``slots``, which importing this package installs) is answered by the offline scientist; nobody here
is a language model. ``README.md`` beside this file says more.
"""

from tests.faultserver.plan import KINDS, Kind, Plan
from tests.faultserver.process import FaultServer
from tests.faultserver.slots import install

install()

__all__ = ["KINDS", "FaultServer", "Kind", "Plan"]
