"""The world that teams share, and the life of one team from its founding to its paper.

Read ``contracts`` (the classes to subclass), ``team`` and ``lab`` (what a protocol works with),
then ``world``, ``lifecycle`` and ``founding_process``. ``library`` has the searches of a team,
``people`` its members, meetings, homework and guests, ``publication`` what becomes of manuscripts.
"""
