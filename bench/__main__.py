"""Run benches: `python -m bench` runs all, with names some, and writes their sections of bench/RESULTS.md.

A bench is a module here with a function `run(*, quick: bool) -> list[Result]`. `--quick` shows that it works,
and no more.
"""

import argparse
import importlib
import os
import platform
import statistics
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from pathlib import Path

from bench.result import Result

HERE = Path(__file__).parent
RESULTS = HERE / "RESULTS.md"
OURS = frozenset({"agents", "bench", "games", "server"})
PACKAGES = ("aiohttp", "uvloop", "websockets", "msgspec", "sqlalchemy", "numpy", "numba")

HEAD = (
    "# Results of `make bench`",
    "",
    "Ratios of CPU time to a peer measured in the same run, unless a unit says otherwise. Medians of",
    "interleaved runs, and the lowest and highest of them. Each section is one run on the machine it names.",
    "",
    "- Refereed moves: CPU time of the server for a move, with 200 matches open between 402 agents and with",
    "  1,000 between 40; a bare relay or echo has as many frames on their way in the same run.",
    "- Lateness of deadlines: from the instant at which a silent agent's time is over to the instant at",
    "  which the server says so, by its own clock; a process that only sleeps is the machine's share.",
    "- Spectators: CPU time of a server with one match before a crowd, less that before one spectator, for",
    "  each event and spectator, over a loop that only writes the same bytes. Who does not read is to cost",
    "  others no time, and little memory.",
    "- Memory that grows: a line through the second half of ten minutes of short matches, as many as it can",
    "  play. At most 64 bytes a match is about zero: no object is kept for a match.",
    "- Perft: paths of play counted to a depth; both sides must count the same before they are timed.",
    "- Random games: played to their ends, uniform among the legal actions or as our searches draw them.",
    "",
)

Bench = Callable[..., list[Result]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for; return 1 if a goal was missed."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="Ratios to peers in one run.")
    parser.add_argument("names", nargs="*", help="benches to run, all if none is named")
    parser.add_argument(
        "--quick", action="store_true", help="short runs, to see that they work; nothing is written"
    )
    options = parser.parse_args(arguments)
    names = options.names or available()
    unknown = sorted(set(names) - set(available()))
    if unknown:
        parser.error(f"expected one of {', '.join(available())}, got {', '.join(unknown)}")
    missed = False
    for name in names:
        sys.stderr.write(f"{name} ...\n")
        results = run_bench(name, quick=options.quick)
        missed |= any(result.reached is False for result in results)
        section = render(results)
        sys.stdout.write(f"## {name}\n\n{section}\n")
        if not options.quick:
            write(name, section)
    return 1 if missed else 0


def available() -> list[str]:
    """Names of all benches: modules that define `run`."""
    return sorted(path.stem for path in HERE.glob("*.py") if "\ndef run(" in path.read_text(encoding="utf-8"))


def run_bench(name: str, *, quick: bool) -> list[Result]:
    """Run one; a package that is not installed is a row of the table."""
    try:
        module = importlib.import_module(f"bench.{name}")
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] in OURS:
            raise
        return [Result(name, missing=str(error.name))]
    run: Bench = module.run
    return run(quick=quick)


def write(name: str, section: str) -> None:
    """Write a bench's section of RESULTS.md, and keep those of the others that there are."""
    sections = {name: section}
    if RESULTS.exists():
        for part in RESULTS.read_text(encoding="utf-8").split("\n## ")[1:]:
            title, _, text = part.partition("\n\n")
            if title in available():
                sections.setdefault(title, text)
    parts = [f"## {title}\n\n{sections[title].rstrip()}\n" for title in sorted(sections)]
    RESULTS.write_text("\n".join((*HEAD, *parts)), encoding="utf-8")


def render(results: Iterable[Result]) -> str:
    """Write a section: the machine, then a row for each result."""
    rows = ("| what | goal | measured | spread | |", "|---|---|---|---|---|", *map(_row, results))
    return "\n".join((_machine(), "", *rows, ""))


def _row(result: Result) -> str:
    goal = "" if result.goal is None else f"{'≤' if result.at_most else '≥'} {_figure(result, result.goal)}"
    if result.missing:
        return f"| {result.name} | {goal} | not measured: {result.missing} is missing | | {result.detail} |"
    verdict = {True: "", False: " **missed**", None: ""}[result.reached]
    measured = _figure(result, statistics.median(result.figures))
    spread = f"{_figure(result, min(result.figures))} to {_figure(result, max(result.figures))}"
    return f"| {result.name} | {goal} | {measured}{verdict} | {spread} | {result.detail} |"


def _figure(result: Result, value: float) -> str:
    digits = 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:,.{digits}f} {result.unit}".strip()


def _machine() -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return (
        f"{_processor()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}; "
        f"Python {platform.python_version()}; {packages}."
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown processor"
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.machine()


if __name__ == "__main__":
    sys.exit(main())
