// The list of moves: numbered rounds, and in these who made each move; the ply looked at marked. New moves are appended,
// so they alone are read aloud. The server writes the same list before this runs: turns.py says the same.

import { make, write } from "./seats.js";
import { dieMark, seatMark } from "./svg.js";
import { msText } from "./words.js";

export class MoveList {
  /** `choose(ply)` is called with the number of plies up to and with the move chosen. */
  constructor(host, choose) {
    this.host = host;
    this.actions = [];
    this.times = []; // milliseconds, by action; null where nobody took any
    this.movers = []; // seats, by action; null where it was chance
    this.players = [];
    this.sides = null;
    this.turn = null; // the element of the last round, in it that of who moved last, and the last seat there
    this.by = null;
    this.latest = null;
    this.number = 0;
    this.marked = null;
    host.addEventListener("click", ({ target }) => {
      const button = target.closest("button");
      if (button) choose(Number(button.dataset.ply));
    });
  }

  /** Show these moves. Those that stand already stay, so that a reload is not read aloud again. */
  set({ view: { moves, players }, movers, times }, sides) {
    this.players = players;
    this.sides = sides;
    const same = this.actions.every((action, i) => action === moves[i]);
    if (!same || !this.actions.length) {
      for (const list of [this.actions, this.times, this.movers]) list.length = 0;
      this.host.replaceChildren();
      this.host.classList.remove("in-rows");
    }
    for (let ply = this.actions.length; ply < moves.length; ply++) this.add(moves[ply], movers[ply], times[ply]);
    this.host.parentElement.setAttribute("aria-live", "polite");
  }

  /** Show in words what was asked last and became no move. */
  end(text) {
    this.unmade ??= make("li", "unmade");
    write(this.unmade, text);
    this.host.append(this.unmade);
  }

  /** Add a move of a seat, or of chance, which is null. */
  add(action, mover, ms) {
    if (mover !== this.actions.length % this.players.length) this.host.classList.add("in-rows");
    if (!this.actions.length || this.roundIsOver(mover)) this.beginRound();
    if (this.by === null || mover !== this.movers.at(-1)) this.beginTurn(mover);
    this.actions.push(action);
    this.movers.push(mover);
    this.times.push(ms);
    const who = this.nameOf(mover);
    const button = make("button", mover === null ? "move chance" : "move");
    button.type = "button";
    button.tabIndex = -1;
    button.dataset.ply = this.actions.length;
    button.setAttribute("aria-label", `ply ${this.actions.length}, ${who}: ${action}`);
    button.textContent = action;
    button.title = ms === null ? who : `${who}, ${msText(ms)}`;
    this.by.append(button);
  }

  roundIsOver(mover) {
    if (this.latest === null) return false;
    return mover === null ? this.latest === this.players.length - 1 : mover < this.latest;
  }

  beginRound() {
    this.number = this.actions.length ? this.number + 1 : 1;
    this.turn = make("li", "turn");
    this.turn.append(make("span", "number"));
    write(this.turn.firstChild, String(this.number));
    this.host.append(this.turn);
    this.by = null;
    this.latest = null;
  }

  beginTurn(mover) {
    this.latest = mover ?? this.latest;
    const mark = mover === null ? dieMark() : seatMark(mover, this.sides?.[mover] ?? null);
    mark.setAttribute("aria-label", this.nameOf(mover));
    this.by = make("span", "by");
    this.by.append(mark);
    this.turn.append(this.by);
  }

  nameOf(mover) {
    return mover === null ? "chance" : this.players[mover].agent;
  }

  mark(ply) {
    this.marked?.removeAttribute("aria-current");
    if (this.marked) this.marked.tabIndex = -1;
    this.marked = this.host.querySelector(`button[data-ply="${ply}"]`);
    if (!this.marked) return;
    this.marked.setAttribute("aria-current", "step");
    this.marked.tabIndex = 0;
    const turn = this.marked.closest("li");
    const list = this.host;
    if (turn.offsetTop < list.scrollTop || turn.offsetTop + turn.offsetHeight > list.scrollTop + list.clientHeight) {
      list.scrollTop = turn.offsetTop - list.clientHeight / 2;
    }
  }
}
