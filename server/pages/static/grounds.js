// What lies under the pieces: the board itself, by style. games/picture/grounds.py draws the same.

import { BAR_X, OFF_X, POINTS_HEIGHT, SIDE } from "./layouts.js";
import { seatShape, svg } from "./svg.js";

/** An upright frame with holes. */
export function frameGround(board) {
  const { rows, columns } = board;
  const holes = cellsOf(board).map(([row, column]) => svg("circle", { class: "hole", cx: column + 0.5, cy: row + 0.5, r: 0.4 }));
  return [rect("frame", -0.14, -0.14, columns + 0.28, rows + 0.28, 0.22), ...holes];
}

/** Lines between cells. */
export function linesGround({ rows, columns }) {
  const lines = [];
  for (let x = 1; x < columns; x += 1) lines.push(line("grid-line", x, 0.06, x, rows - 0.06));
  for (let y = 1; y < rows; y += 1) lines.push(line("grid-line", 0.06, y, columns - 0.06, y));
  return lines;
}

/** A felt with lines around its cells, in a rim. */
export function feltGround({ rows, columns }) {
  const lines = [];
  for (let x = 0; x <= columns; x += 1) lines.push(line("felt-line", x, 0, x, rows));
  for (let y = 0; y <= rows; y += 1) lines.push(line("felt-line", 0, y, columns, y));
  const far = [2, columns - 2].flatMap((x) => [2, rows - 2].map((y) => [x, y]));
  const dots = rows < 6 ? [] : far.map(([x, y]) => svg("circle", { class: "felt-dot", cx: x, cy: y, r: 0.07 }));
  const rim = rect("felt-rim", -0.22, -0.22, columns + 0.44, rows + 0.44, 0.14);
  return [rim, rect("felt", 0, 0, columns, rows), ...lines, ...dots];
}

/** A table. */
export function tableGround({ rows, columns }) {
  return [rect("tabletop", -0.1, -0.1, columns + 0.2, rows + 0.2, 0.12)];
}

/** Light and dark squares, the bottom left one dark. */
export function squaresGround(board) {
  const dark = cellsOf(board).filter(([row, column]) => (board.rows - 1 - row + column) % 2 === 0);
  return [
    rect("square-light", 0, 0, board.columns, board.rows),
    ...dark.map(([row, column]) => rect("square-dark", column, row, 1, 1)),
  ];
}

/** Wood with crossing lines, a heavier one around them, and star points. */
export function woodGround({ rows, columns }, { box }) {
  const [right, bottom] = [columns - 0.5, rows - 0.5];
  const lines = [];
  for (let x = 1.5; x < right; x += 1) lines.push(line("wood-line", x, 0.5, x, bottom));
  for (let y = 1.5; y < bottom; y += 1) lines.push(line("wood-line", 0.5, y, right, y));
  const stars = starPoints(rows, columns).map(([row, column]) => {
    return svg("circle", { class: "star", cx: column + 0.5, cy: row + 0.5, r: 0.09 });
  });
  const border = rect("wood-border", 0.5, 0.5, columns - 1, rows - 1);
  return [rect("wood", ...box, 0.14), ...lines, border, ...stars];
}

// Crossings that players mark to find their way: near the corners and, on boards with a middle, there; on large ones
// half way along the sides too.
function starPoints(rows, columns) {
  const size = Math.min(rows, columns);
  const odd = rows % 2 === 1 && columns % 2 === 1;
  const near = size >= 13 ? 3 : 2;
  const along = (length) => {
    const corners = size >= 7 ? [near, length - 1 - near] : [];
    return odd ? [...corners, (length - 1) / 2] : corners;
  };
  const points = along(rows).flatMap((row) => along(columns).map((column) => [row, column]));
  const middles = ([row, column]) => (row === (rows - 1) / 2) + (column === (columns - 1) / 2);
  return size >= 15 ? points : points.filter((point) => middles(point) !== 1);
}

/** Six-cornered cells, and the edges that each seat joins. */
export function cellsGround(board, { at }) {
  const { rows, columns } = board;
  const cells = cellsOf(board).map((cell) => svg("path", { class: "cell", d: hexagon(...at(...cell), SIDE) }));
  const top = range(columns).flatMap((i) => corners(at(0, i), 5, 0, 1));
  const bottom = range(columns).flatMap((i) => corners(at(rows - 1, i), 4, 3, 2));
  const left = range(rows).flatMap((i) => corners(at(i, 0), 5, 4));
  const right = range(rows).flatMap((i) => corners(at(i, columns - 1), 1, 2));
  const edge = (seat) => (points) => svg("path", { class: `edge-${seat + 1}`, d: pathOf(points) });
  return [...cells, ...[left, right].map(edge(1)), ...[top, bottom].map(edge(0))];
}

// Corners of a cell around its middle, by number from the top one clockwise.
function corners([x, y], ...numbers) {
  const [dx, dy] = [0.5, SIDE / 2];
  const all = [[0, -SIDE], [dx, -dy], [dx, dy], [0, SIDE], [-dx, dy], [-dx, -dy]];
  return numbers.map((i) => [x + all[i][0], y + all[i][1]]);
}

/** Path of a cell with six corners around (x, y), `r` from the middle to each. */
export function hexagon(x, y, r) {
  const far = r / SIDE / 2;
  const [high, low] = [y - r / 2, y + r / 2];
  return `M${x} ${y - r}L${x + far} ${high}L${x + far} ${low}L${x} ${y + r}L${x - far} ${low}L${x - far} ${high}z`;
}

/** Path along points. */
export function pathOf(points) {
  return `M${points.map(([x, y]) => `${x} ${y}`).join("L")}`;
}

/** A tray for pits, with each seat's shape in its corner. */
export function pitsGround({ rows, columns }) {
  const marks = [[0, columns - 0.5, -0.28], [1, 0.5, rows + 0.28]].map(([seat, x, y]) => {
    return svg("path", { class: `owner-${seat + 1}`, d: seatShape(seat, x, y, 0.11) });
  });
  return [rect("tray", -0.12, -0.56, columns + 0.24, rows + 1.12, 0.2), ...marks];
}

/** The 24 points in their frame, the bar and the tray for checkers borne off. */
export function pointsGround() {
  const points = range(24).map((i) => {
    const [row, column] = [Math.floor(i / 12), i % 12];
    return svg("path", { class: `point-${((row + column) % 2) + 1}`, d: point(row, column) });
  });
  return [
    rect("points-frame", -0.2, -0.2, OFF_X + 0.9, POINTS_HEIGHT + 0.4, 0.16),
    rect("points-inside", 0, 0, BAR_X - 0.5, POINTS_HEIGHT),
    rect("points-inside", BAR_X + 0.5, 0, 6, POINTS_HEIGHT),
    rect("points-tray", BAR_X - 0.47, 0, 0.94, POINTS_HEIGHT, 0.06),
    ...[0, 1].map((row) => rect("points-tray", OFF_X - 0.45, row * (POINTS_HEIGHT / 2 + 0.1), 0.9, POINTS_HEIGHT / 2 - 0.1, 0.06)),
    ...points,
  ];
}

/** Path of a point. */
export function point(row, column) {
  const x = column < 6 ? column : column + 1;
  const [base, tip] = row === 0 ? [0, 4.3] : [POINTS_HEIGHT, POINTS_HEIGHT - 4.3];
  return `M${x + 0.03} ${base}L${x + 0.5} ${tip}L${x + 0.97} ${base}z`;
}

/** A rectangle. */
export function rect(name, x, y, width, height, rx = 0) {
  return svg("rect", { class: name, x, y, width, height, ...(rx ? { rx } : {}) });
}

function line(name, x1, y1, x2, y2) {
  return svg("line", { class: name, x1, y1, x2, y2 });
}

function cellsOf({ rows, columns }) {
  return range(rows).flatMap((row) => range(columns).map((column) => [row, column]));
}

function range(end) {
  return Array.from({ length: end }, (_, i) => i);
}
