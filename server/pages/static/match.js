// The match page: one large board, followed live or stepped through.

import { BoardView } from "./board.js";
import { boardLabel } from "./cards.js";
import { keepTimes, writeTimes } from "./clock.js";
import { copyButtons } from "./copy.js";
import { Feed } from "./feed.js";
import { lostNotice } from "./lost.js";
import { MoveList } from "./moves.js";
import { isPaused, keepNotice, lookSoon } from "./notice.js";
import { placeLines, SeatLine, write } from "./seats.js";
import { sidesOf } from "./sides.js";
import { TimeTable } from "./timing.js";
import { detailText, measuredText, msText, standText, unmadeText } from "./words.js";

const TICK_MS = 100;
const QUEUED_MS = 3000;
const PLAY_MS = 600;

const page = document.querySelector("#match");
const part = (name) => page.querySelector(`[data-part="${name}"]`);
const id = Number(page.dataset.match);

const board = new BoardView(part("board"), { labels: true });
const moves = new MoveList(part("moves"), (ply) => show(ply));
const times = new TimeTable(part("times"));
let lines = [];
let view = null;
let boards = []; // boards[n] is the one after n plies
let positions = []; // and its text
let shown = null; // the ply looked at; null follows the match
let playing = null;
let changes = []; // of the ratings, by seat, once the match is over
let feed = null;

function isOver(match) {
  return match.state === "finished" || match.state === "void";
}

function shownPly() {
  return shown ?? view.ply;
}

/** Look at a ply; the last one means to follow the match. */
function show(ply) {
  const before = shownPly();
  shown = ply >= view.ply ? null : Math.max(0, ply);
  draw({ animate: false });
  if (before !== shownPly()) history.replaceState(null, "", shown === null ? location.pathname : `#${shown}`);
}

function draw({ animate }) {
  const ply = shownPly();
  const action = ply > 0 ? moves.actions[ply - 1] : null;
  board.draw(boards[ply], { label: boardLabel({ ...view, ply, action, board: boards[ply] }), animate });
  moves.mark(ply);
  write(part("position"), positions[ply] ?? view.position);
  const latest = { running: "live", finished: "end", void: "end" }[view.state] ?? "";
  write(part("ply"), `ply ${ply}`);
  const taken = ply > 0 ? (moves.times[ply - 1] ?? null) : null;
  const where = shown === null ? latest : `of ${view.ply}`;
  write(part("of"), taken === null ? where : `${where} · ${msText(taken)}`);
  const range = part("range");
  range.max = view.ply;
  range.value = ply;
  for (const name of ["first", "back"]) part(name).disabled = ply === 0;
  for (const name of ["forward", "last"]) part(name).disabled = shown === null;
}

/** Take the match as it is now; `grown` tells that a move has just been played. */
function take(now, grown) {
  view = now;
  if (!lines.length) {
    lines = view.players.map((player) => new SeatLine(player.seat));
    placeLines(lines, view.board, part("above"), part("below"));
  }
  for (const line of lines) line.update(view, changes[line.seat]);
  times.update(view);
  write(part("status"), view.state === "running" ? `live, ply ${view.ply}` : view.state);
  part("status").classList.toggle("quiet", view.state !== "running");
  page.classList.toggle("is-void", view.state === "void");
  write(part("stand"), standText(view));
  write(part("detail"), detailText(view));
  part("detail").hidden = !detailText(view);
  part("closed").hidden = !view.closed;
  part("moves").classList.toggle("closed", view.closed);
  draw({ animate: grown && shown === null });
}

/** Read the whole match from the server: every board, every move. */
async function load() {
  const answer = await fetch(`/fragments/matches/${id}`);
  if (!answer.ok) throw new Error(`the match could not be read: ${answer.status}`);
  const whole = await answer.json();
  if (view !== null && (whole.view.ply < view.ply || (isOver(view) && !isOver(whole.view)))) return; // old news
  const grown = view !== null && whole.view.ply === view.ply + 1;
  boards = whole.boards;
  changes = whole.changes;
  positions = whole.positions;
  showReplay(whole.replayed_by);
  write(part("verdict"), whole.verdict ?? "");
  part("verdict").hidden = whole.verdict === null;
  moves.set(whole, sidesOf(whole.view.board));
  take(whole.view, grown);
  showUnmade(whole.request);
  if (isOver(view)) {
    feed?.stop();
    feed = null;
  }
}

/** Show the request that was open when the match ended, beside the moves but as none of them. */
function showUnmade(request) {
  if (request === null) return;
  moves.end(`ply ${request.ply}: ${unmadeText(view, request)}, ${measuredText(request)}; not a move`);
  times.end(view, request);
}

/** Link to the match that repeats this one, if it was void. */
function showReplay(number) {
  part("replay").hidden = number === null;
  if (number === null) return;
  const link = part("replay").querySelector("a");
  link.href = `/matches/${number}`;
  write(link, `match ${number}`);
}

function event(match) {
  const next = match.ply === view.ply + 1;
  if (isPaused()) lookSoon();
  if (isOver(view) || match.ply < view.ply) return;
  const unseen = match.ply > view.ply + 1 || (next && view.state !== "running"); // then nobody knows who moved
  if (isOver(match) || unseen) {
    load().catch(() => feed?.restart());
    return;
  }
  if (next) {
    boards.push(match.board);
    positions.push(match.position);
    moves.add(match.action, view.to_move, match.players[view.to_move]?.last?.elapsed_ms ?? null);
  }
  take(match, next);
}

function togglePlay() {
  if (playing !== null) {
    clearInterval(playing);
    playing = null;
  } else {
    if (shown === null) show(0);
    playing = setInterval(() => (shown === null ? togglePlay() : show(shown + 1)), PLAY_MS);
  }
  part("play").setAttribute("aria-pressed", playing !== null);
}

const STEPS = {
  first: () => show(0),
  back: () => show(shownPly() - 1),
  play: togglePlay,
  forward: () => show(shownPly() + 1),
  last: () => show(view.ply),
};
const KEYS = { ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last", " ": "play" };

function listen() {
  for (const [name, step] of Object.entries(STEPS)) part(name).addEventListener("click", step);
  part("range").addEventListener("input", ({ target }) => show(Number(target.value)));
  document.addEventListener("keydown", (pressed) => {
    const own = pressed.target.closest("input, button, a") && (pressed.key === " " || pressed.target.matches("input"));
    if (own || pressed.ctrlKey || pressed.altKey || pressed.metaKey || !(pressed.key in KEYS)) return;
    pressed.preventDefault();
    STEPS[KEYS[pressed.key]]();
  });
  setInterval(() => {
    if (document.body.classList.contains("is-stale")) return;
    for (const line of lines) if (line.ticks) line.tick();
    if (view.state === "running") write(part("stand"), standText(view));
  }, TICK_MS);
}

function follow() {
  feed = new Feed(
    { match: id },
    {
      snapshot: async ([match]) => {
        await load().catch(() => feed?.restart());
        if (match) event(match); // it knows the clock, the record does not
      },
      event,
      state: lostNotice(
        () => `You see ply ${view.ply}.`,
        () => feed?.retryNow(),
      ),
    },
  );
}

/** Look again while the match is queued: nothing is told of it before it begins. */
async function begun() {
  while (view.state === "queued") {
    await new Promise((resolve) => setTimeout(resolve, QUEUED_MS));
    await load().catch(() => {}); // the server is away; the next look finds it
  }
}

keepTimes();
copyButtons();
await load();
if (location.hash) show(Number(location.hash.slice(1)) || 0);
listen();
writeTimes();
await begun();
if (!isOver(view)) {
  keepNotice();
  follow();
}
