"""Published models of search in science, as wordless protocols of teams of one scientist."""
