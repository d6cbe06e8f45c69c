"""What a browser sees when something is wrong."""

from aiohttp import web

from server.http.errors import Problem
from server.pages.templates import page


def error_page(request: web.Request, problem: Problem) -> web.Response:
    """Draw a problem as a page: one sentence, and a way on."""
    return page(request, "error.html", status=problem.status, problem=problem)
