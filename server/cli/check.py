"""`plyground check`."""

import sys
from collections.abc import Callable
from typing import Any

import click

import games
from agents import child, student
from agents.check import LOAD_MS, Report, Step, check
from agents.command import Command
from agents.conversation import Conversation
from agents.program import Program
from agents.protocol import TimeControl
from server.cli.entrant import check_one_given
from server.cli.numbers import WholeNumber
from server.cli.terminal import clean, clean_lines, json_option, write_json

MOVE_MS = 1_000
MARGIN_MS = 200
READY_MS = 10_000
MARKS = {"passed": "ok", "failed": "FAILED", "skipped": "-"}


@click.command()
@click.argument("file", metavar="[FILE]", required=False)
@click.option("--command", "line", help='A program that is the agent, such as "node bot.js".')
@click.option("--game", default="connect_four", show_default=True, help="A game, or name(option=value,...).")
@click.option("--move-ms", type=WholeNumber(1), default=MOVE_MS, show_default=True, help="Time for a move.")
@click.option(
    "--ready-ms", type=WholeNumber(1), default=READY_MS, show_default=True, help="Time for match_start."
)
@click.option("--seed", type=WholeNumber(0), default=1, show_default=True, help="For the random opponent.")
@json_option
def command(
    file: str | None, line: str | None, game: str, move_ms: int, ready_ms: int, seed: int, *, as_json: bool
) -> int:
    """Check that an agent keeps to the protocol, step by step.

    FILE is an agent's .py file; with --command it is any program that reads a JSON message a line and answers
    with one. It is run on its own, plays matches against random play, and is told of nothing that could not
    happen in a rated match. Exit code 1 if a step failed.
    """
    start = _agent(file, line)
    limits = TimeControl(move_ms, margin_ms=MARGIN_MS, ready_ms=ready_ms)
    chosen = games.load(game)
    report = check(start, chosen, limits, load_ms=LOAD_MS if file else 0, seed=seed, say=_say)
    if as_json:
        write_json(_to_json(report, chosen.variant))
    else:
        click.echo(clean(f"checked on {chosen.variant}; --game chooses another"))
        _write(report)
    return 0 if report.passed else 1


def _agent(file: str | None, line: str | None) -> Callable[[], Conversation]:
    """Return what starts the agent. Raises InputError for bad usage."""
    check_one_given(file, line)
    if line is not None:
        arguments = Command(line).arguments
        return lambda: Conversation(Program(arguments))
    assert file is not None
    student.read(file)
    arguments, environment = child.command_of(file)
    return lambda: Conversation(Program(arguments, environment))


def _say(doing: str) -> None:
    if sys.stderr.isatty():
        click.echo(f"{doing} ...", err=True)


def _write(report: Report) -> None:
    for step in report.steps:
        click.echo(
            clean(f"{step.number:>2} {MARKS[step.result]:<6} {step.title}: {step.got}")
            if step.result != "failed"
            else _failure(step)
        )
    failed = sum(step.result == "failed" for step in report.steps)
    passed = sum(step.result == "passed" for step in report.steps)
    click.echo(f"{passed} of {len(report.steps)} steps passed, {failed} failed")


def _failure(step: Step) -> str:
    lines = [
        clean(f"{step.number:>2} {MARKS[step.result]:<6} {step.title}"),
        clean(f"     expected  {step.expected}"),
        clean(f"     got       {step.got}"),
    ]
    if step.where:
        lines.append(clean(f"     where     {step.where}"))
    lines += [f"     {text}" for text in clean_lines(step.trace.rstrip()).splitlines()]
    return "\n".join(lines)


def _to_json(report: Report, game: str) -> dict[str, Any]:
    steps = [
        {
            "step": step.number,
            "title": step.title,
            "result": step.result,
            "expected": step.expected,
            "got": step.got,
            "where": step.where or None,
            "trace": step.trace or None,
        }
        for step in report.steps
    ]
    return {"game": game, "passed": report.passed, "steps": steps, "stderr": report.stderr}
