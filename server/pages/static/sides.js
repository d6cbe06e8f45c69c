// What the pieces of a seat are called, on boards where they are not of the seat's own colour.

const STONES = ["felt", "wood", "points"];

/** Names of the sides by seat; null where pieces have their seats' colours. */
export function sidesOf(board) {
  if (STONES.includes(board.style)) return ["black", "white"];
  return board.kinds.some(([, , kind]) => kind === "king") ? ["white", "black"] : null;
}
