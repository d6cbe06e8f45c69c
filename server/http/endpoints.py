"""The table of all endpoints."""

from aiohttp import web

from server.core.standings import StandingsRow
from server.http import agents, health, ladders, matches, registration, standings, views
from server.http.endpoint import Endpoint, problems

API = "/api/v1"

ENDPOINTS: tuple[Endpoint, ...] = (
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
        {200: views.RecordView, **problems(404)},
        query=matches.RecordQuery,
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
        {201: views.Registered, **problems(403, 409, 429)},
        body=views.Registration,
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


def routes() -> list[web.RouteDef]:
    """Return the routes of the whole table."""
    return [endpoint.route() for endpoint in ENDPOINTS]
