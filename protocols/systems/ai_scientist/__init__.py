"""The AI Scientist, in which one scientist fills an archive of ideas and checks their novelty."""
