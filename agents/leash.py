"""The leash of a program: `python -I -S leash.py LIFELINE TOLD PROGRAM ARGUMENT ...`.

A process of its own between us and a program that we run. It starts the program and waits until that has
ended, or until the pipe LIFELINE has: that is when we let go of it, or are gone, in whatever way (kill -9 as
well). Then it kills the program and all that this has started, and ends as the program did. On the pipe TOLD
it writes the program's number, or why there is none.

On Linux nothing escapes it: children whose parent has ended become its own, in whatever session they are, and
the program ends with it should it be killed itself. Elsewhere it kills the program's process group.

It imports nothing of ours, so that it is there in some 20 ms.
"""

import contextlib
import os
import resource
import select
import signal
import sys
from pathlib import Path

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
"""Of <sys/prctl.h>: a signal for when the parent ends; orphans among the descendants become children."""

LINUX = sys.platform == "linux"
CANNOT_START = 127
ROUND_S = 0.01
"""Between two looks for children that were started meanwhile."""

MOST_ROUNDS = 500
"""What cannot be killed (it has become another user's) is left after so many."""

IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What ends us ends the program by the lifeline; a signal to all must not end this process first."""


def main(arguments: list[str]) -> None:
    """Hold the program until it ends or the lifeline does; never returns."""
    lifeline, told = int(arguments[0]), int(arguments[1])
    for pipe in (lifeline, told):
        os.set_inheritable(pipe, False)
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    woken, wake = os.pipe()
    for pipe in (woken, wake):
        os.set_blocking(pipe, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    program = _start(arguments[2:], told)
    os.write(told, b"%d\n" % program)
    os.close(told)
    _let_go_of_streams()
    status = _wait(program, lifeline, woken)
    _kill_all(program)
    _end_as(status)


def _prctl(option: int, value: int) -> None:
    """Set an attribute of this process, where the system has it."""
    if LINUX:
        import ctypes  # noqa: PLC0415 - nothing elsewhere needs it

        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def _start(arguments: list[str], told: int) -> int:
    """Start the program in a session of its own; end with the reason on `told` if that cannot be."""
    parent = os.getpid()
    failed, failing = os.pipe()
    program = os.fork()
    if program == 0:
        _become(arguments, parent, failing)
    os.close(failing)
    reason = os.read(failed, 1024)
    os.close(failed)
    if reason:
        os.write(told, reason)
        os._exit(CANNOT_START)
    return program


def _become(arguments: list[str], parent: int, failing: int) -> None:
    """Turn this fork into the program. Never returns."""
    try:
        os.setsid()
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before that was set
            os._exit(CANNOT_START)
        for number in (*IGNORED, signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores two that others do not
            signal.signal(number, signal.SIG_DFL)
        os.execvp(arguments[0], arguments)  # noqa: S606 - the user's own program
    except BaseException as error:  # noqa: BLE001 - whatever it is: a fork must not live on as a second leash
        os.write(failing, (getattr(error, "strerror", None) or str(error) or "no reason").encode())
    os._exit(CANNOT_START)


def _let_go_of_streams() -> None:
    """Hold the program's streams no longer: their ends must be seen."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)


def _wait(program: int, lifeline: int, woken: int) -> int | None:
    """Wait for the end of the program, and return its status; None if the lifeline came first."""
    while True:
        status = _reaped(program)
        if status is not None:
            return status
        ready, _, _ = select.select([lifeline, woken], [], [])
        if lifeline in ready:
            return None
        with contextlib.suppress(BlockingIOError):
            os.read(woken, 4096)


def _reaped(program: int) -> int | None:
    """Leave no zombie; return the program's status if it was among them."""
    found = None
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] == program:
                found = ended[1]
    return found


def _kill_all(program: int) -> None:
    """Kill the program's group, then every child until there are no more: each leaves its own to us."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(program, signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):  # there are no more
        for _ in range(MOST_ROUNDS):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
            for child in _children():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(child, signal.SIGKILL)
            select.select([], [], [], ROUND_S)


def _children() -> list[int]:
    """Children of this process, by their numbers; none where the system does not tell."""
    me, found = str(os.getpid()).encode(), []
    for place in Path("/proc").glob("[0-9]*/stat"):  # nothing of the kind elsewhere
        with contextlib.suppress(OSError):
            if place.read_bytes().rpartition(b")")[2].split()[1] == me:  # after the name: state, parent
                found.append(int(place.parent.name))
    return found


def _end_as(status: int | None) -> None:
    """End with the program's exit code, or by the signal that ended it."""
    if status is None:
        os._exit(0)
    if os.WIFEXITED(status):
        os._exit(os.WEXITSTATUS(status))
    number = os.WTERMSIG(status)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    signal.pause()


if __name__ == "__main__":
    main(sys.argv[1:])
