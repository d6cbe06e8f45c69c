"""`plyground play`."""

import contextlib
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

import games
from agents import roster, student
from agents.agent import Agent
from agents.command import Command
from agents.local import LocalResult, check_seats, play_match, seatings
from agents.protocol import TimeControl
from games import Game, InputError, Position
from server.cli.entrant import COMMAND
from server.cli.numbers import WholeNumber
from server.cli.person import Person, Viewer
from server.cli.program import program_here
from server.cli.tally import Tally, sentence
from server.cli.terminal import clean, clean_lines, console, json_option, write_json

ME = "me"
MOVE_MS = 5_000
MARGIN_MS = 200
READY_MS = 10_000


@dataclass(frozen=True)
class Contestant:
    """One who plays: `name` as it was given, `label` different for each; `make(seed)` gives an agent.

    `own` is an agent from somebody's file, neither of the house nor a person.
    """

    name: str
    label: str
    make: Callable[[int], Agent]
    own: bool = False


@dataclass(frozen=True)
class Series:
    """What every match of a series has in common. Without a time control nothing is timed."""

    start: Position
    time_control: TimeControl | None
    contestants: tuple[Contestant, ...]
    out: Console

    def play(self, seating: Sequence[int], seeds: Sequence[int], chance: int) -> LocalResult:
        """Play one match with these seeds of the seats and of chance; drawn on `out` where a person plays."""
        seated = [self.contestants[player] for player in seating]
        viewer = None
        if self.time_control is None:
            persons = [seat for seat, one in enumerate(seated) if one.name == ME]
            viewer = Viewer(self.out, [one.label for one in seated], persons)
        return play_match(
            self.start.game,
            [one.make(seed) for one, seed in zip(seated, seeds, strict=True)],
            self.time_control,
            self.start.actions,
            names=[one.name for one in seated],
            rehearsing=[seat for seat, one in enumerate(seated) if one.own],
            seed=chance,
            on_move=viewer.moved if viewer else None,
        )


@click.command()
@click.argument("names", metavar="A B [C]...", nargs=-1, required=True)
@click.option("--game", default="connect_four", show_default=True, help="A game, or name(option=value,...).")
@click.option(
    "--games", "count", type=WholeNumber(1, 1_000_000), default=1, show_default=True, help="How many."
)
@click.option("--seed", type=WholeNumber(0), help="Makes agents draw the same lots again.")
@click.option("--move-ms", type=WholeNumber(1), help=f"Time for a move, in ms; {MOVE_MS} if not given.")
@click.option(
    "--moves", default="", metavar="TEXT", help='Moves that every game starts with, such as "4 4 3".'
)
@json_option
def command(
    names: tuple[str, ...],
    game: str,
    count: int,
    seed: int | None,
    move_ms: int | None,
    moves: str,
    *,
    as_json: bool,
) -> int:
    """Play games between agents, or against one, without a server.

    A, B and as many more as the game has seats are each the name of a house agent (see `plyground agents`),
    an agent's .py file, a program as `command:node bot.js`, or `me`. All move up one seat after every game.
    With `me` nothing is timed. An agent's file is asked for its share of --moves too, and what it answers
    there is ignored. Exit code 1 if an agent's file crashed, chose an illegal action, or took too long.
    """
    start = Position.start(games.load(game), moves=moves.split())
    check_seats(start.game, len(names))
    out = console(stderr=as_json)
    control = _time_control(move_ms, timed=ME not in names)
    with contextlib.ExitStack() as stack:
        contestants = _labelled([_contestant(name, start.game, out, stack) for name in names])
        series = Series(start, control, contestants, out)
        tally = Tally([one.label for one in contestants])
        failed = _play_all(series, count, seed, tally)
    if as_json:
        write_json({"game": start.game.variant, "games": count, **tally.to_json()})
    else:
        tally.write()
    return 1 if failed else 0


def _time_control(move_ms: int | None, *, timed: bool) -> TimeControl | None:
    if timed:
        return TimeControl(move_ms or MOVE_MS, margin_ms=MARGIN_MS, ready_ms=READY_MS)
    if move_ms is not None:
        raise InputError("timed_person", expected="--move-ms between agents alone", got=f"it with {ME}")
    return None


def _contestant(name: str, game: Game, out: Console, stack: contextlib.ExitStack) -> Contestant:
    """Find who is meant; `stack` ends at the end what has to be ended. Raises InputError if nobody is."""
    if name == ME:
        return Contestant(name, name, lambda _seed: Person(game, out))
    if name.startswith(COMMAND):
        program = Command(name.removeprefix(COMMAND))
        stack.callback(program.end)
        return Contestant(name, name, lambda _seed: program.agent(), own=True)
    known = roster.names(game)
    if name in known:
        return Contestant(name, name, lambda seed: roster.make(name, game, seed))
    if name.endswith(".py") or Path(name).exists() or len(Path(name).parts) > 1:
        loaded = student.load(name)
        return Contestant(name, name, lambda _seed: loaded.make(), own=True)
    elsewhere = next((agent for agent in roster.entries() if agent.name == name), None)
    if elsewhere is not None:
        raise elsewhere.not_played(game)
    raise InputError(
        "unknown_agent",
        expected="an agent",
        got=repr(name),
        available=[*known, ME, "a .py file", f"{COMMAND}PROGRAM"],
    )


def _labelled(contestants: list[Contestant]) -> tuple[Contestant, ...]:
    """Return them with a number added to names that occur twice."""
    names = [one.name for one in contestants]
    return tuple(
        replace(one, label=f"{one.name} #{number}") if names.count(one.name) > 1 else one
        for number, one in enumerate(contestants, start=1)
    )


def _play_all(series: Series, count: int, seed: int | None, tally: Tally) -> bool:
    """Play the series; tell whether somebody's file failed.

    What agents print goes to stderr, so that stdout holds the result alone.
    """
    draw = random.Random(seed)
    if seed is not None:
        random.seed(seed)  # for agents' files that use the module's own generator
    with_chance = series.start.game.has_chance
    here = program_here()
    failed = False
    reported: set[str] = set()
    with _progress(series, count) as tell, contextlib.redirect_stdout(sys.stderr):
        for seating in seatings(len(series.contestants), count):
            seeds = [draw.getrandbits(62) for _ in seating]
            result = series.play(seating, seeds, draw.getrandbits(62) if with_chance else 0)
            tally.add(seating, result)
            fault = result.fault
            failed |= fault is not None and series.contestants[seating[fault.seat]].own
            if fault is not None and fault.agent not in reported:
                reported.add(fault.agent)
                click.echo(clean_lines(fault.text(here)) + "\n", err=True)
            tell(sentence([series.contestants[player].label for player in seating], result))
    return failed


@contextlib.contextmanager
def _progress(series: Series, count: int) -> Iterator[Callable[[str], None]]:
    """Give a function to call with a word on each match played."""
    screen = console(stderr=True)
    if series.time_control is None:
        yield lambda said: series.out.print(clean(said), end="\n\n")
    elif screen.is_terminal:
        columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        words = TextColumn("{task.description}", markup=False)
        with Progress(*columns, words, console=screen, transient=True, redirect_stdout=False) as bar:
            task = bar.add_task("", total=count)
            yield lambda said: bar.update(task, advance=1, description=clean(said))
    else:
        yield _lines(count)


def _lines(count: int) -> Callable[[str], None]:
    """Tell of the progress in a line a game on stderr."""
    played = 0

    def tell(said: str) -> None:
        nonlocal played
        played += 1
        click.echo(clean(f"game {played} of {count}: {said}"), err=True)

    return tell
