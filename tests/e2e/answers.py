"""What a server answers: over the API, and to a spectator."""

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

from websockets.sync.client import connect

RECEIVE_S = 60.0

_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Answers:
    """Questions to the server at `url`."""

    url: str

    def get(self, path: str, data: object = None) -> tuple[int, bytes]:
        """GET, or POST where there is data. Returns status and body."""
        return self._send("GET" if data is None else "POST", path, data, {})

    def ask(
        self, method: str, path: str, data: object = None, *, token: str = "", **headers: str
    ) -> tuple[int, Any]:
        """Send a request to the API. Returns status and JSON, None for an empty body."""
        given = {"Authorization": f"Bearer {token}"} if token else {}
        status, told = self._send(method, f"/api/v1/{path}", data, {**given, **headers})
        return status, json.loads(told) if told else None

    def _send(self, method: str, path: str, data: object, headers: Mapping[str, str]) -> tuple[int, bytes]:
        body = None if data is None else json.dumps(data).encode()
        kind = {} if data is None else {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, body, {**kind, **headers}, method=method)
        try:
            with _direct.open(request, timeout=30) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def api(self, path: str) -> Any:
        status, body = self.get(f"/api/v1/{path}")
        assert status == 200, f"{path}: {status} {body!r}"
        return json.loads(body)

    def items(self, path: str) -> list[Any]:
        """All items of a list, page by page."""
        found: list[Any] = []
        cursor = ""
        while True:
            page = self.api(f"{path}{'&' if '?' in path else '?'}limit=200{cursor}")
            found += page["items"]
            if page["next"] is None:
                return found
            cursor = f"&cursor={page['next']}"

    def standings(self, ladder: str) -> dict[str, Any]:
        return {row["agent"]: row for row in self.api(f"ladders/{ladder}/standings")["items"]}

    def match(self, number: int) -> Any:
        return self.api(f"matches/{number}")

    def watch(self, **what: object) -> Any:
        """What a spectator of a match, a ladder or the front page sees first."""
        url = self.url.replace("http", "ws") + "/ws/watch"
        with connect(url, compression=None, proxy=None) as socket:
            socket.send(json.dumps({"type": "watch", **what}))
            return json.loads(socket.recv(RECEIVE_S))

    def register(self, name: str) -> str:
        status, body = self.get("/api/v1/agents", {"name": name})
        assert status == 201, body
        return str(json.loads(body)["token"])
