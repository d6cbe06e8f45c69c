"""Many who only read: a process that holds sockets, counts what comes in, and looks at none of it.

It reads every few milliseconds and not at once: readers on other machines are not woken by the sender, so
the sender should not pay for that here either.

`python -m bench.crowd` takes a command a line and answers each with a line of JSON, the bytes read so far.

Commands: `watch ADDRESS N` opens N WebSockets to a server's spectators; `plain ADDRESS N` as many bare
connections; `front N` has N spectators follow the front page from now on; `follow M` has all follow match M,
and `unfollow M` stop; `report` only answers.
"""

import json
import select
import socket
import sys
import time

from bench.open_files import raise_limit
from bench.websocket_client import KEY

PING, PONG = b"\x89\x00", b"\x8a\x80\0\0\0\0"
BUFFER_BYTES = 262_144
SOME = 256
PAUSE_S = 0.005


class Crowd:
    """The sockets, and what came in on them."""

    def __init__(self) -> None:
        self._poll = select.epoll()
        self._poll.register(sys.stdin.fileno(), select.EPOLLIN)
        self._sockets: dict[int, socket.socket] = {}
        self._spectators: list[socket.socket] = []
        self._buffer = bytearray(BUFFER_BYTES)
        self._view = memoryview(self._buffer)
        self.bytes = 0

    def run(self) -> None:
        """Read, and carry out commands, until standard input ends."""
        while True:
            time.sleep(PAUSE_S)
            for file, _ in self._poll.poll():
                if file in self._sockets:
                    self._read(self._sockets[file])
                    continue
                line = sys.stdin.readline()
                if not line:
                    return
                self._carry_out(line.split())
                sys.stdout.write(json.dumps({"bytes": self.bytes}) + "\n")
                sys.stdout.flush()

    def _carry_out(self, words: list[str]) -> None:
        match words:
            case ["watch", address, count]:
                for _ in range(int(count)):
                    self._spectators.append(self._connect(address))
                    self._shake_hands(self._spectators[-1], address)
            case ["plain", address, count]:
                for _ in range(int(count)):
                    self._connect(address)
            case ["front", count]:
                for line in self._spectators[: int(count)]:
                    line.sendall(_frame(b'{"type":"watch","front":true}'))
            case ["follow" | "unfollow" as what, match]:
                kind = "watch" if what == "follow" else "unwatch"
                self._say(json.dumps({"type": kind, "match": int(match)}).encode())

    def _connect(self, address: str) -> socket.socket:
        host, _, port = address.rpartition(":")
        line = socket.create_connection((host, int(port)))
        self._sockets[line.fileno()] = line
        self._poll.register(line.fileno(), select.EPOLLIN)
        return line

    @staticmethod
    def _shake_hands(line: socket.socket, address: str) -> None:
        line.sendall(
            f"GET /ws/watch HTTP/1.1\r\nHost: {address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {KEY}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        head = b""
        while not head.endswith(b"\r\n\r\n"):  # nothing follows before we ask for it
            head += line.recv(4096)
        if not head.startswith(b"HTTP/1.1 101"):
            raise RuntimeError(f"expected a WebSocket, got {head!r}")
        line.sendall(_frame(b'{"type":"unwatch","front":true}'))  # silent ones may have to go

    def _say(self, text: bytes) -> None:
        frame = _frame(text)
        for number, line in enumerate(self._spectators):
            line.sendall(frame)
            if number % SOME == 0:
                self._read_waiting()

    def _read_waiting(self) -> None:
        """Read what came in meanwhile, so that no socket is full."""
        for file, _ in self._poll.poll(0):
            if file in self._sockets:
                self._read(self._sockets[file])

    def _read(self, line: socket.socket) -> None:
        try:
            size = line.recv_into(self._buffer, 0, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return  # it was read already, while a command was carried out
        if size == 0:
            raise RuntimeError("a socket of the crowd was closed")
        self.bytes += size
        if self._view[size - 2 : size] == PING:  # JSON never ends so
            line.sendall(PONG)


def _frame(text: bytes) -> bytes:
    """Return the frame of a text of less than 126 bytes."""
    return bytes((0x81, 0x80 | len(text), 0, 0, 0, 0)) + text


if __name__ == "__main__":
    raise_limit()
    Crowd().run()
