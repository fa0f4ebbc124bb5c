"""One part of each kind for virsci-society; ``pyproject.toml`` names them."""
