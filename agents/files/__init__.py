"""The writing of files without following links, and the hashes by which damage is noticed.

Read ``atomic_files`` first (all writing of the project, which goes through no link), then
``file_hashes`` (the list of the hashes of a folder's files).
"""
