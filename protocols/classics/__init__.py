"""Published models of search in science, as wordless protocols of teams of one scientist.

``network_bandit`` is Zollman's, ``epistemic_landscape`` that of Weisberg and Muldoon. Everybody in
them acts once a day, and hears the next day what others have found.
"""
