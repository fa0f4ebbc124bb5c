"""``python -m virsci_society`` is the command ``society``."""

from virsci_society._installation import main

main()
