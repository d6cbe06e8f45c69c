"""The `plyground` program: one file a command, imported only when that command runs.

Exit codes: 0 done, 1 the answer is no, 2 bad usage or input (one sentence on stderr), 130 interrupted.
"""

import importlib.metadata
import io
import sys
from collections.abc import Sequence

import click
from click.exceptions import Abort, ClickException, UsageError

from server.cli.group import INTERRUPTED, CommandError, LazyGroup
from server.cli.program import PROGRAM
from server.cli.terminal import clean

COMMANDS = {
    "serve": "Run the server: API, pages, agents and spectators on one port.",
    "play": "Play games between agents, or against one, without a server.",
    "connect": "Let your agent play rated matches on a server's ladders.",
    "check": "Check that an agent keeps to the protocol, step by step.",
    "watch": "Watch a match live in the terminal.",
    "clock": "Show how the moves of a match were timed, with a verdict.",
    "standings": "Show the standings of a ladder.",
    "games": "List the games and their options.",
    "agents": "List the house agents.",
    "inspect": "Answer JSON lines about positions: legal actions, result, key.",
    "perft": "Count the action sequences of a length.",
    "token": "Make, list and revoke tokens; become the admin.",
    "doctor": "Check that the database holds together.",
    "db": "Look after the database.",
    "warm": "Compile the house agents' searches, so that nobody waits for it.",
}


@click.group(
    cls=LazyGroup,
    package="server.cli",
    commands_help=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(importlib.metadata.version(PROGRAM), prog_name=PROGRAM)
def cli() -> None:
    """Plyground: game-playing agents on ladders, with live matches and standings."""


def main(args: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code. What is not a fault of the input raises."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal may lack our marks
    try:
        answer = cli.main(args=args, prog_name=PROGRAM, standalone_mode=False)
    except CommandError as error:
        return _refuse(error.where, error.message)
    except ClickException as error:
        return _refuse(_command_of(error), _as_ours(error.format_message()))
    except (Abort, KeyboardInterrupt):
        return INTERRUPTED
    return answer if isinstance(answer, int) else 0


def _command_of(error: ClickException) -> str:
    context = error.ctx if isinstance(error, UsageError) else None
    return context.command_path if context else PROGRAM


def _as_ours(message: str) -> str:
    """Write one of click's messages as ours are: it follows a colon, and has no full stop."""
    return f"{message[:1].lower()}{message[1:].removesuffix('.')}"


def _refuse(where: str, message: str) -> int:
    """Say in one sentence on stderr what was wrong."""
    click.echo(f"{where}: {clean(' '.join(message.split()))}", err=True)
    return 2
