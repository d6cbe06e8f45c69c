"""Schemathesis against a server: does it answer as its own description says?"""

import sys
from pathlib import Path

CONFIG = Path(__file__).parents[1] / "data" / "schemathesis.toml"


def command(url: str, *options: str, token: str = "", examples: int = 10) -> list[str]:
    """The command that tries a server; it ends with 1 if an answer is not as described."""
    named = ["--header", f"Authorization: Bearer {token}"] if token else []
    return [
        *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(CONFIG)),
        *("run", f"{url}/api/v1/openapi.json", "--checks", "all", "--continue-on-failure"),
        *("--exclude-path", "/api/v1/matches/{id}/events"),  # ends with the match: it has tests of its own
        *("--generation-deterministic", "--no-shrink", "--no-color"),
        *("--max-examples", str(examples), *named, *options),
    ]
