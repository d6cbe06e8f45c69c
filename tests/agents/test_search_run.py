"""How a search runs: when as machine code, when in plain Python, on which clock, and that Ctrl-C ends it."""

import os
import signal
import threading
import time

import pytest

import games
from agents.clock import MACHINE_CLOCK, Clock, machine_ms
from agents.mcts import Mcts
from agents.search_run import LONGEST_MS, Layout, SearchRun
from games.kernel.jit import COMPILES, njit

LAYOUT: Layout = (("nodes", "i8", 0), ("entries", (("value", "f8"), ("kind", "i2")), 9), ("legal", "i2", 5))
PATIENCE_S = 60.0

needs_numba = pytest.mark.skipif(not (COMPILES and MACHINE_CLOCK), reason="nothing is compiled here")


def start(state=None, clock=None, stop_ms=1_000.0, earlier=None):
    board = games.load("tic_tac_toe").initial_state()
    return SearchRun(state or board, LAYOUT, clock or Clock(5_000), stop_ms, earlier)


def plain(timer, stop_ms=1_000.0, earlier=None):
    return start(clock=Clock(5_000, timer=timer), stop_ms=stop_ms, earlier=earlier)


@needs_numba
def test_a_game_of_ours_on_the_real_clock_is_compiled():
    assert start().compiled


def test_a_clock_of_its_own_needs_plain_python(timer):
    assert not plain(timer).compiled


def test_a_state_that_compiled_code_does_not_know_needs_plain_python(pile):
    run = start(pile(3, 0))
    assert not run.compiled
    assert run.native(pile(3, 0)) == pile(3, 0)


def test_memory_begins_as_zeros(timer):
    for run in (start(), plain(timer)):
        memory = run.memory
        assert (memory.nodes, memory.spent, memory.legal[4]) == (0, 0, 0)
        assert (memory.entries[8].value, memory.entries[8].kind) == (0, 0)


def test_entries_and_numbers_can_be_written(timer):
    for run in (start(), plain(timer)):
        run.memory.entries[3].value = 0.5
        run.memory.legal[3] += 2
        assert (run.memory.entries[3].value, run.memory.entries[2].value) == (0.5, 0)
        assert run.memory.legal[3] == 2


def test_the_end_is_on_the_clock_that_the_search_reads(timer):
    clock = Clock(5_000, timer=timer)
    timer.advance(300)
    run = start(clock=clock, stop_ms=1_000)
    assert run.memory.stop_ms - run.now_ms() == 700


@needs_numba
def test_the_end_of_a_compiled_search_is_on_the_machines_clock():
    before = machine_ms()
    run = start(stop_ms=1_000_000)
    assert run.memory.stop_ms <= machine_ms() + LONGEST_MS
    assert run.memory.stop_ms >= before + LONGEST_MS - 1
    assert before <= run.now_ms() <= machine_ms()


def test_memory_is_used_again_by_a_search_of_the_same_kind_alone(timer, pile):
    first, other = start(), plain(timer)
    first.memory.nodes, first.memory.spent = 7, 1
    again = start(earlier=first)
    assert (again.memory is first.memory, again.memory.nodes, again.memory.spent) == (True, 7, 0)
    assert plain(timer, earlier=other).memory is other.memory
    if first.compiled:
        assert plain(timer, earlier=first).memory is not first.memory
        assert start(earlier=other).memory is not other.memory


@njit
def factorial(n: int) -> int:
    return 1 if n < 2 else n * factorial(n - 1)


def test_the_plain_twin_of_a_search_calls_itself(timer):
    assert start().function(factorial)(20) == 2_432_902_008_176_640_000
    beyond_64_bits = plain(timer).function(factorial)(25)
    assert beyond_64_bits == 25 * 24 * 23 * 22 * 21 * 2_432_902_008_176_640_000


# Ctrl-C ---------------------------------------------------------------------------------------------


def press_ctrl_c_after(seconds):
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def test_ctrl_c_ends_a_search_of_an_hour():
    state = games.load("connect_four").initial_state()
    agent = Mcts(None, seed=1)
    Mcts(1, seed=1).choose(state, Clock(60_000))  # compiled by now
    begun = time.monotonic()
    timer = press_ctrl_c_after(0.3)
    with pytest.raises(KeyboardInterrupt):
        agent.choose(state, Clock(3_600_000))
    timer.join()
    assert time.monotonic() - begun < PATIENCE_S


@needs_numba
def test_ctrl_c_tells_compiled_work_that_all_is_spent():
    run = start()
    heard = threading.Event()

    def work():
        while not run.memory.spent:
            time.sleep(0.01)
        heard.set()

    timer = press_ctrl_c_after(0.3)
    with pytest.raises(KeyboardInterrupt):
        run.run(work)
    timer.join()
    assert heard.is_set(), "the thread has ended before Ctrl-C is passed on"


@needs_numba
def test_ctrl_c_that_another_thread_takes_is_heard():
    """The system wakes the thread that takes a signal; the main thread waits on."""
    run = start()
    heard = threading.Event()

    def work():
        time.sleep(0.3)  # the main thread waits by now
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        end = time.monotonic() + PATIENCE_S
        while not run.memory.spent and time.monotonic() < end:
            time.sleep(0.01)
        if run.memory.spent:
            heard.set()

    with pytest.raises(KeyboardInterrupt):
        run.run(work)
    assert heard.is_set(), "the work ended by itself"


def test_what_goes_wrong_in_a_search_is_raised():
    def work():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        start().run(work)
