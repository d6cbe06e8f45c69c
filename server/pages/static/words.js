// What happened, in words.

import { isForgiven, isOverdue } from "./clock.js";
import { isPaused } from "./notice.js";

const CAUSES = JSON.parse(document.documentElement.dataset.causes);
const NOBODY = "counts for nobody";
const SCORES = { win: "1", draw: "½", loss: "0", void: "–" };

/** Points of a seat at the end, as written in tables; empty while the match runs. */
export function scoreText(player) {
  return player.outcome === null ? "" : SCORES[player.outcome];
}

/** A rating as people read it, with "?" while it is provisional. */
export function ratingText(player) {
  return `${Math.round(player.elo)}${player.provisional ? "?" : ""}`;
}

/** A change of rating: a blank, the sign, whole points; nothing if there is none. */
export function changeText(change) {
  if (change === null) return "";
  const points = Math.round(change);
  return ` ${points < 0 ? "−" : "+"}${Math.abs(points)}`;
}

/** Milliseconds as people read them. */
export function msText(ms) {
  return `${Math.round(ms).toLocaleString("en")} ms`;
}

/** Seconds with a tenth where there is one. */
function secondsText(ms) {
  return `${Math.floor(ms / 100) / 10}\u00a0s`;
}

/** What a seat has left for its moves: its bank and periods, or the time that each move has. */
export function leftText(clock) {
  if (!clock) return "–";
  const bank = clock.bank_ms > 0 || clock.increment_ms > 0 ? [secondsText(clock.bank_ms)] : [];
  const periods = clock.byoyomi_ms > 0 ? [`${clock.periods}\u00a0×\u00a0${secondsText(clock.byoyomi_ms)}`] : [];
  const left = [...bank, ...periods].join(" + ") || `${secondsText(clock.move_ms)} a move`;
  const strikes = clock.strikes > 0 ? `, ${clock.strikes} ${clock.strikes > 1 ? "strikes" : "strike"}` : "";
  return left + strikes;
}

/** How long a move took, of how much; records of old servers do not know the limit. */
export function measuredText(last) {
  if (!last) return "–";
  const limit = last.limit_ms > 0 ? ` of ${last.limit_ms.toLocaleString("en")}` : "";
  return `${last.elapsed_ms.toLocaleString("en")}${limit} ms${last.timed_out ? ", too late" : ""}`;
}

/** How it went with the request that was open when the match ended, which became no move. */
export function unmadeText(view, request) {
  if (view.state === "void") return "still open";
  if (request.received_at === null) return "no answer";
  const { cause } = view.players[request.seat];
  return cause === "timeout" ? "too late" : (CAUSES[cause] ?? cause);
}

/** How the match stands or ended, in one sentence. */
export function standText(view) {
  switch (view.state) {
    case "queued":
      return "It starts when both agents have a hand free.";
    case "starting":
      return startingText(view);
    case "running":
      return runningText(view);
    case "void":
      return `Void · ${NOBODY}`;
    default:
      return endText(view);
  }
}

/** For whom it waits: at first, or after a restart of the server. */
function startingText(view) {
  if (view.ply === 0) return "Waiting for both agents to be ready. No clock runs yet.";
  const away = view.players.filter((player) => !player.connected);
  return `The server was started anew. Waiting for ${away.length ? names(away) : "both agents"}; no clock runs.`;
}

/** What is to be added about the end; empty if there is nothing. */
export function detailText(view) {
  if (view.state !== "void") return view.detail ?? "";
  const absent = view.players.filter((player) => player.cause === "no_show");
  const who = absent.length ? `${CAUSES.no_show} of ${names(absent)}` : "";
  const why = (view.detail ?? "").replace(`; ${NOBODY}`, ""); // that is said already
  return [who, why].filter(Boolean).join(", ");
}

/** The seat whose turn it is, who is away, and what stops the clock. */
function runningText(view) {
  if (isPaused()) return "Paused: the database is away.";
  const mover = view.players[view.to_move];
  if (mover && isOverdue(view)) return `The time of ${mover.agent} is up, unless the server gives some back.`;
  if (mover && !mover.connected) {
    const lost = `${mover.agent} lost its connection;`;
    if (!isForgiven(view)) return `${lost} its clock runs.`;
    return `${lost} up to ${secondsText(view.still_ms)} of it are not charged, then its clock runs.`;
  }
  const away = view.players.filter((player) => !player.connected);
  const turn = mover ? `${mover.agent} to move` : "";
  return away.length ? [`${names(away)} lost the connection`, turn].filter(Boolean).join("; ") : turn;
}

function endText(view) {
  const winners = view.players.filter((player) => player.outcome === "win");
  if (!winners.length) return `Draw · ${CAUSES[view.players[0].cause] ?? "normal end"}`;
  const loser = view.players.find((player) => player.outcome === "loss");
  const cause = CAUSES[loser.cause] ?? loser.cause;
  return loser.cause === "normal"
    ? `${names(winners)} won · ${cause}`
    : `${names(winners)} won · ${cause} of ${loser.agent}`;
}

function names(players) {
  return players.map((player) => player.agent).join(", ");
}
