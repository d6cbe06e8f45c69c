"""A running server answers every request as its description says, and none with a fault of its own."""

import json
import re
import subprocess
import urllib.request
from collections.abc import Callable

import pytest
from contract import command
from harness import Server, wait_for

SLOW_HOUSE = {
    "PLYGROUND_PACE_MS": "0",
    "PLYGROUND_HOUSE_REST_S": "2",
    "PLYGROUND_REQUESTS_PER_MIN": "1000000",
}
"""Some matches to ask for, and time to answer."""


def try_contract(make_server: Callable[..., Server], *options: str, examples: int) -> None:
    server = make_server(**SLOW_HOUSE).start()
    token = server.admin_token()
    wait_for(lambda: server.items("matches?state=finished"), "a match to be over")
    answer = subprocess.run(
        command(server.url, *options, token=token, examples=examples),
        cwd=server.folder,
        capture_output=True,
        text=True,
        timeout=800,
        check=False,
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert "Stateful" in answer.stdout
    assert token not in server.log()
    server.doctor()


def test_every_answer_is_as_described(make_server: Callable[..., Server]) -> None:
    try_contract(make_server, "--exclude-method", "HEAD", examples=10)


def test_a_match_is_told_event_by_event_to_its_end(make_server: Callable[..., Server]) -> None:
    server = make_server(PLYGROUND_PACE_MS="150", PLYGROUND_HOUSE_REST_S="0").start()
    running = wait_for(lambda: server.items("matches?state=running&ladder=connect_four"), "a match to run")[
        0
    ]["id"]
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"{server.url}/api/v1/matches/{running}/events", timeout=60) as stream:
        told = stream.read().decode()
    kinds = re.findall(r"^event: (\w+)$", told, flags=re.MULTILINE)
    numbers = [int(number) for number in re.findall(r"^id: (\d+)$", told, flags=re.MULTILINE)]
    last = json.loads(re.findall(r"^data: (.+)$", told, flags=re.MULTILINE)[-1])
    assert kinds[0] == "snapshot"
    assert set(kinds[1:]) == {"event"}
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), "no event is left out"
    assert last["match"]["state"] == "finished"
    assert last["match"]["ply"] == server.match(running)["moves"]


@pytest.mark.deep
def test_every_answer_is_as_described_for_long(make_server: Callable[..., Server]) -> None:
    try_contract(make_server, examples=300)
