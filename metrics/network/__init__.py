"""Networks of scientists: what they are made of, and what sets them apart from chance."""
