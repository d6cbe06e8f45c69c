"""The agent's side of a match: one method, `choose(state, clock)`, and how its answer is read."""

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from agents.clock import Clock
from agents.protocol import MAX_INFO_BYTES, MatchEnd, MatchStart, YourMove
from agents.search_info import SearchInfo
from agents.view import View
from games import Game, InputError
from games.observation import Observation

MAX_ACTION_CHARACTERS = 100


class Resigned(Exception):  # noqa: N818 - what it says, not an error
    """Raised by `choose` to give the match up."""


class Agent:
    """Base class of all agents. Only `choose` must be written.

    After `choose`, `info` may hold what is to be shown with the move: a SearchInfo or a mapping that
    becomes at most 4 KB of JSON (more is left out).
    """

    info: SearchInfo | Mapping[str, Any] | None = None

    def asked(self, request: YourMove) -> None:
        """Hear the request itself, just before `choose`: for agents that are driven by messages."""

    def choose(self, state: Any, clock: Clock) -> int | str:
        """Choose a legal action of `state`: one of `state.actions()`, or its text.

        It is a State, or where something is hidden an Observation.
        """
        raise NotImplementedError

    def match_start(self, start: MatchStart) -> None:
        """Prepare for a match. Its clock starts when this returns."""

    def match_end(self, end: MatchEnd) -> None:
        """Learn how the match ended."""


@dataclass(frozen=True)
class Choice:
    """What an agent chose, as text for the wire.

    If it is no legal action, `got` names it as its author wrote it, and `problem` says why it is none.
    """

    text: str
    action: int | None
    got: str = ""
    problem: str | None = None


def read_choice(game: Game, state: View, chosen: object) -> Choice:
    """Read what `choose` returned: an action, any integer type, or an action's text.

    A bool, a float or None is no action, however close its value comes to one.
    """
    if isinstance(chosen, str):
        return _read_text(game, state, chosen)
    action = _whole_number(chosen)
    if action is None:
        text = _shown(chosen)
        kind = _article(type(chosen).__name__)
        return Choice(text, None, f"{text}, {kind}", f"{text} is {kind}, not an action")
    if action in state.actions():
        return Choice(game.format_action(state, action), action)
    return _illegal(_illegal_text(game, state, action), _shown(action))


def _illegal(text: str, got: str) -> Choice:
    return Choice(text, None, got, f"{got} is none of the legal actions")


def _whole_number(chosen: object) -> int | None:
    """Read any integer type (numpy's too); a bool is none here."""
    if isinstance(chosen, bool):
        return None
    try:
        return operator.index(chosen)  # type: ignore[arg-type]
    except Exception:  # noqa: BLE001 - somebody's object may raise anything there
        return None


def _shown(value: object) -> str:
    """Write any value; somebody's object may refuse, and so does a number of thousands of digits."""
    try:
        return _shorten(repr(value))
    except Exception:  # noqa: BLE001 - somebody's object may raise anything there
        return f"{_article(type(value).__name__)} that cannot be shown"


def _illegal_text(game: Game, state: View, action: int) -> str:
    """Write an illegal action so that it cannot be taken for a legal one.

    The bare number could be: the columns of connect four count from 0 as actions, from 1 as texts.
    """
    try:
        text = game.format_action(state, action)
    except (ArithmeticError, LookupError, TypeError, ValueError):
        text = ""
    legal = {game.format_action(state, a) for a in state.actions()}
    return _shorten(f"illegal:{_shown(action)}" if not text or text in legal else text)


def _read_text(game: Game, state: View, text: str) -> Choice:
    try:
        action = game.parse_action(state, text)
    except InputError:
        return _illegal(_shorten(text), repr(_shorten(text)))
    return Choice(game.format_action(state, action), action)


def _article(noun: str) -> str:
    return f"{'an' if noun[0].lower() in 'aeiou' else 'a'} {noun}"


def _shorten(text: str) -> str:
    return text if len(text) <= MAX_ACTION_CHARACTERS else text[: MAX_ACTION_CHARACTERS - 1] + "…"


def info_json(agent: Agent, game: Game, state: View) -> dict[str, Any] | None:
    """Return the agent's `info` as JSON data; None where it is none, no JSON, or over 4 KB.

    What an agent tells about itself must never cost it a move.
    """
    try:
        info = agent.info
        if isinstance(info, SearchInfo) and not isinstance(state, Observation):
            info = info.to_json(game, state)
        if not isinstance(info, Mapping):
            return None
        encoded = msgspec.json.encode(dict(info))
        plain = msgspec.json.decode(encoded, type=dict[str, Any])
    except Exception:  # noqa: BLE001 - anything may be in there, and the move counts
        return None
    return plain if len(encoded) <= MAX_INFO_BYTES else None
