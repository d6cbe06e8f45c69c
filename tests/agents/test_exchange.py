"""What is asked and answered in a match, as a table: no socket, no thread, time as an argument."""

import pytest

from agents.exchange import Exchange, News
from agents.protocol import ClockView, Move, Resign, YourMove

MATCH = 7
ACK_MS = 100.0


def request(ply, strikes=0):
    return YourMove(MATCH, ply, "position", [], ["1"], ClockView(5_000, strikes=strikes))


def move(ply):
    return Move(MATCH, ply, "1")


@pytest.fixture
def exchange():
    return Exchange(ACK_MS)


def answered(exchange, ply, *, at_ms=0.0, strikes=0):
    """Ask for a ply and send the answer; return the request."""
    asked = request(ply, strikes)
    assert exchange.ask(asked) is News.NEW
    exchange.answer(move(ply))
    assert exchange.to_send(at_ms) == move(ply)
    return asked


@pytest.mark.parametrize(
    ("before", "ply", "news"),
    [
        ([], 0, News.NEW),
        ([("ask", 0)], 0, News.REPEATED),
        ([("ask", 0)], 2, News.NEW),
        ([("ask", 2)], 0, News.STALE),
        ([("ask", 0), ("ack", 0)], 0, News.STALE),
        ([("ask", 0), ("ack", 0)], 2, News.NEW),
        ([("ask", 0), ("strike", 0)], 0, News.STALE),
        ([("ask", 0), ("strike", 0)], 2, News.NEW),
        ([("ask", 0), ("strike", 2)], 0, News.REPEATED),
        ([("ask", 2), ("ack", 0)], 2, News.REPEATED),
        ([("ack", 4)], 4, News.STALE),
        ([("ack", 4), ("ack", 0)], 4, News.STALE),
        ([("ask", 0), ("strike", 0), ("resume", 0)], 0, News.NEW),
        ([("ask", 0), ("strike", 0), ("resume", 1)], 0, News.STALE),
        ([("ask", 0), ("resume", 0)], 0, News.REPEATED),
    ],
)
def test_a_request_is_new_repeated_or_stale(exchange, before, ply, news):
    for what, number in before:
        match what:
            case "ask":
                exchange.ask(request(number))
            case "ack":
                exchange.ack(number)
            case "strike":
                exchange.reject(number, "timed_out", 0.0)
            case "resume":
                assert exchange.resume(number)
    assert exchange.ask(request(ply)) is news


def test_a_repeated_request_does_not_take_the_place_of_the_first(exchange):
    first = request(0)
    exchange.ask(first)
    exchange.ask(request(0))
    assert exchange.open is first


def test_a_new_request_drops_the_answer_to_the_one_before(exchange):
    answered(exchange, 0)
    exchange.ask(request(2))
    assert exchange.to_send(0.0) is None
    assert not exchange.is_overdue(10 * ACK_MS)


def test_an_acknowledged_answer_is_sent_no_more_and_its_request_is_settled(exchange):
    asked = answered(exchange, 0)
    exchange.ack(0)
    assert exchange.to_send(0.0) is None
    assert not exchange.is_overdue(10 * ACK_MS)
    assert exchange.open is None
    assert exchange.asked is asked, "reports still name it"


def test_the_acknowledgement_of_another_ply_leaves_the_answer(exchange):
    answered(exchange, 2)
    exchange.ack(0)
    assert exchange.is_overdue(ACK_MS)
    assert exchange.to_send(ACK_MS) == move(2)


def test_an_answer_is_overdue_from_its_last_sending_on(exchange):
    assert not exchange.is_overdue(10 * ACK_MS)
    answered(exchange, 0, at_ms=1_000)
    assert not exchange.is_overdue(1_000 + ACK_MS - 1)
    assert exchange.is_overdue(1_000 + ACK_MS)
    exchange.to_send(2_000)
    assert not exchange.is_overdue(2_000 + ACK_MS - 1)
    assert exchange.is_overdue(2_000 + ACK_MS)


def test_a_resignation_stands_and_is_never_overdue(exchange):
    answered(exchange, 0)
    exchange.answer(Resign(MATCH))
    assert exchange.to_send(0.0) == Resign(MATCH)
    exchange.ack(0)
    assert not exchange.is_overdue(10 * ACK_MS)
    assert exchange.to_send(0.0) == Resign(MATCH)


@pytest.mark.parametrize("code", ["not_asked", "not_started"])
def test_an_answer_that_came_too_early_is_overdue_later(exchange, code):
    answered(exchange, 0)
    assert exchange.reject(0, code, 50.0) is None
    assert not exchange.is_overdue(50 + ACK_MS - 1)
    assert exchange.is_overdue(50 + ACK_MS)
    assert exchange.to_send(50 + ACK_MS) == move(0)


def test_an_answer_rejected_for_good_is_sent_again_only_if_asked_for(exchange):
    answered(exchange, 0)
    assert exchange.reject(0, "wrong_ply", 50.0) is None
    assert not exchange.is_overdue(10 * ACK_MS)
    assert exchange.ask(request(0)) is News.REPEATED
    assert exchange.to_send(1_000) == move(0)


def test_a_rejection_of_another_ply_changes_nothing(exchange):
    answered(exchange, 2)
    exchange.reject(0, "wrong_ply", 50.0)
    assert exchange.is_overdue(ACK_MS)


def test_a_strike_drops_the_answer_and_is_news_once(exchange):
    answered(exchange, 0, strikes=3)
    assert exchange.reject(0, "timed_out", 0.0) == 2
    assert exchange.reject(0, "timed_out", 0.0) is None
    assert exchange.to_send(0.0) is None
    assert not exchange.is_overdue(10 * ACK_MS)


def test_a_strike_before_the_answer_leaves_no_open_request(exchange):
    exchange.ask(request(0, strikes=1))
    assert exchange.reject(0, "timed_out", 0.0) == 0
    assert exchange.open is None


@pytest.mark.parametrize(("ply", "why"), [(0, "acknowledged"), (4, "never asked")])
def test_a_strike_for_what_is_not_open_is_no_news(exchange, ply, why):
    answered(exchange, 0, strikes=2)
    exchange.ack(0)
    assert exchange.reject(ply, "timed_out", 0.0) is None, why


def test_a_server_that_lost_what_it_acknowledged_is_not_gone_on_with(exchange):
    answered(exchange, 4)
    exchange.ack(4)
    assert not exchange.resume(4)
    assert exchange.resume(5)


def test_after_a_lost_strike_only_the_new_request_is_open(exchange):
    old, new = request(0, strikes=2), request(0, strikes=2)
    exchange.ask(old)
    exchange.reject(0, "timed_out", 0.0)
    assert exchange.resume(0)
    assert exchange.open is None
    exchange.ask(new)
    assert exchange.open is new, "an answer to the old one, equal as it is, is not wanted"
    assert exchange.reject(0, "timed_out", 0.0) == 1, "it costs its strike again"
