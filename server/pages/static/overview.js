// The front page and the ladder pages: running matches as cards, tables that follow the results.

import { Grid } from "./cards.js";
import { keepTimes } from "./clock.js";
import { copyButtons } from "./copy.js";
import { Feed } from "./feed.js";
import { watchFragments } from "./fragments.js";
import { lostNotice } from "./lost.js";
import { isPaused, keepNotice, lookSoon } from "./notice.js";
import { write } from "./seats.js";

const host = document.querySelector("#matches");
const { ladder } = host.dataset;
const count = document.querySelector("#running");
const grid = new Grid(host);
const refresh = watchFragments();

function countRunning() {
  const number = grid.running;
  write(count, number === 1 ? "1 match running" : `${number} matches running`);
}

/** Ask how matches stand that went on or ended unseen. */
async function catchUp(ids) {
  for (const id of ids) {
    const answer = await fetch(`/fragments/matches/${id}?boards=last`);
    if (answer.ok) grid.update((await answer.json()).view);
  }
  countRunning();
}

/** While little runs, the latest finished matches fill the places. */
async function fillPlaces() {
  if (!grid.wants) return;
  const answer = await fetch(`/fragments/recent${ladder ? `?ladder=${encodeURIComponent(ladder)}` : ""}`);
  if (!answer.ok) return;
  for (const view of await answer.json()) if (grid.wants) grid.show(view);
}

const shows = lostNotice(
  () => "You see the boards as they were.",
  () => feed.retryNow(),
);
let first = true;
const feed = new Feed(ladder ? { ladder } : { front: true }, {
  snapshot(matches) {
    const gone = grid.reset(matches);
    countRunning();
    if (!grid.running) grid.tellNone();
    if (!first) refresh();
    first = false;
    fillPlaces().then(() => catchUp(gone)).catch(() => feed.restart());
  },
  event(match) {
    if (isPaused()) lookSoon();
    grid.update(match);
    countRunning();
    if (match.state === "finished" || match.state === "void") refresh(match.ladder);
  },
  state(state) {
    if (state === null) refresh();
    shows(state);
  },
});
keepTimes();
keepNotice();
copyButtons();
