"""Shapes of a picture: what SVG draws, in units of one cell, without its colours."""

from collections.abc import Sequence
from typing import NamedTuple

Place = tuple[float, float]
"""(x, y), y downwards."""


class Shape(NamedTuple):
    """One element."""

    tag: str
    names: str
    """What it is, one word or two: colours are by these (see paint)."""
    attributes: dict[str, float | str]
    text: str = ""


def rect(names: str, x: float, y: float, width: float, height: float, rx: float = 0) -> Shape:
    """Return a rectangle with its corners rounded by `rx`."""
    rounded = {"rx": rx} if rx else {}
    return Shape("rect", names, {"x": x, "y": y, "width": width, "height": height, **rounded})


def circle(names: str, x: float, y: float, r: float) -> Shape:
    """Return a circle."""
    return Shape("circle", names, {"cx": x, "cy": y, "r": r})


def line(names: str, x1: float, y1: float, x2: float, y2: float) -> Shape:
    """Return a line."""
    return Shape("line", names, {"x1": x1, "y1": y1, "x2": x2, "y2": y2})


def path(names: str, d: str, **more: float | str) -> Shape:
    """Return a path."""
    return Shape("path", names, {"d": d, **more})


def text(names: str, x: float, y: float, words: str, size: float) -> Shape:
    """Return a text around (x, y)."""
    return Shape("text", names, {"x": x, "y": y, "font-size": size}, words)


def number(value: float) -> str:
    """Write a number with four places at most."""
    written = f"{value:.4f}".rstrip("0").rstrip(".")
    return "0" if written == "-0" else written


def path_of(places: Sequence[Place]) -> str:
    """Return the path along places."""
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in places)


def polygon(places: Sequence[Place]) -> str:
    """Return the path around an area."""
    return f"{path_of(places)}z"


def seat_shape(seat: int, x: float, y: float, r: float) -> str:
    """Return the path of the outline of a seat's shape: disc, diamond, triangle, square."""
    if seat == 0:
        n = number
        return f"M{n(x - r)} {n(y)}a{n(r)} {n(r)} 0 1 0 {n(2 * r)} 0a{n(r)} {n(r)} 0 1 0 {n(-2 * r)} 0z"
    if seat == 1:
        return polygon([(x, y - r), (x + r, y), (x, y + r), (x - r, y)])
    if seat == 2:
        return polygon([(x, y - r), (x + 0.95 * r, y + 0.7 * r), (x - 0.95 * r, y + 0.7 * r)])
    side = 0.8 * r
    return polygon([(x - side, y - side), (x + side, y - side), (x + side, y + side), (x - side, y + side)])
