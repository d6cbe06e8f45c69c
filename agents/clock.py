"""The clock: the only file of this folder that reads time or waits for it.

All times are monotonic; a step of the computer's wall clock changes nothing.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Timer = Callable[[], float]
"""Answers the milliseconds since some fixed moment; never runs backwards."""


def now_ms() -> float:
    """Milliseconds on the monotonic clock."""
    return time.monotonic() * 1000.0


def wait(event: threading.Event, ms: float) -> bool:
    """Wait until `event` is set, at most `ms` milliseconds; tell whether it is."""
    return event.wait(max(0.0, ms) / 1000.0)


MOVES_IN_A_BANK = 30
"""A bank is spent as if so many moves were still to come: it never runs out, however long the match."""

INCREMENT_SHARE = 0.8
"""So much of the increment is spent with each move; the rest refills the bank."""


@dataclass(frozen=True)
class Clock:
    """What `choose(state, clock)` is told about time, in milliseconds.

    `move_ms` is the limit for this move, `bank_ms` what is left in the bank for all moves, `increment_ms`
    what is added to it after each. When the bank is empty a move has `byoyomi_ms`; a longer one uses up one
    of the `periods` that are left. `strikes` is how many time-outs cost no game yet. The clock runs from the
    moment it is made.
    """

    move_ms: int
    bank_ms: int = 0
    increment_ms: int = 0
    byoyomi_ms: int = 0
    periods: int = 0
    strikes: int = 0
    timer: Timer = field(default=now_ms, repr=False, compare=False)
    started_ms: float = field(default=-1.0, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.started_ms < 0:
            object.__setattr__(self, "started_ms", self.timer())

    def elapsed_ms(self) -> float:
        """Milliseconds used for this move so far."""
        return self.timer() - self.started_ms

    def left_ms(self) -> float:
        """Milliseconds left for this move, at least 0: with a bank, all that is in it."""
        return max(0.0, self.move_ms - self.elapsed_ms())

    def share_ms(self) -> float:
        """Milliseconds, from the start of the clock, for a player that thinks of its later moves too.

        Without a bank this is `move_ms`. Else it is bank/30 + 0.8 increment, with byo-yomi no less than
        `byoyomi_ms`, and never more than `move_ms`. Whoever keeps to it never runs out of time.
        """
        byoyomi_ms = self.byoyomi_ms if self.periods else 0
        if not (self.bank_ms or self.increment_ms or byoyomi_ms):
            return self.move_ms
        share_ms = self.bank_ms / MOVES_IN_A_BANK + INCREMENT_SHARE * self.increment_ms
        return min(self.move_ms, max(share_ms, byoyomi_ms))


def search_ms(clock: Clock, reserve_ms: float, time_ms: float | None = None) -> float:
    """Return how long a search may take from the start of the clock, at most `time_ms` if it is given.

    It is the clock's share for this move, less `reserve_ms` for the answer: of a short share, half.
    """
    share_ms = clock.share_ms()
    limit = share_ms - min(reserve_ms, share_ms / 2)
    return limit if time_ms is None else min(limit, time_ms)


# the clock of compiled code -----------------------------------------------------------------------------

MACHINE_CLOCK = hasattr(time, "CLOCK_MONOTONIC")
"""Whether compiled code can read a clock on this system."""


def machine_ms() -> float:
    """Milliseconds on the clock that compiled code reads."""
    return time.clock_gettime(time.CLOCK_MONOTONIC) * 1000.0


def searching_ms(memory: Any) -> float:
    """Read the clock in mid-search: in plain Python the one that the memory holds, else the machine's."""
    return float(memory.timer())


def teach_compiled_code() -> None:
    """Let compiled code call `searching_ms`: the system's `clock_gettime`, found by its name.

    An address would do as well, but it is another one in the next process, and the code on disk would be
    useless there.
    """
    from llvmlite import ir  # noqa: PLC0415 - numba takes a third of a second, and only searches need it
    from numba import types  # noqa: PLC0415
    from numba.core import cgutils  # noqa: PLC0415
    from numba.extending import intrinsic, overload  # noqa: PLC0415

    word = ir.IntType(64)
    timespec = ir.LiteralStructType([word, word])  # seconds, nanoseconds
    function = ir.FunctionType(ir.IntType(32), [ir.IntType(32), timespec.as_pointer()])

    def monotonic_ns(_context: Any) -> Any:
        def build(_context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
            place = cgutils.alloca_once(builder, timespec)
            read = cgutils.get_or_insert_function(builder.module, function, "clock_gettime")
            builder.call(read, [ir.Constant(ir.IntType(32), time.CLOCK_MONOTONIC), place])
            seconds = builder.extract_value(builder.load(place), 0)
            nanoseconds = builder.extract_value(builder.load(place), 1)
            return builder.add(builder.mul(seconds, ir.Constant(word, 1_000_000_000)), nanoseconds)

        return types.int64(), build

    read_ns = intrinsic(monotonic_ns)

    def read(memory: Any) -> Any:  # noqa: ARG001 - numba compares the names
        return lambda memory: read_ns() / 1e6  # noqa: ARG005

    overload(searching_ms, strict=False)(read)
