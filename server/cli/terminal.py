"""Output of the commands: plain JSON, tables, and text from strangers made harmless."""

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

PIPE_COLUMNS = 240
"""Width of a table where stdout is no terminal: nothing is cut off."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")


def clean(text: str) -> str:
    """Replace what could move the cursor, reorder or hide text on a terminal."""
    return "".join(c if c.isprintable() else "?" for c in text)


def clean_lines(text: str) -> str:
    """Clean a text of several lines."""
    return "\n".join(clean(line.expandtabs()) for line in text.split("\n"))


def write_json(data: object) -> None:
    """Print JSON on stdout, escaped so that it holds ASCII alone."""
    click.echo(json.dumps(data, indent=2))


def console(*, stderr: bool = False) -> Console:
    """Return a console that neither marks up nor cuts what it is given."""
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() else PIPE_COLUMNS
    return Console(file=stream, width=width, markup=False, highlight=False, emoji=False)


def write_table(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str = "", tight: bool = False
) -> None:
    """Print a table; columns whose cells are all numbers stand flush right, closer if it is tight."""
    cells = [[_cell(value) for value in row] for row in rows]
    table = Table(
        box=SIMPLE_HEAD,
        title=Text(clean(title)) if title else None,
        title_justify="left",
        show_edge=False,
        pad_edge=False,
        padding=(0, 0) if tight else (0, 1),
    )
    for index, name in enumerate(columns):
        numbers = all(_is_number(row[index]) for row in cells)
        table.add_column(name, justify="right" if numbers and cells else "left", overflow="fold")
    for row in cells:
        table.add_row(*(Text(cell) for cell in row))
    console().print(table)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.1f}"
    return clean(str(value))


def _is_number(cell: str) -> bool:
    return cell == "-" or cell.removesuffix("?").replace(".", "", 1).lstrip("+-").isdigit()
