"""The wheel in a clean environment: nothing is missing, nothing is too much, and it answers as this tree does."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.shell import document, typed

ROOT = Path(__file__).parents[2]
PINS = ROOT / "requirements.lock"
BILL_MAKER = ROOT / ".venv/audit/bin/cyclonedx-py"
WORDS = ("eval", "iris", "weather_nominal", "-m", "one-r", "-m", "decision-tree", "--folds", "3", "--json")
TIMES = ("fit_seconds", "predict_seconds", "seconds")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    done(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT))
    (made,) = folder.iterdir()
    return made


@pytest.fixture(scope="module")
def clean(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment in which there is nothing but the wheel and what it asks for."""
    folder = tmp_path_factory.mktemp("clean")
    done(sys.executable, "-m", "venv", str(folder))
    done(str(folder / "bin/pip"), "install", "--quiet", "--constraint", str(PINS), str(wheel))
    return folder / "bin"


def done(*words: str, folder: Path | None = None) -> str:
    finished = subprocess.run(words, capture_output=True, text=True, cwd=folder, check=False)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_times(part) for key, part in value.items() if key not in TIMES}
    return [without_times(part) for part in value] if isinstance(value, list) else value


def test_the_wheel_holds_the_package_and_its_data_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        names = opened.namelist()
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"mlcli"}
    shipped = {path.name for path in (ROOT / "datasets").iterdir() if path.is_file()}
    assert shipped <= {Path(name).name for name in names if name.startswith("mlcli/datasets/")}
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / "mlcli").rglob("*.py")}
    assert modules == {name for name in names if name.endswith(".py")}
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_it_answers_there_as_it_does_here(clean: Path, tmp_path: Path) -> None:
    done(str(clean / "pip"), "check")
    there = json.loads(done(str(clean / "mlcli"), *WORDS, folder=tmp_path))
    assert without_times(there) == without_times(document(typed(*WORDS)))


@pytest.mark.parametrize(
    "words", [("models",), ("schema",), ("data", "penguins"), ("run", "experiment.yaml", "--dry-run")]
)
def test_verbs_find_what_they_need_there(clean: Path, tmp_path: Path, words: Sequence[str]) -> None:
    done(str(clean / "mlcli"), "init", "penguins", folder=tmp_path)
    assert done(str(clean / "mlcli"), *words, folder=tmp_path)


def test_the_bill_of_materials_names_everything_with_its_pinned_version(clean: Path, wheel: Path) -> None:
    place = ROOT / "dist" / f"{wheel.stem}.cdx.json"
    place.parent.mkdir(exist_ok=True)
    made = ("environment", str(clean / "python"), "--output-format", "JSON", "--output-reproducible")
    done(str(BILL_MAKER), *made, "--validate", "--output-file", str(place))
    parts = {part["name"].casefold(): part["version"] for part in json.loads(place.read_text())["components"]}
    pins = dict(line.casefold().split("==") for line in PINS.read_text().splitlines() if "==" in line)
    tools = {"mlcli", "pip", "setuptools"}
    assert {name: version for name, version in parts.items() if name not in tools}.items() <= pins.items()
    assert {"numpy", "scipy", "numba", "pandas", "mlcli"} <= parts.keys()
    assert not parts.keys() & {"pytest", "scikit-learn", "distributed", "ray"}
