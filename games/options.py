"""Options of a game: what a variant chooses, as it is written in `name(option=value,...)`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from games.errors import InputError, shown

Value: TypeAlias = int | float | bool | str
"""A number, or for a choice its word; for a choice between true and false a bool."""


@dataclass(frozen=True)
class Option:
    """One option: a number from `low` to `high` in steps of `step`, or one of the words `choices`.

    A flag is a choice between the words "false" and "true" whose default is a bool.
    """

    default: Value
    low: float = 0
    high: float = 0
    meaning: str = ""
    step: float = 1
    choices: tuple[str, ...] = ()

    @property
    def values(self) -> str:
        """What may be chosen, in words."""
        if self.choices:
            return " or ".join(self.choices)
        steps = "" if self.step == 1 else f" in steps of {self.step:g}"
        return f"{self.low:g} to {self.high:g}{steps}"

    def allows(self, value: object) -> bool:
        """Whether `value` may be chosen."""
        if isinstance(self.default, bool):
            return isinstance(value, bool)
        if self.choices:
            return value in self.choices
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and self.low <= value <= self.high and value % self.step == 0  # type: ignore[operator]

    def to_json(self, name: str) -> dict[str, object]:
        """Return plain JSON data; a choice has no bounds and no step, a number no choices."""
        bounds = {} if self.choices else {"low": self.low, "high": self.high, "step": self.step}
        return {
            "name": name,
            "default": self.default,
            **{bound: bounds.get(bound) for bound in ("low", "high", "step")},
            "choices": list(self.choices),
            "meaning": self.meaning,
        }

    def chosen(self, value: object, name: str, game: str) -> Value:
        """Return an allowed value in its one form: whole numbers as int. Raises InputError for another."""
        if not self.allows(value):
            got = written(value) if isinstance(value, int | float) else shown(value)
            expected = self.values if self.choices else f"from {self.values}"
            raise InputError("bad_option", expected=f"{name} {expected}", got=got, where=game)
        if isinstance(value, float) and value.is_integer():
            return int(value)
        return value  # type: ignore[return-value]


def flag(default: bool, meaning: str) -> Option:
    """Return an option that is true or false."""
    return Option(default, meaning=meaning, choices=("false", "true"))


def choice(default: str, choices: tuple[str, ...], meaning: str) -> Option:
    """Return an option that is one of some words."""
    return Option(default, meaning=meaning, choices=choices)


def read(text: str) -> Value:
    """Read a value as it is written in a variant's name: a number, `true`, `false`, or a word."""
    if text in ("true", "false"):
        return text == "true"
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def written(value: object) -> str:
    """Write a value as `read` reads it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value + 0.0:g}" if isinstance(value, float) else str(value)  # no -0


def with_defaults(options: Mapping[str, Option], chosen: Mapping[str, Value]) -> dict[str, Value]:
    """Return the value of every option, chosen or by default."""
    return {name: chosen.get(name, option.default) for name, option in options.items()}
