// What is drawn around the pieces: the last move, the line that decided the game, labels. games/picture/marks.py does
// the same.

import { pathOf, point, rect } from "./grounds.js";
import { BAR, POINTS_HEIGHT } from "./layouts.js";
import { circle } from "./pieces.js";
import { svg } from "./svg.js";

/** Colour the cell of a last move. */
export function tint(row, column) {
  return [rect("tint", column + 0.04, row + 0.04, 0.92, 0.92, 0.08)];
}

/** Colour a whole square. */
export function square(row, column) {
  return [rect("tint strong", column, row, 1, 1)];
}

/** Show above the board where a piece was dropped. */
export function chevron(_, column) {
  const x = column + 0.5;
  return [svg("path", { class: "chevron", d: `M${x - 0.17} -.14L${x + 0.17} -.14L${x} .03z` })];
}

/** Outline a point, or the place beside it where checkers lie. */
export function pointOutline(row, column, { at }) {
  if (column < BAR) return [svg("path", { class: "outline", d: point(row, column) })];
  const [x] = at(row, column);
  return [rect("outline", x - 0.47, row * (POINTS_HEIGHT / 2) + 0.03, 0.94, POINTS_HEIGHT / 2 - 0.06, 0.06)];
}

/** A ring around a pit. */
export function ring(row, column, { at }) {
  return [circle("outline", ...at(row, column), 0.42)];
}

/** A dot in a cell: so far right and down of its middle, so large. */
export function dot(r = 0.1, right = 0, down = 0) {
  return (row, column, { at }) => {
    const [x, y] = at(row, column);
    return [circle("last-dot", x + right, y + down, r)];
  };
}

/** No mark. */
export function nothing() {
  return [];
}

/** Lines through straight runs of three or more cells: one move can complete several. */
export function runLines(cells, { at }) {
  const has = new Set(cells.map((cell) => cell.join()));
  const there = (row, column) => has.has(`${row},${column}`);
  const runs = [];
  for (const [row, column] of cells) {
    for (const [down, right] of [[0, 1], [1, 0], [1, 1], [1, -1]]) {
      if (there(row - down, column - right)) continue;
      let length = 1;
      while (there(row + length * down, column + length * right)) length += 1;
      if (length >= 3) runs.push([at(row, column), at(row + (length - 1) * down, column + (length - 1) * right)]);
    }
  }
  return twice(runs.map(pathOf));
}

/** One line from cell to cell. */
export function chainLine(cells, { at }) {
  return cells.length ? twice([pathOf(cells.map((cell) => at(...cell)))]) : [];
}

/** An outline around each cell. */
export function cellOutlines(cells) {
  return twice(cells.map(([row, column]) => `M${column + 0.05} ${row + 0.05}L${column + 0.95} ${row + 0.05}L${column + 0.95} ${row + 0.95}L${column + 0.05} ${row + 0.95}z`), " thin");
}

// Black on white, so that it is seen on everything.
function twice(paths, width = "") {
  return ["win-under", "win-over"].flatMap((name) => paths.map((d) => svg("path", { class: name + width, d })));
}

/** Labels of rows or columns, or of anything else. */
export function labelTexts(labels, place, size) {
  return labels.flatMap((label, i) => {
    const [x, y] = place(i);
    return label === "" ? [] : svg("text", { class: "board-label", x, y, "font-size": size, "aria-hidden": "true" }, label);
  });
}
