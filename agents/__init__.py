"""One mind: who a scientist is, and how it is asked."""
