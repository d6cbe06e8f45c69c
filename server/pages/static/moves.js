// The list of moves: numbered turns, the ply looked at marked. New moves are appended, so they alone are read aloud.

import { make, write } from "./seats.js";
import { sidesOf } from "./sides.js";
import { seatMark } from "./svg.js";
import { msText } from "./words.js";

export class MoveList {
  /** `choose(ply)` is called with the number of plies up to and with the move chosen. */
  constructor(host, choose) {
    this.host = host;
    this.actions = [];
    this.times = []; // milliseconds, by action; null where nobody took any
    this.players = [];
    this.sides = null;
    this.last = -1; // the seat of the latest move in the turn that is written
    this.marked = null;
    host.addEventListener("click", ({ target }) => {
      const button = target.closest("button");
      if (button) choose(Number(button.dataset.ply));
    });
  }

  /** Show these moves. Those that stand already stay, so that a reload is not read aloud again. */
  set(view, movers, times) {
    const actions = view.moves;
    this.players = view.players;
    this.sides = sidesOf(view.board);
    const same = this.actions.every((action, i) => action === actions[i]);
    if (!same) {
      this.actions = [];
      this.times = [];
      this.last = -1;
      this.host.replaceChildren();
      this.host.classList.remove("uneven");
    }
    for (let ply = this.actions.length; ply < actions.length; ply++) this.add(actions[ply], movers[ply], times[ply]);
    this.host.dataset.plies = actions.length; // known from here on
    this.host.parentElement.setAttribute("aria-live", "polite");
  }

  /** Show in words what was asked last and became no move. */
  end(text) {
    this.unmade ??= make("li", "unmade");
    write(this.unmade, text);
    this.host.append(this.unmade);
  }

  /** Add a move of the seat `mover`, or an outcome of chance if that is no seat. */
  add(action, mover, ms) {
    const chance = !(mover in this.players);
    // Who moves is plain where all take turns from the first seat on; else each move gets its mover's mark.
    if (mover !== this.actions.length % this.players.length) this.host.classList.add("uneven");
    const full = chance ? this.last === this.players.length - 1 : mover <= this.last;
    if (this.actions.length === 0 || full) this.begin();
    if (!chance) this.last = mover;
    this.actions.push(action);
    this.times.push(ms);
    const button = make("button", "move");
    button.type = "button";
    button.tabIndex = -1;
    button.dataset.ply = this.actions.length;
    const who = chance ? "chance" : this.players[mover].agent;
    button.setAttribute("aria-label", `ply ${this.actions.length}, ${who}: ${action}`);
    button.textContent = action;
    if (chance) button.classList.add("chance");
    else button.prepend(seatMark(mover, this.sides?.[mover]));
    if (ms !== null) button.title = msText(ms);
    this.host.lastElementChild.append(button);
  }

  /** Begin a numbered turn: every seat has at most one move in it, in their order. */
  begin() {
    this.last = -1;
    const turn = make("li", "turn");
    turn.append(make("span", "number"));
    write(turn.firstChild, String(this.host.querySelectorAll(".turn").length + 1));
    this.host.append(turn);
  }

  mark(ply) {
    this.marked?.removeAttribute("aria-current");
    if (this.marked) this.marked.tabIndex = -1;
    this.marked = this.host.querySelector(`button[data-ply="${ply}"]`);
    if (!this.marked) return;
    this.marked.setAttribute("aria-current", "step");
    this.marked.tabIndex = 0;
    const turn = this.marked.parentElement;
    const list = this.host;
    if (turn.offsetTop < list.scrollTop || turn.offsetTop + turn.offsetHeight > list.scrollTop + list.clientHeight) {
      list.scrollTop = turn.offsetTop - list.clientHeight / 2;
    }
  }
}
