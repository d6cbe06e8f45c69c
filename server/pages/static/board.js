// Draws any board that a game gives as data. The style says what it is made of; no game is known here.

import { boardInWords as inWords } from "./boardwords.js";
import * as grounds from "./grounds.js";
import * as layouts from "./layouts.js";
import * as marks from "./marks.js";
import * as pieces from "./pieces.js";
import { svg } from "./svg.js";

const { gridLayout } = layouts;

// How a style looks: where its cells lie, what lies under the pieces, how a piece, the last move (`under` the pieces and
// `over` them) and the cells that decided the game (`line` over the pieces, `framed` under them) look.
// `named`: where the board has no labels beside it, each action is written into its cell.
// `still`: pieces appear without moving.
const STYLES = {
  frame: { layout: gridLayout(0.14), ground: grounds.frameGround, piece: pieces.disc, under: marks.chevron },
  lines: { layout: gridLayout(0.04), ground: grounds.linesGround, piece: pieces.shape, named: true },
  felt: { layout: gridLayout(0.22), ground: grounds.feltGround, piece: pieces.turner },
  table: { layout: gridLayout(0.1, 0.09), ground: grounds.tableGround, piece: pieces.lying, over: marks.dot(0.05, 0.4, -0.4) },
  chequered: {
    layout: layouts.squaresLayout,
    ground: grounds.squaresGround,
    piece: pieces.chequered,
    under: marks.square,
    over: marks.nothing,
    line: marks.nothing,
    framed: marks.cellOutlines,
  },
  wood: { layout: gridLayout(0.12), ground: grounds.woodGround, piece: pieces.stone, under: marks.nothing, over: marks.dot(0.16) },
  cells: {
    layout: layouts.hexLayout,
    ground: grounds.cellsGround,
    piece: pieces.hexStone,
    under: marks.nothing,
    over: marks.dot(0.14),
    line: marks.chainLine,
  },
  pits: {
    layout: layouts.pitsLayout,
    ground: grounds.pitsGround,
    piece: pieces.pit,
    under: marks.nothing,
    over: marks.ring,
    still: true,
  },
  points: {
    layout: layouts.pointsLayout,
    ground: grounds.pointsGround,
    piece: pieces.pile,
    under: marks.pointOutline,
    over: marks.nothing,
    still: true,
  },
};
const USUAL = { under: marks.tint, over: marks.dot(), line: marks.runLines, framed: marks.nothing };

const NARROW_LABEL = 9.4; // pixels, least height of labels on a screen as narrow as this
const NARROW = 360;

const DIE_STEP = 0.98; // from die to die

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
    const style = { ...USUAL, ...STYLES[board.style] };
    const key = JSON.stringify([board.style, board.rows, board.columns, board.column_labels, board.row_labels, board.top_labels]);
    if (key !== this.built) {
      this.build(board, style);
      this.built = key;
      animate = false;
    }
    this.root.setAttribute("aria-label", label);
    this.changePieces(board, style, animate && !style.still);
    const mark = (draw) => board.last.flatMap((cell) => draw(...cell, this.layout));
    this.below.replaceChildren(...mark(style.under), ...style.framed(board.line), ...this.actionTexts(board, style));
    this.above.replaceChildren(...mark(style.over), ...style.line(board.line, this.layout), ...diceOf(board));
  }

  build(board, style) {
    const layout = style.layout(board, this.labels);
    this.layout = layout;
    this.below = svg("g");
    this.middle = svg("g");
    this.above = svg("g");
    this.pieces.clear();
    this.root = svg("svg", { class: `on-${board.style}`, viewBox: layout.box.join(" "), role: "img" });
    this.root.style.setProperty("--narrow-label", `${Math.max(layout.text, (NARROW_LABEL * layout.box[2]) / NARROW)}px`);
    this.root.append(...style.ground(board, layout), this.below, this.middle, this.above);
    if (this.labels) {
      this.root.append(
        ...marks.labelTexts(board.row_labels, layout.rowLabel, layout.text),
        ...marks.labelTexts(board.column_labels, layout.columnLabel, layout.text),
        ...marks.labelTexts(board.top_labels, layout.topLabel, layout.text),
      );
    }
    this.host.replaceChildren(this.root);
  }

  changePieces(board, style, animate) {
    const wanted = new Map(piecesOf(board).map((piece) => [Object.values(piece).join(), piece]));
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
      const drawn = style.piece(...this.layout.at(row, column), piece, board);
      const element = svg("g", { class: seat === null ? "piece-open" : `piece-${seat + 1}`, "data-cell": cell }, ...drawn);
      if (animate) element.classList.add(left.has(cell) ? "turns" : "arrives");
      this.middle.append(element);
      this.pieces.set(key, element);
    }
  }

  actionTexts(board, style) {
    if (!this.labels || !style.named || board.row_labels.length || board.column_labels.length) return [];
    const targets = Object.entries(board.targets);
    return marks.labelTexts(targets.map(([action]) => action), (i) => this.layout.at(...targets[i][1]), this.layout.text);
  }
}

// Pieces with what they are and what is on them: a card's face, the number of a pile. A card without a piece is
// everybody's, seat null. `alone`: no other piece is in the same column.
function piecesOf(board) {
  const on = (entries) => new Map(entries.map(([row, column, what]) => [`${row},${column}`, what]));
  const [seats, kinds, cards, counts] = [board.pieces, board.kinds, board.cards, board.counts].map(on);
  const open = board.cards.filter(([row, column]) => !seats.has(`${row},${column}`));
  const all = [...board.pieces, ...open.map(([row, column]) => [row, column, null])];
  const filled = new Map();
  for (const [, column] of all) filled.set(column, (filled.get(column) ?? 0) + 1);
  return all.map(([row, column, seat]) => {
    const cell = `${row},${column}`;
    const alone = filled.get(column) === 1;
    return { row, column, seat, kind: kinds.get(cell), card: cards.get(cell), count: counts.get(cell), alone };
  });
}

/** The board in words. */
export function boardInWords(board) {
  return inWords(board, piecesOf(board));
}

// Dice beside one another in the right half of a board of points.
function diceOf({ style, dice }) {
  if (style !== "points") return [];
  const left = layouts.BAR_X + 3.5 - ((dice.length - 1) * DIE_STEP) / 2;
  return dice.flatMap((number, i) => pieces.die(left + i * DIE_STEP, layouts.POINTS_HEIGHT / 2, number));
}
