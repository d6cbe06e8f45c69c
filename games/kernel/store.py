"""The folder of compiled code, for those who fill and empty it. Needs no numba."""

import os
from pathlib import Path

VARIABLE = "PLYGROUND_CACHE_DIR"
SUFFIX = ".kernel"


def folder() -> Path:
    """Return the folder of compiled code: PLYGROUND_CACHE_DIR, else `.cache` beside the sources."""
    set_by_hand = os.environ.get(VARIABLE)
    return Path(set_by_hand) if set_by_hand else Path(__file__).parents[2] / ".cache"


used: set[Path] = set()
"""Files that this process has loaded or stored."""


def remove_unused() -> int:
    """Remove the files that this process has not used, half-written ones too; return how many."""
    stale = [path for path in folder().glob(f"*{SUFFIX}*") if path not in used]
    for path in stale:
        path.unlink(missing_ok=True)
    return len(stale)
