"""https and wss through the proxy of the compose file: its own Caddyfile, a real proxy, real certificates."""

import contextlib
import json
import shutil
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from harness import QUIET, ROOT, Server, environment, free_port, wait_for
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect


@dataclass(frozen=True)
class Proxy:
    """A running proxy, and the certificate that its own is signed with."""

    port: int
    certificate: Path

    @property
    def url(self) -> str:
        return f"https://localhost:{self.port}"

    @property
    def trust(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.certificate))

    def get(self, path: str, **headers: str) -> tuple[int, bytes]:
        handlers = (urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=self.trust))
        request = urllib.request.Request(f"{self.url}{path}", headers=headers)
        try:
            with urllib.request.build_opener(*handlers).open(request, timeout=30) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()


@pytest.fixture(scope="module")
def behind_proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Proxy]]:
    """A server that believes one proxy, and the proxy."""
    tmp_path = tmp_path_factory.mktemp("proxy")
    caddy = shutil.which("caddy", path=str(Path(sys.executable).parent)) or shutil.which("caddy")
    if caddy is None:
        pytest.skip("caddy is not installed: its package has no program for this system")
    hops = {"PLYGROUND_PROXY_HOPS": "1", "PLYGROUND_REGISTRATION": "open"}
    behind = Server(tmp_path, {**QUIET, **hops}).start()
    port = free_port()
    settings = {
        "PROXY_SITE": f"localhost:{port}",
        "PROXY_UPSTREAM": f"127.0.0.1:{behind.port}",
        "PROXY_HTTP_PORT": str(free_port()),
        "PROXY_HTTPS_PORT": str(port),
        "PROXY_ADMIN": f"127.0.0.1:{free_port()}",
        "XDG_DATA_HOME": str(tmp_path / "proxy"),
        "XDG_CONFIG_HOME": str(tmp_path / "proxy"),
    }
    with (tmp_path / "proxy.log").open("wb") as log:
        process = subprocess.Popen(
            [caddy, "run", "--adapter", "caddyfile", "--config", str(ROOT / "deploy" / "Caddyfile")],
            env=environment(settings),
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        proxy = Proxy(port, tmp_path / "proxy" / "caddy" / "pki" / "authorities" / "local" / "root.crt")
        wait_for(lambda: answers(proxy), "the proxy to answer")
        yield behind, proxy
    finally:
        process.terminate()
        process.wait(30)
        behind.stop()


def answers(proxy: Proxy) -> bool:
    with contextlib.suppress(OSError):
        return proxy.certificate.exists() and proxy.get("/healthz")[0] == 200
    return False


def test_an_agent_plays_over_wss_with_its_token(behind_proxy, tmp_path: Path) -> None:
    behind, proxy = behind_proxy
    command = [sys.executable, "-m", "server.cli", "connect", str(ROOT / "examples" / "my_agent.py")]
    options = ["--ladder", "tic_tac_toe", "--server", proxy.url, "--matches", "1"]
    settings = {"SSL_CERT_FILE": str(proxy.certificate), "PLYGROUND_CONFIG_DIR": str(tmp_path / "config")}
    agents = [
        subprocess.Popen(
            [*command, "--name", name, *options],
            env=environment(settings),
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in ("ada", "grace")
    ]
    for agent in agents:
        out, err = agent.communicate(timeout=120)
        assert agent.returncode == 0, err
        assert f"to {proxy.url}" in out
        assert "left: 1 match played" in out
    matches = json.loads(proxy.get("/api/v1/matches?state=finished")[1])["items"]
    assert matches, "and the API tells of it through the proxy"
    assert behind.log()


def test_a_spectator_watches_over_wss(behind_proxy) -> None:
    _, proxy = behind_proxy
    url = f"wss://localhost:{proxy.port}/ws/watch"
    with connect(url, ssl=proxy.trust, origin=proxy.url, proxy=None) as socket:
        socket.send('{"type": "watch", "front": true}')
        assert json.loads(socket.recv(timeout=30))["type"] == "snapshot"


def test_a_page_of_another_site_may_not_watch_through_the_proxy(behind_proxy) -> None:
    _, proxy = behind_proxy
    url = f"wss://localhost:{proxy.port}/ws/agent"
    with pytest.raises(InvalidStatus) as refused:
        connect(url, ssl=proxy.trust, origin="https://evil.example.org", proxy=None)
    assert refused.value.response.status_code == 403
    assert b"bad_origin" in refused.value.response.body


def test_a_certificate_of_nobody_is_refused(behind_proxy) -> None:
    _, proxy = behind_proxy
    with pytest.raises(ssl.SSLCertVerificationError):
        connect(f"wss://localhost:{proxy.port}/ws/watch", proxy=None)


def test_the_page_tells_students_the_address_of_the_proxy(behind_proxy) -> None:
    _, proxy = behind_proxy
    assert f"--server {proxy.url}".encode() in proxy.get("/")[1]


def test_what_only_this_machine_may_see_is_hidden_behind_the_proxy(behind_proxy) -> None:
    behind, proxy = behind_proxy
    assert behind.get("/metrics")[0] == 200
    assert proxy.get("/metrics")[0] in (403, 404)
    assert proxy.get("/metrics", **{"X-Forwarded-For": "127.0.0.1"})[0] in (403, 404)
