"""The way of every call to a backend.

Read ``backend`` for the base class of all backends, then ``gateway``, which answers a request from
the journal or makes attempts at it, and stops a run whose answers cannot be used. ``attempt`` makes
one attempt (slot, intent, request, outcome), ``budget`` reserves its largest cost, ``retry``
decides in pure functions what follows from it. ``slots`` gives out the slots, also to several
runs, and has a circuit breaker.
"""
