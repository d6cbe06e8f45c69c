"""What the processes of a storm write down as it happens: a file of JSON lines that a SIGKILL cannot undo.

Every line says `what` and `at`, the wall clock in seconds, which is the same for all processes of a machine.
"""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class Journal:
    """Appends lines, each with one write: the kernel has it when `note` returns."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def note(self, what: str, **more: object) -> None:
        """Write a line."""
        line = json.dumps({"what": what, "at": time.time(), **more})
        os.write(self._file, line.encode() + b"\n")


def read(path: Path) -> Iterator[dict[str, Any]]:
    """Read the lines of a journal; one that was cut off in its middle is none."""
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                yield json.loads(line)
