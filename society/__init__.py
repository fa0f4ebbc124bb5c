"""The shared world of the scientists and its simulated time; it knows nothing of what teams say."""
