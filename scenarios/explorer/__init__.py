"""The explorer of a run, one HTML file with the network, the teams and their dialogue."""
