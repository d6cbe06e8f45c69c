// The notice of a lost connection: since when, what is seen meanwhile, when the next try is.

import { agoText } from "./clock.js";

/** A handler for a feed's state; `seen()` says in words what the page shows meanwhile. */
export function lostNotice(seen, retry) {
  const notice = document.querySelector("#lost");
  const since = notice.querySelector("[data-since]");
  const next = notice.querySelector("[data-next]");
  let timer = null;
  let state = null;

  function write() {
    const now = Date.now();
    since.textContent = `${agoText(now - state.lostAt)} ago`;
    const waitS = Math.ceil((state.retryAt - now) / 1000);
    const trying = waitS > 0 ? `Trying again in ${waitS} s` : "Trying now";
    next.textContent = `${seen()} ${trying}; nothing is missed, the page catches up.`;
  }

  notice.querySelector("button").addEventListener("click", retry);
  return (changed) => {
    state = changed;
    clearInterval(timer);
    notice.hidden = state === null;
    document.body.classList.toggle("is-stale", state !== null);
    if (state === null) return;
    write();
    timer = setInterval(write, 1000);
  };
}
