"""Groups of commands that import a command only when it runs, and say what is wrong in one sentence."""

import importlib
import os
import sys
from collections.abc import Mapping
from typing import Any

import click
from click.exceptions import ClickException, Exit

from games.errors import InputError

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""


class CommandError(ClickException):
    """A sentence about input that a command cannot use."""

    exit_code = 2

    def __init__(self, where: str, sentence: str) -> None:
        super().__init__(sentence)
        self.where = where


class LazyGroup(click.Group):
    """A group whose command `x` is `command` in the module `{package}.x`.

    `commands_help` lists the commands with a line of help each, so that help need not import them. Without
    a command the help is printed. An InputError becomes a CommandError that names the command; a reader
    that closes its end of the pipe has seen enough.
    """

    def __init__(self, *, package: str, commands_help: Mapping[str, str], **attributes: Any) -> None:
        super().__init__(**{"no_args_is_help": False, "invoke_without_command": True, **attributes})
        self._package = package
        self._help = commands_help

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Names of the commands, in the order of the help."""
        return list(self._help)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a command."""
        if cmd_name not in self._help:
            return None
        command = importlib.import_module(f"{self._package}.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the arguments name."""
        if args[0] not in self._help:
            raise InputError("unknown_command", expected="a command", got=repr(args[0]), available=self._help)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self._help.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            result = super().invoke(ctx)
            if ctx.invoked_subcommand is None:
                click.echo(ctx.get_help())
            sys.stdout.flush()
        except InputError as error:
            where = " ".join(filter(None, (ctx.command_path, ctx.invoked_subcommand)))
            raise CommandError(where, str(error)) from error
        except KeyboardInterrupt:
            if sys.stderr.isatty():
                click.echo(err=True)  # the terminal has echoed ^C
            raise Exit(INTERRUPTED) from None
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise Exit(0) from None
        return result
