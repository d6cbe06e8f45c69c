"""What is wrong with a roster is found when it is read, and named."""

import pytest

from agents import roster
from games import InputError

AGENT = """
[[agent]]
name = "zz"
algorithm = "{algorithm}"
about = "for a test"
[agent.{game}]
{settings}
"""


@pytest.mark.parametrize(
    ("algorithm", "game", "settings", "words"),
    [
        ("alphabeta", "connect_four", "weights = { centre = nan }", ["a finite number", "nan"]),
        ("alphabeta", "connect_four", "weights = { nosuch = 1 }", ["a feature of connect_four", "'nosuch'"]),
        ("alphabeta", "connect_four", "depth = 0", ["depth"]),
        ("alphabeta", "connect_four", "nodes = -1", ["nodes"]),
        ("alphabeta", "connect_four", "time_ms = nan", ["time_ms"]),
        ("alphabeta", "connect_four", "playouts = 5", ["a setting of the algorithm", "'playouts'"]),
        ("mcts", "othello", "playouts = 0", ["playouts"]),
        ("mcts", "othello", "exploration = -1", ["exploration"]),
        ("mcts", "kuhn_poker", "", ["a game that mcts plays"]),
        ("nosuch", "othello", "", ["an algorithm", "'nosuch'"]),
    ],
)
def test_a_bad_setting_is_refused_with_its_agent(tmp_path, algorithm, game, settings, words):
    file = tmp_path / "roster.toml"
    file.write_text(AGENT.format(algorithm=algorithm, game=game, settings=settings))
    with pytest.raises(InputError) as refused:
        roster.entries(file)
    for word in (*words, "agent 'zz'"):
        assert word in str(refused.value)
    assert refused.value.code == "bad_roster"


def test_a_roster_that_is_no_text_is_refused(tmp_path):
    file = tmp_path / "roster.toml"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="expected TOML"):
        roster.entries(file)
