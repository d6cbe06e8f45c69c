"""The web pages: what people see in a browser.

Tables and results are rendered here; live boards are drawn by scripts from what `/ws/watch` tells.
"""

from server.pages.errors import error_page
from server.pages.routes import routes

__all__ = ["error_page", "routes"]
