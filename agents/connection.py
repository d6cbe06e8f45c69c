"""The connection to a server: how it is made, and what its end means for another try."""

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from agents.address import is_loopback, socket_url
from agents.refusal import ComeAgainError, NoWelcomeError, later_ms

MAX_FRAME_BYTES = 1 << 20
CLOSE_S = 2

COMES_BACK = (1001, 1012, 1013)
"""Close codes of a server that goes away, restarts, or wants us to try again later."""

REFUSED_STATUS = (400, 401, 403, 404, 426)
"""HTTP answers to the opening that another try would not change."""


def open_socket(
    server_url: str, token: str | None, *, open_ms: float, ping_ms: float, pong_ms: float
) -> ClientConnection:
    """Make a connection to a server, within `open_ms`.

    A ping goes out every `ping_ms`; a server that leaves one unanswered for `pong_ms` is gone. Raises
    OSError, EOFError or a WebSocketException.
    """
    return connect(
        socket_url(server_url),
        additional_headers={"Authorization": f"Bearer {token}"} if token else None,
        compression=None,
        proxy=None if is_loopback(server_url) else True,
        open_timeout=open_ms / 1000,
        close_timeout=CLOSE_S,
        ping_interval=ping_ms / 1000,
        ping_timeout=pong_ms / 1000,
        max_size=MAX_FRAME_BYTES,
    )


def again_ms(error: Exception) -> float | None:
    """Return what the server asks to wait before another try; None if it asks for none."""
    if isinstance(error, ComeAgainError):
        return error.asked_ms
    if isinstance(error, InvalidStatus):
        return later_ms(error.response.status_code, error.response.headers.get("Retry-After"))
    goes = isinstance(error, ConnectionClosed) and error.rcvd is not None and error.rcvd.code in COMES_BACK
    return 0.0 if goes else None


def is_final(error: Exception) -> bool:
    """Tell whether another try would meet the same answer to the opening."""
    return isinstance(error, InvalidStatus) and error.response.status_code in REFUSED_STATUS


def reason(error: Exception) -> str:
    """Say in a few words what was got in place of a connection that goes on."""
    if isinstance(error, ComeAgainError):
        return f"the server says: {error}"
    if isinstance(error, ConnectionClosed):
        return _closed(error)
    if isinstance(error, InvalidHandshake | EOFError):
        return _not_opened(error)
    if isinstance(error, TimeoutError | NoWelcomeError):
        return "no answer in time"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__


def _closed(error: ConnectionClosed) -> str:
    """Tell of a connection that was open."""
    if error.rcvd is not None:
        return f"a connection that the server closed ({error.rcvd.reason or f'code {error.rcvd.code}'})"
    if error.sent is not None:
        return "a connection over which nothing came any more"
    return "a connection that broke off"


def _not_opened(error: Exception) -> str:
    """Tell of an answer to the opening that does not open a connection."""
    if isinstance(error, InvalidStatus):
        return f"HTTP {error.response.status_code} from it"
    if isinstance(error, EOFError) or isinstance(error.__cause__, EOFError):
        return "a connection that was closed without an answer"
    return f"an answer that opens no WebSocket ({error})"
