// What lies on a board, by style: each piece as its elements around (x, y). games/picture/pieces.py draws the same.

import { CHESSMEN, CROWN } from "./chessmen.js";
import { hexagon, rect } from "./grounds.js";
import { PITCH, SIDE } from "./layouts.js";
import { seatShape, svg } from "./svg.js";

/** Stands for a card that lies face down. */
export const FACE_DOWN = "?";

const MOST = 5; // checkers in a pile that are drawn
const GOLDEN = Math.PI * (3 - Math.sqrt(5)); // from seed to seed, so that no two lie in a line

/** A round disc that carries its seat's shape inside. */
export function disc(x, y, { seat }) {
  return [circle("body", x, y, 0.39), svg("path", { class: "inner", d: seatShape(seat, x, y, seat === 0 ? 0.27 : 0.25) })];
}

/** The seat's shape itself, standing in a cell between lines. */
export function shape(x, y, { seat }) {
  const radius = seat === 0 ? 0.33 : 0.38;
  return [
    svg("path", { class: "shadow", d: seatShape(seat, x, y + 0.03, radius) }),
    svg("path", { class: "body round", d: seatShape(seat, x, y, radius) }),
    svg("path", { class: "inner", d: seatShape(seat, x, y, radius * 0.68) }),
  ];
}

/** A disc with a black and a white side. */
export function turner(x, y) {
  return [circle("shadow", x, y + 0.04, 0.42), circle("body", x, y, 0.42), circle("inner", x, y, 0.33)];
}

/** A stone on a crossing of lines. */
export function stone(x, y) {
  return [circle("shadow", x, y + 0.04, 0.46), circle("body", x, y, 0.46)];
}

/** A stone that fills its cell of six corners. */
export function hexStone(x, y, { seat }) {
  return [
    svg("path", { class: "body", d: hexagon(x, y, 0.9 * SIDE) }),
    svg("path", { class: "inner", d: seatShape(seat, x, y, seat === 0 ? 0.2 : 0.24) }),
  ];
}

/** A piece of chess, a man, or a man that was crowned: two on top of each other. */
export function chequered(x, y, { seat, kind = "man" }) {
  if (kind in CHESSMEN) {
    const place = { transform: `translate(${x} ${y}) scale(.01)` };
    const [outline, lines] = CHESSMEN[kind];
    const man = svg("path", { class: "chessman", d: outline, ...place });
    return lines ? [man, svg("path", { class: "chess-line", d: lines, ...place })] : [man];
  }
  const top = kind === "crowned" ? y - 0.05 : y;
  const under = kind === "crowned" ? [circle("body", x, y + 0.05, 0.38)] : [];
  const crown = { class: "crown", d: CROWN, transform: `translate(${x} ${top}) scale(.01)` };
  return [
    circle("shadow", x, y + (kind === "crowned" ? 0.1 : 0.04), 0.38),
    ...under,
    circle("body", x, top, 0.38),
    svg("path", { class: "inner", d: seatShape(seat, x, top, seat === 0 ? 0.29 : 0.3) }),
    ...(kind === "crowned" ? [svg("path", crown)] : []),
  ];
}

/** What lies on a table: a card, or a pile with its number. A card of nobody has no shape on it. */
export function lying(x, y, { seat, card, count }) {
  if (card === undefined) {
    return [circle("body", x, y, 0.34), circle("face", x, y, 0.22), figure(x, y, String(count ?? ""), 0.26)];
  }
  const card_ = (name, margin, rx) => rect(name, x - 0.3 + margin, y - 0.42 + margin, 0.6 - 2 * margin, 0.84 - 2 * margin, rx);
  if (card === FACE_DOWN) return [card_("body", 0, 0.07), card_("inner", 0.07, 0.04)];
  const pip = seat === null ? [] : [svg("path", { class: "pip", d: seatShape(seat, x - 0.18, y - 0.29, 0.065) })];
  return [card_("body", 0, 0.07), card_("face", 0.03, 0.05), ...pip, figure(x, y + 0.02, card, card.length > 1 ? 0.3 : 0.42, "figure large")];
}

/** A pit, or where the rows have an end of one cell a store, with its seeds and their number beside it. */
export function pit(x, y, { row, seat, count = 0, alone }, { rows }) {
  const middle = alone ? rows / 2 : y;
  const body = alone ? rect("pit", x - 0.4, 0.08, 0.8, rows - 0.16, 0.38) : circle("pit", x, y, 0.42);
  const wide = alone ? 0.24 : 0.3;
  const high = alone ? rows / 2 - 0.38 : 0.3;
  const seeds = Array.from({ length: Math.min(count, alone ? 48 : 24) }, (_, i) => {
    const r = Math.sqrt((i + 0.5) / (alone ? 48 : Math.max(count, 10)));
    return circle("seed", x + wide * r * Math.cos(i * GOLDEN), middle + high * r * Math.sin(i * GOLDEN), 0.07);
  });
  return [body, ...seeds, figure(x, row === 0 ? -0.28 : rows + 0.28, String(count), 0.26)];
}

/** Checkers on a point or the bar, piled up towards the middle; those borne off lie as slabs. */
export function pile(x, y, { row, column, count = 1 }) {
  const towards = row === 0 ? 1 : -1;
  if (column > 12) {
    const edge = row === 0 ? y - 0.38 : y + 0.12;
    return Array.from({ length: count }, (_, i) => rect("body", x - 0.4, edge + i * 0.33 * towards, 0.8, 0.27, 0.06));
  }
  const shown = Array.from({ length: Math.min(count, MOST) }, (_, i) => y + i * PITCH * towards);
  const number = count > MOST ? [figure(x, shown[MOST - 1], String(count), 0.5)] : [];
  return [...shown.flatMap((high) => [circle("body", x, high, 0.46), circle("inner", x, high, 0.34)]), ...number];
}

/** A die with its pips around (x, y). */
export function die(x, y, number) {
  const at = (across, down) => circle("die-pip", x + 0.22 * across, y + 0.22 * down, 0.075);
  const pips = [
    ...(number % 2 ? [at(0, 0)] : []),
    ...(number > 1 ? [at(-1, -1), at(1, 1)] : []),
    ...(number > 3 ? [at(1, -1), at(-1, 1)] : []),
    ...(number === 6 ? [at(-1, 0), at(1, 0)] : []),
  ];
  return [rect("die", x - 0.4, y - 0.4, 0.8, 0.8, 0.14), ...pips];
}

/** A circle. */
export function circle(name, cx, cy, r) {
  return svg("circle", { class: name, cx, cy, r });
}

function figure(x, y, text, size, name = "figure") {
  return svg("text", { class: name, x, y, "font-size": size, "aria-hidden": "true" }, text);
}
