// What everybody should know of the server now: written and taken away while the page is open.

const LOOK_MS = 5000;

/** Keep the notice true; not while nobody looks, and without a server nothing is known. */
export function keepNotice() {
  const notice = document.querySelector("#notice");

  async function look() {
    if (document.hidden) return;
    let text = "";
    try {
      text = (await (await fetch("/healthz")).json()).notice ?? "";
    } catch {
      // the notice of the lost connection says what there is to say
    }
    if (notice.textContent !== text) notice.textContent = text;
    notice.hidden = text === "";
  }

  document.addEventListener("visibilitychange", look);
  setInterval(look, LOOK_MS * (0.8 + 0.4 * Math.random()));
}
