"""The writing of files, and the hashes by which damage is noticed.

Read ``atomic_files`` first (all writing of the project, and the refusal of links), then
``file_hashes`` (the list of the hashes of a folder's files).
"""
