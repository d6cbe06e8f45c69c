"""What a browser sees when something is wrong."""

from aiohttp import web

from server.http.errors import Problem, shown
from server.pages.templates import page

_SENTENCES: dict[str, str] = {
    "unknown_agent": "There is no agent called {} here.",
    "unknown_ladder": "There is no ladder called {} here.",
    "unknown_match": "There is no match {} here.",
    "not_found": "There is nothing at this address.",
    "busy": "Too many look on at the moment. Please try again in a few seconds.",
    "database_unavailable": "The database does not answer at the moment. Please try again in a minute.",
    "internal": "The server failed to make this page. Its log says why.",
}
"""For people; other codes show the sentence that programs get. The braces stand for what was asked for."""

_MAX_ASKED = 60


def error_page(request: web.Request, problem: Problem) -> web.Response:
    """Draw a problem as a page: one sentence, and a way on."""
    asked = next(iter(request.match_info.values()), "")
    template = _SENTENCES.get(problem.code)
    before, names, after = template.partition("{}") if template else (problem.detail, "", "")
    sentence = (before, shown(asked, _MAX_ASKED) if names else "", after)
    return page(request, "error.html", status=problem.status, problem=problem, sentence=sentence)
