"""Spectators catch up exactly by version, or get a snapshot."""

import msgspec

from agents import protocol
from server.broadcast import FRONT, KEPT_EVENTS, Broadcast

FIRST = 1_000


def a_view(match_id: int = 7, ply: int = 0, state: str = "running") -> protocol.MatchView:
    seats = [protocol.Seat(n, name, 1, 1500.0, provisional=True) for n, name in enumerate(("ada", "bob"))]
    return protocol.MatchView(
        id=match_id,
        ladder="tic_tac_toe",
        title="Tic-tac-toe",
        game="tic_tac_toe",
        state=state,
        ply=ply,
        to_move=ply % 2,
        players=seats,
        board={},
        position="",
        move_ms=5000,
        moves=["0"] * ply,
    )


def plies(events: list[tuple[int, bytes]] | None) -> list[int]:
    assert events is not None
    return [protocol.decode_to_spectator(encoded).match.ply for _, encoded in events]


def test_events_after_a_version_are_exactly_the_missed_ones():
    broadcast = Broadcast(FIRST)
    for ply in range(5):
        broadcast.publish(a_view(ply=ply))
    assert plies(broadcast.events_after("match:7", FIRST + 2)) == [2, 3, 4]
    assert plies(broadcast.events_after(FRONT, FIRST + 5)) == []


def test_a_version_of_another_life_or_too_old_needs_a_snapshot():
    broadcast = Broadcast(FIRST)
    for ply in range(KEPT_EVENTS + 10):
        broadcast.publish(a_view(ply=ply))
    assert broadcast.events_after("match:7", FIRST - 500) is None
    assert broadcast.events_after("match:7", FIRST) is None
    assert broadcast.events_after("match:7", FIRST + 10**9) is None
    assert broadcast.events_after("match:8", FIRST + 1) is None
    version, encoded = broadcast.snapshot("match:7")
    snapshot = protocol.decode_to_spectator(encoded)
    assert (snapshot.version, len(snapshot.matches[0].moves)) == (version, KEPT_EVENTS + 9)


def test_memory_of_a_channel_is_bounded():
    broadcast = Broadcast(FIRST)
    for ply in range(3 * KEPT_EVENTS):
        broadcast.publish(a_view(ply=ply))
    assert len(broadcast.channel(FRONT).events) == KEPT_EVENTS


def test_events_carry_no_move_list_and_finished_matches_leave_the_front():
    broadcast = Broadcast(FIRST)
    broadcast.publish(a_view(ply=3))
    event = msgspec.json.decode(broadcast.events_after(FRONT, FIRST)[0][1])
    assert event["match"]["moves"] is None
    broadcast.publish(a_view(ply=4, state="finished"))
    assert protocol.decode_to_spectator(broadcast.snapshot(FRONT)[1]).matches == []
    assert protocol.decode_to_spectator(broadcast.snapshot("match:7")[1]).matches[0].state == "finished"


def test_channels_of_matches_long_over_are_forgotten():
    broadcast = Broadcast(FIRST)
    for match_id in range(1, 200):
        broadcast.publish(a_view(match_id, state="finished"))
    assert broadcast.view(1) is None
    assert broadcast.view(199) is not None
    assert len(broadcast._channels) < 100
