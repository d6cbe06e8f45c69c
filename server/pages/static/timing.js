// The time of each seat: what it has left, and how its last move was measured.

import { write } from "./seats.js";
import { seatMark } from "./svg.js";
import { leftText, measuredText, msText } from "./words.js";

const CLASSES = ["agent left", "", "number", "wide"]; // of the cells of a row

export class TimeTable {
  constructor(host) {
    this.host = host;
  }

  /** Show what is known now. A row is made once; after that only what differs changes. */
  update(view) {
    for (const { seat, agent, clock, last } of view.players) {
      const [name, left, measured, refunded] = (this.host.rows[seat] ?? this.make(seat)).cells;
      write(name.querySelector("bdi"), agent);
      write(left, leftText(clock));
      write(measured, measuredText(last));
      write(refunded, last ? msText(last.refunded_ms) : "–");
    }
  }

  make(seat) {
    const row = this.host.insertRow();
    for (const name of CLASSES) row.insertCell().className = name;
    row.cells[0].append(seatMark(seat), document.createElement("bdi"));
    return row;
  }
}
