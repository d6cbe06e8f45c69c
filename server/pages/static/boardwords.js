// A board in words, for those who do not see it.

import { FACE_DOWN } from "./pieces.js";
import { sidesOf } from "./sides.js";

const SPARSE = ["chequered", "wood", "cells"]; // told by what is there; of the others each cell is told
const PLACES = ["bar", "borne off"]; // columns after the twelve of points

/** The board in words: each row from the top, cell by cell. */
export function boardInWords(board, pieces) {
  const sides = sidesOf(board);
  const told = new Map(pieces.map((piece) => [`${piece.row},${piece.column}`, pieceInWords(piece, sides)]));
  const rows = Array.from({ length: board.rows }, (_, row) => {
    return `${rowName(board, row)}: ${rowInWords(board, told, row)}`;
  });
  return [...rows, ...(board.dice.length ? [`dice ${board.dice.join(" and ")}`] : [])].join("; ");
}

function rowName({ style, row_labels: labels }, row) {
  if (style === "points") return row === 0 ? "upper points" : "lower points";
  return `row ${labels[row] || row + 1}`;
}

function rowInWords(board, told, row) {
  const cells = Array.from({ length: board.columns }, (_, column) => [column, told.get(`${row},${column}`)]);
  const there = cells.filter(([, words]) => words !== undefined);
  if (board.style === "points") return pointsInWords(cells);
  if (!there.length) return "all empty";
  const labels = board.column_labels;
  if (SPARSE.includes(board.style) && labels.length) {
    return there.map(([column, words]) => `${labels[column]} ${words}`).join(", ");
  }
  return cells.map(([, words]) => words ?? "empty").join(", ");
}

function pointsInWords(cells) {
  const points = cells.slice(0, -PLACES.length).map(([, words]) => words ?? "empty");
  const beside = cells.slice(-PLACES.length).map(([, words], i) => (words ? [`${PLACES[i]} ${words}`] : []));
  return [...points, ...beside.flat()].join(", ");
}

function pieceInWords({ seat, card, count, kind }, sides) {
  const owner = seat === null ? "open" : (sides?.[seat] ?? `seat ${seat + 1}`);
  if (card !== undefined) return card === FACE_DOWN ? `${owner} card face down` : `${owner} card ${card}`;
  const named = kind === undefined ? owner : `${owner} ${kind}`;
  return count === undefined ? named : `${named} times ${count}`;
}
