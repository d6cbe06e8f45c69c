"""What is said of a connection that could not be made, or that ended."""

import socket
import threading

import pytest
from websockets.exceptions import ConnectionClosedError
from websockets.frames import Close

from agents.connection import again_ms, open_socket, reason
from agents.protocol import Error
from agents.refusal import ComeAgainError, NoWelcomeError

TIMES = {"open_ms": 20_000, "ping_ms": 20_000, "pong_ms": 20_000}

ENDS = {
    "cut": (ConnectionClosedError(None, None), "a connection that broke off"),
    "silent": (
        ConnectionClosedError(None, Close(1011, "keepalive ping timeout")),
        "a connection over which nothing came any more",
    ),
    "a reason": (
        ConnectionClosedError(Close(1001, "server stops"), None),
        "a connection that the server closed (server stops)",
    ),
    "a code": (
        ConnectionClosedError(Close(1011, ""), None),
        "a connection that the server closed (code 1011)",
    ),
    "come again": (ComeAgainError(Error("server_full", "no room")), "the server says: no room"),
    "no welcome": (NoWelcomeError(), "no answer in time"),
    "refused": (ConnectionRefusedError(111, "Connection refused"), "Connection refused"),
}


@pytest.mark.parametrize("end", ENDS)
def test_the_end_of_a_connection_is_told_in_plain_words(end):
    error, words = ENDS[end]
    assert reason(error) == words


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b"", "a connection that was closed without an answer"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "an answer that opens no WebSocket ("),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "HTTP 200 from it"),
        (b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n", "HTTP 502 from it"),
    ],
    ids=["nothing", "another protocol", "no upgrade", "a proxy"],
)
def test_an_answer_that_is_no_connection_is_told_in_plain_words(answer, words):
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve_one():
            connection, _ = listening.accept()
            with connection:
                connection.recv(65_536)
                connection.sendall(answer)

        thread = threading.Thread(target=serve_one)
        thread.start()
        with pytest.raises(Exception) as failed:
            open_socket(f"http://127.0.0.1:{listening.getsockname()[1]}", None, **TIMES)
        thread.join()
    told = reason(failed.value)
    assert told.startswith(words)
    assert again_ms(failed.value) is None
