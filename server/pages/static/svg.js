// Small SVG drawing helpers. Elements are made by DOM calls, so a strict content policy holds.

const NAMESPACE = "http://www.w3.org/2000/svg";

/** Make an SVG element with attributes and children. */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Path of the outline of a seat's shape (0 disc, 1 diamond, 2 triangle, 3 square) around (x, y). */
export function seatShape(seat, x, y, r) {
  switch (seat) {
    case 0:
      return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
    case 1:
      return `M${x} ${y - r}L${x + r} ${y}L${x} ${y + r}L${x - r} ${y}z`;
    case 2:
      return `M${x} ${y - r}L${x + 0.95 * r} ${y + 0.7 * r}L${x - 0.95 * r} ${y + 0.7 * r}z`;
    default:
      r *= 0.8;
      return `M${x - r} ${y - r}L${x + r} ${y - r}L${x + r} ${y + r}L${x - r} ${y + r}z`;
  }
}

/** A die: what chance decided. */
export function dieMark() {
  const frame = "M3 1.5h7a1.5 1.5 0 0 1 1.5 1.5v7a1.5 1.5 0 0 1-1.5 1.5h-7a1.5 1.5 0 0 1-1.5-1.5v-7a1.5 1.5 0 0 1 1.5-1.5z";
  const mark = svg("svg", { class: "die-mark", viewBox: "0 0 13 13", role: "img", "aria-label": "chance" });
  mark.append(...[frame, "M4 4h.01M6.5 6.5h.01M9 9h.01"].map((d) => svg("path", { d })));
  return mark;
}

/** A seat's mark for running text: its shape in its colour, or a disc if its pieces are a side's (see sides.js). */
export function seatMark(seat, side = null) {
  const radius = seat === 0 || side ? 5.5 : 6.5;
  const mark = svg("svg", {
    class: side ? `disc-mark disc-mark-${side}` : `seat-mark seat-${seat + 1}`,
    viewBox: "0 0 13 13",
    role: "img",
    "aria-label": side ?? `seat ${seat + 1}`,
  });
  mark.append(svg("path", { d: seatShape(side ? 0 : seat, 6.5, 6.5, radius) }));
  return mark;
}
