"""With this folder on PYTHONPATH every Python process has the game of three players among its games."""

from pathlib import Path

import games

games.__path__.append(str(Path(__file__).parent / "games"))
