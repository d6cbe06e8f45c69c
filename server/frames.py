"""Frames as a server sends them (RFC 6455, section 5.2): whole, unmasked, uncompressed.

They go straight to the transport, which sends what one turn of the event loop has written in one piece. A
frame made once can go to any number of sockets.
"""

import struct

FIN_TEXT = 0x81
FIN_PING = 0x89
FIN_PONG = 0x8A

_SHORT = [bytes((FIN_TEXT, size)) for size in range(126)]


def text_frame(payload: bytes) -> bytes:
    """Return the frame of a text, given in UTF-8."""
    size = len(payload)
    if size < 126:
        return _SHORT[size] + payload
    if size < 65_536:
        return struct.pack("!BBH", FIN_TEXT, 126, size) + payload
    return struct.pack("!BBQ", FIN_TEXT, 127, size) + payload


def ping_frame(payload: bytes) -> bytes:
    """Return the frame that asks for a pong with this payload, of 125 bytes at most."""
    return bytes((FIN_PING, len(payload))) + payload


def pong_frame(payload: bytes) -> bytes:
    """Return the frame that answers a ping, whose payload is 125 bytes at most."""
    return bytes((FIN_PONG, len(payload))) + payload
