// An agent in JavaScript, without any package. It plays at random, and needs no rules: each request lists the legal actions.
//
//     plyground check --command "node examples/stdio_bot.js"
//
// One JSON message a line comes in on stdin; one goes out on stdout. Anything else belongs on stderr.

const lines = require("readline").createInterface({ input: process.stdin });

function say(message) {
  process.stdout.write(JSON.stringify(message) + "\n");
}

function choose(legal) {
  return legal[Math.floor(Math.random() * legal.length)];
}

lines.on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "match_start") {
    say({ type: "ready", match: message.match });
  } else if (message.type === "your_move") {
    say({ type: "move", match: message.match, ply: message.ply, action: choose(message.legal) });
  }
});
