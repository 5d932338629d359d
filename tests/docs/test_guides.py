"""The commands in the guides run as they stand, and print what the guides show.

A block of text is part of what some command above it has printed; a line of three dots stands for lines left out.
Line breaks and the width of columns do not count, nor what computers round differently, nor how long things took.
The quick pages are checked here; ``test_every_guide.py`` checks all of them.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.commands import steady
from tests.support.shell import WIDE, typed

ROOT = Path(__file__).parents[2]
NAMED = (
    "comparing",
    "fairness",
    "few-labels",
    "gates",
    "graphs",
    "plugins",
    "published",
    "python",
    "reports",
    "tuning",
    "users",
)
PAGES = [
    *(page for folder in ("guides", "kinds") for page in sorted((ROOT / "docs" / folder).glob("*.md"))),
    *(ROOT / "docs" / f"{name}.md" for name in NAMED),
    ROOT / "README.md",
]
QUICK = ("README", "auditing", "gates", "projection", "python", "thresholds")
"""Pages that take a second or less."""
BLOCK = re.compile(r"^```(sh|text|python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LEFT_OUT = re.compile(r"^(?:\.\.\.|\[\.\.\. .* \.\.\.\])$", re.MULTILINE)
SHELL = 'mlcli() { "$PYTHON" -m mlcli "$@"; }\nset -o pipefail\n'


def printed_by(line: str) -> str:
    """Everything that a line prints: in this process where it is a command of ours alone, which is faster."""
    if line.startswith("mlcli ") and not set(line) & set("|>"):
        result = typed(*shlex.split(line)[1:], columns=400)
        assert result.exit_code == 0, result.output
        return result.output
    return in_process("bash", given=SHELL + line)


def in_process(*words: str, given: str) -> str:
    """What another program prints."""
    env = os.environ | WIDE | {"PYTHON": sys.executable, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, input=given, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{given}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def printed_in_python(code: str) -> str:
    """What a few lines of Python print, run in this process."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "python block", "exec"), {"__name__": "__main__"})
    return printed.getvalue()


def runs_and_shows(page: Path) -> Iterator[tuple[str, str]]:
    """The blocks of a page in order: ``sh`` and ``python`` to be run, ``text`` to have been printed."""
    for kind, block in BLOCK.findall(page.read_text(encoding="utf-8")):
        if kind == "console":
            command, _, shown = block.partition("\n")
            yield "sh", command.removeprefix("$ ")
            yield "text", shown
        else:
            yield kind, block


def in_words(text: str) -> str:
    """The text without what only lays it out, and without the last digits of numbers that are written in full."""
    laid_out = re.sub("─+", "─", " ".join(text.split()))
    return re.sub(r"\d+\.\d{9,}", lambda number: f"{float(number[0]):.6g}", laid_out)


def is_part_of(shown: str, printed: str) -> bool:
    """Whether all pieces of what is shown stand in what was printed, one after the other."""
    rest = in_words(steady(printed))
    for piece in filter(None, map(in_words, LEFT_OUT.split(steady(shown)))):
        _, found, rest = rest.partition(piece)
        if not found:
            return False
    return True


def assert_page_is_true(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a page in a folder with the shipped datasets and experiments."""
    (folder / "datasets").symlink_to(ROOT / "datasets")
    shutil.copytree(ROOT / "experiments", folder / "experiments", ignore=shutil.ignore_patterns(".mlcli"))
    monkeypatch.chdir(folder)
    printed: list[str] = []
    for kind, block in runs_and_shows(page):
        if kind == "sh":
            printed += map(printed_by, block.splitlines())
        elif kind == "python":
            printed.append(printed_in_python(block))
        else:
            assert any(is_part_of(block, text) for text in printed), f"no command has printed this:\n{block}"
    assert printed


@pytest.mark.parametrize("page", [page for page in PAGES if page.stem in QUICK], ids=lambda page: page.stem)
def test_a_page_shows_what_its_commands_print(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_page_is_true(page, tmp_path, monkeypatch)
