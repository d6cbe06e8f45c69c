"""How a search runs: compiled where it can be, else in plain Python; its memory; and what ends it early.

The memory is one record, passed to compiled code as one pointer. Plain Python has an object with the same
fields. Both begin as zeros.
"""

import functools
import threading
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from types import FunctionType, SimpleNamespace
from typing import Any, TypeAlias, TypeVar

from agents.clock import MACHINE_CLOCK, Clock, machine_ms, now_ms, teach_compiled_code
from games import State
from games.kernel.jit import COMPILES, native
from games.protocol import is_compiled

Entry: TypeAlias = tuple[tuple[str, str], ...]
"""Names and numpy types of the numbers that an entry of a table has."""

Layout: TypeAlias = tuple[tuple[str, str | Entry, int], ...]
"""Fields of a memory: name, numpy type of a number or fields of an entry, and length; 0 is a single one.

Every memory has two more: `spent`, which ends the search once it is not 0, and `stop_ms`, its end on the
clock that `searching_ms` reads.
"""

LONGEST_MS = 600_000.0
"""A search without a limit of its own ends after ten minutes."""

STEP_S = 0.1
"""Between looks at whether Ctrl-C was pressed."""

T = TypeVar("T")

if COMPILES and MACHINE_CLOCK:
    teach_compiled_code()


class SearchRun:
    """The memory of one search and the way it runs: compiled where it can be, else in plain Python.

    Plain Python serves states that compiled code does not know, and a clock that is not the machine's.
    `stop_ms` is on the clock given, infinite for none. The memory of an `earlier` search is used again if it
    can be, with all that is in it: fresh memory costs as much as some thousand nodes a megabyte.
    """

    def __init__(
        self,
        state: State,
        layout: Layout,
        clock: Clock,
        stop_ms: float,
        earlier: "SearchRun | None" = None,
    ) -> None:
        self.compiled = COMPILES and MACHINE_CLOCK and is_compiled(type(state)) and clock.timer is now_ms
        if earlier is not None and earlier.compiled == self.compiled:
            memory = earlier.memory
        else:
            memory = _record(layout) if self.compiled else _plain_record(layout)
        self.memory: Any = memory
        left_ms = min(stop_ms - clock.elapsed_ms(), LONGEST_MS)
        memory.spent = 0
        if self.compiled:
            memory.stop_ms = left_ms + machine_ms()
        else:
            memory.timer = clock.timer
            memory.stop_ms = left_ms + clock.timer()

    def now_ms(self) -> float:
        """Read the clock that `searching_ms` reads."""
        return machine_ms() if self.compiled else float(self.memory.timer())

    def native(self, state: State) -> State:
        """Return a state as this search takes it."""
        return native(state) if self.compiled else state

    def function(self, function: Callable[..., T]) -> Callable[..., T]:
        """Return a search function as this search runs it."""
        return function if self.compiled else _plain(function)

    def run(self, work: Callable[[], T]) -> T:
        """Do the work so that Ctrl-C ends it.

        Compiled code hears no signal. So another thread runs it, the main thread waits, and at a Ctrl-C it
        writes into the memory that all is spent. It waits in short steps: a signal that another thread takes,
        or that comes just before a long wait, does not end that wait.
        """
        if not self.compiled or threading.current_thread() is not threading.main_thread():
            return work()
        with ThreadPoolExecutor(1, "search") as threads:
            try:
                working = threads.submit(work)
                while not wait([working], timeout=STEP_S).done:
                    pass
                return working.result()
            except BaseException:
                self.memory.spent = 1
                raise


@functools.cache
def _record_type(layout: Layout) -> Any:
    fields: list[Any] = [("spent", "i8"), ("stop_ms", "f8")]
    for name, kind, length in layout:
        number = kind if isinstance(kind, str) else _aligned(kind)
        fields.append((name, number, (length,)) if length else (name, number))
    return _aligned(fields)


def _aligned(fields: Any) -> Any:
    import numpy as np  # noqa: PLC0415 - plain Python needs none

    return np.dtype((np.record, np.dtype(list(fields), align=True)))


def _record(layout: Layout) -> Any:
    import numpy as np  # noqa: PLC0415

    return np.zeros(1, _record_type(layout))[0]  # pages of zeros cost nothing until they are touched


def _plain_record(layout: Layout) -> Any:
    memory = SimpleNamespace()
    for name, kind, length in layout:
        zero = int if isinstance(kind, str) else functools.partial(_plain_entry, kind)
        setattr(memory, name, defaultdict(zero) if length else zero())
    return memory


def _plain_entry(entry: Entry) -> SimpleNamespace:
    return SimpleNamespace(**{name: 0 for name, _ in entry})


@functools.cache
def _plain(function: Callable[..., T]) -> Callable[..., T]:
    """Return the source of a compiled function as plain Python that calls itself."""
    source = getattr(function, "py_func", None)
    if source is None:
        return function
    names = dict(source.__globals__)
    names[source.__name__] = FunctionType(source.__code__, names, source.__name__)
    return names[source.__name__]  # type: ignore[no-any-return]
