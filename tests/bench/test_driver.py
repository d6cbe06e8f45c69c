"""`python -m bench` runs what it finds, says what was reached, and names what is missing."""

import sys
import types

import pytest

from bench import __main__ as driver
from bench.result import Result


@pytest.fixture
def fake(monkeypatch, tmp_path):
    """Make a bench that gives these results, in a folder of its own."""

    def make(name, results):
        (tmp_path / f"{name}.py").write_text("\ndef run(*, quick): ...\n", encoding="utf-8")
        module = types.ModuleType(f"bench.{name}")
        module.run = lambda *, quick: results
        monkeypatch.setitem(sys.modules, f"bench.{name}", module)

    monkeypatch.setattr(driver, "HERE", tmp_path)
    monkeypatch.setattr(driver, "RESULTS", tmp_path / "RESULTS.md")
    return make


def test_all_benches_are_run_and_written_down(fake, tmp_path, capsys):
    fake("moves", [Result("moves over echo", (0.9, 0.7, 0.8), goal=0.7, detail="8 against 10")])
    fake("memory", [Result("an idle agent", (20.0,), unit="KiB", goal=25, at_most=True)])
    assert driver.main([]) == 0
    page = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    shown = capsys.readouterr().out
    assert shown.strip() in page
    assert shown.count("\n## ") + shown.startswith("## ") == 2
    assert "| moves over echo | ≥ 0.70 x | 0.80 x | 0.70 x to 0.90 x | 8 against 10 |" in page
    assert "| an idle agent | ≤ 25.0 KiB | 20.0 KiB |" in page
    assert "Python 3." in page
    assert "cores" in page


def test_a_missed_goal_is_said_and_fails_the_run(fake, capsys):
    fake(
        "slow",
        [Result("too slow", (0.5, 0.6, 0.7), goal=0.7), Result("too big", (3.0,), goal=2, at_most=True)],
    )
    assert driver.main(["slow"]) == 1
    assert capsys.readouterr().out.count("**missed**") == 2


def test_a_missing_tool_is_named(fake, capsys):
    fake("twin", [Result("over a C twin", goal=0.6, missing="gcc")])
    assert driver.main(["twin"]) == 0
    assert "| over a C twin | ≥ 0.60 x | not measured: gcc is missing |" in capsys.readouterr().out


def test_a_bench_whose_package_is_missing_is_a_row(fake, tmp_path, monkeypatch, capsys):
    (tmp_path / "peer.py").write_text("\ndef run(*, quick): ...\n", encoding="utf-8")

    def refuse(name):
        raise ModuleNotFoundError(f"No module named 'pyspiel' ({name})", name="pyspiel")

    monkeypatch.setattr(driver.importlib, "import_module", refuse)
    assert driver.main(["peer"]) == 0
    assert "not measured: pyspiel is missing" in capsys.readouterr().out


def test_a_bench_of_some_writes_its_section_anew_and_keeps_the_others(fake, tmp_path):
    fake("moves", [Result("moves", (1.0,))])
    fake("memory", [Result("an idle agent", (20.0,))])
    (tmp_path / "RESULTS.md").write_text("# Old\n\n## gone\n\nof no bench\n", encoding="utf-8")
    driver.main([])
    fake("moves", [Result("moves", (2.0,))])
    driver.main(["moves"])
    page = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    assert [line for line in page.splitlines() if line.startswith("#")] == [
        "# Results of `make bench`",
        "## memory",
        "## moves",
    ]
    assert "| an idle agent |  | 20.0 x |" in page
    assert "| moves |  | 2.00 x |" in page
    assert "1.00 x" not in page
    driver.write("moves", driver.render([Result("moves", (2.0,))]))
    assert (tmp_path / "RESULTS.md").read_text(encoding="utf-8") == page


def test_quick_runs_are_written_nowhere(fake, tmp_path):
    fake("moves", [Result("moves", (1.0,))])
    driver.main(["--quick"])
    driver.main(["moves", "--quick"])
    assert not (tmp_path / "RESULTS.md").exists()


def test_an_unknown_bench_is_an_error_that_names_those_there_are(fake, capsys):
    fake("moves", [])
    with pytest.raises(SystemExit):
        driver.main(["mvoes"])
    assert "expected one of moves, got mvoes" in capsys.readouterr().err


def test_a_result_has_figures_or_misses_a_tool():
    with pytest.raises(ValueError, match="figures"):
        Result("nothing")
    with pytest.raises(ValueError, match="figures"):
        Result("both", (1.0,), missing="gcc")


def test_the_benches_of_the_server_are_found():
    assert {"refereed_moves", "idle_memory"} <= set(driver.available())
