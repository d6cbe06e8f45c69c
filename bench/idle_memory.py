"""Memory that the server needs for each agent that is connected and waits.

The agents have said `hello` and `leave`, so none plays. A first hundred warms everything up; measured is the
growth of the server's resident memory by a thousand more.
"""

import asyncio
from functools import partial

from agents import protocol
from bench.processes import LADDER, server
from bench.result import Result
from bench.websocket_client import WebSocketClient, connect

WARM, AGENTS = 100, 1_000
QUICK_WARM, QUICK_AGENTS = 20, 50
RUNS = 3


def run(*, quick: bool) -> list[Result]:
    """Measure KiB an agent."""
    warm, count = (QUICK_WARM, QUICK_AGENTS) if quick else (WARM, AGENTS)
    figures = tuple(_kib_an_agent(warm, count) for _ in range(1 if quick else RUNS))
    return [
        Result(
            "memory of an idle agent",
            figures,
            unit="KiB",
            goal=25,
            at_most=True,
            detail=f"{count:,} agents after hello, each with an open connection",
        )
    ]


def _kib_an_agent(warm: int, count: int) -> float:
    with server(warm + count) as (running, address, agents), asyncio.Runner() as runner:
        url = f"ws://{address}/ws/agent"
        first = runner.run(_connect(url, agents[:warm]))
        before = running.resident_kib()
        more = runner.run(_connect(url, agents[warm:]))
        grown = running.resident_kib() - before
        for client in first + more:
            client.close()
    return grown / count


async def _connect(url: str, agents: list[tuple[str, str]]) -> list[WebSocketClient]:
    clients = []
    for name, token in agents:
        welcome = asyncio.Event()
        client = await connect(url, partial(_note, welcome), token)
        client.send(protocol.encode(protocol.Hello(1, name, [LADDER])))
        client.send(protocol.encode(protocol.Leave()))
        await welcome.wait()
        clients.append(client)
    return clients


def _note(welcome: asyncio.Event, _text: bytes) -> None:
    welcome.set()
