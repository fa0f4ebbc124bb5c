"""The life of a team (``lifecycle``), what its protocol may do (``lab``), and the ``world``."""
