"""Text from strangers cannot spoil the terminal."""

import pytest

from server.cli.terminal import clean, clean_lines, write_json, write_table


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("ada", "ada"),
        ("Ærøskøbing 君 é", "Ærøskøbing 君 é"),
        ("\x1b[2Jada", "?[2Jada"),
        ("ada\r\nroot", "ada??root"),
        ("ada\u202egnp", "ada?gnp"),
        ("ada\u200b", "ada?"),
        ("a\x07\x08\x9bb", "a???b"),
        ("\ud800", "?"),
    ],
)
def test_what_moves_hides_or_reorders_is_replaced(text, shown):
    assert clean(text) == shown


def test_lines_and_their_indentation_stay():
    assert clean_lines("a\n  b\x1b\n\tc") == "a\n  b?\n        c"


def test_a_table_shows_markup_as_it_is_and_cuts_nothing(capsys):
    write_table(("agent", "rating"), [("[bold red]ada[/]", 1500.25), ("\x1b[31mbob", None), ("x" * 150, 3)])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["agent", "rating"]
    assert lines[2:] == [["[bold", "red]ada[/]", "1500.2"], ["?[31mbob", "-"], ["x" * 150, "3"]]


def test_numbers_stand_flush_right(capsys):
    write_table(("agent", "games"), [("ada", 5), ("bob", 12345)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].endswith("    5")
    assert lines[3].endswith("12345")


def test_json_is_ascii(capsys):
    write_json({"name": "\x1bé\u202e"})
    assert capsys.readouterr().out.isascii()
