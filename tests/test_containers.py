"""The container files, held to their specifications: no engine is needed."""

import copy
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
SCHEMA = json.loads((ROOT / "tests" / "data" / "compose_spec" / "compose-spec.json").read_text("utf-8"))


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.fixture
def compose() -> dict[str, Any]:
    return dict(yaml.safe_load(text("docker-compose.yml")))


def tool(name: str) -> str:
    """A program that comes with the development packages, where they have it."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed: its package has no program for this system")
    return found


# the compose file ---------------------------------------------------------------------------------------


def faults(compose: dict[str, Any]) -> list[str]:
    """What the Compose Specification finds wrong."""
    return [error.message for error in jsonschema.Draft7Validator(SCHEMA).iter_errors(compose)]


def test_the_compose_file_keeps_to_the_specification(compose: dict[str, Any]) -> None:
    assert faults(compose) == []


BROKEN: dict[str, tuple[tuple[str, ...], Any, str]] = {
    "a word misspelt": (("services", "server", "read_onyl"), True, "read_onyl"),
    "a list for a text": (("services", "server", "build"), ["."], "is not valid under any"),
    "an interval of a number": (("services", "database", "healthcheck", "interval"), 5, "5 is not of type"),
    "ports that are no list": (("services", "proxy", "ports"), "80:80", "80:80"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_compose_file_is_refused(case: str, compose: dict[str, Any]) -> None:
    (*path, last), value, word = BROKEN[case]
    broken = part = copy.deepcopy(compose)
    for name in path:
        part = part[name]
    part[last] = value
    (fault,) = faults(broken)
    assert word in fault


def test_the_database_is_healthy_before_the_server_and_the_server_before_the_proxy(
    compose: dict[str, Any],
) -> None:
    services = compose["services"]
    assert services["server"]["depends_on"] == {"database": {"condition": "service_healthy"}}
    assert services["proxy"]["depends_on"] == {"server": {"condition": "service_healthy"}}
    assert all(service["healthcheck"]["test"] for service in services.values())


def test_data_is_kept_in_volumes(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        kept = {volume.split(":")[0] for volume in service["volumes"] if not volume.startswith("./")}
        assert kept, name
        assert kept <= set(compose["volumes"])
    assert compose["services"]["database"]["image"] == "postgres:17"


def test_every_service_may_do_as_little_as_possible(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert "privileged" not in service, name
    may = {name: service.get("cap_add", []) for name, service in compose["services"].items()}
    assert may == {"server": [], "database": [], "proxy": ["NET_BIND_SERVICE"]}
    assert "/tmp" in compose["services"]["server"]["tmpfs"]
    assert compose["services"]["database"]["user"] == "postgres"


def test_there_is_no_password_to_begin_with() -> None:
    compose = text("docker-compose.yml")
    assert compose.count("${POSTGRES_PASSWORD:?") == 2
    assert re.search(r"^POSTGRES_PASSWORD=$", text(".env.example"), flags=re.MULTILINE)


def test_every_variable_of_the_compose_file_is_in_the_example() -> None:
    used = set(re.findall(r"\$\{(\w+)", text("docker-compose.yml")))
    assert used == set(re.findall(r"^#?(\w+)=", text(".env.example"), flags=re.MULTILINE))


# the image ----------------------------------------------------------------------------------------------


def lint(dockerfile: Path) -> subprocess.CompletedProcess[str]:
    command = [tool("hadolint"), "--no-color", str(dockerfile)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_the_dockerfile_has_nothing_to_complain_about() -> None:
    answer = lint(ROOT / "Dockerfile")
    assert (answer.returncode, answer.stdout) == (0, ""), answer.stdout


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("FROM python:3.12-slim", "FROM python:latest", "DL3007"),
        ("WORKDIR /app", "WORKDIR app", "DL3000"),
        ("pip install --no-cache-dir", "pip install", "DL3042"),
        ('ENTRYPOINT ["plyground"]', "ENTRYPOINT plyground", "DL3025"),
        ("USER 10001", "USER root", "DL3002"),
    ],
)
def test_a_bad_dockerfile_is_refused(old: str, new: str, rule: str, tmp_path: Path) -> None:
    good = text("Dockerfile")
    assert old in good
    bad = tmp_path / "Dockerfile"
    bad.write_text(good.replace(old, new), encoding="utf-8")
    answer = lint(bad)
    assert answer.returncode == 1
    assert rule in answer.stdout


def test_the_image_runs_without_root_and_tells_its_health() -> None:
    lines = text("Dockerfile").splitlines()
    user = lines.index("USER 10001")
    assert user < next(n for n, line in enumerate(lines) if line.startswith("ENTRYPOINT"))
    assert "--uid 10001" in text("Dockerfile")
    assert "/healthz" in text("Dockerfile")


def test_the_image_is_warmed_before_it_becomes_read_only() -> None:
    page = text("Dockerfile")
    assert page.index("NUMBA_CPU_NAME=") < page.index("plyground warm") < page.index("USER 10001")
    assert "PLYGROUND_CACHE_DIR=/app/.cache" in page
    assert "ARG CPU=x86-64-v3" in page


def test_the_image_gets_what_it_needs() -> None:
    lines = text("Dockerfile").splitlines()
    copied = {line.split()[1] for line in lines if line.startswith("COPY") and len(line.split()) == 3}
    assert copied >= {"games", "agents", "server", "migrations"}
    admitted = {line.removeprefix("!") for line in text(".dockerignore").splitlines() if line.startswith("!")}
    assert copied <= admitted


# the proxy ----------------------------------------------------------------------------------------------


def validated(caddyfile: Path) -> subprocess.CompletedProcess[str]:
    command = [tool("caddy"), "adapt", "--validate", "--adapter", "caddyfile", "--config", str(caddyfile)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_the_proxy_takes_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    answer = validated(ROOT / "deploy" / "Caddyfile")
    assert answer.returncode == 0, answer.stderr
    assert "reverse_proxy" in answer.stdout


def test_the_proxy_refuses_a_broken_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    broken = tmp_path / "Caddyfile"
    broken.write_text(text("deploy/Caddyfile").replace("reverse_proxy", "revers_proxy"), encoding="utf-8")
    assert validated(broken).returncode == 1
