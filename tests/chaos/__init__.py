"""Chaos: agents, the line to them and the server are cut off and killed at random; then all is held against
what anybody was told.

`python -m tests.chaos --minutes 10 --seed 1` from the root of the checkout. `storm` is what happens, `proxy`
and `agents` are the processes of it, `evidence` is what they wrote down, `judgement` says what must be true.
"""

import sys
from pathlib import Path

# The servers and the line are those of the tests beside this; pytest finds them by pyproject.toml.
_E2E = str(Path(__file__).resolve().parents[1] / "e2e")
if _E2E not in sys.path:
    sys.path.append(_E2E)
