"""Published models of search in science, as wordless protocols of teams of one scientist.

Everybody in them acts once a day, and hears the next day what others have found.
"""
