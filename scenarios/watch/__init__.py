"""A page on loopback that shows a run or a study as it goes on, and lets people answer in it.

``folder_state`` reads a run or a study, without writing to it, into the plain data that the page
shows, and ``society_view`` what is drawn of it; ``server`` serves the page and sends it that data;
``play`` makes a scenario in which people answer for a scientist, reads the open questions to them
and takes their answers; ``cards`` turns the text of a question into what the page shows of it.
"""
