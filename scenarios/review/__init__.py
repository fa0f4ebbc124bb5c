"""Reviews of finished runs by a model, and ratings by people."""
