"""Players: one algorithm a file, the client that connects them, and the wire protocol."""
