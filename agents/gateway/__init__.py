"""The way of every call to a backend.

Read ``backend`` for the base class of all backends, then ``gateway``, which answers a request from
the journal or makes attempts at it. ``attempt`` makes one of them: slot, budget, intent, request,
outcome. ``retry`` decides what follows from it, in pure functions. ``hedging`` makes a second
attempt beside a slow one. ``endpoint_pool`` gives out the slots, also to several runs, and keeps a
circuit breaker per endpoint; ``budget`` reserves what an attempt can cost.
"""
