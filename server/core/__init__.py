"""The pure heart of the server: matches, clocks, outcomes, pairing, ratings. No I/O, no time, no chance."""
