"""Leduc poker and backgammon on a real server: nobody learns a card or a die before its time.

All that is drawn comes from the match's seed, so besides the cards themselves the seed is the secret: it is
in no byte that anybody gets before the end.
"""

import random
import re
from collections.abc import Callable
from typing import Any

import pytest
from harness import QUIET, Server, wait_for
from test_hidden_cards import MATCH_PAGES, OTHER_PAGES, Gambler, Spectator, play

MakeServer = Callable[..., Server]
MOST_MOVES = 24
"""After so many, a player resigns: a game of backgammon takes two hundred."""

MORE_PAGES = ("/embed/matches/{id}", "/fragments/results", "/api/v1/agents", "/healthz")


def pages_of(ladder: str) -> list[str]:
    return [page.replace("kuhn_poker", ladder) for page in (*MATCH_PAGES, *OTHER_PAGES, *MORE_PAGES)]


def secret_cards(record: dict[str, Any]) -> list[re.Pattern[bytes]]:
    """The texts of the players' cards, by seat."""
    return [re.compile(rb"\b" + action["action"].encode() + rb"\b") for action in record["actions"][:2]]


@pytest.mark.parametrize("ladder", ["leduc_poker", "backgammon"])
def test_no_byte_tells_the_seed_or_a_players_card_before_the_end(
    make_server: MakeServer, ladder: str
) -> None:
    server = make_server(**QUIET)
    server.open_ladders({ladder: ladder}, move_ms=20_000)
    server.start()
    spectator = Spectator(server, ladder)
    gamblers = [Gambler(server, name, ladder) for name in ("ada", "bob")]
    pages = pages_of(ladder)
    played = [play(server, gamblers, spectator, random.Random(n), pages, MOST_MOVES) for n in range(3)]
    wait_for(lambda: spectator.over >= {match for match, _, _ in played}, "the spectator to see all ends")
    spectator.open.close()
    for match, heard, looked in played:
        record = server.api(f"matches/{match}/record")
        seed = server.match(match)["seed"].encode()  # after the end everybody may know
        assert re.fullmatch(rb"[0-9a-f]{64}", seed)
        told = [*looked, *spectator.seen[match]]
        assert len(looked) >= 2 * len(pages)
        assert len(spectator.seen[match]) >= 2
        assert all(seed not in each for each in (*told, *heard))
        if ladder != "leduc_poker":
            continue
        cards = secret_cards(record)
        # Pages of other matches, which are over, may tell of theirs.
        own = [each for each in told if f'"id":{match},'.encode() in each.replace(b": ", b":")]
        assert len(own) > 3
        assert not any(card.search(each) for card in cards for each in own)
        for seat in (0, 1):
            assert cards[seat].search(heard[seat])
            assert not cards[1 - seat].search(heard[seat])
