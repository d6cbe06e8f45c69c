// Where the cells of a board lie, in units of one cell, and how much room is around them.
//
// A layout has `at(row, column)`, the middle of a cell; `box`, the part of the plane that is shown; `text`, the
// height of labels; and where these stand: `columnLabel(i)`, `rowLabel(i)`, `topLabel(i)` on boards that have such. games/picture/layouts.py says the same.

const STRIP = 0.42; // for labels beside the board
const WIDE = 8; // from so many cells on, labels are as large as on a board of so many

/** From row to row of six-cornered cells, and the length of their sides. */
export const SLOPE = Math.sqrt(3) / 2;
export const SIDE = 1 / Math.sqrt(3);

/** Height of the board of points, and how far checkers are piled up from one another. */
export const POINTS_HEIGHT = 11;
export const PITCH = 0.96;

/** Column of the bar; checkers borne off are in the next one. Both stand elsewhere. */
export const BAR = 12;
export const BAR_X = 6.5;
export const OFF_X = 13.6;

const GAP = 0.2; // between a board of points and its frame
const NUMBERS = 0.56; // above and below pits, for numbers

/** Cells in rows and columns, labels to the left and below. */
export function gridLayout(pad, text = 0.2) {
  return (board, labelled) => {
    const { rows, columns } = board;
    const scale = Math.max(1, Math.max(rows, columns) / WIDE);
    const left = labelled && board.row_labels.length ? STRIP * scale : 0;
    const under = labelled && board.column_labels.length ? STRIP * scale : 0;
    return {
      at: middle,
      box: [-pad - left, -pad, columns + 2 * pad + left, rows + 2 * pad + under],
      text: text * scale,
      columnLabel: (i) => [i + 0.5, rows + pad + under / 2],
      rowLabel: (i) => [-pad - left / 2, i + 0.5],
    };
  };
}

/** Squares up to the edge, labels inside them. */
export function squaresLayout({ rows, columns }) {
  return {
    at: middle,
    box: [0, 0, columns, rows],
    text: 0.18,
    columnLabel: (i) => [i + 0.88, rows - 0.13],
    rowLabel: (i) => [0.11, i + 0.15],
  };
}

/** Six-cornered cells, each row half a cell further right; labels above and to the left. */
export function hexLayout(board, labelled) {
  const { rows, columns } = board;
  const text = 0.22 * Math.max(1, columns / WIDE);
  const left = labelled && board.row_labels.length ? 0.3 + 1.2 * text : 0.14;
  const over = labelled && board.column_labels.length ? 0.2 + text : 0.14;
  return {
    at: (row, column) => [column + row / 2 + 0.5, row * SLOPE + SIDE],
    box: [-left, -over, columns + (rows - 1) / 2 + left + 0.14, (rows - 1) * SLOPE + 2 * SIDE + over + 0.14],
    text,
    columnLabel: (i) => [i, -0.1 - text / 2],
    rowLabel: (i) => [i / 2 - 0.2 - 0.6 * text, i * SLOPE + SIDE],
  };
}

/** Pits in two rows with their numbers above and below. */
export function pitsLayout(board, labelled) {
  const { rows, columns } = board;
  const under = labelled && board.column_labels.length ? STRIP : 0;
  return {
    at: middle,
    box: [-0.12, -NUMBERS, columns + 0.24, rows + 2 * NUMBERS + under],
    text: 0.18,
    columnLabel: (i) => [i + 0.5, rows + NUMBERS + under / 2],
    rowLabel: (i) => [0, i + 0.5],
  };
}

/** Six points, the bar, six points, and the tray for checkers borne off; a cell's middle is its first checker's. */
export function pointsLayout(board, labelled) {
  const under = labelled && board.column_labels.length ? 0.7 : 0;
  const over = labelled && board.top_labels.length ? 0.7 : 0;
  const x = (column) => [column + 0.5, column + 1.5, BAR_X, OFF_X][Math.floor(column / 6) + (column > BAR)];
  return {
    at: (row, column) => [x(column), row === 0 ? 0.5 : POINTS_HEIGHT - 0.5],
    box: [-GAP, -GAP - over, OFF_X + 0.5 + 2 * GAP, POINTS_HEIGHT + 2 * GAP + over + under],
    text: 0.32,
    columnLabel: (i) => [x(i), POINTS_HEIGHT + GAP + under / 2],
    rowLabel: (i) => [0, i],
    topLabel: (i) => [x(i), -GAP - over / 2],
  };
}

function middle(row, column) {
  return [column + 0.5, row + 0.5];
}
