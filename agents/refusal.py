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

COME_AGAIN_STATUS = (429, 503)
"""HTTP answers that ask for another try, where they say when by the header `Retry-After`."""

FINAL = frozenset({"replaced", "token_revoked"})
"""Errors that end a connection for good. Whoever was replaced must not come back: the two would fight."""


class RefusedError(InputError):
    """The server refused, in its own words; trying again would not help."""

    def __init__(self, error: Error) -> None:
        super().__init__(
            error.code, expected=error.expected or "", got=error.got or "", where=error.where or ""
        )
        self.args = (error.message,)


class NotNowError(InputError):
    """An answer over HTTP that asks for another try, after `asked_ms`; 0 if it did not say when."""

    def __init__(self, code: str, sentence: str, asked_ms: float) -> None:
        super().__init__(code, expected="", got=sentence)
        self.args = (sentence,)
        self.asked_ms = asked_ms


class NoWelcomeError(Exception):
    """The server took the connection, but did not answer `hello` in time."""


class ComeAgainError(Exception):
    """The server asked to come later: after `asked_ms`, 0 if it did not say when."""

    def __init__(self, error: Error) -> None:
        super().__init__(error.message)
        asked_s = error.retry_after_s
        self.asked_ms = asked_ms(error.message) if asked_s is None else asked_s * 1000


def later_ms(status: int, retry_after: str | None, code: str = "") -> float | None:
    """Return how long an HTTP answer asks to wait before another try; None if it asks for none.

    `retry_after` is the header of this name, `code` that of a problem+json.
    """
    if code in COME_AGAIN or (status in COME_AGAIN_STATUS and retry_after is not None):
        return asked_ms(retry_after or "")
    return None
