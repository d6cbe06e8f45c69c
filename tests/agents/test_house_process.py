"""The house process, as a real process against a server that follows a script."""

import contextlib
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed

from agents import protocol, roster
from games import load

ROOT = Path(__file__).parents[2]
LADDERS = ["tic_tac_toe=tic_tac_toe", "small=connect_four(rows=5,columns=6,k=4)"]
NAMES = {agent.name for agent in roster.load() if agent.plays(load("connect_four"))}


class Hall:
    """What the scripted server saw of the house."""

    def __init__(self):
        self.hellos = {}
        self.moves = {}
        self.bearers = set()
        self.lock = threading.Lock()
        self.complete = threading.Event()

    def script(self, talk):
        hello = talk.welcome()
        talk.announce(match=1)
        talk.hear(protocol.Ready)
        talk.ask("4", match=1)
        move = talk.hear_move(ply=1, match=1)
        talk.ack(1, match=1)
        with self.lock:
            self.hellos[hello.agent] = hello
            self.moves[hello.agent] = move
            self.bearers.add(talk.authorization)
            if set(self.hellos) == NAMES:
                self.complete.set()
        talk.hear_the_end()


@pytest.fixture
def house():
    started = []

    def start(url, *ladders):
        command = [sys.executable, "-m", "agents.house", "--server", url]
        for ladder in ladders:
            command += ["--ladders", ladder]
        process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()


def test_every_house_agent_plays_until_the_servers_end(house, server):
    hall = Hall()
    process = house(server(*[hall.script] * len(NAMES)).url.replace("http", "ws"), *LADDERS)
    process.stdin.write(b"house-token\n")
    process.stdin.flush()
    assert hall.complete.wait(60), f"only {sorted(hall.hellos)} came"

    assert hall.bearers == {"Bearer house-token"}
    entries = {agent.name: agent for agent in roster.load()}
    for name, hello in hall.hellos.items():
        assert hello.ladders == ["tic_tac_toe", "small"]
        assert hello.concurrency == 4
        assert hello.fingerprint == entries[name].fingerprint()
        assert hall.moves[name].action in set("1234567")
    assert process.poll() is None

    process.stdin.close()
    assert process.wait(10) == 0, "the end of its input is its end, threads or not"
    assert process.stderr.read() == b""
    assert process.stdout.read() == b""


def test_ctrl_c_is_left_to_the_server(house, server):
    arrived = set()
    complete = threading.Event()

    def script(talk):
        arrived.add(talk.welcome().agent)
        if arrived == NAMES:
            complete.set()
        talk.hear_the_end()

    process = house(server(*[script] * len(NAMES)).url, *LADDERS)
    process.stdin.write(b"t\n")
    process.stdin.flush()
    assert complete.wait(60), f"only {sorted(arrived)} came"  # killed in its hello, an agent fails its script
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    assert process.poll() is None


def test_it_ends_when_the_server_dies_before_the_token(house):
    process = house("http://127.0.0.1:9", "tic_tac_toe=tic_tac_toe")
    process.stdin.close()
    assert process.wait(30) == 0


def test_a_refusal_ends_it_with_one_line(house, server):
    def script(talk):
        with contextlib.suppress(ConnectionClosed):  # the first refusal ends them all
            talk.hear(protocol.Hello)
            talk.say(protocol.Error("bad_token", "expected a token of this server, got another"))
            talk.socket.close(code=1008, reason="bad_token")

    process = house(server(script, any_number=True).url, *LADDERS)
    process.stdin.write(b"wrong\n")
    process.stdin.flush()
    assert process.wait(30) == 2
    assert b"expected a token of this server" in process.stderr.read()


def test_a_bad_ladder_is_one_sentence(house):
    process = house("http://127.0.0.1:9", "chess=no_such_game")
    assert process.wait(30) == 2
    assert b"no_such_game" in process.stderr.read()
