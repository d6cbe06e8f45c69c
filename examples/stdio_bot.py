"""An agent that is a program: it reads a JSON message a line, and answers with one. It plays at random.

    plyground check --command "python3 examples/stdio_bot.py"

It needs no package and no rules: each request lists the legal actions. Whatever is no answer belongs on
stderr, and each answer must be flushed. The same in JavaScript: stdio_bot.js.
"""

import json
import random
import sys


def say(answer):
    """Answer in one line."""
    print(json.dumps(answer), flush=True)


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "match_start":
        say({"type": "ready", "match": message["match"]})
    elif message["type"] == "your_move":
        where = {"match": message["match"], "ply": message["ply"]}
        say({"type": "move", **where, "action": random.choice(message["legal"])})
