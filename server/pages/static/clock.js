// Clocks and times. The server's time is learned from its own stamps; the reader's clock may be wrong.

const OVERDUE_MS = 1000; // an end takes a moment: there is a margin, and the way to the reader

let aheadMs = Infinity; // how far the reader's clock is ahead of the server's, the network's delay included

/** Learn from a server's time stamp that has just arrived. The smallest difference seen is the best one. */
export function heard(serverMs) {
  if (serverMs > 0) aheadMs = Math.min(aheadMs, Date.now() - serverMs);
}

/** Server's time now, in milliseconds since 1970. */
export function serverNow() {
  return Date.now() - (Number.isFinite(aheadMs) ? aheadMs : 0);
}

/** What the seat to move has left now, in milliseconds, never below zero. */
export function leftMs(view) {
  return Math.max(0, uncutMs(view));
}

/** Whether that clock stands still now: its agent is away, and that is forgiven for a while. */
export function isForgiven(view) {
  return !view.players[view.to_move]?.connected && serverNow() - view.at < view.still_ms;
}

/** Whether the time is up, and yet no end was told: the server may be giving time back, or be busy. */
export function isOverdue(view) {
  return view.clock_ms !== null && uncutMs(view) < -OVERDUE_MS;
}

function uncutMs(view) {
  return view.clock_ms - Math.max(0, serverNow() - view.at - view.still_ms);
}

/** Minutes and seconds; tenths under ten seconds. */
export function clockText(ms) {
  if (ms < 10_000) return (Math.floor(ms / 100) / 10).toFixed(1);
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** Whether a clock is worth an alarm: under ten seconds, and over half of what this move had is gone. */
export function isLow(ms, moveMs) {
  return ms < 10_000 && ms < moveMs / 2;
}

/** How long ago, in one unit. */
export function agoText(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const SHORT = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });

/** Write every `<time>` below `root` in the reader's zone; those marked `data-ago` as an age. */
export function writeTimes(root = document) {
  for (const element of root.querySelectorAll("time[datetime]")) {
    const date = new Date(element.dateTime);
    if (Number.isNaN(date.getTime())) continue;
    const text = "ago" in element.dataset ? agoText(serverNow() - date.getTime()) : FULL.format(date);
    if (element.textContent !== text) element.textContent = text;
    if (!element.title) element.title = FULL.format(date);
  }
}

/** Hour and minute in the reader's zone. */
export function hourText(serverMs) {
  return SHORT.format(new Date(serverMs));
}

/** Keep ages true while the page is open. */
export function keepTimes() {
  heard(Number(document.documentElement.dataset.now));
  writeTimes();
  setInterval(writeTimes, 1000);
}
