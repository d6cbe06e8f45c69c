"""The table of all endpoints."""

from collections.abc import Iterable

from aiohttp import web

from server.core.standings import StandingsRow
from server.db.tokens import ADMIN, PLAY, REGISTER
from server.http import agents, events, health, ladders, matches, registration, standings, tokens, views
from server.http.endpoint import API, Endpoint, problems
from server.http.openapi import described

_TABLE: tuple[Endpoint, ...] = (
    Endpoint(
        "GET",
        f"{API}/games",
        ladders.list_games,
        "All games with their options.",
        {200: views.Page[views.GameView]},
    ),
    Endpoint(
        "GET",
        f"{API}/ladders",
        ladders.list_ladders,
        "All ladders.",
        {200: views.Page[views.LadderView]},
    ),
    Endpoint(
        "GET",
        f"{API}/ladders/{{ladder}}",
        ladders.one_ladder,
        "One ladder.",
        {200: views.LadderView, **problems(404)},
    ),
    Endpoint(
        "GET",
        f"{API}/ladders/{{ladder}}/standings",
        standings.standings,
        "A ladder's table, best first.",
        {200: views.Page[StandingsRow], **problems(404)},
        query=standings.StandingsQuery,
    ),
    Endpoint(
        "GET",
        f"{API}/ladders/{{ladder}}/standings.csv",
        standings.standings_csv,
        "A ladder's whole table as CSV.",
        {200: standings.CSV_TYPE, **problems(404)},
    ),
    Endpoint(
        "GET",
        f"{API}/ladders/{{ladder}}/standings.jsonl",
        standings.standings_jsonl,
        "A ladder's whole table as JSON Lines.",
        {200: standings.JSONL_TYPE, **problems(404)},
    ),
    Endpoint(
        "GET",
        f"{API}/matches",
        matches.list_matches,
        "Matches, newest first.",
        {200: views.Page[views.MatchView], **problems(404)},
        query=matches.MatchesQuery,
    ),
    Endpoint(
        "GET",
        f"{API}/matches/{{id}}",
        matches.one_match,
        "One match with its latest position.",
        {200: views.MatchView, **problems(404)},
    ),
    Endpoint(
        "GET",
        f"{API}/matches/{{id}}/record",
        matches.match_record,
        "Everything about one match.",
        {200: views.RecordView, **problems(404, 409)},
        query=matches.RecordQuery,
    ),
    Endpoint(
        "GET",
        f"{API}/matches/{{id}}/events",
        events.match_events,
        "A match as it goes on, as Server-Sent Events whose id is the version; 204 once there is no more.",
        {200: events.EVENTS_TYPE, 204: None, **problems(404)},
        query=events.EventsQuery,
    ),
    Endpoint(
        "GET",
        f"{API}/agents",
        agents.list_agents,
        "All agents.",
        {200: views.Page[views.AgentView]},
        query=agents.AgentsQuery,
    ),
    Endpoint(
        "GET",
        f"{API}/agents/{{name}}",
        agents.one_agent,
        "One agent.",
        {200: views.AgentView, **problems(404)},
    ),
    Endpoint(
        "GET",
        f"{API}/agents/{{name}}/versions",
        agents.list_versions,
        "The versions of one agent, newest first.",
        {200: views.Page[views.VersionView], **problems(404)},
    ),
    Endpoint(
        "POST",
        f"{API}/agents",
        registration.register_agent,
        "Register an agent: its name and token, shown this once.",
        {201: views.Registered, **problems(409)},
        body=views.Registration,
        scopes=(REGISTER, ADMIN),
        open_to_some=True,
        headers={201: {"Location": "The address of the agent."}},
    ),
    Endpoint(
        "POST",
        f"{API}/tokens",
        tokens.issue_token,
        "Make a token, shown this once: an admin any, an agent another one of its own.",
        {201: tokens.TokenIssued, **problems(404, 409)},
        body=tokens.TokenRequest,
        scopes=(ADMIN, PLAY),
    ),
    Endpoint(
        "GET",
        f"{API}/tokens",
        tokens.list_tokens,
        "All tokens, newest first, without the tokens themselves.",
        {200: views.Page[tokens.TokenView]},
        query=tokens.TokensQuery,
        scopes=(ADMIN,),
    ),
    Endpoint(
        "DELETE",
        f"{API}/tokens/{{id}}",
        tokens.revoke_token,
        "Revoke a token: an admin any other, an agent its own others.",
        {204: None, **problems(404, 409)},
        scopes=(ADMIN, PLAY),
    ),
    Endpoint(
        "POST",
        f"{API}/links/redeem",
        tokens.redeem_link,
        "Get an admin's token for the one-use link that the first start printed.",
        {201: tokens.TokenIssued},
        body=tokens.LinkCode,
    ),
    Endpoint(
        "GET",
        "/healthz",
        health.health,
        "Whether the server can do its work.",
        {200: views.Health, 503: views.Health},
    ),
    Endpoint(
        "GET",
        "/metrics",
        health.metrics,
        "The server's metrics in the text format of Prometheus; this machine only.",
        {200: health.METRICS_TYPE, **problems(403)},
    ),
)

ENDPOINTS = described(_TABLE)


def routes(table: Iterable[Endpoint] = ENDPOINTS) -> list[web.RouteDef]:
    """Return the routes of a table."""
    return [endpoint.route() for endpoint in table]
