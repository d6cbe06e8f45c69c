// The time of each seat: what it has left, and how its last move was measured.

import { write } from "./seats.js";
import { sidesOf } from "./sides.js";
import { seatMark } from "./svg.js";
import { leftText, measuredText, msText, unmadeText } from "./words.js";

const CLASSES = ["agent left", "", "number", "wide"]; // of the cells of a row

export class TimeTable {
  constructor(host) {
    this.host = host;
    this.rows = []; // by seat
    this.unmade = null;
  }

  /** Show what is known now. A row is made once; after that only what differs changes. */
  update(view) {
    for (const { seat, agent, clock, last } of view.players) {
      const [name, left, measured, refunded] = (this.rows[seat] ??= this.make(seat, sidesOf(view.board)?.[seat])).cells;
      write(name.querySelector("bdi"), agent);
      write(left, leftText(clock));
      write(measured, measuredText(last));
      write(refunded, last ? msText(last.refunded_ms) : "–");
    }
  }

  /** Show what was asked last and became no move, below the row of the seat that was asked. */
  end(view, request) {
    if (this.unmade === null) {
      this.unmade = this.host.insertRow(this.rows[request.seat].sectionRowIndex + 1);
      this.unmade.className = "unmade";
      for (const name of ["left", "number", "wide"]) this.unmade.insertCell().className = name;
      this.unmade.cells[0].colSpan = 2;
    }
    const [what, measured, refunded] = this.unmade.cells;
    write(what, `ply ${request.ply}, not a move`);
    write(measured, `${unmadeText(view, request)}, ${measuredText(request)}`);
    write(refunded, msText(request.refunded_ms));
  }

  make(seat, side) {
    const row = this.host.insertRow();
    for (const name of CLASSES) row.insertCell().className = name;
    row.cells[0].append(seatMark(seat, side), document.createElement("bdi"));
    return row;
  }
}
