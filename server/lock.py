"""One server a data folder: a second one would take the first one's running matches for dead."""

import fcntl
import os
from pathlib import Path

from games.errors import InputError


class DataLock:
    """An advisory lock on `server.lock` in the data folder; the kernel frees it when the process dies."""

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / "server.lock"
        self._file: int | None = None

    def acquire(self) -> None:
        """Make the folder and take the lock. Raises InputError if it cannot be written or is in use."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise InputError(
                "unwritable_folder",
                expected="a folder that can be written",
                got=error.strerror or str(error),
                where=f"PLYGROUND_DATA_DIR={self._path.parent}",
            ) from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            raise InputError(
                "data_in_use",
                expected="a data folder of its own",
                got="one that a running server uses",
                where=f"PLYGROUND_DATA_DIR={self._path.parent}",
            ) from None
        self._file = handle

    def release(self) -> None:
        """Let go of the folder."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def is_held(data_dir: Path) -> bool:
    """Whether a server runs on that data folder."""
    path = data_dir / "server.lock"
    try:
        handle = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False
