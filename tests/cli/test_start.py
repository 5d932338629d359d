"""Starting up: a listing imports nothing heavy, and a small evaluation only what it needs."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

HEAVY = {"numpy", "numba", "scipy", "pandas", "joblib", "sqlite3", "rich", "yaml"}
PROGRAM = """
import sys
from mlcli.cli.main import main
try:
    main()
finally:
    print(*sys.modules, file=sys.stderr)
"""


def ended(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """A command line that has run to its end and then said what it has imported."""
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *words], env=os.environ | env, capture_output=True, text=True, check=False
    )


def modules(done: subprocess.CompletedProcess[str]) -> set[str]:
    return set(done.stderr.split())


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["models"], ["eval", "--help"], ["modles"]])
def test_what_lists_and_helps_imports_nothing_heavy(words: list[str]) -> None:
    loaded = modules(ended(*words))
    assert "mlcli.cli._app" in loaded
    assert not loaded & HEAVY


@pytest.mark.parametrize("word", ["--help", "--version"])
def test_the_list_of_commands_is_printed_without_pydantic(word: str) -> None:
    assert "pydantic" not in modules(ended(word))


@pytest.mark.parametrize("typed", ["mlcli eval iris -m kn", "mlcli eval iris --target pe"])
def test_completion_imports_nothing_heavy(typed: str) -> None:
    env = {"_MLCLI_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
    assert not modules(ended(**env)) & HEAVY


def test_a_listing_imports_only_the_verb_that_is_called() -> None:
    loaded = modules(ended("models"))
    assert {name for name in loaded if name.startswith("mlcli.cli.") and "._" not in name} == {
        "mlcli.cli.main",
        "mlcli.cli.models",
    }


def test_a_small_evaluation_imports_no_compiler_pool_or_store() -> None:
    loaded = modules(ended("eval", "iris", "-m", "naive-bayes"))
    assert "numpy" in loaded
    assert not loaded & {"pandas", "numba", "scipy", "joblib", "sqlite3", "rich", "safetensors"}


def test_a_small_evaluation_imports_few_modules_of_the_package() -> None:
    loaded = modules(ended("eval", "iris", "-m", "knn", "--jobs", "1"))
    assert len([name for name in loaded if name.startswith("mlcli.")]) <= 110
