"""What a server says to a client that it will not have, now or ever."""

from agents.backoff import asked_ms
from agents.protocol import Error
from games import InputError

COME_AGAIN = frozenset(
    {
        "too_many_requests",
        "too_many_connections",
        "server_full",
        "still_playing",
        "server_stopping",
        "database_unavailable",
    }
)
"""Refusals that say only when: too many tries, an older version that still plays, a server that is busy."""

FINAL = frozenset({"replaced", "token_revoked"})
"""Errors that end a connection for good. Whoever was replaced must not come back: the two would fight."""


class RefusedError(InputError):
    """The server refused, in its own words; trying again would not help."""

    def __init__(self, error: Error) -> None:
        super().__init__(
            error.code, expected=error.expected or "", got=error.got or "", where=error.where or ""
        )
        self.args = (error.message,)


class NoWelcomeError(Exception):
    """The server took the connection, but did not answer `hello` in time."""


class ComeAgainError(Exception):
    """The server asked to come later: after `asked_ms`, 0 if it did not say when."""

    def __init__(self, error: Error) -> None:
        super().__init__(error.message)
        asked_s = error.retry_after_s
        self.asked_ms = asked_ms(error.message) if asked_s is None else asked_s * 1000
