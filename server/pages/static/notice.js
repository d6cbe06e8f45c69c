// What everybody should know of the server now: written and taken away while the page is open.

const LOOK_MS = 5000;
const SOON_MS = 1000;

const notice = document.querySelector("#notice");
let paused = false;
let soon = null;

/** Whether matches pause because the database is away. */
export function isPaused() {
  return paused;
}

/** Look again, now that there is a reason to; not every reader at the same moment. */
export function lookSoon() {
  soon ??= setTimeout(() => {
    soon = null;
    look();
  }, SOON_MS * (0.5 + Math.random()));
}

// Not while nobody looks, and without a server nothing is known.
async function look() {
  if (document.hidden) return;
  let text = "";
  let away = false;
  try {
    const health = await (await fetch("/healthz")).json();
    text = health.notice ?? "";
    away = health.database === "unavailable";
  } catch {
    // the notice of the lost connection says what there is to say
  }
  paused = away;
  if (notice.textContent !== text) notice.textContent = text;
  notice.hidden = text === "";
}

/** Keep the notice true. */
export function keepNotice() {
  if (!notice.hidden) look();
  document.addEventListener("visibilitychange", look);
  setInterval(look, LOOK_MS * (0.8 + 0.4 * Math.random()));
}
