"""The way of every call to a backend.

Read ``backend`` for the base class of all backends, then ``gateway``, which takes a request through
journal, slot, budget and retries. ``endpoint_pool`` gives out the slots and keeps a circuit breaker
per endpoint, ``budget`` reserves what an attempt can cost, ``retry`` computes waits, and ``shared``
lets several runs share a pool.
"""
