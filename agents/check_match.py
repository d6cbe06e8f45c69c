"""The matches of the conformance check: against a random opponent, from any spot of a game."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from agents import view
from agents.fault import written_note
from agents.outcome import by_rules, loss_of, scores
from agents.protocol import Cause, ClockView, MatchEnd, MatchStart, Outcome, TimeControl, YourMove
from games import Game, Position
from games.protocol import CHANCE

RANDOM_GAMES = 8
"""So many random games are looked through for odd positions."""

LISTED = 12
"""So many legal actions are listed."""


@dataclass(frozen=True)
class Spot:
    """A seat, and a position with who moved at each ply of it (CHANCE too)."""

    position: Position
    seat: int
    movers: tuple[int, ...] = ()

    @classmethod
    def first(cls, game: Game, seat: int) -> "Spot":
        """Return the start of a game for a seat."""
        return cls(Position.start(game), seat)

    def play(self, text: str) -> "Spot":
        """Return the spot after an action or outcome. Raises InputError if it is not legal."""
        position = self.position
        return Spot(position.play(text), self.seat, (*self.movers, position.to_move()))

    def drawn(self, rng: random.Random) -> "Spot":
        """Return the spot after a random action, or an outcome by its probability."""
        position = self.position
        if position.to_move() != CHANCE:
            return self.play(rng.choice(position.legal()))
        texts, weights = zip(*position.outcomes(), strict=True)
        return self.play(rng.choices(texts, weights)[0])


def random_spots(game: Game, rng: random.Random) -> list[Spot]:
    """Return the spots of one random game where a player is to move, for that player's seat."""
    spots = []
    spot = Spot.first(game, 0)
    while not spot.position.is_terminal():
        mover = spot.position.to_move()
        if mover != CHANCE:
            spots.append(Spot(spot.position, mover, spot.movers))
        spot = spot.drawn(rng)
    return spots


def middle_spot(game: Game, rng: random.Random) -> Spot:
    """Return a spot from the middle of a random game."""
    spots = random_spots(game, rng)
    return spots[len(spots) // 2]


def odd_spots(game: Game, rng: random.Random) -> list[Spot]:
    """Return the spots of random games with the fewest and the most legal actions, and the latest one."""
    spots = [spot for _ in range(RANDOM_GAMES) for spot in random_spots(game, rng)]
    odd = (
        min(spots, key=lambda spot: (len(spot.position.legal()), -spot.position.ply)),
        max(spots, key=lambda spot: (len(spot.position.legal()), spot.position.ply)),
        max(spots, key=lambda spot: spot.position.ply),
    )
    return list({spot.position.actions: spot for spot in odd}.values())


@dataclass
class CheckedMatch:
    """A match of the agent in `spot.seat`; random play moves for chance and every other seat.

    It is announced with `limits`; at every move the agent is shown the same `clock`.
    """

    number: int
    spot: Spot
    limits: TimeControl
    clock: ClockView
    rng: random.Random = field(repr=False)
    resigned: bool = False

    def start(self) -> MatchStart:
        """Announce it."""
        position, seat = self.spot.position, self.spot.seat
        names = ["you" if number == seat else "random" for number in range(position.game.players)]
        return view.match_start(self.number, "check", position, seat, names, self.limits)

    def request(self) -> YourMove | None:
        """Let the others move until it is the agent's turn, and ask it; None when the match is over."""
        while not self.over and self.spot.position.to_move() != self.spot.seat:
            self.spot = self.spot.drawn(self.rng)
        if self.over:
            return None
        return view.your_move(self.number, self.spot.position, self.spot.movers, self.clock)

    def play(self, action: str | None) -> None:
        """Take the agent's answer; None if it resigned. Raises InputError for an illegal action."""
        if action is None:
            self.resigned = True
        else:
            self.spot = self.spot.play(action)

    @property
    def over(self) -> bool:
        """Whether the game is over, or the agent has resigned."""
        return self.resigned or self.spot.position.is_terminal()

    def end(self) -> MatchEnd:
        """Tell how it ended; one that was broken off is void."""
        outcomes, causes = self._ends()
        position = self.spot.position
        utilities = position.utilities() if position.is_terminal() else ()
        return MatchEnd(
            match=self.number,
            outcome=list(outcomes),
            cause=list(causes),
            scores=scores(outcomes, utilities),
            record="",
        )

    def _ends(self) -> tuple[Sequence[Outcome], Sequence[Cause]]:
        position, seats = self.spot.position, range(self.spot.position.game.players)
        if self.resigned:
            return loss_of(self.spot.seat, "resignation", len(seats))
        if position.is_terminal():
            return by_rules(position)
        return ["void" for _ in seats], ["infrastructure" for _ in seats]

    def told(self) -> str:
        """Say how it ended, in a few words."""
        words = {"win": "won", "draw": "drawn", "loss": "lost", "void": "broken off"}
        seat = self.spot.seat
        how = "resigned" if self.resigned else words[self._ends()[0][seat]]
        return f"seat {seat + 1} {how} after {self.spot.position.ply} plies"

    def legal(self, *, as_chosen: bool = False) -> str:
        """List the legal actions, as they are written; or as `choose` returns them."""
        position = self.spot.position
        texts = position.legal()
        actions = list(view.of_position(position).actions()) if as_chosen else []
        listed = [str(action) for action in actions] or texts
        more = f" and {len(texts) - LISTED} more" if len(texts) > LISTED else ""
        note = written_note(actions[:LISTED], texts[:LISTED])
        return f"one of the legal actions {' '.join(listed[:LISTED])}{more}{note}"

    def where(self) -> str:
        """Say where the match stands."""
        position, seat = self.spot.position, self.spot.seat
        text = f"match {self.number}, seat {seat + 1}, ply {position.ply} of {position.game.variant}"
        return f"{text} ({position.text(seat)})"
