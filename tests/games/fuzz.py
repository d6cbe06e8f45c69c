"""Texts that are nearly positions: mutations of valid ones, for the parsers of all games."""

from hypothesis import strategies as st

import games
from games import Game, InputError, State
from games.perft import plies

STRAY = " \t\n/-+.0123456789abcdefghknopqrstwxyzABDKNOPQRWX?*@\u00e9\u0661\uff11"


def nearly(texts: list[str]) -> st.SearchStrategy[str]:
    """Valid texts with up to three characters dropped, doubled, changed, inserted or two swapped."""
    place = st.integers(0, 10**6)
    mutation = st.tuples(st.integers(0, 4), place, place, st.sampled_from(STRAY))
    return st.builds(_mutated, st.sampled_from(texts), st.lists(mutation, max_size=3))


def _mutated(text: str, mutations: list[tuple[int, int, int, str]]) -> str:
    for kind, first, second, stray in mutations:
        i, j = first % (len(text) + 1), second % (len(text) + 1)
        i, j = min(i, j), max(i, j)
        if kind == 0:
            text = text[:i] + text[i + 1 :]
        elif kind == 1:
            text = text[:i] + text[i : i + 1] + text[i:]
        elif kind == 2:
            text = text[:i] + stray + text[i + 1 :]
        elif kind == 3:
            text = text[:i] + stray + text[i:]
        elif i < j < len(text):
            text = text[:i] + text[j] + text[i + 1 : j] + text[i] + text[j + 1 :]
    return text


def check_text(game: Game, text: str) -> bool:
    """A text is refused with one InputError, or read exactly; a state that was read can be played on.

    Returns whether it was read.
    """
    state = read(game, text)
    if state is None:
        return False
    assert game.format_position(state) == text
    assert game.parse_position(game.format_position(state)) == state
    choices = list(plies(state))
    assert bool(choices) is not state.is_terminal()
    for choice in choices[:20]:
        game.format_position(state.result(choice))
    if state.is_terminal():
        assert len([state.utility(p) for p in range(game.players)]) == game.players
    state.features(0)
    return True


def read(game: Game, text: str) -> State | None:
    """The state of a text; None if it was refused, as it has to be."""
    try:
        return game.parse_position(text)
    except InputError as refusal:
        error = refusal
    assert error.code == "bad_position"
    assert len(str(error)) < 600
    return None


def texts_of(name: str) -> list[str]:
    """Texts of positions of random games."""
    from corpus import sample  # noqa: PLC0415 - plays them

    return [position.text() for position in sample(games.load(name).variant)]
