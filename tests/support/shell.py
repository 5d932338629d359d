"""How the tests enter the shell: in this process for what is printed, in another for what is imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from mlcli.cli._app import app

WIDE = {"COLUMNS": "200", "NO_COLOR": "1"}


def typed(*words: str, given: str | None = None, columns: int = 200) -> Result:
    """What a command line gives, run in this process."""
    env = WIDE | {"COLUMNS": str(columns)}
    return CliRunner(env=env).invoke(app, list(words), input=given, prog_name="mlcli")


def in_shell(*words: str, folder: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    """What a command line gives, run as a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "mlcli", *words],
        cwd=folder,
        env=os.environ | WIDE | env,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def document(result: Result) -> Any:
    """The one JSON document that a command has printed."""
    import json

    def refuse(word: str) -> Any:
        raise AssertionError(f"{word} is not JSON")

    return json.loads(result.stdout, parse_constant=refuse)
