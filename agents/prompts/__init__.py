"""What a backend is asked.

Read ``prompt`` for templates, slots, messages and trimming, then ``request`` for the complete
question with its id, hash and seed. The two text files hold what every scientist is told first,
and the definition of the scientist asked.
"""
