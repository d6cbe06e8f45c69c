"""Speed and memory, as ratios to a peer measured in the same run. `make bench` runs all of it."""
