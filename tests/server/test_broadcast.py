"""Spectators catch up exactly by version, or get a snapshot."""

import msgspec
from msgspec.structs import replace

from agents import protocol
from server.broadcast import FRONT, KEPT_EVENTS, Broadcast, Event, Sight

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


def a_sight(match_id: int = 7, ply: int = 0, state: str = "running") -> Sight:
    view = a_view(match_id, ply, state)
    return Sight(match_id, view.ladder, lambda: view, over=state == "finished")


def payload(event: Event) -> bytes:
    """What is in the frame: its size stands in the second byte, or in the two after it."""
    start = 2 if event.frame[1] < 126 else 4
    assert int.from_bytes(event.frame[1:2] if start == 2 else event.frame[2:4]) == len(event.frame) - start
    return event.frame[start:]


def plies(events: list[Event] | None) -> list[int]:
    assert events is not None
    return [protocol.decode_to_spectator(payload(event)).match.ply for event in events]


def test_events_after_a_version_are_exactly_the_missed_ones():
    broadcast = Broadcast(FIRST)
    for ply in range(5):
        broadcast.publish(a_sight(ply=ply))
    assert plies(broadcast.events_after("match:7", FIRST + 2)) == [2, 3, 4]
    assert plies(broadcast.events_after(FRONT, FIRST + 5)) == []


def test_a_version_of_another_life_or_too_old_needs_a_snapshot():
    broadcast = Broadcast(FIRST)
    for ply in range(KEPT_EVENTS + 10):
        broadcast.publish(a_sight(ply=ply))
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
        broadcast.publish(a_sight(ply=ply))
    assert len(broadcast.channel(FRONT).sights) == KEPT_EVENTS


def test_events_carry_no_move_list_and_finished_matches_leave_the_front():
    broadcast = Broadcast(FIRST)
    broadcast.publish(a_sight(ply=3))
    event = msgspec.json.decode(payload(broadcast.events_after(FRONT, FIRST)[0]))
    assert event["match"]["moves"] is None
    broadcast.publish(a_sight(ply=4, state="finished"))
    assert protocol.decode_to_spectator(broadcast.snapshot(FRONT)[1]).matches == []
    assert protocol.decode_to_spectator(broadcast.snapshot("match:7")[1]).matches[0].state == "finished"


def test_an_event_reads_like_its_message():
    broadcast = Broadcast(FIRST)
    broadcast.publish(a_sight(ply=3))
    [event] = broadcast.events_after("match:7", FIRST)
    expected = protocol.Event("match:7", FIRST + 1, replace(a_view(ply=3), moves=None))
    assert protocol.decode_to_spectator(payload(event)) == expected
    assert payload(event) == protocol.encode(expected)


def test_what_nobody_looks_at_is_not_worked_out():
    looked = []

    def look() -> protocol.MatchView:
        looked.append(1)
        return a_view()

    broadcast = Broadcast(FIRST)
    broadcast.publish(Sight(7, "tic_tac_toe", look, over=False))
    assert looked == []
    for name in ("match:7", "ladder:tic_tac_toe", FRONT):
        assert plies(broadcast.events_after(name, FIRST)) == [0]
        broadcast.snapshot(name)
    assert looked == [1]


class Ears:
    def __init__(self) -> None:
        self.heard: list[str] = []

    def changed(self, channel: str) -> None:
        self.heard.append(channel)


def test_followers_hear_of_their_channels_alone():
    broadcast = Broadcast(FIRST)
    ears, others = Ears(), Ears()
    broadcast.follow("match:7", ears)
    broadcast.follow("match:8", others)
    broadcast.publish(a_sight(7))
    broadcast.unfollow("match:7", ears)
    broadcast.publish(a_sight(7))
    assert (ears.heard, others.heard) == (["match:7"], [])


def test_channels_of_matches_long_over_are_forgotten():
    broadcast = Broadcast(FIRST)
    for match_id in range(1, 200):
        broadcast.publish(a_sight(match_id, state="finished"))
    assert broadcast.view(1) is None
    assert broadcast.view(199) is not None
    assert len(broadcast._channels) < 100
