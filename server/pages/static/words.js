// What happened, in words.

import { isForgiven, isOverdue } from "./clock.js";
import { isPaused } from "./notice.js";

const CAUSES = JSON.parse(document.documentElement.dataset.causes);
const NOBODY = "counts for nobody";
const SCORES = { win: "1", draw: "½", loss: "0", void: "–" };
const MERITS = { win: 2, draw: 1, loss: 0 };

/** Points of a seat at the end, or its place where more than two played; empty while the match runs. */
export function scoreText({ players }, seat) {
  const { outcome } = players[seat];
  if (outcome === null) return "";
  if (players.length === 2 || outcome === "void") return SCORES[outcome];
  const given = hasUtilities(players); // one that was not played to its end is placed by its outcomes
  const merits = players.map((player) => (given ? player.utility : MERITS[player.outcome]));
  const place = 1 + merits.filter((merit) => merit > merits[seat]).length;
  return `${place}${["st", "nd", "rd"][place - 1] ?? "th"}`;
}

function hasUtilities(players) {
  return players.every(({ utility }) => utility !== null);
}

/** What the game gave each seat, where that says more than who has won. */
function utilityText({ players }) {
  const plain = players.length === 2 && players.every(({ utility }) => Math.abs(utility) === 1 || utility === 0);
  if (!hasUtilities(players) || plain) return "";
  const figure = (utility) => `${utility < 0 ? "−" : ""}${Math.abs(utility).toLocaleString("en")}`;
  return `Utility: ${players.map(({ agent, utility }) => `${agent} ${figure(utility)}`).join(", ")}`;
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
      return "It starts when all its agents have a hand free.";
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
  if (view.ply === 0) return "Waiting for all agents to be ready. No clock runs yet.";
  const away = view.players.filter((player) => !player.connected);
  return `The server was started anew. Waiting for ${away.length ? names(away) : "all agents"}; no clock runs.`;
}

/** What is to be added about the end; empty if there is nothing. */
export function detailText(view) {
  if (view.state !== "void") return view.detail ?? (view.state === "finished" ? utilityText(view) : "");
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

function endText({ players }) {
  const [winners, first, losers] = ["win", "draw", "loss"].map((outcome) => players.filter((player) => player.outcome === outcome));
  const loser = losers.find(({ cause }) => cause !== "normal");
  const { cause } = loser ?? players[0];
  const why = `${CAUSES[cause] ?? cause}${loser ? ` of ${loser.agent}` : ""}`;
  if (winners.length) return `${names(winners)} won · ${why}`;
  return losers.length ? `${names(first)} share first place · ${why}` : `Draw · ${why}`;
}

function names(players) {
  return players.map((player) => player.agent).join(", ");
}
