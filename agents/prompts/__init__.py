"""What a backend is asked.

Read ``prompt`` for templates and the messages that they become, ``slots`` for what stands in them
and how a page writes it, then ``request`` for the complete question with its id, hash and seed, its
trimming, and the reply. The two text files hold what every scientist is told first, and the
definition of the scientist asked.
"""
