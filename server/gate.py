"""Whether new matches may start: not while the server is so late that it would eat into their margin.

Metrics and the health check call this admission. Who an agent is, is another matter: server.admission.
"""

from collections.abc import Callable

import structlog

LEAST_MARGIN_S = 0.05
"""However small the margin of the settings: lateness below this is everyday."""

log = structlog.get_logger()


class Gate:
    """Open while the worst lateness of the last seconds is within the margin; `closed` hears each closing.

    `recent_s` returns that lateness in seconds. What runs already goes on: it is credited with the lateness.
    """

    def __init__(
        self,
        recent_s: Callable[[], float],
        margin_ms: int,
        closed: Callable[[], None] = lambda: None,
    ) -> None:
        self._recent_s = recent_s
        self._margin_s = max(margin_ms / 1000, LEAST_MARGIN_S)
        self._closed = closed
        self._open = True

    @property
    def lag_ms(self) -> int:
        """How late the server was lately, at worst."""
        return round(self._recent_s() * 1000)

    @property
    def margin_ms(self) -> int:
        """The lateness from which on new matches wait."""
        return round(self._margin_s * 1000)

    def is_open(self) -> bool:
        """Look whether new matches may start now."""
        may = self._recent_s() <= self._margin_s
        if may != self._open:
            self._open = may
            self._tell()
        return may

    def _tell(self) -> None:
        if self._open:
            log.info("admission.open", lag_ms=self.lag_ms, margin_ms=self.margin_ms)
        else:
            self._closed()
            log.warning("admission.waiting", lag_ms=self.lag_ms, margin_ms=self.margin_ms)

    def notice(self) -> str | None:
        """Say in a sentence why new matches wait; None if they do not."""
        if self.is_open():
            return None
        return f"New matches wait: the server is {self.lag_ms} ms late, the margin is {self.margin_ms} ms."
