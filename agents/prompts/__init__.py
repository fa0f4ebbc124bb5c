"""What a backend is asked: ``prompt`` (templates), ``slots`` (what stands in them), ``request``."""
