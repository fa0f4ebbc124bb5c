"""The fault server: an OpenAI-compatible server on loopback that counts what it is asked."""

from tests.faultserver.plan import KINDS, Kind, Plan
from tests.faultserver.process import FaultServer
from tests.faultserver.slots import install

install()

__all__ = ["KINDS", "FaultServer", "Kind", "Plan"]
