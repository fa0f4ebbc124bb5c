"""Facts of the network of co-authors and its growth."""
