"""Exit codes, help, and what is imported when."""

import asyncio
import importlib
import subprocess
import sys

import click
import pytest

from server.cli import COMMANDS, db

CHECK_IMPORTS = """
import sys
from server.cli import main
main({arguments!r})
heavy = {{"aiohttp", "sqlalchemy", "alembic", "structlog"}} & set(sys.modules)
assert not heavy, heavy
"""


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["play", "--help"], ["play", "random", "random", "--game", "tic_tac_toe"], ["games"]],
)
def test_a_command_that_needs_no_server_does_not_import_one(arguments, environment):
    code = CHECK_IMPORTS.format(arguments=arguments)
    program = [sys.executable, "-c", code]
    done = subprocess.run(program, check=False, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("package", "name", "line"),
    [
        *(("server.cli", name, line) for name, line in COMMANDS.items()),
        *(("server.cli.db", name, line) for name, line in db.COMMANDS.items()),
    ],
)
def test_the_help_of_the_group_is_that_of_the_command(package, name, line):
    command = importlib.import_module(f"{package}.{name}").command
    assert isinstance(command, click.Command)
    assert (command.help or "").partition("\n\n")[0] == line


async def test_help_lists_every_command(plyground):
    for arguments in ((), ("--help",), ("-h",)):
        result = await plyground(*arguments)
        result.assert_done()
        listed = result.out.partition("Commands:\n")[2]
        assert [line.split()[0] for line in listed.splitlines()] == list(COMMANDS)


async def test_version(plyground):
    result = await plyground("--version")
    assert result.code == 0
    assert result.out.startswith("plyground, version ")


@pytest.mark.parametrize(
    ("arguments", "command", "words"),
    [
        (["chess"], "", ["expected a command, got 'chess'", "available: serve, play"]),
        (["--chess"], "", ["no such option", "'--chess'"]),
        (["play", "random"], "play", ["expected 2 agents, one a seat of connect_four, got 1"]),
        (["play", "random", "random", "--what"], "play", ["no such option"]),
        (
            ["play", "random", "random", "--games", "0"],
            "play",
            ["'--games'", "expected a whole number from 1 to 1000000, got '0'"],
        ),
        (
            ["perft", "tic_tac_toe", "\u0663"],
            "perft",
            ["expected a whole number from 0 to 1000, got '\u0663'"],
        ),
        (["perft", "tic_tac_toe", " 3"], "perft", ["expected a whole number from 0 to 1000, got ' 3'"]),
        (["perft", "tic_tac_toe", "1_0"], "perft", ["expected a whole number from 0 to 1000, got '1_0'"]),
        (
            ["play", "random", "random", "more"],
            "play",
            ["expected 2 agents, one a seat of connect_four, got 3"],
        ),
        (
            ["perft", "tic_tac_toe", "many"],
            "perft",
            ["'DEPTH'", "expected a whole number from 0 to 1000, got 'many'"],
        ),
        (
            ["play", "random", "random", "--seed", "1.5"],
            "play",
            ["expected a whole number from 0, got '1.5'"],
        ),
        (
            ["connect", "x.py", "--concurrency", "99"],
            "connect",
            ["expected a whole number from 1 to 64, got '99'"],
        ),
        (["watch", "nine"], "watch", ["MATCH", "'nine'"]),
        (["db", "destroy"], "db", ["expected a command, got 'destroy'", "available: migrate"]),
        (["serve"], "serve", ["PLYGROUND_PORT"]),
    ],
)
async def test_bad_usage_is_one_sentence(plyground, arguments, command, words):
    result = await plyground(*arguments, PLYGROUND_PORT="eighty")
    result.assert_refused(command, *words)


async def test_an_interrupted_command_is_quiet(launch, interrupt):
    process = await launch("inspect")
    process.stdin.write(b'{"game": "tic_tac_toe"}\n')
    assert await process.stdout.readline()
    err = await interrupt(process)
    assert (process.returncode, err) == (130, b"")


async def test_a_reader_that_has_seen_enough_is_no_fault(launch):
    process = await launch("perft", "tic_tac_toe", "1", "--divide")
    process._transport.get_pipe_transport(1).close()
    _, err = await asyncio.gather(process.wait(), process.stderr.read())
    assert (process.returncode, err) == (0, b"")
