"""Makes games and searches run as machine code. Needs numba; without it all of it runs as plain Python."""
