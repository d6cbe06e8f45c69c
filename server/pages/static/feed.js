// The live connection: follows one channel, comes back by itself after a loss, and says how it stands.

import { heard } from "./clock.js";

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 15_000;

/**
 * Follow a channel. `request` is what the `watch` message carries, such as {front: true}.
 * `on.snapshot(matches)` gets everything there is to see, `on.event(match)` one match as it is now,
 * `on.state(null | {lostAt, retryAt})` says whether the connection stands.
 */
export class Feed {
  constructor(request, on) {
    this.request = request;
    this.on = on;
    this.version = null;
    this.waitMs = FIRST_WAIT_MS;
    this.lostAt = null;
    this.timer = null;
    window.addEventListener("online", () => this.retryNow());
    window.addEventListener("offline", () => this.socket?.close());
    this.connect();
  }

  connect() {
    clearTimeout(this.timer);
    const address = new URL("/ws/watch", window.location.href);
    address.protocol = address.protocol.replace("http", "ws");
    const socket = new WebSocket(address);
    this.socket = socket;
    socket.addEventListener("open", () => {
      socket.send(JSON.stringify({ type: "watch", ...this.request, since: this.version }));
      this.stands(); // if nothing was missed, no message says so
    });
    socket.addEventListener("message", ({ data }) => this.receive(JSON.parse(data)));
    socket.addEventListener("close", () => {
      if (socket === this.socket) this.lost();
    });
  }

  receive(message) {
    if (message.type === "snapshot") {
      for (const match of message.matches) heard(match.at);
      this.version = message.version;
      this.on.snapshot(message.matches);
    } else if (message.type === "event") {
      if (this.version !== null && message.version <= this.version) return;
      heard(message.match.at);
      this.version = message.version;
      this.on.event(message.match);
    }
    this.waitMs = FIRST_WAIT_MS;
  }

  stands() {
    if (this.lostAt === null) return;
    this.lostAt = null;
    this.on.state(null);
  }

  lost() {
    this.lostAt ??= Date.now();
    const waitMs = this.waitMs * (0.75 + Math.random() / 2);
    this.waitMs = Math.min(2 * this.waitMs, LONGEST_WAIT_MS);
    this.timer = setTimeout(() => this.connect(), waitMs);
    this.on.state({ lostAt: this.lostAt, retryAt: Date.now() + waitMs });
  }

  /** Follow no longer. */
  stop() {
    const socket = this.socket;
    this.socket = null;
    clearTimeout(this.timer);
    socket.close();
    this.stands();
  }

  /** Begin anew with all there is, after something else has failed. */
  restart() {
    this.version = null;
    this.socket?.close();
  }

  /** Try again before the wait is over. */
  retryNow() {
    if (this.lostAt !== null && this.socket?.readyState === WebSocket.CLOSED) this.connect();
  }
}
