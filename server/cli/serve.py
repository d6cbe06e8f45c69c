"""`plyground serve`."""

import click

from agents import roster
from server import app, settings


@click.command()
def command() -> int:
    """Run the server: API, pages, agents and spectators on one port.

    Settings come from plyground.toml (or the file that PLYGROUND_CONFIG names) and from PLYGROUND_*
    variables: PLYGROUND_HOST, PLYGROUND_PORT, PLYGROUND_DATA_DIR, PLYGROUND_DATABASE_URL and more.
    """
    return app.run(settings.load(), [agent.name for agent in roster.load()])
