// Matches as cards with a live board, in a grid whose places stay where they are.

import { BoardView, boardInWords } from "./board.js";
import { placeLines, SeatLine, write } from "./seats.js";
import { standText } from "./words.js";

const TICK_MS = 100;
const HOLD_MS = 2500; // how long an end can be seen at least before the next match takes its place

class Card {
  constructor(view) {
    this.element = document.querySelector("#card").content.firstElementChild.cloneNode(true);
    const part = (name) => this.element.querySelector(`[data-part="${name}"]`);
    this.title = part("title");
    this.status = part("status");
    this.note = part("note");
    this.board = new BoardView(part("board"));
    this.heldUntil = 0;
    this.lines = view.players.map((player) => new SeatLine(player.seat));
    placeLines(this.lines, view.board, part("above"), part("below"));
    this.update(view);
  }

  get id() {
    return this.view.id;
  }

  get runs() {
    return !this.gone && isOpen(this.view);
  }

  update(view) {
    const grows = this.view?.ply < view.ply;
    if (this.view && this.runs && !isOpen(view)) this.heldUntil = performance.now() + HOLD_MS;
    this.view = view;
    this.gone = false; // ended unseen, how is not known yet
    write(this.title, view.title);
    this.title.href = `/matches/${view.id}`;
    this.element.dataset.match = view.id;
    write(this.status, view.state === "running" ? `ply ${view.ply}` : view.state);
    this.status.classList.toggle("quiet", view.state !== "running");
    this.element.classList.toggle("is-void", view.state === "void");
    this.element.classList.toggle("is-over", !this.runs);
    for (const line of this.lines) line.update(view);
    this.board.draw(view.board, { label: boardLabel(view), animate: grows });
    this.tell();
  }

  tell() {
    const text = standText(this.view);
    write(this.note, text);
    if (this.note.title !== text) this.note.title = text;
  }

  tick() {
    for (const line of this.lines) if (line.ticks) line.tick();
    if (this.view.state === "running") this.tell();
  }
}

/** What a screen reader hears for a match's board. */
export function boardLabel(view) {
  const last = view.action === null ? "" : `, last move ${view.action}`;
  return `${view.title} after ${view.ply} plies${last}: ${boardInWords(view.board)}`;
}

/**
 * A grid of at most `places` cards, `least` of them also while fewer matches run. A match that has ended
 * keeps its place until a new one needs it, best one of the same ladder; a running one is never pushed out.
 */
export class Grid {
  constructor(host) {
    this.host = host;
    this.places = Number(host.dataset.places);
    this.least = Number(host.dataset.least);
    if (window.matchMedia("(max-width: 600px)").matches) this.least += this.least % 2; // two a row
    this.cards = [];
    this.views = new Map(); // every running match, shown or not
    setInterval(() => this.tick(), TICK_MS);
  }

  /** How many matches run, those without a place included. */
  get running() {
    return this.views.size;
  }

  /** Say that nothing runs, if the page said otherwise as it came. */
  tellNone() {
    const empty = this.host.querySelector(".empty");
    if (!empty) return;
    write(empty.querySelector("h2"), "No match runs at the moment");
    empty.querySelector("ul")?.remove();
  }

  tick() {
    if (document.body.classList.contains("is-stale")) return;
    for (const card of this.cards) card.tick();
    this.fill();
  }

  /** Take everything there is: returns the ids of cards whose match ended unseen. */
  reset(views) {
    this.views = new Map(views.filter(isOpen).map((view) => [view.id, view]));
    for (const card of this.cards) card.gone = card.runs && !this.views.has(card.id);
    for (const view of views) this.show(view);
    return this.cards.filter((card) => card.gone).map((card) => card.id);
  }

  /** Take one match as it is now. */
  update(view) {
    if (isOpen(view)) this.views.set(view.id, view);
    else this.views.delete(view.id);
    this.show(view);
  }

  /** Show a match if it has a card or deserves one. */
  show(view) {
    const card = this.cards.find((other) => other.id === view.id);
    if (card) card.update(view);
    else if (isOpen(view) || this.wants) this.place(view);
    this.fill();
  }

  // A place that has become free goes to a running match that has none.
  fill() {
    const shown = new Set(this.cards.map((card) => card.id));
    for (const view of this.views.values()) if (!shown.has(view.id) && !this.place(view)) return;
  }

  // Whether the match has got a place: a new one, or that of an ended match once its end could be seen.
  place(view) {
    const over = this.cards.filter((other) => !other.runs).sort((a, b) => a.id - b.id);
    const old = over.find((other) => other.view.ladder === view.ladder) ?? (this.wants ? undefined : over[0]);
    if (old ? performance.now() < old.heldUntil : this.full) return false;
    const card = new Card(view);
    if (old) {
      this.cards[this.cards.indexOf(old)] = card;
      old.element.replaceWith(card.element);
    } else {
      this.cards.push(card);
      this.host.querySelector(".empty")?.remove();
      this.host.append(card.element);
    }
    return true;
  }

  get full() {
    return this.cards.length >= this.places;
  }

  /** Whether finished matches are wanted, because few run. */
  get wants() {
    return this.cards.length < this.least;
  }
}

function isOpen(view) {
  return view.state === "running" || view.state === "starting";
}
