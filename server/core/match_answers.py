"""What a match answers to a move that changes nothing: an old one, a repeated one, one out of turn."""

from games.protocol import CHANCE
from server.core.match_events import Acknowledge, Action, Reject
from server.core.match_state import Match, Phase, Step


def answer_old(match: Match, event: Action) -> Step:
    """Answer a reply to a ply that is played, or came too early: nothing changes, and nothing is asked again.

    What repeats a recorded action is acknowledged again, also one that an earlier server recorded.
    """
    same = 0 <= event.ply < match.ply and match.movers[event.ply] == event.seat
    own = same and event.ply not in match.substituted
    if own and match.position.actions[event.ply] == event.text:
        return match, (Acknowledge(event.seat, event.ply),)
    return match, (reject(match, event),)


def reject(match: Match, event: Action) -> Reject:
    """Say why a move changes nothing."""
    if match.over:
        code, message = "match_over", f"expected no move, the match is {match.phase}"
    elif match.phase is Phase.STARTING:
        code, message = "not_started", "expected no move before your_move"
    elif event.ply in match.substituted or (match.open is not None and match.open.striking):
        code, message = "timed_out", "expected an answer in time; a random action is played in its place"
    elif event.ply != match.ply:
        code, message = "wrong_ply", f"expected ply {match.ply}"
    elif (mover := match.position.to_move()) not in {event.seat, CHANCE}:
        code, message = "not_your_turn", f"expected seat {mover} to move"
    else:
        code, message = "not_asked", "expected no move before your_move"
    return Reject(event.seat, event.ply, code, f"{message}, got a move for ply {event.ply}")
