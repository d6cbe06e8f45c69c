// A seat's line: mark, name, rating, and a clock or a score.

import { clockText, isForgiven, isLow, isOverdue, leftMs } from "./clock.js";
import { isPaused } from "./notice.js";
import { sidesOf } from "./sides.js";
import { seatMark } from "./svg.js";
import { changeText, ratingText, scoreText } from "./words.js";

/** One seat's line. It is made once; `update` changes only what differs, so that nothing flickers. */
export class SeatLine {
  constructor(seat) {
    this.seat = seat;
    this.name = make("a", "name");
    this.label = document.createElement("bdi");
    this.name.append(this.label);
    this.version = make("span", "version");
    this.rating = make("span", "rating");
    this.away = make("span", "away");
    this.clock = make("span", "clock");
    this.element = make("div", `seat seat-${seat + 1}`);
    this.mark = seatMark(seat);
    this.side = null;
    this.element.append(this.mark, this.name, this.version, this.rating, this.away, this.clock);
  }

  /** `change` is what the match did to the rating, if anything. */
  update(view, change = null) {
    const player = view.players[this.seat];
    const over = view.state === "finished" || view.state === "void";
    this.view = view;
    this.show(sidesOf(view.board)?.[this.seat] ?? null);
    write(this.label, player.agent);
    this.name.href = `/agents/${encodeURIComponent(player.agent)}`;
    write(this.version, `v${player.version}`);
    write(this.rating, ratingText(player) + changeText(change));
    write(this.away, player.connected || over ? "" : "reconnecting");
    this.element.classList.toggle("is-away", !player.connected && !over);
    this.element.classList.toggle("is-winner", player.outcome === "win");
    this.ticks = view.state === "running" && view.to_move === this.seat && view.clock_ms !== null;
    this.clock.classList.remove("running", "low");
    if (this.ticks) this.tick();
    else write(this.clock, over ? scoreText(view, this.seat) : view.state === "running" ? clockText(player.clock?.move_ms ?? view.move_ms) : "");
  }

  /** Show the mark of a side, or the seat's own. */
  show(side) {
    if (side === this.side) return;
    const mark = seatMark(this.seat, side);
    this.mark.replaceWith(mark);
    this.mark = mark;
    this.side = side;
  }

  /** Show the time left now, as a clock that runs only while it does. Only called while this seat is to move. */
  tick() {
    const ms = leftMs(this.view);
    const overdue = isOverdue(this.view);
    const paused = isPaused();
    const runs = !paused && !overdue && !isForgiven(this.view);
    write(this.clock, paused ? "paused" : overdue ? "…" : clockText(ms));
    this.clock.classList.toggle("running", runs);
    this.clock.classList.toggle("low", runs && isLow(ms, this.view.move_ms));
  }
}

/** Put the line of the seat that sits below the board there, and the others above, the last one on top. */
export function placeLines(lines, { below }, above, under) {
  const others = lines.filter((line) => line.seat !== below).reverse();
  above.replaceChildren(...others.map((line) => line.element));
  under.replaceChildren(lines[below].element);
}

/** Make an element with a class. */
export function make(tag, name) {
  const element = document.createElement(tag);
  element.className = name;
  return element;
}

/** Set an element's text if it differs. */
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
