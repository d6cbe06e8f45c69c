"""Time controls of ladders: what may stand together, and what matches get."""

import re
from pathlib import Path

import msgspec
import pytest

from agents.protocol import TimeControl
from games.errors import InputError
from server.core import clock
from server.core import match as core
from server.settings import LADDER_BOUNDS, LadderSpec, Settings, load
from server.time_controls import MOVE_MS, ladder_rows, terms, time_control

SETTINGS = Settings(margin_ms=150, ready_ms=12_000, lag_ms=700, grace_ms=4_000)


def spec(**times: int) -> LadderSpec:
    return LadderSpec("blitz", "tic_tac_toe", **times)


def control(**times: int) -> TimeControl:
    return time_control(spec(**times), SETTINGS)


def test_a_ladder_without_times_has_five_seconds_a_move_and_what_the_server_sets():
    assert control() == TimeControl(MOVE_MS, margin_ms=150, ready_ms=12_000, lag_ms=700, grace_ms=4_000)
    assert MOVE_MS == 5_000


@pytest.mark.parametrize(
    "times",
    [
        {"bank_ms": 60_000},
        {"bank_ms": 60_000, "increment_ms": 500},
        {"byoyomi_ms": 3_000, "periods": 3},
        {"bank_ms": 60_000, "byoyomi_ms": 3_000, "periods": 3},
        {"nodes": 10_000},
    ],
)
def test_a_move_has_no_limit_of_its_own_where_something_else_limits_the_play(times: dict[str, int]):
    assert control(**times).move_ms == 0
    assert control(**times, move_ms=2_000).move_ms == 2_000


def test_a_budget_of_nodes_alone_leaves_the_clock_stopped():
    assert not clock.timed(control(nodes=10_000))


def test_a_ladder_may_have_a_start_up_allowance_of_its_own():
    assert control(ready_ms=60_000).ready_ms == 60_000


def test_every_key_of_a_ladder_is_in_what_agents_are_told():
    given = dict.fromkeys(LADDER_BOUNDS, 100)
    assert msgspec.structs.asdict(control(**given)) == {
        **given,
        "margin_ms": 150,
        "lag_ms": 700,
        "grace_ms": 4_000,
    }


@pytest.mark.parametrize(
    ("times", "key", "said"),
    [
        ({"increment_ms": 500}, "increment_ms", "bank_ms"),
        ({"byoyomi_ms": 3_000}, "byoyomi_ms", "periods"),
        ({"periods": 3}, "periods", "byoyomi_ms"),
        ({"bank_ms": 60_000, "strikes": 1}, "strikes", "increment_ms or byoyomi_ms"),
        ({"bank_ms": 60_000, "move_ms": 5_000, "strikes": 1}, "strikes", "increment_ms or byoyomi_ms"),
    ],
)
def test_times_that_make_no_sense_together_are_refused(times: dict[str, int], key: str, said: str):
    with pytest.raises(InputError) as fault:
        control(**times)
    assert fault.value.code == "bad_setting"
    assert "ladder blitz" in fault.value.where
    assert key in str(fault.value)
    assert said in str(fault.value)
    assert f"{key} = {times[key]}" in str(fault.value)


@pytest.mark.parametrize(
    "times",
    [
        {"strikes": 3},
        {"move_ms": 1_000, "strikes": 3},
        {"bank_ms": 60_000, "increment_ms": 500, "strikes": 3},
        {"bank_ms": 60_000, "byoyomi_ms": 3_000, "periods": 1, "strikes": 3},
    ],
)
def test_a_strike_leaves_time_for_the_next_move(times: dict[str, int]):
    chosen = control(**times)
    before = clock.full(chosen)
    late_ms = clock.limit_ms(chosen, before) + chosen.margin_ms
    struck = clock.after(chosen, before, core.Timing(late_ms, 0, late_ms, timed_out=True))
    assert clock.limit_ms(chosen, struck) > 0


@pytest.mark.parametrize("key", LADDER_BOUNDS)
def test_every_key_has_its_bounds(key: str):
    together = {"bank_ms": 1_000, "increment_ms": 1, "byoyomi_ms": 1, "periods": 1}
    low, high = LADDER_BOUNDS[key]
    for value in (low - 1, high + 1):
        with pytest.raises(InputError, match=rf"expected {key} from {low} to {high}, got {value} .*blitz"):
            control(**{**together, key: value})
    assert getattr(control(**{**together, key: high}), key) == high


def test_a_clock_fits_the_database_whatever_is_chosen():
    """A bank that grows by its increment for 500 moves, and all periods, fit an integer of PostgreSQL."""
    most = {key: high for key, (_, high) in LADDER_BOUNDS.items()}
    grown = most["bank_ms"] + 500 * most["increment_ms"] + most["periods"] * most["byoyomi_ms"]
    assert grown < 2**31


def test_a_match_goes_by_its_time_control():
    chosen = control(bank_ms=60_000, increment_ms=500, byoyomi_ms=3_000, periods=2, strikes=4, nodes=5)
    match = terms(chosen, pace_ms=30, resume_ms=9_000)
    assert {key: getattr(match, key) for key in TimeControl.__struct_fields__} == msgspec.structs.asdict(
        chosen
    )
    assert (match.pace_ms, match.resume_ms) == (30, 9_000)


def test_the_ladders_of_the_settings_become_rows_in_their_order():
    settings = load({})
    rows = ladder_rows(settings)
    assert [(row.name, row.game) for row in rows] == [(each.name, each.game) for each in settings.ladders]
    assert {row.time_control for row in rows} == {
        TimeControl(5_000, margin_ms=200, ready_ms=10_000, lag_ms=1_000, grace_ms=5_000)
    }


DEFAULTS = TimeControl(0, margin_ms=200, ready_ms=10_000, lag_ms=1_000, grace_ms=5_000)
EXAMPLES = {
    "othello_blitz": {"move_ms": 1_000},
    "othello_fischer": {"bank_ms": 300_000, "increment_ms": 2_000},
    "othello_byoyomi": {"bank_ms": 600_000, "byoyomi_ms": 30_000, "periods": 5},
    "connect_four_nodes": {"nodes": 20_000},
    "tic_tac_toe_first_week": {"move_ms": 2_000, "strikes": 3},
    "connect_four_tables": {"move_ms": 5_000, "ready_ms": 60_000},
}


def test_the_time_controls_of_the_settings_page_are_what_it_says(tmp_path: Path):
    page = (Path(__file__).parents[2] / "docs" / "settings.md").read_text("utf-8")
    examples = re.findall(r"```toml\n(.*?)```", page.partition("### Time controls")[2], flags=re.DOTALL)
    file = tmp_path / "plyground.toml"
    file.write_text("\n".join(examples), encoding="utf-8")
    rows = ladder_rows(load({"PLYGROUND_CONFIG": str(file)}))
    assert {row.name: row.time_control for row in rows} == {
        name: msgspec.structs.replace(DEFAULTS, **times) for name, times in EXAMPLES.items()
    }
