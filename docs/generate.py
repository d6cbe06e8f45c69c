"""Writes the generated parts of the pages here from what they describe: `make docs`.

A part stands between `<!-- generated: NAME -->` and `<!-- end -->`. Its meanings in words come from
fields.toml and from the docstrings and help texts of the program. With --check nothing is written: exit code
1 if a page is stale.
"""

import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, get_args

import click
import msgspec

from agents import protocol
from docs import game_pages
from server import settings
from server.cli import cli
from server.core.match_diagram import diagram
from server.http.endpoint import Endpoint
from server.http.endpoints import ENDPOINTS

DOCS = Path(__file__).resolve().parent
SCHEMA = DOCS / "protocol.schema.json"
PART = re.compile(r"(<!-- generated: (\S+) -->\n)(.*?)(<!-- end -->\n)", flags=re.DOTALL)
FIELDS = tomllib.loads((DOCS / "fields.toml").read_text(encoding="utf-8"))
KINDS = {
    "integer": "whole number",
    "number": "number",
    "string": "text",
    "boolean": "true or false",
    "object": "object",
}


def main(arguments: list[str]) -> int:
    """Write every page anew, or only say which are stale."""
    check = "--check" in arguments
    stale = {path: text for path, text in pages().items() if _read(path) != text}
    for path, text in stale.items():
        sys.stdout.write(f"{'stale' if check else 'written'}: docs/{path.relative_to(DOCS)}\n")
        if not check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return 1 if check and stale else 0


def pages() -> dict[Path, str]:
    """Return what each page with generated parts, and the schema, should hold."""
    parts = generated()
    found = {page: written(page.read_text(encoding="utf-8"), parts) for page in sorted(DOCS.glob("*.md"))}
    of_games = game_pages.pages(DOCS / "games")
    return {**found, **of_games, SCHEMA: json.dumps(schema(), indent=2) + "\n"}


def written(page: str, parts: Mapping[str, Callable[[], str]]) -> str:
    """Return a page with its generated parts written anew. Raises KeyError for a part that nobody writes."""
    return PART.sub(lambda part: f"{part[1]}\n{parts[part[2]]().strip()}\n\n{part[4]}", page)


def generated() -> dict[str, Callable[[], str]]:
    """Return what writes each part, by its name."""
    parts: dict[str, Callable[[], str]] = {
        "settings": settings_table,
        "ladders": ladders_table,
        "commands": commands_table,
        "options": options,
        "endpoints": endpoints_table,
        "match": lambda: f"```mermaid\n{diagram()}```",
        "parts": message_parts,
    }
    for name, message in messages().items():
        parts[f"message:{name}"] = partial(fields_table, message, FIELDS["messages"][name])
    return parts


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a table."""
    lines = [f"| {' | '.join(line)} |" for line in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


# messages ---------------------------------------------------------------------------------------------


def messages() -> dict[str, type[msgspec.Struct]]:
    """Return every message by its type."""
    unions = (protocol.FromAgent, protocol.ToAgent, protocol.FromSpectator, protocol.ToSpectator)
    return {message.__struct_config__.tag: message for union in unions for message in get_args(union)}


def _described() -> dict[str, dict[str, Any]]:
    """Return the JSON schema of every message and every part of one, by its class."""
    _, found = msgspec.json.schema_components(list(messages().values()), ref_template="#/$defs/{name}")
    return found


def schema() -> dict[str, Any]:
    """Return the JSON schema of the protocol, with the meaning of each field."""
    found = _described()
    named = {message.__name__: name for name, message in messages().items()}
    for name, part in found.items():
        part["description"] = " ".join(part["description"].split())
        meanings = FIELDS["messages"][named[name]] if name in named else FIELDS["parts"][name]
        for field, value in part["properties"].items():
            if field != "type":
                value["description"] = meanings[field]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Plyground wire protocol {protocol.VERSION}",
        "anyOf": [{"$ref": f"#/$defs/{name}"} for name in named],
        "$defs": found,
    }


def fields_table(part: type[msgspec.Struct], meanings: Mapping[str, str]) -> str:
    """Write the fields of a message. Raises KeyError where one has no meaning in fields.toml."""
    described = _described()[part.__name__]
    rows = []
    for name, value in described["properties"].items():
        if name != "type":
            rows.append(
                (f"`{name}`", _kind(value) + _default(name, value, described["required"]), meanings[name])
            )
    return _table(("field", "type", "meaning"), rows) if rows else "No fields."


def message_parts() -> str:
    """Write the parts that messages are made of."""
    sections = []
    for name, meanings in FIELDS["parts"].items():
        part = getattr(protocol, name)
        sections.append(
            f"### {name}\n{_first_paragraph(part.__doc__ or '')}\n\n{fields_table(part, meanings)}"
        )
    return "\n\n".join(sections)


def _first_paragraph(text: str) -> str:
    """Return the first paragraph of a docstring or help text, in one line."""
    return " ".join(text.strip().split("\n\n")[0].split())


def _kind(value: Mapping[str, Any]) -> str:
    """Say in words what a JSON schema admits."""
    if "$ref" in value:
        return f"`{value['$ref'].rpartition('/')[2]}`"
    if "anyOf" in value:
        return " or ".join("null" if one.get("type") == "null" else _kind(one) for one in value["anyOf"])
    if "enum" in value:
        return ", ".join(f"`{one}`" for one in value["enum"] if one is not None)
    if value.get("type") == "array":
        most = f", at most {value['maxItems']}" if "maxItems" in value else ""
        return f"list of {_several(value['items'])}{most}"
    longest = f" of at most {value['maxLength']} characters" if "maxLength" in value else ""
    return KINDS[value["type"]] + longest


def _several(item: Mapping[str, Any]) -> str:
    kind = _kind(item)
    return f"{kind}s" if kind in KINDS.values() else kind


def _default(name: str, value: Mapping[str, Any], required: Sequence[str]) -> str:
    if name in required:
        return ""
    default = value.get("default")
    return "; may be left out" if default is None else f"; default {json.dumps(default)}"


# settings ---------------------------------------------------------------------------------------------


def settings_table() -> str:
    """Write the settings but the ladders."""
    rows = []
    for field in msgspec.structs.fields(settings.Settings):
        if field.name != "ladders":
            low, high = settings.BOUNDS.get(field.name, (None, None))
            bounds = "" if low is None else f"{low:,} to {high:,}"
            default = "" if field.default in (None, "") else f"`{str(field.default).lower()}`"
            variable = f"`{settings.PREFIX}{field.name.upper()}`"
            rows.append(
                (variable, f"`{field.name}`", default or "not set", bounds, FIELDS["settings"][field.name])
            )
    return _table(("variable", "key in the file", "default", "range", "meaning"), rows)


def ladders_table() -> str:
    """Write the keys of a ladder."""
    otherwise = {
        "name": "",
        "game": "",
        "title": "the name",
        "move_ms": "5000; none beside `bank_ms`, `byoyomi_ms` or `nodes`",
        "ready_ms": "the server's `ready_ms`",
    }
    rows = []
    for field in msgspec.structs.fields(settings.LadderSpec):
        low, high = settings.LADDER_BOUNDS.get(field.name, (None, None))
        bounds = "" if low is None else f"{low:,} to {high:,}"
        default = otherwise.get(field.name, str(field.default).lower())
        rows.append((f"`{field.name}`", default, bounds, FIELDS["ladders"][field.name]))
    return _table(("key", "if it is left out", "range", "meaning"), rows)


# commands ---------------------------------------------------------------------------------------------


def commands(group: click.Group = cli, words: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """Give every command that does something, with its words."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*words, name))
        elif command is not None:
            yield " ".join((*words, name)), command


def commands_table() -> str:
    """Write one line a command: how it is called, and what it does."""
    rows = []
    for words, command in commands():
        needed = [piece for piece in command.params if piece.required or isinstance(piece, click.Argument)]
        pieces = [_usage(piece) for piece in needed]
        rows.append((f"`{' '.join(['plyground', words, *pieces])}`", _first_paragraph(command.help or "")))
    return _table(("command", "what it does"), rows)


def _usage(piece: click.Parameter) -> str:
    if isinstance(piece, click.Argument):
        metavar = str(piece.make_metavar(click.Context(cli)))
        return metavar if "|" not in metavar else str(piece.name).upper()  # it would end the table's cell
    return f"{piece.opts[0]} {(piece.name or '').upper().rstrip('S')}"


def options() -> str:
    """Write the options of every command."""
    sections = []
    for words, command in commands():
        rows = [
            (f"`{', '.join(piece.opts)}`", _option_default(piece), piece.help or "")
            for piece in command.params
            if isinstance(piece, click.Option)
        ]
        if rows:
            sections.append(f"### plyground {words}\n\n{_table(('option', 'default', 'meaning'), rows)}")
    return "\n\n".join(sections)


def _option_default(piece: click.Option) -> str:
    """Say what an option is if it is not given."""
    if piece.required:
        return "needed"
    # Where there is no default, click answers None or, in newer versions, a sentinel of its own.
    if piece.is_flag or piece.multiple or piece.default in (None, "") or "Sentinel" in str(piece.default):
        return ""
    return f"`{piece.default}`"


# the API ----------------------------------------------------------------------------------------------


def endpoints_table() -> str:
    """Write one line an endpoint: what it takes, what token it asks for, and what it answers."""
    rows = [
        (
            f"`{endpoint.method} {endpoint.path}`",
            _taken(endpoint),
            _scopes(endpoint),
            endpoint.summary.rstrip("."),
        )
        for endpoint in ENDPOINTS
    ]
    return _table(("endpoint", "takes", "token", "answers or does"), rows)


def _taken(endpoint: Endpoint) -> str:
    query = [f"`{name}`" for name in endpoint.query.__struct_fields__]
    body = [f"`{name}`" for name in endpoint.body.__struct_fields__] if endpoint.body else []
    return "; ".join(filter(None, [", ".join(query), f"JSON: {', '.join(body)}" if body else ""]))


def _scopes(endpoint: Endpoint) -> str:
    scopes = " or ".join(f"`{scope}`" for scope in endpoint.scopes)
    return f"{scopes}, or none" if scopes and endpoint.open_to_some else scopes


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
