"""Files of the repository that pages and docstrings name are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATH = re.compile(r"(?<![\w./])(?:mlcli|tests|benchmarks|experiments)/[\w./]+\.(?:py|md|yaml|txt|json)\b")


def test_files_that_pages_and_docstrings_name_are_there() -> None:
    files = [*(ROOT / "docs").glob("*.md"), ROOT / "README.md", *(ROOT / "mlcli").rglob("*.py")]
    named = {(file.name, path) for file in files for path in PATH.findall(file.read_text(encoding="utf-8"))}
    assert [(file, path) for file, path in sorted(named) if not (ROOT / path).exists()] == []
