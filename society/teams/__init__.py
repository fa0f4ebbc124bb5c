"""The world that teams share, and the life of one team from its founding to its paper.

Read ``contracts`` (the classes to subclass), ``team`` and ``lab`` (what a protocol works with),
then ``world``, ``lifecycle`` and ``founding_process``. ``meetings`` and ``attention`` are about
rooms and desks, ``publication`` and ``review_work`` about manuscripts, ``library``, ``people`` and
``consultations`` about searches, members and guests.
"""
