"""Property tests assert no times: a loaded machine must not fail them. Ctrl-C works in every child."""

import signal
import tempfile
from pathlib import Path

import hypothesis
import pytest

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
