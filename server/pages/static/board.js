// Draws any board that a game gives as data. The style says what the grid is made of; no game is known here.

import { seatShape, svg } from "./svg.js";

const LABEL_STRIP = 0.42;

// How a style looks: the room around the grid, what lies under the pieces, how a piece and the last move look.
// `named`: where the board has no labels beside it, each action is written into its cell.
// `dot`: where in its cell the last move is marked and how large, if not in the middle.
const STYLES = {
  frame: { pad: 0.14, ground: frameGround, piece: disc, last: chevron },
  lines: { pad: 0.04, ground: linesGround, piece: shape, last: tint, named: true },
  felt: { pad: 0.22, ground: feltGround, piece: stone, last: tint },
  table: { pad: 0.1, ground: tableGround, piece: lying, last: tint, dot: [0.9, 0.1, 0.05] },
};

const FACE_DOWN = "?";

/** A board inside `host`, drawn once and then changed piece by piece. */
export class BoardView {
  constructor(host, { labels = false } = {}) {
    this.host = host;
    this.labels = labels;
    this.built = "";
    this.pieces = new Map();
  }

  /** Show `board`; `label` is what a screen reader hears. New pieces arrive moving if `animate`. */
  draw(board, { label, animate = false }) {
    const style = STYLES[board.style];
    const key = JSON.stringify([board.style, board.rows, board.columns, board.column_labels, board.row_labels]);
    if (key !== this.built) {
      this.build(board, style);
      this.built = key;
      animate = false;
    }
    this.root.setAttribute("aria-label", label);
    this.changePieces(piecesOf(board), style, animate);
    const named = this.labels && style.named && !board.row_labels.length && !board.column_labels.length;
    this.below.replaceChildren(
      ...board.last.flatMap((cell) => style.last(cell)),
      ...(named ? Object.entries(board.targets).map(actionText) : []),
    );
    this.above.replaceChildren(...lastDots(board.last, style.dot), ...winLines(board.line));
  }

  build(board, style) {
    const { pad } = style;
    const left = this.labels && board.row_labels.length ? LABEL_STRIP : 0;
    const under = this.labels && board.column_labels.length ? LABEL_STRIP : 0;
    const box = [-pad - left, -pad, board.columns + 2 * pad + left, board.rows + 2 * pad + under];
    this.below = svg("g");
    this.middle = svg("g");
    this.above = svg("g");
    this.pieces.clear();
    this.root = svg("svg", { class: `on-${board.style}`, viewBox: box.join(" "), role: "img" });
    this.root.append(...style.ground(board, pad), this.below, this.middle, this.above);
    if (left) this.root.append(...labelTexts(board.row_labels, (i) => [-pad - left / 2, i + 0.5]));
    if (under) {
      this.root.append(...labelTexts(board.column_labels, (i) => [i + 0.5, board.rows + pad + under / 2]));
    }
    this.host.replaceChildren(this.root);
  }

  changePieces(pieces, style, animate) {
    const wanted = new Map(pieces.map((piece) => [Object.values(piece).join(), piece]));
    const left = new Set(); // cells whose piece goes: another one there has been turned
    for (const [key, element] of this.pieces) {
      if (!wanted.has(key)) {
        left.add(element.dataset.cell);
        element.remove();
        this.pieces.delete(key);
      }
    }
    for (const [key, piece] of wanted) {
      if (this.pieces.has(key)) continue;
      const { row, column, seat } = piece;
      const cell = `${row},${column}`;
      const drawn = style.piece(column + 0.5, row + 0.5, piece);
      const element = svg("g", { class: `piece-${seat + 1}`, "data-cell": cell }, ...drawn);
      if (animate) element.classList.add(left.has(cell) ? "turns" : "arrives");
      this.middle.append(element);
      this.pieces.set(key, element);
    }
  }
}

// Pieces with what is on them: a card's face, the number of a pile.
function piecesOf(board) {
  const on = (entries) => new Map(entries.map(([row, column, what]) => [`${row},${column}`, what]));
  const cards = on(board.cards);
  const counts = on(board.counts);
  return board.pieces.map(([row, column, seat]) => {
    const cell = `${row},${column}`;
    return { row, column, seat, card: cards.get(cell), count: counts.get(cell) };
  });
}

/** The board in words: each row from the top, cell by cell. */
export function boardInWords(board) {
  const cells = new Map(piecesOf(board).map((piece) => [`${piece.row},${piece.column}`, pieceInWords(piece)]));
  const rows = [];
  for (let row = 0; row < board.rows; row += 1) {
    const words = [];
    for (let column = 0; column < board.columns; column += 1) words.push(cells.get(`${row},${column}`) ?? "empty");
    const empty = words.every((word) => word === "empty");
    rows.push(`row ${row + 1}: ${empty ? "all empty" : words.join(", ")}`);
  }
  return rows.join("; ");
}

function pieceInWords({ seat, card, count }) {
  const owner = `seat ${seat + 1}`;
  if (card !== undefined) return card === FACE_DOWN ? `${owner} card face down` : `${owner} card ${card}`;
  return count === undefined ? owner : `${owner} times ${count}`;
}

function frameGround(board, pad) {
  const frame = svg("rect", {
    class: "frame",
    x: -pad,
    y: -pad,
    width: board.columns + 2 * pad,
    height: board.rows + 2 * pad,
    rx: 0.22,
  });
  return [frame, ...everyCell(board, (x, y) => svg("circle", { class: "hole", cx: x, cy: y, r: 0.4 }))];
}

function linesGround(board) {
  const lines = [];
  for (let x = 1; x < board.columns; x += 1) {
    lines.push(svg("line", { class: "grid-line", x1: x, x2: x, y1: 0.06, y2: board.rows - 0.06 }));
  }
  for (let y = 1; y < board.rows; y += 1) {
    lines.push(svg("line", { class: "grid-line", x1: 0.06, x2: board.columns - 0.06, y1: y, y2: y }));
  }
  return lines;
}

function feltGround(board, pad) {
  const { rows, columns } = board;
  const rim = { class: "felt-rim", x: -pad, y: -pad, width: columns + 2 * pad, height: rows + 2 * pad, rx: 0.14 };
  const felt = svg("rect", { class: "felt", x: 0, y: 0, width: columns, height: rows });
  const lines = [];
  for (let x = 0; x <= columns; x += 1) lines.push(svg("line", { class: "felt-line", x1: x, x2: x, y1: 0, y2: rows }));
  for (let y = 0; y <= rows; y += 1) lines.push(svg("line", { class: "felt-line", x1: 0, x2: columns, y1: y, y2: y }));
  const far = [2, columns - 2].flatMap((x) => [2, rows - 2].map((y) => [x, y]));
  const dots = rows < 6 ? [] : far.map(([x, y]) => svg("circle", { class: "felt-dot", cx: x, cy: y, r: 0.07 }));
  return [svg("rect", rim), felt, ...lines, ...dots];
}

function tableGround(board, pad) {
  const { rows, columns } = board;
  const box = { x: -pad, y: -pad, width: columns + 2 * pad, height: rows + 2 * pad, rx: 0.12 };
  return [svg("rect", { class: "tabletop", ...box })];
}

function everyCell(board, draw) {
  const elements = [];
  for (let row = 0; row < board.rows; row += 1) {
    for (let column = 0; column < board.columns; column += 1) elements.push(draw(column + 0.5, row + 0.5));
  }
  return elements;
}

// A round disc that carries its seat's shape inside.
function disc(x, y, { seat }) {
  return [
    svg("circle", { class: "body", cx: x, cy: y, r: 0.39 }),
    svg("path", { class: "inner", d: seatShape(seat, x, y, seat === 0 ? 0.27 : 0.25) }),
  ];
}

// The seat's shape itself, standing in a cell between lines.
function shape(x, y, { seat }) {
  const radius = seat === 0 ? 0.33 : 0.38;
  return [
    svg("path", { class: "shadow", d: seatShape(seat, x, y + 0.03, radius) }),
    svg("path", { class: "body", "stroke-linejoin": "round", d: seatShape(seat, x, y, radius) }),
    svg("path", { class: "inner", d: seatShape(seat, x, y, radius * 0.68) }),
  ];
}

// A disc with a black and a white side.
function stone(x, y) {
  return [
    svg("circle", { class: "shadow", cx: x, cy: y + 0.04, r: 0.42 }),
    svg("circle", { class: "body", cx: x, cy: y, r: 0.42 }),
    svg("circle", { class: "inner", cx: x, cy: y, r: 0.33 }),
  ];
}

// What lies on a table: a card, or a pile with its number.
function lying(x, y, { seat, card, count }) {
  if (card === undefined) {
    return [
      svg("circle", { class: "body", cx: x, cy: y, r: 0.34 }),
      svg("circle", { class: "face", cx: x, cy: y, r: 0.22 }),
      svg("text", { class: "figure", x, y, "aria-hidden": "true" }, String(count ?? "")),
    ];
  }
  const place = (margin) => ({ x: x - 0.3 + margin, y: y - 0.42 + margin, width: 0.6 - 2 * margin, height: 0.84 - 2 * margin });
  const edge = svg("rect", { class: "body", rx: 0.07, ...place(0) });
  if (card === FACE_DOWN) return [edge, svg("rect", { class: "inner", rx: 0.04, ...place(0.07) })];
  return [
    edge,
    svg("rect", { class: "face", rx: 0.05, ...place(0.03) }),
    svg("path", { class: "pip", d: seatShape(seat, x - 0.18, y - 0.29, 0.065) }),
    svg("text", { class: "figure large", x, y: y + 0.02, "aria-hidden": "true" }, card),
  ];
}

function chevron([, column]) {
  const x = column + 0.5;
  return [svg("path", { class: "chevron", d: `M${x - 0.17} -.14H${x + 0.17}L${x} .03z` })];
}

function tint([row, column]) {
  return [svg("rect", { class: "tint", x: column + 0.04, y: row + 0.04, width: 0.92, height: 0.92, rx: 0.08 })];
}

function lastDots(cells, [right, down, r] = [0.5, 0.5, 0.1]) {
  return cells.map(([row, column]) => svg("circle", { class: "last-dot", cx: column + right, cy: row + down, r }));
}

function winLines(cells) {
  const ends = straightRuns(cells);
  const draw = (name) => (run) => {
    const [[y1, x1], [y2, x2]] = run.map(([row, column]) => [row + 0.5, column + 0.5]);
    return svg("line", { class: name, x1, y1, x2, y2 });
  };
  return [...ends.map(draw("win-under")), ...ends.map(draw("win-over"))];
}

// First and last cell of each straight run of three or more: one move can complete several lines.
function straightRuns(cells) {
  const has = new Set(cells.map((cell) => cell.join()));
  const at = (row, column) => has.has(`${row},${column}`);
  const runs = [];
  for (const [row, column] of cells) {
    for (const [down, right] of [[0, 1], [1, 0], [1, 1], [1, -1]]) {
      if (at(row - down, column - right)) continue;
      let length = 1;
      while (at(row + length * down, column + length * right)) length += 1;
      if (length >= 3) runs.push([[row, column], [row + (length - 1) * down, column + (length - 1) * right]]);
    }
  }
  return runs;
}

function actionText([action, [row, column]]) {
  return svg("text", { class: "board-label", x: column + 0.5, y: row + 0.5, "aria-hidden": "true" }, action);
}

function labelTexts(labels, place) {
  return labels.map((label, i) => {
    const [x, y] = place(i);
    return svg("text", { class: "board-label", x, y, "aria-hidden": "true" }, label);
  });
}
