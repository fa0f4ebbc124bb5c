"""The VirSci protocol with its five stages from an invitation to an abstract.

Read ``protocol`` first, then the stages in order: ``topic``, ``ideas``, ``novelty``, ``abstract``
(the first, the selection of collaborators, serves other protocols too). ``settings`` has every
switch, ``forms`` the replies of its own, ``released_code`` what only the published program does,
``prompts`` one text file per page.
"""
