"""Tokens on a running server: the first admin, invitations, and what happens to whoever loses a token."""

import json
from collections.abc import Callable, Iterator

import pytest
from harness import QUIET, RawAgent, Server, SteadyAgent
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

MakeRaw = Callable[..., RawAgent]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A running server without house agents."""
    started = Server(tmp_path_factory.mktemp("tokens"), dict(QUIET)).start()
    yield started
    started.stop()


@pytest.fixture(scope="module")
def admin(server: Server) -> str:
    return server.admin_token()


def numbers(server: Server, admin: str, agent: str) -> list[int]:
    """The tokens of an agent, the newest first."""
    page = server.ask("GET", "tokens?limit=200", token=admin)[1]
    return [row["id"] for row in page["items"] if row["agent"] == agent]


# revoking --------------------------------------------------------------------------------------------------


def test_who_plays_with_a_revoked_token_is_cut_off_at_once_and_stays_out(
    server: Server, admin: str, raw_agent: MakeRaw
) -> None:
    agent = raw_agent(server, "ada", ladders=("tic_tac_toe",))
    [number] = numbers(server, admin, "ada")
    assert server.ask("DELETE", f"tokens/{number}", token=admin)[0] == 204
    assert agent.await_message("error")["code"] == "token_revoked"
    assert agent.await_close() == (1008, "token_revoked")
    again = raw_agent(server, "ada", token=agent.token)
    again.hello(ladders=["tic_tac_toe"])
    assert again.await_message("error")["code"] == "bad_token"
    assert again.await_close()[0] == 1008


def test_another_token_of_the_same_agent_plays_on(server: Server, admin: str, raw_agent: MakeRaw) -> None:
    token = server.register("bob")
    spare = server.ask("POST", "tokens", {"scope": "play"}, token=token)[1]
    agent = raw_agent(server, "bob", token=spare["token"], ladders=("tic_tac_toe",))
    older = numbers(server, admin, "bob")[-1]
    assert server.ask("DELETE", f"tokens/{older}", token=spare["token"])[0] == 204
    agent.send({"type": "teleport"})
    assert agent.await_message("error")["code"] == "bad_message", "it is still connected"


def test_an_agent_that_changes_its_token_in_mid_match_is_forgiven_the_time_away(
    server: Server, admin: str, raw_agent: MakeRaw, steady_agent: Callable[..., SteadyAgent]
) -> None:
    steady_agent(server, "rival", "othello")
    agent = raw_agent(server, "changer", ladders=("othello",))
    asked = agent.await_message("your_move")
    [older] = numbers(server, admin, "changer")
    newer = server.ask("POST", "tokens", {"scope": "play"}, token=agent.token)[1]["token"]
    assert server.ask("DELETE", f"tokens/{older}", token=newer)[0] == 204
    assert agent.await_close()[1] == "token_revoked"
    back = raw_agent(server, "changer", token=newer, ladders=("othello",))
    again = back.await_message("your_move")
    assert (again["match"], again["ply"]) == (asked["match"], asked["ply"])
    back.move(again)
    assert back.await_message("ack")["ply"] == again["ply"]
    (entry,) = [entry for entry in server.match(again["match"])["clock"] if entry["ply"] == again["ply"]]
    assert entry["away_ms"] > 0


def test_a_token_of_another_scope_is_no_agent(server: Server, admin: str, raw_agent: MakeRaw) -> None:
    server.register("cat")
    stranger = raw_agent(server, "cat", token=admin)
    stranger.hello(ladders=["tic_tac_toe"])
    assert stranger.await_message("error")["code"] == "bad_token"


# the first admin -------------------------------------------------------------------------------------------


def test_the_first_start_prints_one_link_which_is_void_after_a_restart(
    make_server: Callable[..., Server],
) -> None:
    server = make_server(**QUIET).start()
    [first] = server.admin_links()
    server.stop()
    server.start()
    _, second = server.admin_links(starts=2)
    assert second != first
    refused = server.plyground("token", "redeem", first)
    assert refused.returncode == 2
    assert "expected a link that nobody has used" in refused.stderr
    redeemed = server.plyground("token", "redeem", second)
    assert redeemed.returncode == 0
    assert redeemed.stdout.startswith("ply_")
    assert redeemed.stdout.count("\n") == 1
    assert redeemed.stderr.startswith(f"The admin's token of {server.url}, kept in ")
    server.stop()
    server.start()
    assert len(server.admin_links(starts=3)) == 2, "there is an admin: no third link"
    assert server.plyground("token", "list").returncode == 0, "the kept token is good still"


# commands --------------------------------------------------------------------------------------------------


def test_commands_make_list_and_revoke(server: Server, admin: str) -> None:
    def plyground(*arguments: str) -> str:
        answer = server.plyground("token", *arguments, PLYGROUND_ADMIN_TOKEN=admin)
        assert answer.returncode == 0, answer.stderr
        return answer.stdout

    server.register("dan")
    playing = plyground("issue", "play", "--agent", "dan").strip()
    assert playing.startswith("ply_")
    made = json.loads(plyground("issue", "register", "--label", "spring", "--days", "7", "--json"))
    assert (made["scope"], made["label"]) == ("register", "spring")
    listed = json.loads(plyground("list", "--json"))
    assert [row["label"] for row in listed if row["id"] == made["id"]] == ["spring"]
    assert playing not in json.dumps(listed)
    shown = plyground("list", "--scope", "register")
    assert "spring" in shown
    assert "redeemed" in shown
    assert plyground("revoke", str(made["id"])) == f"token {made['id']} is revoked\n"
    status, _ = server.ask("POST", "agents", {"name": "eve"}, token=made["token"])
    assert status == 401


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["play", "--agent", "fay"], "A token to play"),
        (["register"], "An invitation, shown this once: send it to your students"),
        (["admin"], "An admin's token"),
    ],
)
def test_a_new_token_stands_alone_on_stdout(
    server: Server, admin: str, arguments: list[str], words: str
) -> None:
    if "fay" in arguments:
        server.register("fay")
    answer = server.plyground("token", "issue", *arguments, PLYGROUND_ADMIN_TOKEN=admin)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.startswith("ply_")
    assert answer.stdout.count("\n") == answer.stderr.count("\n") == 1
    assert answer.stderr.startswith(words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["list"], "expected an admin's token for http://"),
        (["list", "--token", "ply_wrong"], "expected a token of this server"),
        (["list", "--token", "one two"], "expected a token"),
        (["revoke", "999999", "--token", "{admin}"], "there is no token 999999 that you can revoke"),
        (["revoke", "x", "--token", "{admin}"], "expected a whole number"),
        (["issue", "play", "--token", "{admin}"], "expected --agent NAME"),
        (["issue", "register", "--agent", "ada", "--token", "{admin}"], "no --agent with register"),
        (["issue", "root"], "'root' is not one of"),
        (["redeem", "http://127.0.0.1:1/admin"], "expected a link"),
        (["list", "--server", "http://192.0.2.7", "--token", "ply_x"], "expected an https:// address"),
    ],
)
def test_commands_refuse_in_one_sentence(
    server: Server, admin: str, arguments: list[str], words: str
) -> None:
    answer = server.plyground("token", *(word.format(admin=admin) for word in arguments))
    assert answer.returncode == 2, answer.stdout + answer.stderr
    assert words in answer.stderr
    assert answer.stderr.count("\n") == 1
    assert admin not in answer.stderr


# pages of other sites --------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/ws/agent", "/ws/watch"])
def test_no_socket_opens_for_a_page_of_another_site(server: Server, path: str) -> None:
    url = server.url.replace("http", "ws") + path
    with pytest.raises(InvalidStatus) as refused, connect(url, origin="http://evil.example", proxy=None):
        pass
    assert refused.value.response.status_code == 403
    assert b"bad_origin" in refused.value.response.body
    with connect(url, origin=server.url, proxy=None) as own:
        assert own.protocol.state.name == "OPEN"
