"""Property tests assert no times: a loaded machine must not fail them. Ctrl-C works in every child.

There is a game of three players for those who need one.
"""

import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

import games
from games import Game

SHARE_OUT = Path(__file__).parent / "share_out"
"""On the PYTHONPATH of a process it brings the game."""

# A run started in the background ignores SIGINT, and so would every process that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)

hypothesis.settings.register_profile(
    "plyground", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("plyground")


@pytest.fixture
def reachable_tmp_path(tmp_path: Path) -> Path:
    """`tmp_path`, which other users may pass through: pytest's folders are its user's alone."""
    shared = Path(tempfile.gettempdir()).resolve()
    for folder in (tmp_path, *tmp_path.resolve().parents):
        if folder == shared or folder in shared.parents:
            break
        folder.chmod(folder.stat().st_mode | 0o011)
    return tmp_path


@pytest.fixture
def share_out(monkeypatch: pytest.MonkeyPatch) -> Iterator[Game]:
    """The game of three players, which is among the games as long as the test lasts."""
    monkeypatch.setattr(games, "__path__", [*games.__path__, str(SHARE_OUT / "games")])
    games._discovered.cache_clear()
    yield games.load("share_out")
    monkeypatch.undo()
    games._discovered.cache_clear()


@pytest.fixture
def with_share_out() -> dict[str, str]:
    """Variables that bring the game to processes that a test starts, of this very tree."""
    return {"PYTHONPATH": f"{SHARE_OUT}:{SHARE_OUT.parents[1]}"}
