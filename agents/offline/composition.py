"""Composition: every text the offline scientist writes, gathered under one name."""

from agents.offline.abstracts import draft, revision
from agents.offline.ideas import idea
from agents.offline.topics import guest, remark, summary, topic

__all__ = ["draft", "guest", "idea", "remark", "revision", "summary", "topic"]
