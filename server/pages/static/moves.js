// The list of moves: numbered turns, the ply looked at marked. New moves are appended, so they alone are read aloud.

import { make, write } from "./seats.js";
import { msText } from "./words.js";

export class MoveList {
  /** `choose(ply)` is called with the number of plies up to and with the move chosen. */
  constructor(host, choose) {
    this.host = host;
    this.actions = [];
    this.times = []; // milliseconds, by action; null where nobody took any
    this.players = [];
    this.marked = null;
    host.addEventListener("click", ({ target }) => {
      const button = target.closest("button");
      if (button) choose(Number(button.dataset.ply));
    });
  }

  /** Show these moves. Those that stand already stay, so that a reload is not read aloud again. */
  set(actions, players, times) {
    this.players = players;
    const same = this.actions.every((action, i) => action === actions[i]);
    if (!same) {
      this.actions = [];
      this.times = [];
      this.host.replaceChildren();
    }
    for (let ply = this.actions.length; ply < actions.length; ply++) this.add(actions[ply], times[ply]);
    this.host.parentElement.setAttribute("aria-live", "polite");
  }

  /** Show in words what was asked last and became no move. */
  end(text) {
    this.unmade ??= make("li", "unmade");
    write(this.unmade, text);
    this.host.append(this.unmade);
  }

  add(action, ms) {
    const seat = this.actions.length % this.players.length;
    if (seat === 0) {
      const turn = make("li", "turn");
      turn.append(make("span", "number"));
      write(turn.firstChild, String(this.actions.length / this.players.length + 1));
      this.host.append(turn);
    }
    this.actions.push(action);
    this.times.push(ms);
    const button = make("button", "move");
    button.type = "button";
    button.tabIndex = -1;
    button.dataset.ply = this.actions.length;
    button.setAttribute("aria-label", `ply ${this.actions.length}: ${action}`);
    button.textContent = action;
    if (ms !== null) button.title = msText(ms);
    this.host.lastElementChild.append(button);
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
